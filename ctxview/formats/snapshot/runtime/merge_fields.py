"""Merges the parts of a reply outside the tiers: system fields, the todo cursor and other members."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from ctxview.analysis.wording import beginning
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.forms import UNGUARDED_MEMBERS
from ctxview.formats.snapshot.model import SYSTEM_FIELDS, Snapshot, member_at
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.normalisation import cursor_fault, stored_cursor


class NotPreserved(Struct, frozen=True):
    """A changed system field; `known` and `sent` say whether it was in the received and emitted snapshot."""

    path: tuple[str, ...]
    known: bool
    was: JsonValue
    sent: bool
    now: JsonValue

    @property
    def name(self) -> str:
        return ".".join(self.path)


def not_preserved(received: Snapshot, emitted: Snapshot) -> Iterator[NotPreserved]:
    """Yield the system fields that were changed, added (not `known`) or left out (not `sent`), by value."""
    for path in SYSTEM_FIELDS:
        known, was = member_at(received.value, path)
        sent, now = member_at(emitted.value, path)
        if known != sent or not same_value(was, now):
            yield NotPreserved(path, known, was, sent, now)


DEEPEST_MERGE = 100


class MergeEffect(StrEnum):
    """The effect of the merge on one block or field."""

    KEPT = "kept"
    UNCHANGED = "unchanged"
    UPDATED = "updated"
    ADDED = "added"
    TRUNCATED = "truncated"
    NORMALISED = "normalised"
    REOPENED = "reopened"
    WIPED = "wiped"
    DROPPED = "dropped"
    COLLAPSED = "collapsed"
    DELETED = "deleted"
    TAMPERED = "tampered"
    RESTORED = "restored"
    OVERWRITTEN = "overwritten"
    IGNORED = "ignored"


class MergeChange(Struct, frozen=True):
    """One line of the preview: the effect on a block or field, its origin, and its value before and after."""

    kind: MergeEffect
    name: str
    message: str
    origin: Origin
    tier: str | None = None
    before: JsonValue = None
    after: JsonValue = None


def merge_system_fields(received: Snapshot, emitted: Snapshot) -> Iterator[MergeChange]:
    """Report each system field that the reply changed or left out; the received value stays."""
    for field in not_preserved(received, emitted):
        name, was, now, origin = field.name, field.was, field.now, emitted.origin(*field.path)
        if field.sent:
            old = _brief(was) if field.known else "absent"
            message = f"{name} was changed from {old} to {_brief(now)}; the system's value is put back"
            yield MergeChange(MergeEffect.TAMPERED, name, message, origin, None, was, now)
        else:
            message = f"{name} was left out; the system's value {_brief(was)} stays"
            yield MergeChange(MergeEffect.RESTORED, name, message, origin, None, was, was)


def merge_cursor(
    received: Snapshot, emitted: Snapshot, profile: Profile
) -> tuple[JsonValue, list[MergeChange]]:
    """Return the `todo` section after the merge, and the changes of the cursor."""
    before = received.value.get("todo")
    sent = emitted.value.get("todo")
    origin = emitted.origin("todo", "cursor")
    if not isinstance(sent, dict) or "cursor" not in sent:
        odd = sent is not None and not isinstance(sent, dict)
        change = MergeChange(MergeEffect.IGNORED, "todo", "todo is not an object and is ignored", origin)
        return before, [change] if odd else []
    old, new = received.todo.get("cursor"), sent["cursor"]
    if new is None:
        if old is None:
            return {**received.todo, "cursor": None}, []
        change = MergeChange(
            MergeEffect.UPDATED, "todo.cursor", "the cursor is cleared", origin, None, old, None
        )
        return {**received.todo, "cursor": None}, [change]
    fault = cursor_fault(new)
    if not isinstance(new, dict) or fault is not None:
        message = f"the cursor is ignored, the old one stays: {fault}"
        return before, [MergeChange(MergeEffect.IGNORED, "todo.cursor", message, origin, None, old, new)]
    merged = deep_merge(old, stored_cursor(new, profile))
    kind = MergeEffect.UNCHANGED if same_value(old, merged) else MergeEffect.UPDATED
    message = "the cursor stays" if kind is MergeEffect.UNCHANGED else f"the cursor moves to {_brief(merged)}"
    return {**received.todo, "cursor": merged}, [
        MergeChange(kind, "todo.cursor", message, origin, None, old, merged)
    ]


def merge_members(received: Snapshot, emitted: Snapshot) -> tuple[dict[str, JsonValue], list[MergeChange]]:
    """Merge every other top-level member: objects are merged, all other values replaced."""
    merged: dict[str, JsonValue] = {}
    changes = []
    for key, new in emitted.value.items():
        if key in ("version", "runtime", "memory", "todo"):
            continue
        old = received.value.get(key)
        merged[key] = deep_merge(old, new)
        if key in received.value and same_value(old, merged[key]):
            continue
        origin = emitted.origin(key)
        if key in UNGUARDED_MEMBERS:
            message = f"{key} is the system's, but the runtime accepts the model's value"
            kind = MergeEffect.OVERWRITTEN
        elif key in received.value:
            message, kind = f"{key} is replaced by {_brief(merged[key])}", MergeEffect.UPDATED
        else:
            message, kind = f"{key} is stored as {_brief(merged[key])}", MergeEffect.ADDED
        changes.append(MergeChange(kind, key, message, origin, None, old, merged[key]))
    return merged, changes


def deep_merge(old: JsonValue, new: JsonValue, depth: int = 0) -> JsonValue:
    """Merge objects member by member; replace everything else."""
    if not isinstance(new, dict) or not isinstance(old, dict) or depth > DEEPEST_MERGE:
        return new
    return {**old, **{key: deep_merge(old.get(key), value, depth + 1) for key, value in new.items()}}


def _brief(value: JsonValue) -> str:
    """Return a short text for a value in a message, never a whole structure."""
    if isinstance(value, dict):
        inner = ", ".join(
            f"{key} {item}" for key, item in value.items() if isinstance(item, str | int | float)
        )
        return inner if len(inner) <= 80 else f"an object of {len(value)} members"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else beginning(text, 57) + "…"
