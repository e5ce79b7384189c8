"""How blocks and budgets went over the revisions of a source, for small pictures. Knows no screen.

Readings of past revisions cost time, so that only the latest are read, and no longer than a person would
notice; what is looked at now is taken from what is shown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from ctxview.quick_dataclass import dataclass
from ctxview.state import Block, Budget, ContextState

if TYPE_CHECKING:
    from ctxview.formats import Lens, Revision, Source
    from ctxview.formats.interface import Progress

MOST = 60
"""Revisions that are read."""

MOST_GAUGES = 60_000
"""Blocks of all these revisions together."""

LONGEST = 1.0
"""Seconds of reading after which what was found is enough."""

BudgetKey: TypeAlias = tuple[str, str]
Value = TypeVar("Value")


class Gauge(NamedTuple):
    """What is drawn of a block at one revision."""

    decay: float | None
    confidence: float | None
    visible: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """One revision: gauges by the id of the block, the first of each; budgets by target and unit."""

    number: int
    label: str
    gauges: Mapping[str, Gauge]
    budgets: Mapping[BudgetKey, Budget]
    counter: str


@dataclass(frozen=True, slots=True, eq=False)
class Trends:
    """Moments that go on from each other, the earliest first; `seen` says at which look at the source.

    `whole` is False where there are earlier ones that were not read.
    """

    source: int
    profile: str | None
    seen: int = 0
    moments: tuple[Moment, ...] = ()
    whole: bool = True

    def covers(self, revision: int) -> bool:
        return self.whole or not self.moments or revision >= self.moments[0].number

    def past(self, revision: int, seen: int, label: str) -> Past:
        """What led to a revision. At a later look at the source all that is known was before."""
        place = bisect_left(self.moments, revision, key=lambda each: each.number)
        return Past(self.moments, place if seen == self.seen else len(self.moments), revision, label)


@dataclass(frozen=True, slots=True)
class Past:
    """Moments before and after one that is looked at, and may itself be among them at its place."""

    moments: tuple[Moment, ...]
    place: int
    revision: int
    label: str

    def gauges(self, block: Block) -> list[Gauge | None]:
        """How a block was at every moment, with what it is now at its place."""
        return self._with_present([each.gauges.get(block.id) for each in self.moments], gauge_of(block))

    def uses(self, budget: Budget) -> list[int | None]:
        """How much of a budget was used at every moment, with what is used now at its place."""
        known = (each.budgets.get(key_of(budget)) for each in self.moments)
        return self._with_present([each.used if each is not None else None for each in known], budget.used)

    @property
    def labels(self) -> list[str]:
        return [each or "" for each in self._with_present([each.label for each in self.moments], self.label)]

    def before(self, *, draft: bool) -> Moment | None:
        """What the present is to be compared with: the moment before, or for a draft the same undrafted."""
        place = self.place if draft and self._is_known else self.place - 1
        return self.moments[place] if place >= 0 else None

    @property
    def _is_known(self) -> bool:
        return self.place < len(self.moments) and self.moments[self.place].number == self.revision

    def _with_present(self, told: list[Value | None], now: Value | None) -> list[Value | None]:
        return [*told[: self.place], now, *told[self.place + self._is_known :]]


def key_of(budget: Budget) -> BudgetKey:
    return budget.target, budget.unit


def gauge_of(block: Block) -> Gauge:
    return Gauge(block.decay, block.confidence, block.visible)


def moment_of(number: int, label: str, state: ContextState) -> Moment:
    gauges: dict[str, Gauge] = {}
    for block in state.blocks():
        if block.decay is not None or block.confidence is not None or block.visible is not None:
            gauges.setdefault(block.id, gauge_of(block))
    budgets: dict[BudgetKey, Budget] = {}
    for budget in state.budgets:
        budgets.setdefault(key_of(budget), budget)
    return Moment(number, label, gauges, budgets, state.counts.estimator)


def gather(
    source: Source, lens: Lens, through: int, progress: Progress
) -> tuple[tuple[Moment, ...], bool] | None:
    """The moments that lead to the newest revision, and whether these are all; None when nobody waits.

    Where `through` is earlier than all of them, those that lead to it. None at all where the past tells
    nothing that could be drawn.
    """
    revisions = source.revisions
    line = list(_back_from(revisions, len(revisions) - 1))
    if line[-1] > through:
        line = list(_back_from(revisions, through))
    moments: list[Moment] = []
    gauges, spent = 0, 0.0
    for number in line:
        if progress.cancelled:
            return None
        begun = monotonic()
        state = source.reading(number, lens).state
        spent += monotonic() - begun
        moments.append(moment_of(number, revisions[number].label, state))
        gauges += len(moments[-1].gauges)
        if len(moments) == 2 and not _comparable(*moments):
            return (), True
        if gauges > MOST_GAUGES or spent > LONGEST:
            break
    return tuple(reversed(moments)), len(moments) == len(line) < MOST


def _back_from(revisions: Sequence[Revision], number: int) -> Iterator[int]:
    from ctxview.formats.revisions import before

    place: int | None = number
    for _ in range(MOST):
        if place is None:
            return
        yield place
        place = before(revisions, place)


def _comparable(now: Moment, earlier: Moment) -> bool:
    """Whether there is a gauge in both, or the budget that comes first is."""
    told = (each for each in earlier.gauges.values() if each.decay is not None or each.confidence is not None)
    first = next(iter(now.budgets), None)
    return any(told) or first in earlier.budgets
