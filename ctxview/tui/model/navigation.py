"""Going to items: the pane that shows each kind, the items to go back to, the item to select first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import TEXT, WHOLE, ItemId, ItemKind
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
    """Whether `item` is in the view and not hidden by the filter."""
    hidden = item is not None and item.kind is ItemKind.BLOCK and item not in view.blocks
    return not hidden and view.index.value(item) is not None


def default_selection(view: ViewState) -> ItemId:
    return next(iter(view.blocks), TEXT if view.index.value(TEXT) is not None else WHOLE)
