from __future__ import annotations

from ctxview.flow import Flow, Link, Node, Stage
from ctxview.state import Origin
from ctxview.tui.ways import Ways
from tests.tui.handoff import Handoff, flow

WAYS = Ways(flow(Handoff().bytes_of("")))


def ids(nodes: list[Node]) -> list[str]:
    return [node.id for node in nodes]


def test_onward_stays_on_the_main_line_where_a_branch_is_nearer() -> None:
    assert ids(WAYS.onward("sel-2")) == ["bud-model"]
    assert ids(WAYS.onward("srf-night")) == ["sel-2"]
    assert ids(WAYS.onward("src-policy")) == ["itm-rules"]


def test_the_last_record_leads_nowhere() -> None:
    assert WAYS.onward("evd-9") == []
    assert WAYS.onward("nobody") == []


def test_behind_an_injection_are_its_items_and_behind_those_their_sources() -> None:
    items = ids(WAYS.backward("inj-model"))
    assert items == ["itm-brief", "itm-rules", "itm-ais", "itm-log", "itm-sum", "itm-plan"]
    assert ids(WAYS.backward("itm-rules")) == ["src-policy"]
    assert ids(WAYS.backward("inj-tool")) == ["itm-chart"]


def test_behind_a_record_without_items_is_what_leads_to_it() -> None:
    assert ids(WAYS.backward("mis-manifest")) == ["sel-2"]
    assert WAYS.backward("src-kin") == []
    assert WAYS.backward("nobody") == []


def test_what_passed_is_counted_between_stages() -> None:
    assert WAYS.passed("sources", "surface") == 11
    assert WAYS.passed("selection", "budget") == 7
    assert WAYS.passed("assembly", "injection") == 8


def test_a_circle_does_not_catch_the_walker() -> None:
    here = Origin("x")
    stages = (Stage("a", (Node("1", "1", "", here), Node("2", "2", "", here))),)
    ways = Ways(Flow(stages, (Link("1", "2", 1), Link("2", "1", 1), Link("1", "gone", 1))))
    assert ids(ways.backward("1")) == ["2"]
    assert ids(ways.onward("1")) == ["2"]
