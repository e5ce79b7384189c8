"""Semantic difference of two states: what changed for the agent, independent of the bytes.

Pure and format-neutral. Two states with the same meaning give an empty difference: key order, number
spelling, file names, token estimators and an order of blocks that the model never sees do not count.
"""

from __future__ import annotations

from msgspec.structs import replace

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


def diff(before: ContextState, after: ContextState) -> StateDiff:
    """Return every change from `before` to `after`.

    Of a reply, the earlier state is what the runtime kept after it, and the later one leaves nothing out. Two
    versions of one file, such as a file and its draft, are compared as they are.
    """
    # The values of a difference are needed at every start, the comparison is not.
    from ctxview.analysis.diff import parts
    from ctxview.analysis.diff.blocks import block_changes, with_tampering
    from ctxview.analysis.diff.compaction import compaction_changes

    is_draft = (before.source, before.revision) == (after.source, after.revision)
    old, new = (before, after) if is_draft else (before.kept, after.stated)
    if old is not before or new is not after:
        # After a reply there are no figures of the runtime yet to compare with.
        old, new = _with_budgets_of(old, new), _with_budgets_of(new, old)
    if old.shown_only != new.shown_only:
        old, new = (old, _as_shown(new, old)) if old.shown_only else (_as_shown(old, new), new)
    compared = (
        block_changes,
        compaction_changes,
        parts.cursor_changes,
        parts.todo_changes,
        parts.field_changes,
        parts.budget_changes,
        parts.ref_changes,
        parts.gap_changes,
    )
    changes = (change for part in compared for change in part(old, new))
    return StateDiff(_side(before), _side(after), tuple(with_tampering(changes, new)))


def _as_shown(state: ContextState, copy: ContextState) -> ContextState:
    """Reduce a whole state to the parts that a copy for the model can have."""
    blocks = [block for block in state.blocks() if block.visible]
    hidden = {block.id for block in state.blocks()} - {block.id for block in blocks}
    names = {each.name for each in copy.form.fields if each.present} if copy.form is not None else set()
    fields = tuple(each for each in state.form.fields if each.name in names) if state.form else ()
    return replace(
        _with_budgets_of(state, copy),
        tiers=tuple(
            replace(tier, blocks=tuple(block for block in tier.blocks if block.visible))
            for tier in state.tiers
        ),
        form=replace(state.form, fields=fields) if state.form is not None else None,
        refs=tuple(each for each in state.refs if not each.used_by or not hidden.issuperset(each.used_by)),
        missing=tuple(
            each for each in state.missing if not each.blocks or not hidden.issuperset(each.blocks)
        ),
    )


def _with_budgets_of(state: ContextState, other: ContextState) -> ContextState:
    """Leave out the budgets that only `state` has."""
    targets = {(each.target, each.unit) for each in other.budgets}
    return replace(
        state, budgets=tuple(each for each in state.budgets if (each.target, each.unit) in targets)
    )


def _side(state: ContextState) -> DiffSide:
    return DiffSide(state.title, state.source, state.revision)
