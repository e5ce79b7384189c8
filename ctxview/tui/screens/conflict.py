"""The file changed while it was being edited: both changes in sight, and three ways on. Takes none itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import Button

from ctxview.files.line_difference import Hunk
from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import Line, content, shorten, show
from ctxview.tui.widgets.hunk_lines import changed_lines, hunk_lines
from ctxview.tui.widgets.listing import Listing
from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.said import Said

Way: TypeAlias = Literal["keep", "reload", "reapply"]
"""Go on with the draft; drop it and take the file as it is now; make the same edits on what it is now."""

SIDE_BY_SIDE_FROM = 110


class ConflictScreen(Dialog[Way]):
    """`mine` and `theirs` are the differences from what was loaded. Esc keeps the draft."""

    CSS_PATH = "conflict.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1,escape", "go('keep')", "keep my draft"),
        Binding("2", "go('reload')", "reload theirs"),
        Binding("3", "go('reapply')", "apply mine on theirs"),
        Binding("j,down", "read(1)", "down", show=False),
        Binding("k,up", "read(-1)", "up", show=False),
        Binding("pagedown,space,ctrl+d", "read(8)", "further down", show=False),
        Binding("pageup,ctrl+u", "read(-8)", "further up", show=False),
        Binding("left", "app.focus_previous", "previous", show=False),
        Binding("right", "app.focus_next", "next", show=False),
    ]

    def __init__(
        self,
        file: Path,
        mine: Sequence[Hunk],
        theirs: Sequence[Hunk],
        cannot_reapply: str | None = None,
    ) -> None:
        super().__init__()
        self._file = file
        self._sides = {"Mine": mine, "Theirs": theirs}
        self._cannot_reapply = cannot_reapply

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show(f"{self._file.name} was changed by another program"))
            dialog.border_subtitle = content(show(shorten(str(self._file), 70)))
            yield Said(*self._story(), classes="head", indent="  ")
            with Container(classes="sides"):
                for name, hunks in self._sides.items():
                    yield _side(name, hunks)
            with Horizontal(classes="foot"):
                yield Button("1  Keep my draft", id="keep", compact=True)
                yield Button("2  Take theirs, drop mine", id="reload", compact=True)
                yield Button(
                    "3  Put mine on theirs",
                    id="reapply",
                    compact=True,
                    disabled=self._cannot_reapply is not None,
                )

    def on_mount(self) -> None:
        self.query_one("#keep", Button).focus()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= SIDE_BY_SIDE_FROM, "-wide")

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.action_go(event.button.id or "keep")

    def action_go(self, way: str) -> None:
        if way == "reload":
            self.dismiss("reload")
        elif way == "keep":
            self.dismiss("keep")
        elif self._cannot_reapply is None:
            self.dismiss("reapply")

    def action_read(self, lines: int) -> None:
        """Both sides move together, unless one of them has the focus and moves alone."""
        for listing in self.query(Listing):
            listing.move(lines)

    def _story(self) -> list[Line]:
        both = sorted(changed_lines(self._sides["Mine"]) & changed_lines(self._sides["Theirs"]))
        where = f"{'line' if len(both) == 1 else 'lines'} {_listed(both)}" if both else ""
        lines = [
            show(
                "Nothing was saved, nothing is lost. Here is what you and they changed since you opened it."
            ),
            show(f"Both changed {where}.", "warn")
            if both
            else show("They changed other lines than you.", "ok"),
        ]
        if self._cannot_reapply is not None:
            lines.append(show(f"Your edits no longer fit: {self._cannot_reapply}", "warn"))
        return lines


def _side(name: str, hunks: Sequence[Hunk]) -> Listing:
    def page(width: int) -> Page:
        return Page.of(hunk_lines(hunks, width))

    listing = Listing(page, classes="side")
    listing.border_title = name
    return listing


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:6])
    return f"{shown} and {len(numbers) - 6} more" if len(numbers) > 6 else shown
