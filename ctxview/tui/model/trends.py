"""The trends of blocks and budgets over the revisions of a source, for sparklines. No toolkit.

Reading past revisions takes time, so only the latest ones are read, for a limited time; the values of the
selected revision come from the view.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from ctxview.core.figures import Figure
from ctxview.core.state import Block, Budget, ContextState
from ctxview.tui.model.jobs import Job, JobControl

if TYPE_CHECKING:
    from ctxview.formats import Lens, Revision, Source
    from ctxview.formats.interface import Progress
    from ctxview.tui.model.view_state import ReadingKey


MOST_REVISIONS = 60
"""Revisions that are read."""

MOST_GAUGES = 60_000
"""Gauges of all these revisions together."""

LONGEST_READ = 1.0
"""Seconds after which reading ends."""

BudgetKey: TypeAlias = tuple[str, str]
Value = TypeVar("Value")


class Gauge(NamedTuple):
    """The values of a block at one revision that are drawn."""

    figures: tuple[Figure, ...]
    visible: bool | None

    def figure(self, name: str) -> Figure | None:
        return next((each for each in self.figures if each.name == name), None)


class TrendPoint(Struct, frozen=True, eq=False):
    """The values of one revision: gauges by block id, the first of each id; budgets by target and unit."""

    number: int
    label: str
    gauges: Mapping[str, Gauge]
    budgets: Mapping[BudgetKey, Budget]
    counter: str


class Trends(Struct, frozen=True, eq=False):
    """The values of successive revisions, the earliest first; `seen` counts rereads as in `ReadingKey`.

    `whole` is False when there are earlier revisions that were not read.
    """

    source: int
    profile: str | None
    seen: int = 0
    points: tuple[TrendPoint, ...] = ()
    whole: bool = True

    def covers(self, revision: int) -> bool:
        return self.whole or not self.points or revision >= self.points[0].number

    def past(self, revision: int, seen: int, label: str) -> PastTrends:
        """The trends around `revision`. After a reread of the source, all known points come before it."""
        place = bisect_left(self.points, revision, key=lambda each: each.number)
        return PastTrends(self.points, place if seen == self.seen else len(self.points), revision, label)


class PastTrends(Struct, frozen=True):
    """The points before and after the selected revision, which may itself be the point at `place`."""

    points: tuple[TrendPoint, ...]
    place: int
    revision: int
    label: str

    def gauges(self, block: Block) -> list[Gauge | None]:
        """The gauges of `block` at all points, with its present values at `place`."""
        return self._with_present([each.gauges.get(block.id) for each in self.points], gauge_of(block))

    def uses(self, budget: Budget) -> list[int | None]:
        """The use of `budget` at all points, with its present use at `place`."""
        known = (each.budgets.get(budget.key) for each in self.points)
        return self._with_present([each.used if each is not None else None for each in known], budget.used)

    @property
    def labels(self) -> list[str]:
        return [each or "" for each in self._with_present([each.label for each in self.points], self.label)]

    def before(self, *, draft: bool) -> TrendPoint | None:
        """The point to compare with: the one before, or for a draft the same revision without the draft."""
        place = self.place if draft and self._is_known else self.place - 1
        return self.points[place] if place >= 0 else None

    @property
    def _is_known(self) -> bool:
        return self.place < len(self.points) and self.points[self.place].number == self.revision

    def _with_present(self, values: list[Value | None], now: Value | None) -> list[Value | None]:
        return [*values[: self.place], now, *values[self.place + self._is_known :]]


def gauge_of(block: Block) -> Gauge:
    """The figures that are drawn as gauges, and whether the block is shown."""
    return Gauge(tuple(each for each in block.figures if each.scale is not None), block.visible)


def trend_point(number: int, label: str, state: ContextState) -> TrendPoint:
    gauges: dict[str, Gauge] = {}
    for block in state.blocks():
        gauge = gauge_of(block)
        if gauge.figures or gauge.visible is not None:
            gauges.setdefault(block.id, gauge)
    budgets: dict[BudgetKey, Budget] = {}
    for budget in state.budgets:
        budgets.setdefault(budget.key, budget)
    return TrendPoint(number, label, gauges, budgets, state.counts.estimator)


def read_trends(
    source: Source, lens: Lens, through: int, progress: Progress
) -> tuple[tuple[TrendPoint, ...], bool] | None:
    """Read the revisions that lead to the newest one, and say whether they are all; None when cancelled.

    When `through` is earlier than all of them, read those that lead to it. Returns no points when two
    revisions have nothing in common that could be drawn.
    """
    revisions = source.revisions
    line = list(_back_from(revisions, len(revisions) - 1))
    if line[-1] > through:
        line = list(_back_from(revisions, through))
    points: list[TrendPoint] = []
    gauges, spent = 0, 0.0
    for number in line:
        if progress.cancelled:
            return None
        begun = monotonic()
        state = source.reading(number, lens).state
        spent += monotonic() - begun
        points.append(trend_point(number, revisions[number].label, state))
        gauges += len(points[-1].gauges)
        if len(points) == 2 and not _comparable(*points):
            return (), True
        if gauges > MOST_GAUGES or spent > LONGEST_READ:
            break
    return tuple(reversed(points)), len(points) == len(line) < MOST_REVISIONS


class ReadTrends(Job, frozen=True, eq=False):
    """Read the trends with the counter of the view, since counts of two counters cannot be compared."""

    group: ClassVar[str] = "reading the past"
    source: Source
    key: ReadingKey

    def run(self, control: JobControl) -> Trends | None:
        key = self.key
        found = read_trends(self.source, key.lens(trial=False), key.revision, control)
        return Trends(key.source, key.profile, key.seen, *found) if found is not None else None


def _back_from(revisions: Sequence[Revision], number: int) -> Iterator[int]:
    from ctxview.formats.revisions import previous_revision

    place: int | None = number
    for _ in range(MOST_REVISIONS):
        if place is None:
            return
        yield place
        place = previous_revision(revisions, place)


def _comparable(now: TrendPoint, earlier: TrendPoint) -> bool:
    """Whether the earlier revision has a gauge, or both have the first budget."""
    first = next(iter(now.budgets), None)
    return any(each.figures for each in earlier.gauges.values()) or first in earlier.budgets
