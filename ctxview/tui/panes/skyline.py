"""The skyline pane: the window over time, with a cursor on one column."""

from __future__ import annotations

from textual import events

from ctxview.analysis.revisions.skyline import Skyline, SkylineColumn, next_event
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.skyline import (
    SkylineDrawing,
    column_at,
    column_text,
    column_under,
    draw_skyline,
)
from ctxview.tui.drawing.text import show
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import MarkingPane, revision_item, window_revisions
from ctxview.tui.widgets.strips import content


class SkylinePane(MarkingPane):
    pane = Pane.SKYLINE
    has_cursor = False
    rail = 0
    framed = False

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._at: tuple[int, int, int] | None = None
        """The revision of the chosen column, for a source and a shown revision."""
        self.replies = False
        self._within: range | None = None
        """The revisions of the column that was opened."""

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        return Page.of(draw_skyline(self._drawing(view), width, room))

    def _drawing(self, view: ViewState) -> SkylineDrawing:
        state = view.index.reading.state
        known, _ = window_revisions(view)
        within = self._within if self._within is not None and self._within.stop <= len(known.names) else None
        return SkylineDrawing(
            known,
            self._number(view),
            tier_styles(state.tiers),
            f"this {state.format}",
            self.letters,
            len(state.windows) < 2,
            self.replies,
            within,
            self.marked,
        )

    def zoom(self) -> bool:
        """Open the column at the cursor as columns of its own, or leave it; False when it is one revision."""
        if self.view is None or self.leave_zoom():
            return True
        skyline, place = self._column(self.view)
        column = skyline.columns[place] if place is not None else None
        if column is None or column.first == column.last:
            return False
        self._within = range(column.first, column.last + 1)
        self.reset()
        return True

    def leave_zoom(self) -> bool:
        """Draw all revisions again; False when they are drawn already."""
        within, self._within = self._within, None
        self.reset()
        return within is not None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Name the column under the mouse."""
        column = self._under(event)
        if self.view is None or column is None:
            self.tooltip = None  # an empty text would be an empty box
        else:
            self.tooltip = content(show(column_text(self._drawing(self.view), column)))

    def on_click(self, event: events.Click) -> None:
        """Go to the column under the mouse; a second click opens its revision."""
        column = self._under(event)
        if column is not None:
            self._choose(column.number)
            if event.chain == 2:
                self.post_message(self.Chosen(self, self.item))

    def _under(self, event: events.MouseEvent) -> SkylineColumn | None:
        offset = event.get_content_offset(self)
        if self.view is None or offset is None:
            return None
        size = self.content_size
        return column_under(self._drawing(self.view), size.width, size.height, offset.x)

    @property
    def item(self) -> ItemId | None:
        """The revision of the column at the cursor; a turn of a log is none."""
        if self.view is None or len(self.view.index.reading.state.windows) > 1:
            return None
        return revision_item(self.view, self._number(self.view))

    def step(self, steps: int) -> None:
        """Move the cursor by columns."""
        if self.view is not None:
            skyline, place = self._column(self.view)
            last = len(skyline.columns) - 1
            self._choose(skyline.columns[min(max((place or 0) + steps, 0), last)].number)

    def step_event(self, *, back: bool) -> bool:
        """Move the cursor to the next column with an event; False when there is none."""
        if self.view is None:
            return False
        skyline, place = self._column(self.view)
        found = next_event(skyline, place or 0, back=back)
        if found is not None:
            self._choose(skyline.columns[found].number)
        return found is not None

    def _column(self, view: ViewState) -> tuple[Skyline, int | None]:
        size = self.content_size
        return column_at(self._drawing(view), size.width, size.height)

    def _choose(self, number: int) -> None:
        if self.view is not None:
            self._at = self.view.key.source, self.view.key.revision, number
            self.reset()

    def _number(self, view: ViewState) -> int:
        """The revision at the cursor: the shown one until the cursor is moved."""
        known, place = window_revisions(view)
        shown = view.key.source, view.key.revision
        if self._at is None or self._at[:2] != shown or self._at[2] >= len(known.names):
            return place
        return self._at[2]
