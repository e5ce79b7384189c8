"""How much each turn added to the context, and what most of it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import LogPart, ModelCall

MOST_CAUSES = 3


class TurnGrowth(Struct, frozen=True):
    """One turn: the growth from the end of the turn before to its own end, as reported."""

    turn: int
    tokens: int
    row: int
    """The first row of its first call."""
    causes: Sequence[tuple[str, int]]
    """What took most tokens, by tool and path, estimated."""


def turn_growth(facts: TranscriptFacts) -> Iterator[TurnGrowth]:
    """Yield the growth of each turn on the way to this moment; nothing across a compaction."""
    calls = [call for call in facts.log.calls if call.sent is not None and call.row < facts.end]
    before: ModelCall | None = None
    at = 0
    while at < len(calls):
        turn = calls[at].turn
        end = at
        while end + 1 < len(calls) and calls[end + 1].turn == turn:
            end += 1
        first, last = calls[at], calls[end]
        # The first turn also has the baseline, which it did not add.
        start = before if before is not None else first
        if not facts.log.compacted_between(start.row, last.row):
            grown = (last.sent or 0) - (start.sent or 0)
            parts = [
                part for row in facts.log.rows[start.row : last.row] if not row.side for part in row.parts
            ]
            yield TurnGrowth(turn, grown, first.row, largest(facts, parts))
        before, at = last, end + 1


def largest(facts: TranscriptFacts, parts: Sequence[LogPart]) -> list[tuple[str, int]]:
    """Return what took most tokens of some parts, by tool and path."""
    sums: Counter[str] = Counter()
    for part in parts:
        name = " ".join(filter(None, (part.tool, part.about))) or part.segment
        live = facts.sizes.parts.get((part.row, part.place))
        sums[name[:60]] += live if live is not None else facts.estimator.tokens(part)
    return [each for each in sums.most_common(MOST_CAUSES) if each[1] > 0]
