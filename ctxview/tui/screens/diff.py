"""The difference between two states: the changes in groups with counts; Enter goes to the changed item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from ctxview.analysis.diff.model import ChangeGroup, ChangeKind, DiffSide, StateDiff
from ctxview.analysis.diff.report import NOTHING
from ctxview.reports.xray import PromptChange
from ctxview.tui.drawing.diff_lines import SPLIT_FROM, diff_page
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, join, show
from ctxview.tui.drawing.xray import change_lines
from ctxview.tui.model.reading_index import ItemId, item_of_change
from ctxview.tui.screens.dialogs import Dialog
from ctxview.tui.widgets.strips import StaticLines, content
from ctxview.tui.widgets.virtual_lines import Chooser, ScrollList, VirtualLines

KEYS = "Enter goes there   Tab next group   v side by side or inline   Esc back"


class DiffScreen(Dialog[ItemId | None]):
    """Return the chosen item, or None."""

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
        """Whether before and after are side by side; None decides by the width."""
        self._removed = {
            item_of_change(change) for change in diff.changes if change.kind is ChangeKind.REMOVED
        }

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show(self._heading))
            dialog.border_subtitle = content(show(KEYS if self._diff else "Esc back"))
            yield StaticLines(_sides(self._diff), _counts(self._diff), classes="head")
            yield Chooser(self._page)

    def on_mount(self) -> None:
        chooser = self.query_one(Chooser)
        chooser.focus()
        self.call_after_refresh(self.action_group, 0)

    def on_virtual_lines_chosen(self, event: VirtualLines.Chosen) -> None:
        event.stop()
        self.action_choose()

    def action_choose(self) -> None:
        item = self.query_one(Chooser).item
        if item is None:
            return
        target = replace(item, nth=0)
        if target in self._removed:
            self.notify("This item was removed, so there is nothing to go to.", markup=False)
        else:
            self.dismiss(target)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_turn(self) -> None:
        """Switch between side by side and inline."""
        chooser = self.query_one(Chooser)
        beside = chooser.size.width >= SPLIT_FROM if self._split is None else self._split
        self._split = not beside
        chooser.reset()

    def action_group(self, step: int) -> None:
        """Go `step` groups further, to the first change; with 0 to the first change of the present group."""
        chooser = self.query_one(Chooser)
        page = chooser.page
        firsts = [row + 1 for row in range(page.rows) if page.item(row) is None]
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


class PromptDiffScreen(Dialog[None]):
    """The word difference between the prompts of two revisions."""

    CSS_PATH = "diff.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,d", "dismiss", "back")]

    def __init__(self, changes: Sequence[PromptChange], before: str, after: str) -> None:
        super().__init__()
        self._changes = changes
        self._names = before, after

    def compose(self) -> ComposeResult:
        before, after = self._names
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(show("Word difference of the prompts"))
            dialog.border_subtitle = content(show("Esc back"))
            yield StaticLines(
                join(show(before, "strong"), (Span("→", "dim"),), show(after, "strong"), gap="  "),
                classes="head",
            )
            yield ScrollList(lambda width: Page.of(change_lines(self._changes, width)))

    def on_mount(self) -> None:
        self.query_one(ScrollList).focus()


_EQUAL = (
    "Key order, the spelling of numbers, file names and the",
    "token counter are not compared.",
)


def _counts(diff: StateDiff) -> Line:
    """How many blocks changed, as the panes count them, and the number of other changes by group."""
    blocks = show(f"blocks {diff.block_counts().text or 'unchanged'}")
    others = [(group, len(found)) for group, found in diff.groups() if group is not ChangeGroup.BLOCKS]
    return join(blocks, *(show(f"{group} {number}", "dim") for group, number in others), gap="   ")


def _sides(diff: StateDiff) -> Line:
    if diff.before == diff.after:
        # The same revision on both sides: one of them is the draft of the other.
        return join(_side(diff.before), show("the file  →  your draft", "dim"), gap="  ")
    return join(_side(diff.before), (Span("→", "dim"),), _side(diff.after), gap="  ")


def _side(side: DiffSide) -> Line:
    return join(show(side.title, "strong"), show(side.revision, "dim"), gap=" ")
