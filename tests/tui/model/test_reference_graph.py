"""The reference graph of a reading, and the screen that shows it."""

from __future__ import annotations

from threading import Thread, current_thread, main_thread

import pytest
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import Origin
from ctxview.core.state import Gap, Ref, RefStatus
from ctxview.formats import Lens, Reading
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex, message_id
from ctxview.tui.model.reference_graph import ReferenceEdge, ReferenceGraph
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.screens.reference_lines import edges_page, node_label
from ctxview.tui.screens.references import ReferencesScreen
from tests.tui.driver import driving
from tests.tui.fakes import FakeSource, block, memory
from tests.tui.handoff_story import Handoff
from tests.tui.snapshot_stories import night
from tests.tui.transcripts import FakeTranscript

A, B = ItemId(ItemKind.BLOCK, "a", "core"), ItemId(ItemKind.BLOCK, "b", "core")


def reading(*refs: Ref, gaps: tuple[Gap, ...] = ()) -> Reading:
    source = FakeSource([memory(core=[block("a", "one"), block("b", "two")])], refs=refs, missing=gaps)
    return source.reading(0, Lens(ESTIMATES["bytes/3"]))


def ref(id_: str, target: str, *users: str, kind: str = "ref", status: RefStatus = RefStatus.RESOLVED) -> Ref:
    return Ref(id_, kind, target, status, None, None, users, Origin("f"))


def ends(edges: object) -> list[tuple[str, str]]:
    assert isinstance(edges, list | tuple)
    return [(edge.start.name, edge.end.name) for edge in edges if isinstance(edge, ReferenceEdge)]


def test_a_reference_is_between_its_users_and_its_target() -> None:
    graph = ReadingIndex(reading(ref("r1", "store/blob-7", "a", status=RefStatus.DANGLING))).graph
    there = graph.node(ItemId(ItemKind.REF, "r1", "ref"))
    assert there is not None
    assert ends(graph.into(there)) == [("a", "r1")]
    assert ends(graph.out_of(there)) == [("r1", "store/blob-7")]
    assert [edge.status for edge in graph.out_of(A)] == [RefStatus.DANGLING]


def test_items_of_one_name_are_one_node() -> None:
    gap = Gap("a", "?", "error", "open", ("b",), "", Origin("f"))
    graph = ReadingIndex(reading(ref("a", "item a", "b", kind="item"), gaps=(gap,))).graph
    assert {item.kind for item in graph.items(A)} == {ItemKind.BLOCK, ItemKind.REF, ItemKind.GAP}
    assert graph.node(ItemId(ItemKind.GAP, "a")) == A
    assert ends(graph.into(A)) == [("b", "a")]
    assert ends(graph.out_of(A)) == [("a", "b")]  # what the gap blocks


def test_references_of_one_name_are_one_node_only_with_the_same_target() -> None:
    refs = (
        ref("c1", "one.log", "a"),
        ref("c1", "two.log", "b"),
        ref("out", "out", "a"),
        ref("out", "out", "b"),
    )
    graph = ReadingIndex(reading(*refs)).graph
    first, second = ItemId(ItemKind.REF, "c1", "ref"), ItemId(ItemKind.REF, "c1", "ref", 1)
    assert graph.node(first) != graph.node(second)
    assert ends(graph.into(second)) == [("b", "c1")]
    shared = graph.node(ItemId(ItemKind.REF, "out", "ref", 1))
    assert shared is not None
    assert ends(graph.into(shared)) == [("a", "out"), ("b", "out")]
    assert not graph.out_of(shared)


def test_a_path_leads_to_the_item_with_that_path_only() -> None:
    refs = ref("sha-1", "messages 1-2", kind="swap"), ref("r", "swap/sha-1", "a"), ref("q", "child/a", "b")
    graph = ReadingIndex(reading(*refs)).graph
    assert [edge.end.kind for edge in graph.out_of(ItemId(ItemKind.REF, "r", "ref"))] == [ItemKind.REF]
    assert [edge.end for edge in graph.out_of(ItemId(ItemKind.REF, "q", "ref"))] == [
        ItemId(ItemKind.NAME, "child/a")
    ]


def test_cited_messages_are_nodes_and_a_range_leads_to_each_message() -> None:
    base = reading(ref("a", "m:3", "a"), ref("b", "m:2-900000", "b"))
    state = replace(
        base.state,
        transcript=FakeTranscript(1_000_000),
        citations={"m:3": range(2, 3), "m:2-900000": range(1, 900_000)},
    )
    index = ReadingIndex(replace(base, state=state))
    graph = index.graph
    several = graph.out_of(B)[0].end
    assert node_label(several, index) == "messages 2–900,000"
    assert len(graph.out_of(several)) == 899_999
    assert graph.out_of(several)[1].end == message_id(2)
    assert [edge.start for edge in graph.into(message_id(2))] == [A, several]
    assert [edge.start for edge in graph.into(message_id(900_000))] == []


def test_links_of_the_flow_are_edges() -> None:
    index = ReadingIndex(Handoff().reading(0, Lens(ESTIMATES["bytes/3"])))
    flow = index.reading.state.flow
    assert flow is not None
    link = next(each for each in flow.links if each.start in index.flow_index.nodes)  # type: ignore[union-attr]
    start, end = (index.graph.node(index.node(each)) for each in (link.start, link.end))
    assert start is not None
    assert end in [edge.end for edge in index.graph.out_of(start)]


def test_thousands_of_neighbours_are_drawn_on_demand() -> None:
    index = ReadingIndex(reading(ref("r", "x", *(f"user-{at}" for at in range(5_000)))))
    node = index.graph.node(ItemId(ItemKind.REF, "r", "ref"))
    assert node is not None
    page = edges_page(index.graph.into(node), index, 60, [], into=True)
    assert page.rows == 5_000
    assert plain(page.line(4_999)).split() == ["user-4999", "ref", "✓", "→"]


async def test_the_references_screen_goes_forward_back_and_to_the_panes() -> None:
    async with driving(night(), size=(100, 30)) as drive:
        await drive.press("G", "k", "r")  # the block whose payload was found
        walk = drive.app.screen
        assert isinstance(walk, ReferencesScreen)
        assert walk.node.name == "lt-014"
        await drive.press("enter")
        assert walk.node == ItemId(ItemKind.NAME, "tag:lt-014")
        await drive.press("h", "enter")
        assert [walk.node.name, walk.trail(40)[-1].text] == ["lt-014", "lt-014"]  # around a cycle
        await drive.press("backspace", "escape", "o")
        assert isinstance(drive.app.screen, RawScreen)
        await drive.press("escape", "h", "j", "enter")
        assert drive.app.screen is drive.inspector
        assert drive.front is Pane.REFERENCES
        assert drive.selected == ItemId(ItemKind.REF, "lt-014", "tag_ref")
        await drive.press("4", "r")
        assert drive.app.screen is drive.inspector
        assert "A budget has no references." in drive.notices


async def test_the_graph_is_not_built_on_the_thread_of_the_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[Thread] = []
    build = ReferenceGraph.__init__

    def noted(self: ReferenceGraph, index: ReadingIndex) -> None:
        threads.append(current_thread())
        build(self, index)

    monkeypatch.setattr(ReferenceGraph, "__init__", noted)
    async with driving(night(), size=(100, 30)) as drive:
        await drive.press("G", "k", "r")
        assert isinstance(drive.app.screen, ReferencesScreen)
    assert threads
    assert main_thread() not in threads
