"""The overview pane: what the model sees, how full the window is, what is wrong, what changed."""

from __future__ import annotations

from ctxview.analysis.revisions.overview import summarise
from ctxview.tui.drawing.overview import draw_overview
from ctxview.tui.drawing.overview_parts import OverviewDrawing
from ctxview.tui.drawing.page import Page
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import FactsPane, known_revisions, window_revisions


class OverviewPane(FactsPane):
    pane = Pane.OVERVIEW
    has_cursor = False
    framed = False

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        known, state = known_revisions(view), view.index.reading.state
        overview = summarise(state, known, view.key.revision)
        drawing = OverviewDrawing(overview, state, known, self.letters, window_revisions(view))
        return Page.of(draw_overview(drawing, width, room))
