"""The dialogs of a save: the preview of a change, and the conflict with a change by another program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.widgets import Button

from ctxview.core.findings import Finding, Severity, worst_first
from ctxview.editing.draft import Preview
from ctxview.files.line_difference import Hunk
from ctxview.tui.drawing.diff_lines import changed_lines, hunk_lines
from ctxview.tui.drawing.glyphs import SEVERITY
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.rows import finding_summary_line
from ctxview.tui.drawing.text import Line, Span, join, shorten, show, styled, wrap_all
from ctxview.tui.screens.dialogs import Dialog
from ctxview.tui.widgets.strips import StaticLines, content
from ctxview.tui.widgets.virtual_lines import ScrollList

ConflictChoice: TypeAlias = Literal["keep", "reload", "reapply"]
"""Keep the draft; drop it and load the file as it is now; apply the same edits to the file as it is now."""

SIDE_BY_SIDE_FROM = 110


class ConflictScreen(Dialog[ConflictChoice]):
    """Ask what to do after another program changed the file; Esc keeps the draft.

    `mine` and `theirs` are the differences from the loaded file; `cannot_reapply` says why edits do not fit,
    `happened` what the other program did to the file.
    """

    CSS_PATH = "conflict.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("1,escape", "go('keep')", "keep my draft"),
        Binding("2", "go('reload')", "reload theirs"),
        Binding("3", "go('reapply')", "apply mine to theirs"),
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
        happened: str = "was changed by another program",
    ) -> None:
        super().__init__()
        self._file = file
        self._happened = happened
        self._sides = {"Mine": mine, "Theirs": theirs}
        self._cannot_reapply = cannot_reapply

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show(f"{self._file.name} {self._happened}"))
            dialog.border_subtitle = content(show(shorten(str(self._file), 70)))
            yield StaticLines(*self._summary(), classes="head", indent="  ")
            with Container(classes="sides"):
                for name, hunks in self._sides.items():
                    yield _side(name, hunks)
            with Horizontal(classes="foot"):
                yield Button("1  Keep my draft", id="keep", compact=True)
                yield Button("2  Take theirs, drop mine", id="reload", compact=True)
                yield Button(
                    "3  Apply mine to theirs",
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

    def action_go(self, choice: str) -> None:
        if choice == "reload":
            self.dismiss("reload")
        elif choice == "keep":
            self.dismiss("keep")
        elif self._cannot_reapply is None:
            self.dismiss("reapply")

    def action_read(self, lines: int) -> None:
        """Scroll both sides; a side with the focus scrolls alone."""
        for listing in self.query(ScrollList):
            listing.move(lines)

    def _summary(self) -> list[Line]:
        both = sorted(changed_lines(self._sides["Mine"]) & changed_lines(self._sides["Theirs"]))
        if both:
            numbers = ", ".join(str(number) for number in both[:6])
            more = f" and {len(both) - 6} more" if len(both) > 6 else ""
            overlap = show(f"Both changed {'line' if len(both) == 1 else 'lines'} {numbers}{more}.", "warn")
        else:
            overlap = show("The changed lines are different.", "ok")
        lines = [
            show(
                "Nothing was saved and nothing is lost. Compare your changes with those of the other program."
            ),
            overlap,
        ]
        if self._cannot_reapply is not None:
            lines.append(show(f"Your edits no longer fit: {self._cannot_reapply}", "warn"))
        return lines


def _side(name: str, hunks: Sequence[Hunk]) -> ScrollList:
    def page(width: int) -> Page:
        return Page.of(hunk_lines(hunks, width))

    listing = ScrollList(page, classes="side")
    listing.border_title = content(show(name))
    return listing


BACKUP = "The old file is kept as an undo copy."


class SaveScreen(Dialog[bool]):
    """Show what a save would change; return True to save the draft."""

    CSS_PATH = "save.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter,ctrl+s", "save", "save"),
        Binding("n,escape,q", "back", "back"),
    ]

    def __init__(self, preview: Preview, file: Path, note: str = BACKUP) -> None:
        super().__init__()
        self._preview = preview
        self._file = file
        self._note = note

    def compose(self) -> ComposeResult:
        blocked = self._preview.blocked
        with Vertical(classes="dialog -blocked" if blocked else "dialog") as dialog:
            dialog.border_title = content(show(f"Save {self._file.name}"))
            dialog.border_subtitle = content(show(shorten(str(self._file), 70)))
            yield StaticLines(*_verdict(self._preview), classes="head", indent="  ")
            yield ScrollList(self._page)
            with Horizontal(classes="foot"):
                yield StaticLines(
                    show("Correct the error first." if blocked else self._note, "dim"), classes="status"
                )
                yield Button("Save  y", variant="primary", id="save", compact=True, disabled=bool(blocked))
                yield Button("Back  n", id="back", compact=True)

    def on_mount(self) -> None:
        self.query_one(ScrollList).focus()

    @on(Button.Pressed, "#save")
    def action_save(self) -> None:
        if self._preview.blocked is None:
            self.dismiss(True)

    @on(Button.Pressed, "#back")
    def action_back(self) -> None:
        self.dismiss(False)

    def _page(self, width: int) -> Page:
        preview = self._preview
        lines = [
            *_findings("This change adds", preview.added, "severity.error"),
            *_findings("This change fixes", preview.removed, "ok"),
            *_findings("Already there before", preview.standing, "dim"),
            show("Difference", "title"),
        ]
        return Page.of([*wrap_all(lines, width, "    "), *hunk_lines(preview.hunks, width)])


def _verdict(preview: Preview) -> list[Line]:
    if preview.blocked is not None:
        return [show(f"{SEVERITY[Severity.ERROR]} This cannot be saved: {preview.blocked}", "severity.error")]
    added = [each for each in preview.added if each.severity is not Severity.INFO]
    figures = show(f"{_counted(preview, 'removed')} removed, {_counted(preview, 'added')} added", "dim")
    words = (
        show(f"adds {_number(len(added), 'warning')}", "warn") if added else show("adds no problems", "ok")
    )
    fixed = show(f"fixes {len(preview.removed)}", "ok") if preview.removed else ()
    return [join(words, fixed, figures, gap="   ")]


def _findings(title: str, findings: tuple[Finding, ...], style: str) -> list[Line]:
    if not findings:
        return []
    worst = worst_first(findings)
    lines = [join((Span("  "),), finding_summary_line(each)) for each in worst]
    if style == "ok":
        lines = [join((Span("  ✓ ", "ok"),), styled(finding_summary_line(each), "dim")) for each in worst]
    heading = join(show(title, "title"), show(str(len(findings)), style), gap="  ")
    return [heading, *lines, ()]


def _counted(preview: Preview, kind: str) -> str:
    number = sum(each == kind for hunk in preview.hunks for each, _ in hunk.lines)
    return _number(number, "line")


def _number(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
