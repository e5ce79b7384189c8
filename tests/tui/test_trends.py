"""The past of blocks and budgets: what is read of it, and the small pictures drawn from it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens
from ctxview.tui import trends
from ctxview.tui.layout import Pane
from ctxview.tui.panes.budget import earlier
from ctxview.tui.panes.describe import describe
from ctxview.tui.session_view import Look, Shown
from ctxview.tui.sparks import gauge_spark, sight_spark, use_spark
from ctxview.tui.text import plain
from ctxview.tui.things import Index, Kind, Thing
from ctxview.tui.trends import Gauge, Moment, Trends, gather
from tests.tui.driving import driving
from tests.tui.fakes import FakeSource, block, memory

LENS = Lens(ESTIMATES["bytes/3"])
DECAYS = (0.1, 0.3, 0.5, 0.7, 0.7)


@dataclass
class Patience:
    """Waits for so many revisions."""

    left: int = 1000

    @property
    def cancelled(self) -> bool:
        self.left -= 1
        return self.left < 0

    def report(self, done: int, total: int, what: str) -> None:
        pass


def fading(decays: tuple[float, ...] = DECAYS) -> FakeSource:
    """A block of the working tier that fades until it is hidden, beside one that never changes."""
    return FakeSource(
        [
            memory(working=[block("a", "x" * 30 * (at + 1), decay=decay), block("b", "same")])
            for at, decay in enumerate(decays)
        ]
    )


def past_of(source: FakeSource) -> Trends:
    found = gather(source, LENS, len(source.documents) - 1, Patience())
    assert found is not None
    return Trends(0, None, 0, *found)


def told(source: FakeSource, revision: int, name: str, cells: int = 60) -> list[str]:
    index = Index(source.reading(revision, LENS))
    shown = Shown(Look(0, revision), index, trends=past_of(source))
    return [plain(line) for line in describe(Thing(Kind.BLOCK, name, "working"), shown, cells)]


def test_the_detail_draws_how_a_block_faded_and_since_when_it_is_hidden() -> None:
    lines = told(fading(), 4, "a")
    assert "decay      ▁▃▅▆▆ 0.1 → 0.7 since round 1" in lines
    assert "shown      ✓✓✓✗✗ not since round 4" in lines


def test_what_never_changed_is_a_rail_that_says_so() -> None:
    lines = told(fading(), 4, "b")
    assert "decay      ━━╸───────── 0.2 unchanged since round 1" in lines
    assert not any(line.startswith("shown") for line in lines)


def test_what_came_after_the_revision_looked_at_is_pale() -> None:
    source = fading()
    gauges = past_of(source).past(1, 0, "").gauges(next(source.reading(1, LENS).state.blocks()))
    line = gauge_spark(gauges, 1, 10, lambda gauge: gauge.decay, "decay")
    assert [(span.text, span.style) for span in line] == [
        ("▁", "decay.0"),
        ("▃", "decay.2"),
        ("▅▆▆", "faint"),
    ]
    assert "decay      ▁▃▅▆▆ 0.1 → 0.3 since round 1" in told(source, 1, "a")
    assert "shown      ✓✓✓✗✗ so far" in told(source, 1, "a")


def test_a_draft_is_compared_with_its_file_and_anything_else_with_the_revision_before() -> None:
    past = past_of(fading()).past(2, 0, "round 3")
    before, undrafted = past.before(draft=False), past.before(draft=True)
    assert before is not None
    assert undrafted is not None
    assert (before.label, undrafted.label) == ("round 2", "round 3")
    assert past_of(fading()).past(0, 0, "round 1").before(draft=False) is None


def test_after_another_look_all_that_is_known_was_before() -> None:
    past = past_of(fading()).past(4, seen=1, label="now")
    before = past.before(draft=False)
    assert before is not None
    assert before.label == "round 5"
    assert past.labels[-1] == "now"


def test_many_revisions_share_cells_and_the_present_keeps_its_own() -> None:
    uses = [*range(100)]
    assert plain(use_spark(uses, 99, 10)) == "▁▂▃▄▄▅▆▇██"
    hidden = [Gauge(None, None, True)] * 30 + [Gauge(None, None, False)] * 30
    assert plain(sight_spark(hidden, 59, 6)) == "✓✓✓✗✗✗"
    assert plain(sight_spark([*hidden[:5], None, *hidden[31:]], 2, 100)) == "✓✓✓✓✓ " + "✗" * 29


@pytest.mark.parametrize("most", [2, 3])
def test_only_the_latest_revisions_are_read(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(trends, "MOST", most)
    found = past_of(fading())
    assert [each.number for each in found.moments] == list(range(5 - most, 5))
    assert (found.covers(4), found.covers(0)) == (True, False)
    earlier = gather(fading(), LENS, 1, Patience())
    assert earlier is not None
    assert [each.number for each in earlier[0]] == [0, 1][-most:]


def test_reading_stops_when_nobody_waits_or_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    source = fading()
    assert gather(source, LENS, 4, Patience(2)) is None
    assert len(source.readings) == 2
    monkeypatch.setattr(trends, "LONGEST", -1.0)
    found = gather(source, LENS, 4, Patience())
    assert found is not None
    assert [each.number for each in found[0]] == [4]


def test_where_the_past_tells_nothing_only_one_revision_of_it_is_read() -> None:
    source = FakeSource([memory() for _ in range(9)], budgets=False)
    assert gather(source, LENS, 8, Patience()) == ((), True)
    assert len(source.readings) == 2


def test_revisions_beside_the_line_are_put_in_their_place() -> None:
    moments = tuple(Moment(number, f"r{number}", {}, {}, "") for number in (0, 2, 4))
    past = Trends(0, None, 0, moments).past(3, 0, "aside")
    assert past.labels == ["r0", "r2", "aside", "r4"]
    before = past.before(draft=True)
    assert before is not None
    assert before.label == "r2"


def test_a_draft_of_the_only_revision_is_held_against_its_file() -> None:
    source = FakeSource([memory(core=[block("a", "word " * 30), block("b", "same")])])
    drafted = FakeSource([memory(core=[block("b", "same")])]).reading(0, LENS)
    shown = Shown(Look(0, 0), Index(drafted), draft=True, trends=past_of(source))
    told = earlier(drafted.state.budgets[0], shown)
    assert told.label == "against the file"
    assert plain(told.change(drafted.state.budgets[0].segments[1])) == "↓50"


async def test_the_past_is_read_when_it_comes_into_sight_and_drawn() -> None:
    source = fading()
    async with driving(source, size=(80, 24)) as drive:
        known = len(source.readings)
        await drive.press("8")
        assert "▁▃▅▆▆ 0.1 → 0.7" in drive.text(Pane.DETAIL)
        await drive.press("4")
        assert "130 → 120 ▇██▇▇" in drive.text(Pane.BUDGET)
        assert len(source.readings) == known + len(DECAYS)
