"""Empty, loading, broken, huge and hostile are designed states; the mouse does what the keys do."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from ctxview.formats import Lens, Reading, Source
from ctxview.formats.interface import AS_ON_DISK
from ctxview.tui.app import CtxviewApp
from ctxview.tui.filters import Guard
from ctxview.tui.layout import Pane
from ctxview.tui.loading import Manner
from ctxview.tui.panes import memory
from ctxview.tui.session_view import Problem, Sort
from ctxview.tui.things import Kind, Thing
from ctxview.tui.widgets.header import Header
from ctxview.tui.widgets.key_bar import KeyBar
from ctxview.tui.widgets.timeline import Timeline
from tests.tui.driving import Driver, driving
from tests.tui.fakes import FakeSource
from tests.tui.stories import broken, empty, hostile, huge, night

SIZES = [(80, 24), (120, 36), (200, 60), (40, 12), (120, 20)]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_every_size_shows_the_memory_and_the_way_out(size: tuple[int, int]) -> None:
    async with driving(night(), size=size) as drive:
        told = drive.screen_text()
        assert "Memory" in told
        assert "core-001" in told
        assert "quit" in told
        for slot in drive.inspector.deck.slots:
            region = drive.inspector.panes[slot.shown].region
            assert (region.x, region.y - 1, region.width, region.height) == (
                slot.x,
                slot.y,
                slot.width,
                slot.height,
            )


async def test_an_empty_memory_says_what_to_do() -> None:
    async with driving(empty()) as drive:
        assert "The memory is empty: nothing in core, working" in drive.text(Pane.MEMORY)
        assert "Press a to add a block." in drive.text(Pane.MEMORY)
        assert "No findings" in drive.text(Pane.FINDINGS)
        assert "keeps no todo list" in drive.text(Pane.TODO)
        assert "states no budget" in drive.text(Pane.BUDGET)


async def test_nothing_that_can_be_opened_is_told_with_the_reason() -> None:
    async with driving(Problem(Path("x/y.json"), "line 3 column 9: a colon is missing")) as drive:
        assert "Nothing here could be opened." in drive.screen_text()
        assert "line 3 column 9: a colon is missing" in drive.screen_text()


async def test_a_source_that_cannot_be_read_is_told_and_others_can_be_chosen() -> None:
    async with driving(broken(), night()) as drive:
        assert "This could not be read: the disk is on fire" in drive.text(Pane.MEMORY)
        await drive.press("o")
        assert '"id": "core-001"' in drive.screen_text()
        await drive.press("escape", "1", "j", "enter")
        assert "core-001" in drive.text(Pane.MEMORY)


async def test_the_first_paint_does_not_wait_for_the_reading() -> None:
    held = threading.Event()

    class Slow(FakeSource):
        def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
            held.wait(10)
            return super().reading(revision, lens, overlay)

    def opener() -> Iterator[Source | Problem]:
        yield Slow(night().documents)

    app = CtxviewApp(opener, Manner("bytes/3"), watching=False)
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        while drive.inspector.header.status != "reading…":
            await pilot.pause(0.01)
        await pilot.pause()
        assert "Reading…" in drive.screen_text()
        assert "reading…" in drive.screen_text()
        await pilot.press("j", "7", "2")
        held.set()
        await drive.settle()
        assert "core-001" in drive.screen_text()


async def test_an_estimate_comes_first_and_the_exact_count_replaces_it() -> None:
    source = night()
    async with driving(source, tokens="o200k_base") as drive:
        names = [lens.counter.name for lens in source.readings[:2]]
        assert names[0] == "bytes/4"
        assert names[1].startswith("o200k_base")
        assert "o200k exact" in drive.screen_text()


async def test_only_rows_in_sight_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: set[str] = set()
    draw = memory._cells

    def counting(block: object, *rest: object, **more: object) -> object:
        drawn.add(block.id)  # type: ignore[attr-defined]
        return draw(block, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(memory, "_cells", counting)
    async with driving(huge(), size=(120, 36)) as drive:
        await drive.press("G")
        assert len(drawn) < 120
        assert drive.selected == Thing(Kind.BLOCK, "long-01999", "longterm")


async def test_several_sources_are_a_tree_with_revisions() -> None:
    async with driving(night(), empty(), Problem(Path("bad.json"), "not JSON")) as drive:
        told = drive.text(Pane.SOURCES)
        assert "kestrel/night" in told
        assert "✖ bad.json not JSON" in told
        await drive.press("1", "l", "j", "j", "enter")
        assert "round 2" in drive.text(Pane.SOURCES)
        assert drive.inspector.view.look.revision == 1
        await drive.press("h")
        assert "round 2" not in drive.text(Pane.SOURCES)
        await drive.press("j")
        assert "Enter opens it." in drive.text(Pane.DETAIL)
        await drive.press("k")
        assert "version: the system writes it" in drive.text(Pane.DETAIL)


async def test_hostile_text_is_only_shown() -> None:
    async with driving(hostile()) as drive:
        told = drive.screen_text()
        assert "\x1b" not in told
        assert "^[[31mALERT" in told
        assert "[@click=app.quit]y[/]" in drive.text(Pane.DETAIL)
        for pane in Pane:
            await drive.press(pane.key)
        await drive.press("2", "y", "o")


async def test_a_text_without_memory_takes_the_main_place() -> None:
    source = replace(empty(), text="first line\nsecond line", documents=empty().documents)
    async with driving(source) as drive:
        slot = max(drive.inspector.deck.slots, key=lambda slot: slot.width * slot.height)
        assert slot.shown is Pane.TEXT
        assert "second line" in drive.screen_text()


def test_the_guard_spells_out_what_slipped_through() -> None:
    from rich.segment import Segment
    from textual.color import Color

    segments = [Segment("fine"), Segment("a\x1b]0;x\x07b\x9b")]
    assert [segment.text for segment in Guard().apply(segments, Color(0, 0, 0))] == [
        "fine",
        "a^[]0;x^Gb<U+009B>",
    ]
    assert Guard().apply(segments[:1], Color(0, 0, 0)) is not None


async def test_what_nobody_foresaw_ends_without_spilling_contents(capsys: pytest.CaptureFixture[str]) -> None:
    async def stumble() -> None:
        async with driving(hostile()) as drive:
            secret = "file \x1b[31m content"
            drive.inspector.call_later(lambda: {}[secret])
            await drive.pilot.pause()

    with pytest.raises(KeyError):
        await stumble()
    told = capsys.readouterr().err
    assert "KeyError" in told
    assert "\x1b[31m content" not in told
    assert "locals" not in told


# -- the mouse ----------------------------------------------------------------------------------


async def test_a_click_selects_and_a_double_click_opens() -> None:
    async with driving(night()) as drive:
        await drive.pilot.click(drive.inspector.memory, offset=(8, 4))
        await drive.settle()
        assert drive.selected == Thing(Kind.BLOCK, "core-003", "core")
        await drive.pilot.click(drive.inspector.memory, offset=(8, 4), times=2)
        await drive.settle()
        assert drive.front is Pane.DETAIL


async def test_headings_tabs_bars_and_beads_can_be_clicked() -> None:
    async with driving(night()) as drive:
        await drive.pilot.click(drive.inspector.memory, offset=(41, 1))
        await drive.settle()
        assert drive.inspector.view.sort is Sort.DECAY
        findings = drive.inspector.panes[Pane.FINDINGS]
        tab = drive.screen_text().splitlines()[findings.region.y].index("References") - findings.region.x
        await drive.pilot.click(findings, offset=(tab, 0))
        await drive.settle()
        assert drive.front is Pane.REFERENCES
        await drive.pilot.click(Timeline, offset=(4, 0))
        await drive.settle()
        assert drive.inspector.view.look.revision == 0
        keys = drive.screen_text().splitlines()[-1]
        await drive.pilot.click(KeyBar, offset=(keys.index("filter"), 0))
        await drive.settle()
        assert drive.inspector.prompt is not None
        await drive.press("escape")
        header = drive.screen_text().splitlines()[0]
        await drive.pilot.click(Header, offset=(header.index("✖"), 0))
        await drive.settle()
        assert drive.front is Pane.FINDINGS


async def test_the_wheel_and_the_rail_scroll() -> None:
    async with driving(huge(300)) as drive:
        memory_pane = drive.inspector.memory
        await drive.pilot._post_mouse_events([_wheel()], memory_pane, offset=(5, 5), button=0)
        await drive.settle()
        assert memory_pane.scroll_y == 3
        rail = memory_pane.outer_size.width - 2
        await drive.pilot.mouse_down(memory_pane, offset=(rail, memory_pane.outer_size.height - 2))
        await drive.pilot.mouse_up(memory_pane, offset=(rail, memory_pane.outer_size.height - 2))
        await drive.settle()
        assert memory_pane.scroll_y == memory_pane.max_scroll_y


def _wheel() -> type:
    from textual.events import MouseScrollDown

    return MouseScrollDown
