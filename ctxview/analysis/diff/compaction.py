"""What a compaction lost: blocks that went while a summary came or grew, and that no summary now speaks of.

Judged by words: a summary that has most of a block's words, and all of its figures, is taken to keep it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ctxview.analysis.diff.model import Change, Kind
from ctxview.state import Block, ContextState

SUMMARIES = frozenset({"summary", "compacted"})
"""Tiers and types of blocks that stand for others."""
LOST = "lost in the compaction: no summary speaks of it"

_WORD = re.compile(r"[^\W_]+")
_ENOUGH = 0.6
_LONGEST = 20_000


def with_losses(changes: Sequence[Change], before: ContextState, after: ContextState) -> Iterator[Change]:
    """The same changes; those of blocks that a compaction lost say so."""
    summaries = list(_summaries(after))
    texts = {block.text for block in _summaries(before)}
    if all(block.text in texts for block in summaries):
        yield from changes
        return
    kept = frozenset().union(*(_words(block.text) for block in summaries))
    for change in changes:
        lost = change.kind is Kind.REMOVED and change.place not in SUMMARIES and not _is_kept(change, kept)
        yield replace(change, lost=True) if lost else change


def _summaries(state: ContextState) -> Iterable[Block]:
    return (block for block in state.blocks() if SUMMARIES & {block.tier, block.type or ""})


def _is_kept(change: Change, kept: frozenset[str]) -> bool:
    text = next((each.before for each in change.deltas if each.name == "text"), None)
    words = _words(text) if isinstance(text, str) else frozenset()
    figures = {word for word in words if any(letter.isdigit() for letter in word)}
    return not words or (figures <= kept and len(words & kept) >= _ENOUGH * len(words))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text[:_LONGEST]))
