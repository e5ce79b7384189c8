"""The why pane: the life of one block over all revisions. Enter goes to the revision of a step."""

from __future__ import annotations

from ctxview.analysis.revisions.why import explain
from ctxview.reports.why import not_found_text
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line
from ctxview.tui.drawing.why import draw_why
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.view_state import ViewState
from ctxview.tui.widgets.facts_pane import FactsPane, known_revisions, revision_item
from ctxview.tui.widgets.pane import empty_page


class WhyPane(FactsPane):
    pane = Pane.WHY
    framed = False

    def __init__(self, model: InspectorModel) -> None:
        super().__init__(model)
        selected = model.selected
        self.name_asked = selected.name if selected is not None and selected.kind is ItemKind.BLOCK else ""

    def ask(self, name: str) -> None:
        """Explain another block."""
        self.name_asked = name
        self.reset()
        self.move_to(0)

    def draw(self, view: ViewState, width: int, room: int) -> Page:  # noqa: ARG002 - scrolls
        if not self.name_asked:
            return empty_page(width, "Press W on a block to see where it went, or W here to type a name.")
        known = known_revisions(view)
        answers = explain(known, self.name_asked)
        if not answers:
            waiting = (
                [] if known.is_complete else [f"Searched {len(known.facts)} of {len(known.names)} revisions."]
            )
            return empty_page(width, not_found_text(self.name_asked, known), *waiting)
        rows: list[Line] = []
        items: list[ItemId | None] = []
        header: list[Line] = []
        for at, answer in enumerate(answers):
            drawn = draw_why(answer, known, width, chosen=len(answer.steps) - 2)
            if at == 0:
                header = [*drawn.above]
            else:
                rows += drawn.above
                items += [None] * len(drawn.above)
            rows += drawn.steps
            items += [revision_item(view, step.first) for step in answer.steps]
            rows += drawn.below
            items += [None] * len(drawn.below)
        return Page(len(rows), lambda row: (rows[row],), lambda row: items[row], header=header)

    def count(self, _: ViewState) -> str:
        return self.name_asked
