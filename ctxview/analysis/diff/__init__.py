"""Semantic difference of two states: what changed for the agent, independent of the bytes.

Pure and format-neutral. Two states with the same meaning give an empty difference: key order, number
spelling, file names, token estimators and an order of blocks that the model never sees do not count.
"""

from __future__ import annotations

from ctxview.analysis.diff.blocks import block_changes, with_tampering
from ctxview.analysis.diff.compaction import compaction_changes
from ctxview.analysis.diff.model import (
    Change,
    ChangeGroup,
    ChangeKind,
    Delta,
    DiffSide,
    StateDiff,
    WordPiece,
    word_pieces,
)
from ctxview.analysis.diff.parts import (
    budget_changes,
    cursor_changes,
    field_changes,
    gap_changes,
    ref_changes,
    todo_changes,
)
from ctxview.core.state import ContextState

__all__ = [
    "Change",
    "ChangeGroup",
    "ChangeKind",
    "Delta",
    "DiffSide",
    "StateDiff",
    "WordPiece",
    "diff",
    "word_pieces",
]

_PARTS = (
    block_changes,
    compaction_changes,
    cursor_changes,
    todo_changes,
    field_changes,
    budget_changes,
    ref_changes,
    gap_changes,
)


def diff(before: ContextState, after: ContextState) -> StateDiff:
    """Return every change from `before` to `after`."""
    changes = (change for part in _PARTS for change in part(before, after))
    return StateDiff(_side(before), _side(after), tuple(with_tampering(changes, after)))


def _side(state: ContextState) -> DiffSide:
    return DiffSide(state.title, state.source, state.revision)
