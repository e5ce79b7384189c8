"""How much each turn added to the context, and what most of it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import LogPart

MOST_CAUSES = 3


class TurnGrowth(Struct, frozen=True):
    """One turn: the growth from the end of the turn before to its own end, as reported."""

    turn: int
    tokens: int
    row: int
    """The first row of its first call."""
    rows: tuple[int, int]
    """The span of rows that are new in it."""

    def parts(self, facts: TranscriptFacts) -> list[LogPart]:
        """Return what is new in the turn; `largest` says what most of it is."""
        return new_parts(facts, *self.rows)


def new_parts(facts: TranscriptFacts, start: int, end: int) -> list[LogPart]:
    """Return the parts of some rows, without those of sub-agents that wrote into the same file."""
    rows = facts.log.rows[start:end]
    return [part for row in rows if facts.reader.alone or not row.side for part in row.parts]


def turn_growth(facts: TranscriptFacts, most: int | None = None) -> Iterator[TurnGrowth]:
    """Yield the growth of the last turns, or of all, the newest first; nothing across a compaction."""
    calls = [call for call in facts.log.calls[: facts.log.calls_before(facts.end)] if call.sent is not None]
    end = len(calls)
    while end and (most is None or most > 0):
        last, start = calls[end - 1], end - 1
        while start and calls[start - 1].turn == last.turn:
            start -= 1
        # The first turn also has the baseline, which it did not add.
        before = calls[start - 1] if start else calls[0]
        if not facts.log.compacted_between(before.row, last.row):
            grown = (last.sent or 0) - (before.sent or 0)
            yield TurnGrowth(last.turn, grown, calls[start].row, (before.row, last.row))
        end = start
        most = most - 1 if most is not None else None


def largest(facts: TranscriptFacts, parts: Sequence[LogPart]) -> list[tuple[str, int]]:
    """Return what took most tokens of some parts, by tool and path."""
    sums: Counter[str] = Counter()
    for part in parts:
        name = " ".join(filter(None, (part.tool, part.about))) or part.segment
        live = facts.sizes.parts.get((part.row, part.place))
        sums[name[:60]] += live if live is not None else facts.estimator.tokens(part)
    return [each for each in sums.most_common(MOST_CAUSES) if each[1] > 0]
