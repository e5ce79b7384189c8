"""Changes of compaction records, and the blocks that a compaction lost.

A block counts as lost when a record names it, or when it was removed while a summary changed, and no summary
keeps its content. A summary with most words and all figures of a block is taken to keep it. That is a
measure, not a proof, so every loss says whether it was recorded or inferred.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind, Loss
from ctxview.analysis.diff.values import canonical, delta, paired
from ctxview.core.origin import JsonValue
from ctxview.core.state import Block, CompactionRecord, ContextState

SUMMARIES = frozenset({"summary", "compacted"})
"""Tiers and types of blocks that summarise others."""
LOST: dict[Loss, str] = {
    "recorded": "lost in a compaction that names it: its words or figures are in no summary",
    "inferred": "perhaps lost in a compaction: it went as a summary changed that lacks its words or figures",
}

_WORD = re.compile(r"[^\W_]+")
_ENOUGH = 0.6
_LONGEST = 20_000


def compaction_changes(before: ContextState, after: ContextState) -> Iterator[Change]:
    """Compare the records of compactions: the blocks they took, the summary, the losses they report."""
    both = paired(
        before.compactions, after.compactions, lambda each: each.id, lambda each: canonical(_values(each))
    )
    for old, new in both:
        some = new or old
        left, right = _values(old), _values(new)
        found = (delta(name, left.get(name), right.get(name)) for name in {**left, **right})
        deltas = tuple(each for each in found if each is not None)
        if some is not None and deltas:
            kind = (
                ChangeKind.ADDED if old is None else ChangeKind.REMOVED if new is None else ChangeKind.CHANGED
            )
            yield Change(ChangeGroup.COMPACTIONS, kind, some.id, deltas=deltas)


def with_losses(changes: Sequence[Change], before: ContextState, after: ContextState) -> Iterator[Change]:
    """Mark the changes of blocks that a compaction took and no summary keeps."""
    named = {name for each in after.compactions for name in each.covers}
    summaries = list(_summaries(after))
    texts = {block.text for block in _summaries(before)}
    # States of different formats have no common past, so nothing can be inferred between them.
    likely = before.format == after.format and any(block.text not in texts for block in summaries)
    known = (
        frozenset().union(*(_words(block.text) for block in summaries)) if named or likely else frozenset()
    )
    for change in changes:
        if change.subject in named and _is_gone(change) and not _is_kept(change, known):
            yield replace(change, loss="recorded")
        elif likely and _is_gone(change) and change.place not in SUMMARIES and not _is_kept(change, known):
            yield replace(change, loss="inferred")
        else:
            yield change


def _is_gone(change: Change) -> bool:
    """Whether a block was removed or its text emptied, and no history still has it."""
    if change.in_history:
        return False
    emptied = any(each.name == "text" and each.before and not each.after for each in change.deltas)
    return change.kind is ChangeKind.REMOVED or emptied


def _values(compaction: CompactionRecord | None) -> dict[str, JsonValue]:
    if compaction is None:
        return {}
    return {
        "summary": compaction.summary,
        "took": [*sorted(compaction.covers)] or None,
        "lost, it says": [*compaction.lost] or None,
    }


def _summaries(state: ContextState) -> Iterable[Block]:
    return (block for block in state.blocks() if SUMMARIES & {block.tier, block.type or ""})


def _is_kept(change: Change, known: frozenset[str]) -> bool:
    """Whether the summaries, whose words are `known`, have the figures and most words of the block."""
    text = next((each.before for each in change.deltas if each.name == "text"), None)
    words = _words(text) if isinstance(text, str) else frozenset()
    figures = {word for word in words if any(letter.isdigit() for letter in word)}
    return not words or (figures <= known and len(words & known) >= _ENOUGH * len(words))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text[:_LONGEST]))
