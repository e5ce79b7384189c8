from __future__ import annotations

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens
from ctxview.state import Gap, Origin
from ctxview.tui.layout import Pane
from ctxview.tui.panes.missing import NOTHING_WAITS, MissingPane, by_what_waits, gap_line
from ctxview.tui.panes.rows import gap_order
from ctxview.tui.session_view import Look, Shown
from ctxview.tui.text import plain
from ctxview.tui.things import Index
from tests.tui.driving import driving
from tests.tui.handoff import GAPS, Handoff


def test_what_blocks_comes_first_and_what_is_settled_last() -> None:
    names = [gap.id for gap in sorted(GAPS, key=gap_order)]
    assert names == ["mis-manifest", "mis-deck", "mis-wind", "mis-bridge"]


def test_only_an_open_blocking_gap_is_loud() -> None:
    loud = [gap.id for gap in GAPS if any("blocking" in span.style.split() for span in gap_line(gap))]
    assert loud == ["mis-manifest"]


def test_gaps_stand_below_what_waits_for_them_the_worst_first() -> None:
    index = Index(Handoff().reading(0, Lens(ESTIMATES["bytes/3"])))
    page = MissingPane().draw(Shown(Look(0, 0), index), 200, len(GAPS))
    told = [plain(page.line(number)) for number in range(page.lines)]
    assert told[0] == "blocks send the list to the hospital · call the kin"
    assert told[1].split()[:3] == ["✖", "blocking", "mis-manifest"]
    assert told.index("blocks plan the tow") < told.index("blocks nothing in particular")
    assert told[-2] == "settled"


def test_a_block_that_is_missing_does_not_wait_for_itself() -> None:
    gap = Gap("work-1", "working memory", "warning", "hidden", ("work-1",), "decay", Origin("a.json"))
    assert by_what_waits([gap]) == {NOTHING_WAITS: (False, 3, True, 0)}


async def test_the_detail_tells_a_gap_whole() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("6")
        told = " ".join(drive.text(Pane.DETAIL).split())
        assert "✖ blocking · requested" in told
        assert "It blocks ⊘ send the list to the hospital ⊘ call the kin" in told
        assert "requested from the harbour office; look for manifest.pdf" in told
        assert "4, 1 blocking" in drive.screen_text()
