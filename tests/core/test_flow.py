from __future__ import annotations

from ctxview.core.flow import Flow, FlowIndex, FlowLink, FlowNode, FlowStage
from ctxview.core.origin import Origin
from tests.tui.handoff_story import Handoff, flow

INDEX = FlowIndex(flow(Handoff().bytes_of("")))


def ids(nodes: list[FlowNode]) -> list[str]:
    return [node.id for node in nodes]


def test_onward_stays_on_the_main_line_where_a_branch_is_nearer() -> None:
    assert ids(INDEX.onward("sel-2")) == ["bud-model"]
    assert ids(INDEX.onward("srf-night")) == ["sel-2"]
    assert ids(INDEX.onward("src-policy")) == ["itm-rules"]


def test_the_last_record_leads_nowhere() -> None:
    assert INDEX.onward("evd-9") == []
    assert INDEX.onward("nobody") == []


def test_backward_from_an_injection_are_its_items_and_then_their_sources() -> None:
    items = ids(INDEX.backward("inj-model"))
    assert items == ["itm-brief", "itm-rules", "itm-ais", "itm-log", "itm-sum", "itm-plan"]
    assert ids(INDEX.backward("itm-rules")) == ["src-policy"]
    assert ids(INDEX.backward("inj-tool")) == ["itm-chart"]


def test_backward_from_a_record_without_items_are_its_predecessors() -> None:
    assert ids(INDEX.backward("mis-manifest")) == ["sel-2"]
    assert INDEX.backward("src-kin") == []
    assert INDEX.backward("nobody") == []


def test_passed_items_are_counted_between_stages() -> None:
    assert INDEX.passed("sources", "surface") == 11
    assert INDEX.passed("selection", "budget") == 7
    assert INDEX.passed("assembly", "injection") == 8


def test_a_cycle_does_not_cause_an_endless_walk() -> None:
    here = Origin("x")
    stages = (FlowStage("a", (FlowNode("1", "1", "", here), FlowNode("2", "2", "", here))),)
    ways = FlowIndex(Flow(stages, (FlowLink("1", "2", 1), FlowLink("2", "1", 1), FlowLink("1", "gone", 1))))
    assert ids(ways.backward("1")) == ["2"]
    assert ids(ways.onward("1")) == ["2"]
