"""The detail pane: the selected item in full, with fields and their owners, origin and findings."""

from __future__ import annotations

from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import show, wrap_all
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import WHOLE, ItemId, ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.panes.detail_text import detail_lines
from ctxview.tui.widgets.pane import PaneWidget, empty_page


class DetailPane(PaneWidget):
    pane = Pane.DETAIL
    has_cursor = False

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._item = model.selected

    def select(self, item: ItemId | None) -> None:
        """Show another item, from its beginning."""
        if item == self._item:
            return
        self._item = item
        self.reset()
        self.show_line(0)

    def differs(self, before: ViewState, after: ViewState) -> bool:  # noqa: ARG002
        """Always False: the screen draws this pane separately, when the selection is known."""
        return False

    def draw(self, view: ViewState, width: int, _: int) -> Page:
        item = self._item
        if item is not None and item.kind in {ItemKind.SOURCE, ItemKind.REVISION}:
            return self._source(item, view, width)
        if item is None or view.index.value(item) is None:
            return empty_page(
                width, "Nothing is selected.", "Move to a row with j and k to see its details here."
            )
        return Page.of(detail_lines(item, view, width))

    def _source(self, item: ItemId, view: ViewState, width: int) -> Page:
        """The open source in full; for another one, its path and how to open it."""
        number = int(item.name if item.kind is ItemKind.SOURCE else item.within)
        key = self._model.key
        here = item.kind is ItemKind.SOURCE or int(item.name) == key.revision
        if here and number == key.source:
            return Page.of(detail_lines(WHOLE, view, width))
        source = self._model.sources[number]
        lines = [show(source.title, "strong"), show(source.format, "dim"), show(str(source.path), "code")]
        if item.kind is ItemKind.REVISION:
            revision = source.revisions[int(item.name)]
            lines += [
                show(revision.label, "accent"),
                show(glyphs.time_text(revision.time or ""), "dim"),
                show(revision.file.name, "code"),
            ]
        total = self._model.totals.get(number)
        if total is None:
            lines += [(), show("It was not read yet, so its findings are not counted.", "dim")]
        elif total.partly:
            lines += [
                (),
                show("It is large: its whole history is checked only after it is opened.", "warn"),
            ]
        return Page.of(wrap_all([*lines, (), show("Enter opens it.", "dim")], width))
