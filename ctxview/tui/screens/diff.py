"""What changed between two states, by meaning: grouped, counted, and a key away from the thing itself."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from ctxview.analysis.diff import Kind, Side, StateDiff
from ctxview.analysis.diff.report import NOTHING
from ctxview.tui.screens.leaving import Dialog
from ctxview.tui.text import Line, Span, content, join, show
from ctxview.tui.things import Thing
from ctxview.tui.widgets.change_lines import SIGNS, SPLIT_FROM, diff_page, thing_of
from ctxview.tui.widgets.listing import Chooser
from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.said import Said
from ctxview.tui.widgets.virtual_lines import VirtualLines

KEYS = "Enter goes there   Tab next group   v side by side or inline   Esc back"


class DiffScreen(Dialog[Thing | None]):
    """Dismisses with the thing a person wants to see, or with None."""

    CSS_PATH = "diff.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "go there"),
        Binding("escape,q,d", "close", "back"),
        Binding("v", "turn", "side by side or inline"),
        Binding("tab", "group(1)", "next group", priority=True),
        Binding("shift+tab", "group(-1)", "previous group", priority=True),
    ]

    def __init__(self, diff: StateDiff, title: str = "Difference") -> None:
        super().__init__()
        self._diff = diff
        self._heading = title
        self._split: bool | None = None
        """Whether before and after stand side by side; None where there is room."""
        self._gone = {thing_of(change) for change in diff.changes if change.kind is Kind.REMOVED}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show(self._heading))
            dialog.border_subtitle = content(show(KEYS if self._diff else "Esc back"))
            yield Said(_sides(self._diff), _counts(self._diff), classes="head")
            yield Chooser(self._page)

    def on_mount(self) -> None:
        chooser = self.query_one(Chooser)
        chooser.focus()
        self.call_after_refresh(self.action_group, 0)

    def on_virtual_lines_chosen(self, event: VirtualLines.Chosen) -> None:
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        thing = self.query_one(Chooser).thing
        if thing is None:
            return
        found = replace(thing, nth=0)
        if found in self._gone:
            self.notify("It is not there any more: there is nothing to go to.", markup=False)
        else:
            self.dismiss(found)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_turn(self) -> None:
        """From side by side to one under the other, and back."""
        chooser = self.query_one(Chooser)
        beside = chooser.size.width >= SPLIT_FROM if self._split is None else self._split
        self._split = not beside
        chooser.reset()

    def action_group(self, step: int) -> None:
        """To the first change of the next or previous group; with 0 to the first of all."""
        chooser = self.query_one(Chooser)
        page = chooser.page
        firsts = [row + 1 for row in range(page.rows) if page.thing(row) is None]
        if not firsts:
            return
        at = max((number for number, row in enumerate(firsts) if row <= chooser.cursor), default=0)
        chooser.move_to(firsts[(at + step) % len(firsts)])

    def _page(self, width: int) -> Page:
        if self._diff:
            return diff_page(self._diff, width, split=self._split)
        return Page.of(
            [(), show(f"  {NOTHING}", "strong"), (), *(show(f"  {line}", "dim") for line in _EQUAL)]
        )


_EQUAL = (
    "Key order, the spelling of numbers, names of files and ways of",
    "estimating tokens are not a difference.",
)


def _sides(diff: StateDiff) -> Line:
    if diff.before == diff.after:
        # The same revision on both sides: one of them is the draft of the other.
        return join(_side(diff.before), show("the file  →  your draft", "dim"), gap="  ")
    return join(_side(diff.before), (Span("→", "dim"),), _side(diff.after), gap="  ")


def _side(side: Side) -> Line:
    return join(show(side.title, "strong"), show(side.revision, "dim"), gap=" ")


def _counts(diff: StateDiff) -> Line:
    return join(
        *(show(f"{number} {kind}", SIGNS[kind][1]) for kind, number in diff.counts().items()), gap="   "
    )
