"""The changes between two versions of a file, and which of them follow from another change.

A redaction takes content out, marks the blocks that hold the record, and keeps the digest of the original.
These changes need no right and no event of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import same_value, with_value
from ctxview.formats.envelope.model import Record, text, texts
from ctxview.formats.envelope.parser import RecordFile, embedded
from ctxview.formats.envelope.redacted_fields import EMPTY, field_paths, value_at
from ctxview.formats.envelope.redactions import is_placeholder, is_redacted
from ctxview.formats.envelope.references import Digest, inline_bytes
from ctxview.formats.envelope.vocabulary import OWN_ID, RecordKind

REDACTION_STEPS: Final[Mapping[str, int]] = {
    "unknown": 0,
    "none": 0,
    "masked": 1,
    "summarized": 1,
    "encrypted_ref": 2,
    "removed": 3,
    "policy_blocked": 3,
}
COUNTED = ("token_estimate", "byte_size")
"""Fields that are counted again when the content changes."""
BY_HAND = "human_curated_summary"
REDACTING = ("redaction_state", "redacted_fields")
"""Fields with which content is taken out in the same step."""
BLOCKS = "ordered_blocks"
FIELDS_REDACTED = "masked"
"""The state of a record that was not redacted and of which single fields are taken out."""
DIGEST = "digest"
WAYS_BACK = ("original_ref", "original_item_ref", "replacement_ref", "original_digest", "content_digest")
"""Fields that lead to the original of a redacted item, or prove which text it was."""
OMITTED, SELECTED = "omitted_item_refs", "selected_item_refs"


class ChangeRefused(Exception):
    """A change that no editor may make; the message is for the person."""


class FieldChange(Struct, frozen=True):
    """One field of one record, before and after. `before` is None for a new record."""

    before: Record | None
    after: Record
    name: str

    @property
    def old(self) -> JsonValue:
        return self.before.value.get(self.name) if self.before is not None else None

    @property
    def new(self) -> JsonValue:
        return self.after.value.get(self.name)


def changes(before: RecordFile, after: RecordFile) -> tuple[FieldChange, ...]:
    """Return changed fields and new records; raises `ChangeRefused` when records moved or are gone."""
    if before.layout is not after.layout and before.records:
        raise ChangeRefused("The layout of the file would change.")
    is_same = len(before.problems) == len(after.problems) and len(before.strays) == len(after.strays)
    if not is_same or any(
        not same_value(a.value, b.value) for a, b in zip(before.strays, after.strays, strict=True)
    ):
        raise ChangeRefused("A part of the file that is not a record would change.")
    old = {record.pointer: record for record in before.records}
    new = {record.pointer: record for record in after.records}
    if gone := [record for pointer, record in old.items() if pointer not in new]:
        raise ChangeRefused(f"{label(gone[0])} would be removed; records cannot be removed.")
    found: list[FieldChange] = []
    for pointer, record in new.items():
        was = old.get(pointer)
        if was is None:
            found.append(FieldChange(None, record, OWN_ID[record.kind]))
            continue
        # Embedded records are compared on their own.
        fields, new_fields = _without_inner_records(was), _without_inner_records(record)
        found += [
            FieldChange(was, record, name)
            for name in {**fields, **new_fields}
            if (name in fields) != (name in new_fields)
            or not same_value(fields.get(name), new_fields.get(name))
        ]
    return tuple(found)


def moved_items(change: FieldChange) -> tuple[frozenset[str], frozenset[str]]:
    """The items that a selection now selects, and those that it now leaves out."""
    assert change.before is not None, "a new selection moves nothing"
    old, new = item_names(change.before, SELECTED), item_names(change.after, SELECTED)
    return new - old, old - new


def is_taken_out(old: JsonValue, new: JsonValue) -> bool:
    """Whether the values differ only where a placeholder replaces content."""
    pairs = [(old, new)]
    while pairs:
        before, after = pairs.pop()
        if same_value(before, after) or is_placeholder(after):
            continue
        if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
            pairs.extend((each, after[key]) for key, each in before.items())
        elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            pairs.extend(zip(before, after, strict=True))
        else:
            return False
    return True


def follows(change: FieldChange, all_: Sequence[FieldChange]) -> bool:
    """Whether a derived or locked field changed only because the content or redaction it depends on did."""
    record, was = change.after, change.before
    if was is None:
        return False
    if record.kind is RecordKind.ASSEMBLY and change.name == BLOCKS:
        return _are_only_marked(was, record, newly_redacted(all_))
    is_redacting = any(each.after is record and each.name in REDACTING for each in all_)
    if is_redacting and change.name not in REDACTING and is_taken_out(change.old, change.new):
        return True
    if change.name == "redaction_state" and change.new == FIELDS_REDACTED and not is_redacted(was.redaction):
        is_kept = same_value(was.value.get("content"), record.value.get("content"))
        return is_kept and any(each.after is record and newly_redacted_fields(each) for each in all_)
    if is_redacting and change.name == DIGEST:
        return change.old is None and change.new == original_digest(was)
    if record.kind is RecordKind.ITEM and change.name in COUNTED:
        return any(each.after is record and each.name == "content" for each in all_)
    summaries = [
        each.after.id for each in all_ if each.after.kind is RecordKind.SUMMARY and each.name == "content"
    ]
    if record.kind is RecordKind.COMPACTION and change.name == "method" and change.new == BY_HAND:
        return any(each.id in summaries for each in record.refs("summary_ref"))
    return False


def newly_redacted(found: Iterable[FieldChange]) -> Mapping[tuple[RecordKind, str], str]:
    """The redaction states of the records that these changes redact, by kind and id."""
    return {
        (each.after.kind, each.after.id): state
        for each in found
        if each.name in REDACTING and each.before is not None and each.after.id is not None
        if is_redacted(state := each.after.redaction) and state is not None
    }


def newly_redacted_fields(change: FieldChange) -> tuple[str, ...]:
    """The fields that `redacted_fields` now names and that had something to take out."""
    if change.before is None or change.name != "redacted_fields":
        return ()
    members = change.before.value
    return tuple(
        name
        for name in texts(change.new)
        if name not in texts(change.old)
        and any(value_at(members, path) not in EMPTY for path in field_paths(members, name))
    )


def tightens_redaction(change: FieldChange) -> bool:
    """Whether a change redacts more than before, or as much in another way."""
    if change.before is None or change.name != "redaction_state":
        return bool(newly_redacted_fields(change))
    old, new = change.before.redaction, change.after.redaction
    return is_redacted(new) and strictness(new) >= strictness(old)


def block_marks(assembly: Record, redacted: Mapping[tuple[RecordKind, str], str]) -> Mapping[int, str]:
    """The redaction states that blocks must get by index, because they hold a record that is now redacted."""
    marks: dict[int, str] = {}
    for reference in assembly.references if redacted else ():
        if reference.path[0] != BLOCKS or reference.name != "item_refs":
            continue
        at = int(reference.path[1])
        block = dict(assembly.objects(BLOCKS))[at]
        mark = marks.get(at) or text(block.get("redaction_state")) or assembly.redaction
        for kind in reference.leads_to:
            state = redacted.get((kind, reference.id or ""))
            if state is not None and strictness(state) > strictness(mark):
                mark = marks[at] = state
    return marks


def strictness(state: str | None) -> int:
    """How much a redaction state hides; a word that is not known hides everything."""
    return REDACTION_STEPS.get(state, max(REDACTION_STEPS.values())) if state is not None else 0


def original_digest(record: Record) -> str | None:
    """The digest that an item keeps of content that is taken out; None when it has another way back."""
    content = inline_bytes(record)
    is_kept = any(record.value.get(name) for name in (*WAYS_BACK, DIGEST))
    if record.kind is not RecordKind.ITEM or content is None or is_kept or is_redacted(record.redaction):
        return None
    return f"sha256:{Digest.of('sha256', content).hex}"


def _are_only_marked(was: Record, now: Record, redacted: Mapping[tuple[RecordKind, str], str]) -> bool:
    """Whether blocks differ only in the marks that follow from redactions, and in what the marks take out."""
    old, new = (_without_inner_records(each).get(BLOCKS) for each in (was, now))
    marks = block_marks(was, redacted)
    if not marks or not isinstance(old, list) or not isinstance(new, list) or len(old) != len(new):
        return False
    for at, (before, after) in enumerate(zip(old, new, strict=True)):
        if at not in marks:
            if not same_value(before, after):
                return False
            continue
        marked = {**before, "redaction_state": marks[at]} if isinstance(before, dict) else before
        is_marked = isinstance(after, dict) and after.get("redaction_state") == marks[at]
        if not is_marked or not is_taken_out(marked, after):
            return False
    return True


def _without_inner_records(record: Record) -> dict[str, JsonValue]:
    whole: JsonValue = dict(record.value)
    for reference in record.references:
        if (found := embedded(reference)) is not None:
            whole = with_value(whole, [str(part) for part in found[2]], f"an embedded record: {found[0]}")
    assert isinstance(whole, dict), "members were replaced, not the whole value"
    return whole


def item_names(selection: Record, name: str) -> frozenset[str]:
    return frozenset(each.id or "" for each in selection.refs(name))


def label(record: Record) -> str:
    return f"{record.kind.value.removeprefix('context_').replace('_', ' ')} {record.id or record.pointer}"
