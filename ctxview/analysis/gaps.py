"""Gaps by urgency: which ones are settled, which block work, and which come first."""

from __future__ import annotations

from ctxview.core.findings import Severity
from ctxview.core.state import ContextState, Gap

BLOCKING = {"blocking", "fatal"}

RANKS = (
    BLOCKING,
    {"critical", "error"},
    {"high"},
    {"warning", "medium", "major", "degraded", "moderate"},
    {"low", "minor"},
    {"info"},
)
"""The severity words of all formats for gaps, the worst first."""

SETTLED = {"resolved", "declined", "expired"}
"""The statuses of a gap that needs no attention any more; any other word leaves it open."""


def gap_order(gap: Gap) -> tuple[bool, int]:
    """A sort key: gaps that are not settled first, the worst on top."""
    folded = gap.severity.casefold()
    ranks = [at for at, words in enumerate(RANKS) if folded in words]
    return gap_is_settled(gap), ranks[0] if ranks else len(RANKS)


def blocked_names(gap: Gap) -> list[str]:
    """The names the gap blocks, without its own: a missing block obviously blocks itself."""
    return [each for each in gap.blocks if each != gap.id]


def gap_is_settled(gap: Gap) -> bool:
    return gap.status in SETTLED


def gap_blocks(gap: Gap) -> bool:
    """Whether a gap blocks work.

    A gap whose severity is no known word blocks when it names blocked work.
    """
    folded = gap.severity.casefold()
    is_known = any(folded in words for words in RANKS)
    return folded in BLOCKING or (not is_known and bool(blocked_names(gap)))


def gap_severity(word: str) -> Severity:
    """The severity for the `word` a format uses for a gap."""
    folded = word.casefold()
    if any(folded in words for words in RANKS[:3]):
        return Severity.ERROR
    return Severity.WARNING if folded in RANKS[3] else Severity.INFO


def open_gaps(state: ContextState) -> list[Gap]:
    """The gaps that are not settled and are not hidden blocks."""
    hidden = {(block.id, block.origin) for block in state.blocks() if block.visible is False}
    return [gap for gap in state.missing if not gap_is_settled(gap) and (gap.id, gap.origin) not in hidden]
