"""Going to views and items: the shown view, the pane of each kind of item, the items to go back to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from ctxview.tui.model.layout import OPENED, Pane
from ctxview.tui.model.reading_index import TEXT, WHOLE, ItemId, ItemKind, ReadingIndex
from ctxview.tui.model.view_state import ViewState

PANE_OF: Mapping[ItemKind, Pane] = {
    ItemKind.SOURCE: Pane.SOURCES,
    ItemKind.REVISION: Pane.SOURCES,
    ItemKind.WHOLE: Pane.DETAIL,
    ItemKind.BLOCK: Pane.MEMORY,
    ItemKind.TODO: Pane.TODO,
    ItemKind.ITEM: Pane.TODO,
    ItemKind.BUDGET: Pane.BUDGET,
    ItemKind.REF: Pane.REFERENCES,
    ItemKind.GAP: Pane.MISSING,
    ItemKind.FINDING: Pane.FINDINGS,
    ItemKind.TEXT: Pane.TEXT,
    ItemKind.MESSAGE: Pane.HISTORY,
    ItemKind.NODE: Pane.LIFECYCLE,
    ItemKind.NAME: Pane.REFERENCES,
}


class ShownView:
    """The view on the screen, and the pane in it that has the focus."""

    def __init__(self) -> None:
        self.name = Pane.OVERVIEW
        self.front = Pane.OVERVIEW
        self.beside: frozenset[Pane] = frozenset()
        """The panes beside the view's own, as far as the terminal has room; a strip of the detail is none."""
        self._below = Pane.OVERVIEW

    def show(self, pane: Pane) -> None:
        """Show the view of a pane; the detail of a list that has it beside only gets the focus."""
        self.front = pane
        if pane is Pane.DETAIL and pane in self.beside:
            return
        if self.name not in OPENED:
            self._below = self.name
        self.name = pane

    def leave(self, first: Pane = Pane.OVERVIEW) -> bool:
        """Go back towards the first view; False when it is shown."""
        if self.front is not self.name:
            self.front = self.name
        elif self.name in OPENED:
            self.show(self._below)
        elif self.name is not first:
            self.show(first)
        else:
            return False
        return True

    def tabs(self, view: ViewState | None) -> tuple[Pane, ...]:
        """The views that the source has, in their order."""
        filled = filled_panes(view)
        return tuple(
            pane
            for pane in Pane
            if pane is self.name or (pane not in OPENED and (not pane.absent or pane in filled))
        )


def filled_panes(view: ViewState | None) -> frozenset[Pane]:
    """The panes that have content in a view, among those that may have none."""
    if view is None:
        return frozenset()
    tried = {Pane.BUDGET} if view.key.options else frozenset()
    return _filled(view.index) | tried


@lru_cache(maxsize=2)
def _filled(index: ReadingIndex) -> frozenset[Pane]:
    state, flow, linked = index.reading.state, index.flow_index, index.reading.linked
    content = {
        Pane.MEMORY: index.of(ItemKind.BLOCK),
        Pane.TODO: state.todo is not None,
        Pane.BUDGET: state.budgets,
        Pane.REFERENCES: state.refs or not linked,
        Pane.MISSING: state.missing,
        Pane.HISTORY: state.transcript is not None,
        Pane.LIFECYCLE: flow is not None and (not linked or any(stage.nodes for stage in flow.flow.stages)),
        Pane.VISIBILITY: any(block.reach for block in state.blocks()),
        Pane.TEXT: state.text is not None,
    }
    return frozenset(pane for pane, has in content.items() if has)


class BackEntry(NamedTuple):
    pane: Pane
    item: ItemId


class BackStack:
    """The items that were left, with the panes that were in front."""

    def __init__(self) -> None:
        self._entries: list[BackEntry] = []

    def __bool__(self) -> bool:
        return bool(self._entries)

    @property
    def last(self) -> ItemId | None:
        return self._entries[-1].item if self._entries else None

    def remember(self, pane: Pane, item: ItemId) -> None:
        """Remember `item` in the pane in front, before a person goes to another item."""
        self._entries.append(BackEntry(pane, item))

    def pop(self) -> BackEntry:
        return self._entries.pop()

    def clear(self) -> None:
        self._entries.clear()


def is_listed(item: ItemId | None, view: ViewState) -> bool:
    """Whether `item` is in the view and not hidden by the filter, or may still come into it."""
    reading = view.index.reading
    match item.kind if item is not None else None:
        case ItemKind.BLOCK if item not in view.blocks:
            return False
        case ItemKind.REF if not reading.linked:
            return True
        case ItemKind.FINDING if not reading.judged:
            return True
    return view.index.value(item) is not None


def default_selection(view: ViewState) -> ItemId:
    return next(iter(view.blocks), TEXT if view.index.value(TEXT) is not None else WHOLE)
