"""What a compaction took: its own record of that where there is one, else what went while a summary changed.

Whether a summary still speaks of a block is judged by words: one that has most of them, and all figures, is
taken to keep it. That is a measure and no proof, so whatever says "lost" says what it rests on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ctxview.analysis.diff.matching import paired
from ctxview.analysis.diff.model import Change, Group, Kind, Loss
from ctxview.analysis.diff.values import canonical, delta
from ctxview.state import Block, Compaction, ContextState, JsonValue

SUMMARIES = frozenset({"summary", "compacted"})
"""Tiers and types of blocks that stand for others."""
LOST: dict[Loss, str] = {
    "recorded": "lost in a compaction that names it: its words or figures are in no summary",
    "inferred": "perhaps lost in a compaction: it went as a summary changed that lacks its words or figures",
}

_WORD = re.compile(r"[^\W_]+")
_ENOUGH = 0.6
_LONGEST = 20_000


def compaction_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    """The records of compactions: what each took, what stands for it, and what it says was lost."""
    both = paired(before.compactions, after.compactions, lambda each: each.id, _meaning)
    for old, new in both:
        some = new or old
        left, right = _values(old), _values(new)
        found = (delta(name, left.get(name), right.get(name)) for name in {**left, **right})
        deltas = tuple(each for each in found if each is not None)
        if some is not None and deltas:
            kind = Kind.ADDED if old is None else Kind.REMOVED if new is None else Kind.CHANGED
            yield Change(Group.COMPACTIONS, kind, some.id, deltas=deltas)


def with_losses(changes: Sequence[Change], before: ContextState, after: ContextState) -> Iterator[Change]:
    """The same changes; those of blocks that a compaction took, and no summary keeps, say so."""
    named = {name for each in after.compactions for name in each.covers}
    summaries = list(_summaries(after))
    texts = {block.text for block in _summaries(before)}
    # Two things of different kinds share no past in which one could have become the other.
    likely = before.format == after.format and any(block.text not in texts for block in summaries)
    kept = frozenset().union(*(_words(block.text) for block in summaries)) if named or likely else frozenset()
    for change in changes:
        if change.subject in named and _is_gone(change) and not _is_kept(change, kept):
            yield replace(change, loss="recorded")
        elif likely and _is_gone(change) and change.place not in SUMMARIES and not _is_kept(change, kept):
            yield replace(change, loss="inferred")
        else:
            yield change


def _is_gone(change: Change) -> bool:
    """Whether nothing is left of what a block said."""
    if change.in_history:
        return False
    emptied = any(each.name == "text" and each.before and not each.after for each in change.deltas)
    return change.kind is Kind.REMOVED or emptied


def _values(compaction: Compaction | None) -> dict[str, JsonValue]:
    if compaction is None:
        return {}
    return {
        "summary": compaction.summary,
        "took": [*sorted(compaction.covers)] or None,
        "lost, it says": [*compaction.lost] or None,
    }


def _meaning(compaction: Compaction) -> str:
    return canonical(_values(compaction))


def _summaries(state: ContextState) -> Iterable[Block]:
    return (block for block in state.blocks() if SUMMARIES & {block.tier, block.type or ""})


def _is_kept(change: Change, kept: frozenset[str]) -> bool:
    text = next((each.before for each in change.deltas if each.name == "text"), None)
    words = _words(text) if isinstance(text, str) else frozenset()
    figures = {word for word in words if any(letter.isdigit() for letter in word)}
    return not words or (figures <= kept and len(words & kept) >= _ENOUGH * len(words))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text[:_LONGEST]))
