"""The skyline pane: the window over time, with a cursor on one column."""

from __future__ import annotations

from ctxview.analysis.revisions.skyline import Skyline, next_event
from ctxview.tui.drawing.glyphs import tier_styles
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.skyline import SkylineDrawing, column_at, draw_skyline
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import FactsPane, revision_item, window_revisions


class SkylinePane(FactsPane):
    pane = Pane.SKYLINE
    has_cursor = False
    framed = False

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._at: tuple[int, int, int] | None = None
        """The revision of the chosen column, for a source and a shown revision."""

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        state = view.index.reading.state
        tiers = tier_styles(state.tiers)
        known, _ = window_revisions(view)
        number, own, leads = self._number(view), f"this {state.format}", len(state.windows) < 2
        drawing = SkylineDrawing(known, number, tiers, own, self.letters, leads)
        return Page.of(draw_skyline(drawing, width, room))

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
        return column_at(window_revisions(view)[0], size.width, size.height, self._number(view))

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
