"""The bundled request: four cache breakpoints, and one tool schema that fills the window."""

from __future__ import annotations

from ctxview.formats.registry import open_source
from ctxview.samples import samples_folder
from tests.formats.transcript.builders import LENS

REQUEST = samples_folder() / "transcript" / "crowded-request" / "refund-4471.json"


def test_the_crowded_request_has_four_breakpoints_and_one_schema_that_fills_the_window() -> None:
    source = open_source(REQUEST)
    state = source.reading(0, LENS).state
    budget = state.budgets[0]
    assert sum(segment.used for segment in budget.segments) == budget.used == 164_764
    assert [block.id for block in state.blocks() if (block.state or "").startswith("cached")] == [
        "tools/3",
        "system#1",
        "messages/0",
        "messages/4",
    ]
    largest = max(state.blocks(), key=lambda block: block.tokens or 0)
    assert largest.tags == ("ledger_query",)
    assert (largest.tokens or 0) * 100 // (budget.limit or 1) == 81


def test_the_findings_of_the_crowded_request_are_those_of_its_story() -> None:
    found = {each.rule for each in open_source(REQUEST).findings(LENS)}
    assert found == {"REQ007", "REQ008", "REQ009", "REQ011", "REQ016", "TRW001", "TRW002", "TRW003"}
