"""Empty, loading, broken, huge and hostile sources in the inspector, and the mouse."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ctxview.formats import Lens, Reading, Source
from ctxview.formats.interface import AS_ON_DISK
from ctxview.tui.app import CtxviewApp
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.view_state import OpenProblem, ReadOptions
from ctxview.tui.panes import memory
from ctxview.tui.terminal import ControlFilter
from ctxview.tui.widgets.bars import KeyBar
from ctxview.tui.widgets.header import Header
from tests.running import LIMIT
from tests.tui.driver import Driver, driving
from tests.tui.fakes import FakeSource
from tests.tui.snapshot_stories import broken, empty, hostile, huge, night

SIZES = [(80, 24), (120, 36), (200, 60), (40, 12), (120, 20)]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_every_size_shows_the_memory_and_how_to_quit(size: tuple[int, int]) -> None:
    async with driving(night(), size=size) as drive:
        text = drive.screen_text()
        assert "Memory" in text
        assert "core-001" in text
        assert "back" in text
        for slot in drive.inspector.area.slots:
            region = drive.inspector.panes[slot.pane].region
            assert (region.x, region.y - 2, region.width, region.height) == (
                slot.x,
                slot.y,
                slot.width,
                slot.height,
            )


async def test_an_empty_memory_says_what_to_do() -> None:
    async with driving(empty()) as drive:
        assert "The memory is empty: no blocks in core, working" in drive.text(Pane.MEMORY)
        assert "Press a to add a block." in drive.text(Pane.MEMORY)
        assert "No findings" in drive.text(Pane.FINDINGS)
        assert "has no todo list" in drive.text(Pane.TODO)
        assert "has no budget" in drive.text(Pane.BUDGET)


async def test_a_path_that_cannot_be_opened_is_shown_with_the_reason() -> None:
    async with driving(OpenProblem(Path("x/y.json"), "line 3 column 9: a colon is missing")) as drive:
        assert "No source could be opened." in drive.screen_text()
        assert "line 3 column 9: a colon is missing" in drive.screen_text()


async def test_a_source_that_cannot_be_read_says_so_and_others_can_be_chosen() -> None:
    async with driving(broken(), night()) as drive:
        assert "Cannot be read: the disk is on fire" in drive.text(Pane.MEMORY)
        await drive.press("o")
        assert '"id": "core-001"' in drive.screen_text()
        await drive.press("escape", "H", "j", "enter")
        assert "core-001" in drive.text(Pane.MEMORY)


async def test_the_first_paint_does_not_wait_for_the_reading() -> None:
    released = threading.Event()

    class Slow(FakeSource):
        def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
            assert released.wait(LIMIT)
            return super().reading(revision, lens, overlay)

    def opener() -> Iterator[Source | OpenProblem]:
        yield Slow(night().documents)

    app = CtxviewApp(opener, ReadOptions("bytes/3"), watching=False)
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.wait_until(lambda: "reading…" in drive.screen_text(), "the header says reading…")
        assert "Reading…" in drive.screen_text()
        assert "reading…" in drive.screen_text()
        await pilot.press("j", "7", "2")
        released.set()
        await drive.settle()
        assert "core-001" in drive.screen_text()


async def test_an_estimate_comes_first_and_the_exact_count_replaces_it() -> None:
    source = night()
    async with driving(source, tokens="o200k_base") as drive:
        names = [lens.counter.name for lens in source.readings[:2]]
        assert names[0] == "bytes/4"
        assert names[1].startswith("o200k_base")
        assert "o200k, exact" in drive.screen_text()


async def test_only_visible_rows_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: set[str] = set()
    draw = memory.block_row

    def counting(row: memory.MemoryRow, *rest: object) -> object:
        drawn.add(row.block.id)
        return draw(row, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(memory, "block_row", counting)
    async with driving(huge(), size=(120, 36)) as drive:
        await drive.press("G", "space", "G")
        assert len(drawn) < 120
        assert drive.selected == ItemId(ItemKind.BLOCK, "long-01999", "longterm")


async def test_the_title_of_a_source_is_cut_at_its_end_only() -> None:
    long = night()
    long.title = "shop: Move refunds to the new ledger table and stop posting with the old code"
    async with driving(empty(), long, size=(120, 36)) as drive:
        await drive.press("H")
        await drive.wait_until(lambda: "shop: Move" in drive.text(Pane.SOURCES), "the second source")
        row = next(line for line in drive.text(Pane.SOURCES).splitlines() if "shop: Move" in line)
        assert "shop: Move refunds to the new" in row
        assert "old code" not in row


async def test_several_sources_are_a_tree_with_revisions() -> None:
    async with driving(night(), empty(), OpenProblem(Path("bad.json"), "not JSON")) as drive:
        text = drive.text(Pane.SOURCES)
        assert "kestrel/night" in text
        assert "✖ bad.json not JSON" in text
        await drive.press("H", "l", "j", "j", "enter")
        assert "round 2" in drive.text(Pane.SOURCES)
        assert drive.revision == 1
        await drive.press("h")
        assert "round 2" not in drive.text(Pane.SOURCES)
        await drive.press("j")
        assert "Enter opens it." in drive.text(Pane.DETAIL)
        await drive.press("k")
        assert "version: the system writes it" in drive.text(Pane.DETAIL)


async def test_hostile_text_has_no_effect() -> None:
    async with driving(hostile()) as drive:
        text = drive.screen_text()
        assert "\x1b" not in text
        assert "^[[31mALERT" in text
        assert "[@click=app.quit]y[/]" in drive.text(Pane.DETAIL)
        for pane in Pane:
            await drive.press(pane.key)
        await drive.press("2", "y", "o")


def test_the_control_filter_spells_out_control_characters() -> None:
    from rich.segment import Segment
    from textual.color import Color

    segments = [Segment("fine"), Segment("a\x1b]0;x\x07b\x9b")]
    assert [segment.text for segment in ControlFilter().apply(segments, Color(0, 0, 0))] == [
        "fine",
        "a^[]0;x^Gb<U+009B>",
    ]
    assert ControlFilter().apply(segments[:1], Color(0, 0, 0)) is not None


async def test_an_unexpected_error_does_not_print_file_contents(capsys: pytest.CaptureFixture[str]) -> None:
    async def raise_error() -> None:
        async with driving(hostile()) as drive:
            secret = "file \x1b[31m content"
            drive.inspector.call_later(lambda: {}[secret])
            await drive.pilot.pause()

    with pytest.raises(KeyError):
        await raise_error()
    text = capsys.readouterr().err
    assert "KeyError" in text
    assert "\x1b[31m content" not in text
    assert "locals" not in text


# -- the mouse ----------------------------------------------------------------------------------


async def test_a_click_selects_and_a_double_click_opens() -> None:
    async with driving(night()) as drive:
        await drive.pilot.click(drive.inspector.memory, offset=(8, 5))
        await drive.settle()
        assert drive.selected == ItemId(ItemKind.BLOCK, "core-003", "core")
        await drive.pilot.click(drive.inspector.memory, offset=(8, 5), times=2)
        await drive.settle()
        assert drive.front is Pane.DETAIL


async def test_headings_tabs_and_bars_can_be_clicked() -> None:
    async with driving(night()) as drive:
        heading = drive.screen_text().splitlines()[3].index("dec")
        await drive.pilot.click(drive.inspector.memory, offset=(heading, 1))
        await drive.settle()
        assert drive.inspector.model.sort == "decay"
        tab = drive.screen_text().splitlines()[1].index("Refs")
        await drive.pilot.click("#tabs", offset=(tab, 0))
        await drive.settle()
        assert drive.front is Pane.REFERENCES
        keys = drive.screen_text().splitlines()[-1]
        await drive.pilot.click(KeyBar, offset=(keys.index("filter"), 0))
        await drive.settle()
        assert drive.inspector.prompt is not None
        await drive.press("escape")
        header = drive.screen_text().splitlines()[0]
        await drive.pilot.click(Header, offset=(header.index("atom-0.17"), 0))
        await drive.settle()
        assert drive.inspector.model.profile == "strict"


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
