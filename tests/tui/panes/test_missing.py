from __future__ import annotations

from ctxview.analysis.gaps import gap_order
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import Origin
from ctxview.core.state import Gap
from ctxview.formats import Lens
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ReadingIndex
from ctxview.tui.model.view_state import ReadingKey, ViewState
from ctxview.tui.panes.missing import NOTHING_BLOCKED, MissingPane, gap_line, group_urgency
from tests.tui.driver import driving
from tests.tui.handoff_story import GAPS, Handoff


def test_blocking_gaps_come_first_and_settled_gaps_last() -> None:
    names = [gap.id for gap in sorted(GAPS, key=gap_order)]
    assert names == ["mis-manifest", "mis-deck", "mis-wind", "mis-bridge"]


def test_only_an_open_blocking_gap_is_highlighted() -> None:
    highlighted = [gap.id for gap in GAPS if any("blocking" in span.style.split() for span in gap_line(gap))]
    assert highlighted == ["mis-manifest"]


def test_gaps_are_grouped_by_what_they_block_the_worst_first() -> None:
    index = ReadingIndex(Handoff().reading(0, Lens(ESTIMATES["bytes/3"])))
    page = MissingPane(InspectorModel()).draw(ViewState(ReadingKey(0, 0), index), 200, len(GAPS))
    lines = [plain(page.line(number)) for number in range(page.lines)]
    assert lines[0] == "needed by send the list to the hospital · call the kin"
    assert lines[1].split()[:3] == ["✖", "blocking", "mis-manifest"]
    assert lines.index("needed by plan the tow") < lines.index("needed by nothing")
    assert lines[-2] == "settled"


def test_a_missing_block_does_not_block_itself() -> None:
    gap = Gap("work-1", "working memory", "warning", "hidden", ("work-1",), "decay", Origin("a.json"))
    assert group_urgency([gap]) == {NOTHING_BLOCKED: (False, 3, True, 0)}


async def test_the_detail_shows_all_of_a_gap() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("6")
        text = " ".join(drive.text(Pane.DETAIL).split())
        assert "✖ blocking · requested" in text
        assert "It blocks ⊘ send the list to the hospital ⊘ call the kin" in text
        assert "requested from the harbour office; look for manifest.pdf" in text
        assert "4, 1 blocking" in drive.screen_text()
