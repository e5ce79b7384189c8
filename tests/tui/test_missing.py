from __future__ import annotations

from ctxview.tui.layout import Pane
from ctxview.tui.panes.missing import gap_line
from ctxview.tui.panes.rows import gap_order
from ctxview.tui.text import plain
from tests.tui.driving import driving
from tests.tui.handoff import GAPS, Handoff


def test_what_blocks_comes_first_and_what_is_settled_last() -> None:
    names = [gap.id for gap in sorted(GAPS, key=gap_order)]
    assert names == ["mis-manifest", "mis-deck", "mis-wind", "mis-bridge"]


def test_only_an_open_blocking_gap_is_loud() -> None:
    loud = [gap.id for gap in GAPS if any("blocking" in span.style.split() for span in gap_line(gap))]
    assert loud == ["mis-manifest"]


def test_a_row_tells_how_it_stands_and_what_waits_for_it() -> None:
    row = next(plain(gap_line(gap)) for gap in GAPS if gap.id == "mis-deck")
    assert row.startswith("✖ high mis-deck waiting Which cars stand on the lower deck? blocks plan the tow")


async def test_the_detail_tells_a_gap_whole() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("6")
        told = " ".join(drive.text(Pane.DETAIL).split())
        assert "✖ blocking · requested" in told
        assert "It blocks ✗ send the list to the hospital ✗ call the kin" in told
        assert "requested from the harbour office; look for manifest.pdf" in told
        assert "4, 1 blocking" in drive.screen_text()
