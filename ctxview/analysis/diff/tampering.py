"""Fields that are not the writer's own. Who owns a field stands in the forms, which the write policies share.

A state written by the model may not change what is the system's; nobody may change what only grows. Where it
is not known who wrote, a changed field of the system is only told as that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ctxview.analysis.diff.model import Change, Delta, Kind
from ctxview.state import Block, ContextState, Owner


def owner_in(block: Block, name: str) -> Owner | None:
    """Whose a value of a block is: as its form says of that field, or of all of them alike."""
    fields = [each for each in block.form.fields if each.present] if block.form is not None else []
    owners = {each.owner for each in fields}
    if len(owners) == 1:
        return owners.pop()
    names = (name, "content") if name == "text" else (name,)
    return next((each.owner for each in fields if each.name in names), None)


def with_tampering(changes: Iterable[Change], after: ContextState) -> Iterator[Change]:
    """The same changes; values that whoever wrote must not have changed say so."""
    by_model = after.written_by is Owner.MODEL
    for change in changes:
        stayed = change.kind not in (Kind.ADDED, Kind.REMOVED) or change.is_field
        deltas = tuple(_judged(found, by_model) for found in change.deltas) if stayed else change.deltas
        yield replace(change, deltas=deltas) if deltas != change.deltas else change


def _judged(found: Delta, by_model: bool) -> Delta:
    rewritten = found.owner is Owner.APPEND_ONLY and found.word != "added"
    # What a reply leaves out stays as the system has it.
    forged = by_model and found.owner not in (None, Owner.MODEL) and found.word != "removed"
    return replace(found, tampered=True) if rewritten or forged else found
