"""The overview pane: what the model sees, how full the window is, what is wrong, what changed."""

from __future__ import annotations

from ctxview.analysis.revisions.overview import summarise
from ctxview.tui.drawing.overview import SECTIONS, draw_overview
from ctxview.tui.drawing.overview_parts import OverviewDrawing
from ctxview.tui.drawing.page import Page
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import FactsPane, known_revisions, window_revisions


class OverviewPane(FactsPane):
    pane = Pane.OVERVIEW
    has_cursor = False
    rail = 0
    framed = False

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        self._chosen: int | None = None

    @property
    def section(self) -> str | None:
        """The action that opens the chosen part; None until one is chosen."""
        return [*SECTIONS.values()][self._chosen] if self._chosen is not None else None

    def move(self, rows: int) -> None:
        """Choose another part; where the parts do not fit on the screen, it also scrolls."""
        if self.page.lines > self.content_size.height:
            super().move(rows)
        before = self._chosen if self._chosen is not None else -1 if rows > 0 else 1
        self._chosen = max(0, min(before + rows, len(SECTIONS) - 1))
        self.reset()

    def draw(self, view: ViewState, width: int, room: int) -> Page:
        known, state = known_revisions(view), view.index.reading.state
        chosen = "" if self._chosen is None else [*SECTIONS][self._chosen]
        overview = summarise(state, known, view.key.revision)
        drawing = OverviewDrawing(overview, state, known, self.letters, window_revisions(view), chosen)
        return Page.of(draw_overview(drawing, width, room))
