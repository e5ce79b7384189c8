"""What points where, from the neutral state alone, and the screen one walks it on."""

from __future__ import annotations

from dataclasses import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, Reading
from ctxview.state import Gap, Origin, Ref, RefStatus
from ctxview.tui.graph import Way
from ctxview.tui.layout import Pane
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.screens.walk import WalkScreen
from ctxview.tui.text import plain
from ctxview.tui.things import Index, Kind, Thing, message
from ctxview.tui.widgets.way_lines import label, ways_page
from tests.tui.driving import driving
from tests.tui.fakes import FakeSource, block, memory
from tests.tui.handoff import Handoff
from tests.tui.stories import night
from tests.tui.transcripts import FakeTranscript

A, B = Thing(Kind.BLOCK, "a", "core"), Thing(Kind.BLOCK, "b", "core")


def reading(*refs: Ref, gaps: tuple[Gap, ...] = ()) -> Reading:
    source = FakeSource([memory(core=[block("a", "one"), block("b", "two")])], refs=refs, missing=gaps)
    return source.reading(0, Lens(ESTIMATES["bytes/3"]))


def ref(id_: str, target: str, *users: str, kind: str = "ref", status: RefStatus = RefStatus.RESOLVED) -> Ref:
    return Ref(id_, kind, target, status, None, None, users, Origin("f"))


def ends(ways: object) -> list[tuple[str, str]]:
    assert isinstance(ways, list | tuple)
    return [(way.start.name, way.end.name) for way in ways if isinstance(way, Way)]


def test_a_reference_stands_between_who_uses_it_and_what_it_leads_to() -> None:
    graph = Index(reading(ref("r1", "store/blob-7", "a", status=RefStatus.DANGLING))).graph
    there = graph.stop(Thing(Kind.REF, "r1", "ref"))
    assert there is not None
    assert ends(graph.into(there)) == [("a", "r1")]
    assert ends(graph.out_of(there)) == [("r1", "store/blob-7")]
    assert [way.status for way in graph.out_of(A)] == [RefStatus.DANGLING]


def test_what_goes_by_one_name_is_one_stop() -> None:
    gap = Gap("a", "?", "error", "open", ("b",), "", Origin("f"))
    graph = Index(reading(ref("a", "item a", "b", kind="item"), gaps=(gap,))).graph
    assert {thing.kind for thing in graph.things(A)} == {Kind.BLOCK, Kind.REF, Kind.GAP}
    assert graph.stop(Thing(Kind.GAP, "a")) == A
    assert ends(graph.into(A)) == [("b", "a")]
    assert ends(graph.out_of(A)) == [("a", "b")]  # what the gap blocks


def test_references_of_one_name_are_apart_unless_they_lead_to_the_same_place() -> None:
    refs = (
        ref("c1", "one.log", "a"),
        ref("c1", "two.log", "b"),
        ref("out", "out", "a"),
        ref("out", "out", "b"),
    )
    graph = Index(reading(*refs)).graph
    first, second = Thing(Kind.REF, "c1", "ref"), Thing(Kind.REF, "c1", "ref", 1)
    assert graph.stop(first) != graph.stop(second)
    assert ends(graph.into(second)) == [("b", "c1")]
    shared = graph.stop(Thing(Kind.REF, "out", "ref", 1))
    assert shared is not None
    assert ends(graph.into(shared)) == [("a", "out"), ("b", "out")]
    assert not graph.out_of(shared)


def test_a_path_leads_to_what_stands_there_and_to_no_namesake() -> None:
    refs = ref("sha-1", "messages 1-2", kind="swap"), ref("r", "swap/sha-1", "a"), ref("q", "child/a", "b")
    graph = Index(reading(*refs)).graph
    assert [way.end.kind for way in graph.out_of(Thing(Kind.REF, "r", "ref"))] == [Kind.REF]
    assert [way.end for way in graph.out_of(Thing(Kind.REF, "q", "ref"))] == [Thing(Kind.NAME, "child/a")]


def test_cited_messages_are_stops_and_a_range_of_them_leads_to_each() -> None:
    told = reading(ref("a", "m:3", "a"), ref("b", "m:2-900000", "b"))
    state = replace(
        told.state,
        transcript=FakeTranscript(1_000_000),
        citations={"m:3": range(2, 3), "m:2-900000": range(1, 900_000)},
    )
    index = Index(replace(told, state=state))
    graph = index.graph
    several = graph.out_of(B)[0].end
    assert label(several, index) == "messages 2–900,000"
    assert len(graph.out_of(several)) == 899_999
    assert graph.out_of(several)[1].end == message(2)
    assert [way.start for way in graph.into(message(2))] == [A, several]
    assert [way.start for way in graph.into(message(900_000))] == []


def test_the_way_things_took_is_walked_where_no_reference_says_so() -> None:
    index = Index(Handoff().reading(0, Lens(ESTIMATES["bytes/3"])))
    flow = index.reading.state.flow
    assert flow is not None
    link = next(each for each in flow.links if each.start in index.ways.nodes)  # type: ignore[union-attr]
    start, end = (index.graph.stop(index.node(each)) for each in (link.start, link.end))
    assert start is not None
    assert end in [way.end for way in index.graph.out_of(start)]


def test_thousands_of_neighbours_are_drawn_as_they_come_into_sight() -> None:
    index = Index(reading(ref("r", "x", *(f"user-{at}" for at in range(5_000)))))
    stop = index.graph.stop(Thing(Kind.REF, "r", "ref"))
    assert stop is not None
    page = ways_page(index.graph.into(stop), index, 60, [], into=True)
    assert page.rows == 5_000
    assert plain(page.line(4_999)).split() == ["user-4999", "ref", "✓", "→"]


async def test_a_walk_goes_there_and_back_and_into_the_panes() -> None:
    async with driving(night(), size=(100, 30)) as drive:
        await drive.press("G", "k", "r")  # the block whose payload was found
        walk = drive.app.screen
        assert isinstance(walk, WalkScreen)
        assert walk.stop.name == "lt-014"
        await drive.press("enter")
        assert walk.stop == Thing(Kind.NAME, "tag:lt-014")
        await drive.press("h", "enter")
        assert [walk.stop.name, walk.trail(40)[-1].text] == ["lt-014", "lt-014"]  # round in a circle
        await drive.press("backspace", "escape", "o")
        assert isinstance(drive.app.screen, RawScreen)
        await drive.press("escape", "h", "j", "enter")
        assert drive.app.screen is drive.inspector
        assert drive.front is Pane.REFERENCES
        assert drive.selected == Thing(Kind.REF, "lt-014", "tag_ref")
        await drive.press("4", "r")
        assert drive.app.screen is drive.inspector
        assert any("points to a budget" in told for told in drive.notices)
