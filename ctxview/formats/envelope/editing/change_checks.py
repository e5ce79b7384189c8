"""Why an editor may not make a change.

Protections may be tightened, but only a reviewer may loosen them. Each check returns a sentence for the
person, or None when the change is allowed; `ownership` says which fields may be written at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ctxview.analysis.rfc3339 import parse_time
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import same_value
from ctxview.formats.envelope.editing.field_changes import (
    OMITTED,
    REDACTION_STEPS,
    SELECTED,
    FieldChange,
    follows,
    is_taken_out,
    item_names,
    label,
    strictness,
)
from ctxview.formats.envelope.editing.write_rights import (
    REVIEWER,
    WriteRight,
    field_ownership,
    metadata_tampering,
    why_locked,
)
from ctxview.formats.envelope.model import EnvelopeRecords, Record, is_blocking, text, texts
from ctxview.formats.envelope.vocabulary import KNOWN, RecordKind, WordList

TRANSITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "open": ("requested", "resolved"),
    "requested": ("waiting",),
    "waiting": ("resolved", "declined", "blocked", "expired"),
    "resolved": (),
    "declined": (),
    "blocked": (),
    "expired": (),
}
"""The next states of a gap by state; a closed gap is reopened only as a new record."""
SENSITIVITY_STEPS: Final[Mapping[str, int]] = {
    "public": 0,
    "low": 1,
    "internal": 1,
    "medium": 2,
    "private": 3,
    "confidential": 3,
    "high": 3,
    "restricted": 4,
    "secret": 4,
}
TRUST_STEPS: Final[Mapping[str, int]] = {
    "untrusted": 0,
    "unknown": 0,
    "low": 1,
    "medium": 2,
    "standard": 2,
    "high": 3,
    "trusted": 3,
    "verified": 4,
    "system": 5,
}
"""The draft lists no words for sensitivity and trust. Other words have no order, so a reviewer decides."""
_CLOSED: Final = ("resolved", "declined", "expired")
BLOCK_FIELDS = ("position", "wrapper", "visibility", "redaction_state")
_FREE_REASONS: Final = (
    "budget_limit",
    "low_relevance",
    "duplicate",
    "stale",
    "unsupported_media",
    "too_large",
    "superseded_by_summary",
    "custom",
)
"""Omission reasons that protect nothing, so that a model may select the item after all."""
_ONLY_REVIEWERS: Final = ("policy_refs", "evidence_refs")


def first_refusal(found: tuple[FieldChange, ...], records: EnvelopeRecords, editor: str) -> str | None:
    """Why `editor` may not make these changes, or None."""
    return next((why for each in found if (why := _refused(each, found, records, editor))), None)


def refusal(record: Record, name: str, new: JsonValue, editor: str) -> str | None:
    """Why `editor` may not set the field to `new`, or None."""
    old = record.value.get(name)
    right = field_ownership(record.kind, name).right
    if right is WriteRight.APPEND_ONLY:
        return _appending(old, new)
    if right is not WriteRight.GUARDED:
        return None
    if old != new and (why := why_reviewer_only(name, editor)):
        return why
    check = _CHECKS.get(name)
    return check(record, old, new, editor) if check is not None else None


def why_reviewer_only(name: str, editor: str) -> str | None:
    return "Only a reviewer may change this." if name in _ONLY_REVIEWERS and editor != REVIEWER else None


def next_states(status: str | None) -> tuple[str, ...]:
    """The states a gap may have after an edit, the current one first."""
    if status is None or status not in TRANSITIONS:
        return KNOWN[WordList.MISSING_STATUS]
    return (status, *TRANSITIONS[status])


def _refused(
    change: FieldChange, all_: tuple[FieldChange, ...], records: EnvelopeRecords, editor: str
) -> str | None:
    record, was, name = change.after, change.before, change.name
    if was is None:
        return _new_record(record, editor)
    if was.kind is not record.kind or was.id != record.id:
        return f"The kind and the id of {label(was)} cannot be changed."
    if follows(change, all_):
        return None
    if name == "metadata":
        return metadata_tampering(change.old, change.new)
    if why := why_locked(was, name, records):
        return f"{name} of {label(was)} is locked. {why}"
    if was.kind is RecordKind.SELECTION and name in (SELECTED, OMITTED):
        return _selection(was, record, records, editor)
    if name == "ordered_blocks":
        return _blocks(was, record, editor)
    return refusal(was, name, change.new, editor)


def _new_record(record: Record, editor: str) -> str | None:
    if record.inside is not None:
        return "A new record cannot be inside another record."
    if record.kind is RecordKind.EVENT:
        return None
    if record.kind is RecordKind.ITEM and record.text("context_kind") == "manual_note":
        return None
    if record.kind is RecordKind.MISSING and editor == REVIEWER:
        return None
    return "Only notes (items of the kind manual_note) may be added by hand, and gaps by a reviewer."


def _selection(was: Record, now: Record, records: EnvelopeRecords, editor: str) -> str | None:
    """Refuse an item that appears or disappears; moves and corrected reasons are allowed.

    Only a reviewer may select an item that is blocked or was left out to protect something, or change that
    reason.
    """
    before = sorted([*item_names(was, SELECTED), *item_names(was, OMITTED)])
    after = sorted(each.id or "" for name in (SELECTED, OMITTED) for each in now.refs(name))
    if before != after:
        return "Items may only move between selected and omitted: each must be in one of the two lists, once."
    reasons = {each.id: each.members.get("reason") for each in now.refs(OMITTED)}
    for omitted in was.refs(OMITTED) if editor != REVIEWER else ():
        item, reason = records.resolve(omitted), omitted.members.get("reason")
        state = item.redaction if item is not None else None
        if strictness(state) >= REDACTION_STEPS["policy_blocked"] and omitted.id not in reasons:
            return f"{omitted.id} is {state}: only a reviewer may select it."
        if reason is not None and reason not in _FREE_REASONS and reasons.get(omitted.id) != reason:
            return f"{omitted.id} was left out because of {reason}: only a reviewer may change that."
    return None


def _blocks(was: Record, now: Record, editor: str) -> str | None:
    old = {text(block.get("block_id")): block for _, block in was.objects("ordered_blocks")}
    new = {text(block.get("block_id")): block for _, block in now.objects("ordered_blocks")}
    if old.keys() != new.keys() or len(was.objects("ordered_blocks")) != len(now.objects("ordered_blocks")):
        return "Blocks may be reordered, but not added or removed."
    for name, block in new.items():
        why = _block(old[name], block, was, editor)
        if why:
            return f"Block {name}: {why}"
    return None


def _block(
    old: Mapping[str, JsonValue], new: Mapping[str, JsonValue], assembly: Record, editor: str
) -> str | None:
    for name in {**old, **new}:
        if same_value(old.get(name), new.get(name)) or (
            old.get("redaction_state") != new.get("redaction_state")
            and is_taken_out(old.get(name), new.get(name))
        ):
            continue
        if name not in BLOCK_FIELDS:
            return f"{name} is locked. It was recorded when the block was assembled."
        if name in ("visibility", "redaction_state"):
            as_record = Record(assembly.kind, old, assembly.file, assembly.document, assembly.inner)
            if why := refusal(as_record, name, new.get(name), editor):
                return why
    return None


def _appending(old: JsonValue, new: JsonValue) -> str | None:
    before = old if isinstance(old, list) else []
    if isinstance(new, list) and new[: len(before)] == before:
        return None
    return "Entries may only be added at the end; existing entries cannot be changed."


def _by_steps(steps: Mapping[str, int], *, down: bool, words: str) -> FieldCheck:
    """Return a check that lets every editor go one way, and only a reviewer the other way."""

    def check(_record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
        if editor == REVIEWER:
            return None
        before, after = steps.get(text(old) or ""), steps.get(text(new) or "")
        if old is None and after is not None and not down:
            return None
        if before is None or after is None:
            return f"It is not known which of {old!r} and {new!r} is {words}; a reviewer may decide."
        loosened = after > before if down else after < before
        return f"A model may only make it {words}; a reviewer may do the opposite." if loosened else None

    return check


def _visibility(_record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    added = [each for each in texts(new) if each not in texts(old)]
    if not added or editor == REVIEWER:
        return None
    return f"This would show it to {', '.join(added)} as well; only a reviewer may widen visibility."


def _expiry(_record: Record, old: JsonValue, new: JsonValue, _editor: str) -> str | None:
    before, after = parse_time(text(old)), parse_time(text(new))
    if after is None:
        return "This is not a date and time such as 2026-05-11T09:00:00Z."
    return "It may expire earlier than before, not later." if before is not None and after > before else None


def _status(record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    before, after = text(old) or "", text(new) or ""
    if before == after:
        return None
    if before in TRANSITIONS and after not in _next_for(editor, before):
        allowed = " or ".join(TRANSITIONS[before])
        closed = "The gap is closed: to open it again, add a new record."
        return f"From {before} it can only become {allowed}." if allowed else closed
    if editor != REVIEWER and is_blocking(record) and after in _CLOSED:
        return "The gap is blocking, so only a reviewer may close it."
    return None


def _next_for(editor: str, status: str) -> tuple[str, ...]:
    """The states that an editor may choose after `status`: a reviewer may take several steps at once."""
    following = TRANSITIONS[status]
    if editor != REVIEWER:
        return following
    return (*following, *(later for each in following for later in _next_for(editor, each)))


def _moves(_record: Record, old: JsonValue, new: JsonValue, _editor: str) -> str | None:
    """Accept any list: the moved items are checked over both lists in `_selection`."""
    return None if isinstance(new, list) or old == new else "This must be a list of items."


def _redacted_fields(_record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    is_kept = isinstance(new, list) and all(each in new for each in (old if isinstance(old, list) else [old]))
    if old in (None, []) or is_kept or editor == REVIEWER:
        return None
    return "A model may name more redacted fields; only a reviewer may take one away."


def _redaction_facts(_record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    if old in (None, "") or old == new or editor == REVIEWER:
        return None
    return "It says how the content was redacted; a model may add it, and only a reviewer may change it."


FieldCheck = Callable[[Record, JsonValue, JsonValue, str], str | None]
_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "visibility": _visibility,
    "redaction_state": _by_steps(REDACTION_STEPS, down=False, words="tighter"),
    "redacted_fields": _redacted_fields,
    **dict.fromkeys(("redaction_method", "redaction_reason", "redacted_by"), _redaction_facts),
    "sensitivity": _by_steps(SENSITIVITY_STEPS, down=False, words="more sensitive"),
    "trust_level": _by_steps(TRUST_STEPS, down=True, words="less trusted"),
    "severity": _by_steps(
        {word: step for step, word in enumerate(KNOWN[WordList.SEVERITY])}, down=False, words="more severe"
    ),
    "expires_at": _expiry,
    "status": _status,
    "evidence_refs": lambda _record, old, new, _editor: _appending(old, new),
    "selected_item_refs": _moves,
    "omitted_item_refs": _moves,
}
