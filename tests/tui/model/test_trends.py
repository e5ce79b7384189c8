"""The trends of blocks and budgets: which revisions are read, and the sparklines."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens
from ctxview.tui.drawing.glyphs import gauge_spark, use_spark, visibility_spark
from ctxview.tui.drawing.text import plain
from ctxview.tui.model import trends
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex
from ctxview.tui.model.trends import Gauge, TrendPoint, Trends, read_trends
from ctxview.tui.model.view_state import ReadingKey, ViewState
from ctxview.tui.panes.budget import budget_history
from ctxview.tui.panes.detail_text import detail_lines
from tests.tui.driver import driving
from tests.tui.fakes import FakeSource, block, memory

LENS = Lens(ESTIMATES["bytes/3"])
DECAYS = (0.1, 0.3, 0.5, 0.7, 0.7)


@dataclass
class CountdownProgress:
    """A `Progress` that is cancelled after `left` revisions."""

    left: int = 1000

    @property
    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0

    def report(self, done: int, total: int, what: str) -> None:
        pass


def fading(decays: tuple[float, ...] = DECAYS) -> FakeSource:
    """A block of the working tier that decays until it is hidden, beside one that never changes."""
    return FakeSource(
        [
            memory(working=[block("a", "x" * 30 * (at + 1), decay=decay), block("b", "same")])
            for at, decay in enumerate(decays)
        ]
    )


def trends_of(source: FakeSource) -> Trends:
    found = read_trends(source, LENS, len(source.documents) - 1, CountdownProgress())
    assert found is not None
    return Trends(0, None, 0, *found)


def detail(source: FakeSource, revision: int, name: str, cells: int = 60) -> list[str]:
    index = ReadingIndex(source.reading(revision, LENS))
    view = ViewState(ReadingKey(0, revision), index, trends=trends_of(source))
    return [plain(line) for line in detail_lines(ItemId(ItemKind.BLOCK, name, "working"), view, cells)]


def test_the_detail_draws_the_decay_of_a_block_and_since_when_it_is_hidden() -> None:
    lines = detail(fading(), 4, "a")
    assert "decay      ▁▃▅▆▆ 0.1 → 0.7 since round 1" in lines
    assert "shown      ●●●○○ hidden since round 4" in lines


def test_an_unchanged_value_is_a_gauge_with_a_note() -> None:
    lines = detail(fading(), 4, "b")
    assert "decay      ━━╸───────── 0.2 unchanged since round 1" in lines
    assert not any(line.startswith("shown") for line in lines)


def test_points_after_the_selected_revision_are_faint() -> None:
    source = fading()
    gauges = trends_of(source).past(1, 0, "").gauges(next(source.reading(1, LENS).state.blocks()))
    line = gauge_spark(gauges, 1, 10, "decay")
    assert [(span.text, span.style) for span in line] == [
        ("▁", "decay.0"),
        ("▃", "decay.2"),
        ("▅▆▆", "faint"),
    ]
    assert "decay      ▁▃▅▆▆ 0.1 → 0.3 since round 1" in detail(source, 1, "a")
    assert "shown      ●●●○○ so far" in detail(source, 1, "a")


def test_a_draft_is_compared_with_its_file_and_a_revision_with_the_previous_one() -> None:
    past = trends_of(fading()).past(2, 0, "round 3")
    before, undrafted = past.before(draft=False), past.before(draft=True)
    assert before is not None
    assert undrafted is not None
    assert (before.label, undrafted.label) == ("round 2", "round 3")
    assert trends_of(fading()).past(0, 0, "round 1").before(draft=False) is None


def test_after_a_reread_all_known_points_are_earlier() -> None:
    past = trends_of(fading()).past(4, seen=1, label="now")
    before = past.before(draft=False)
    assert before is not None
    assert before.label == "round 5"
    assert past.labels[-1] == "now"


def test_many_revisions_share_cells_and_the_selected_one_has_its_own() -> None:
    uses = [*range(100)]
    assert plain(use_spark(uses, 99, 10)) == "▁▂▃▄▄▅▆▇██"
    hidden = [Gauge((), True)] * 30 + [Gauge((), False)] * 30
    assert plain(visibility_spark(hidden, 59, 6)) == "●●●○○○"
    assert plain(visibility_spark([*hidden[:5], None, *hidden[31:]], 2, 100)) == "●●●●● " + "○" * 29


@pytest.mark.parametrize("most", [2, 3])
def test_only_the_latest_revisions_are_read(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(trends, "MOST_REVISIONS", most)
    found = trends_of(fading())
    assert [each.number for each in found.points] == list(range(5 - most, 5))
    assert (found.covers(4), found.covers(0)) == (True, False)
    earlier = read_trends(fading(), LENS, 1, CountdownProgress())
    assert earlier is not None
    assert [each.number for each in earlier[0]] == [0, 1][-most:]


def test_reading_stops_when_cancelled_or_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    source = fading()
    assert read_trends(source, LENS, 4, CountdownProgress(2)) is None
    assert len(source.readings) == 2
    monkeypatch.setattr(trends, "LONGEST_READ", -1.0)
    found = read_trends(source, LENS, 4, CountdownProgress())
    assert found is not None
    assert [each.number for each in found[0]] == [4]


def test_without_comparable_values_only_two_revisions_are_read() -> None:
    source = FakeSource([memory() for _ in range(9)], budgets=False)
    assert read_trends(source, LENS, 8, CountdownProgress()) == ((), True)
    assert len(source.readings) == 2


def test_a_revision_outside_the_line_is_put_in_its_place() -> None:
    points = tuple(TrendPoint(number, f"r{number}", {}, {}, "") for number in (0, 2, 4))
    past = Trends(0, None, 0, points).past(3, 0, "aside")
    assert past.labels == ["r0", "r2", "aside", "r4"]
    before = past.before(draft=True)
    assert before is not None
    assert before.label == "r2"


def test_a_draft_of_the_only_revision_is_compared_with_its_file() -> None:
    source = FakeSource([memory(core=[block("a", "word " * 30), block("b", "same")])])
    drafted = FakeSource([memory(core=[block("b", "same")])]).reading(0, LENS)
    view = ViewState(ReadingKey(0, 0), ReadingIndex(drafted), draft=True, trends=trends_of(source))
    history = budget_history(drafted.state.budgets[0], view)
    assert history.label == "against the file"
    assert plain(history.change(drafted.state.budgets[0].segments[1])) == "↓50"


async def test_trends_are_read_and_drawn_when_a_pane_shows_them() -> None:
    source = fading()
    async with driving(source, size=(80, 24)) as drive:
        known = len(source.readings)
        await drive.press("8")
        assert "▁▃▅▆▆ 0.1 → 0.7" in drive.text(Pane.DETAIL)
        await drive.press("4")
        assert "130 → 120 ▇██▇▇" in drive.text(Pane.BUDGET)
        assert len(source.readings) == known, "the overview has read them"
