"""The part of a merge outside memory: system fields put back, the cursor, and the other top-level members.

Yields what would happen; `merge` applies it to the tiers and collects the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from ctxview.files.json_values import same_value
from ctxview.formats.snapshot.cursor import cursor_fault, stored_cursor
from ctxview.formats.snapshot.model import Snapshot
from ctxview.formats.snapshot.ownership import UNGUARDED_MEMBERS
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.system_fields import not_preserved
from ctxview.origin import JsonValue, Origin
from ctxview.quick_dataclass import dataclass

DEEPEST_MERGE = 100


class Change(StrEnum):
    """What the merge does with one thing."""

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


@dataclass(frozen=True)
class MergeChange:
    """One line of the preview: what happens to which block (or field), where it stands, before and after."""

    kind: Change
    name: str
    message: str
    origin: Origin
    tier: str | None = None
    before: JsonValue = None
    after: JsonValue = None


def merge_system_fields(received: Snapshot, emitted: Snapshot) -> Iterator[MergeChange]:
    """The system's fields come back as they were received, whatever the reply says."""
    for field in not_preserved(received, emitted):
        name, was, now, origin = field.name, field.was, field.now, emitted.origin(*field.path)
        if field.sent:
            old = _brief(was) if field.known else "absent"
            message = f"{name} was changed from {old} to {_brief(now)}; the system's value is put back"
            yield MergeChange(Change.TAMPERED, name, message, origin, None, was, now)
        else:
            message = f"{name} was left out; the system's value {_brief(was)} stays"
            yield MergeChange(Change.RESTORED, name, message, origin, None, was, was)


def merge_cursor(
    received: Snapshot, emitted: Snapshot, profile: Profile
) -> tuple[JsonValue, list[MergeChange]]:
    """The `todo` section after the merge, and what happened to the cursor."""
    before = received.value.get("todo")
    sent = emitted.value.get("todo")
    origin = emitted.origin("todo", "cursor")
    if not isinstance(sent, dict) or "cursor" not in sent:
        odd = sent is not None and not isinstance(sent, dict)
        change = MergeChange(Change.IGNORED, "todo", "todo is not an object and is ignored", origin)
        return before, [change] if odd else []
    old, new = received.todo.get("cursor"), sent["cursor"]
    if new is None:
        if old is None:
            return {**received.todo, "cursor": None}, []
        change = MergeChange(Change.UPDATED, "todo.cursor", "the cursor is cleared", origin, None, old, None)
        return {**received.todo, "cursor": None}, [change]
    fault = cursor_fault(new)
    if not isinstance(new, dict) or fault is not None:
        message = f"the cursor is ignored, the old one stays: {fault}"
        return before, [MergeChange(Change.IGNORED, "todo.cursor", message, origin, None, old, new)]
    merged = deep_merge(old, stored_cursor(new, profile))
    kind = Change.UNCHANGED if same_value(old, merged) else Change.UPDATED
    message = "the cursor stays" if kind is Change.UNCHANGED else f"the cursor moves to {_brief(merged)}"
    return {**received.todo, "cursor": merged}, [
        MergeChange(kind, "todo.cursor", message, origin, None, old, merged)
    ]


def merge_members(received: Snapshot, emitted: Snapshot) -> tuple[dict[str, JsonValue], list[MergeChange]]:
    """Every other top-level member: objects merge, arrays and the rest replace."""
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
            message = f"{key} is the system's, but the runtime takes the model's version"
            kind = Change.OVERWRITTEN
        elif key in received.value:
            message, kind = f"{key} is replaced by {_brief(merged[key])}", Change.UPDATED
        else:
            message, kind = f"{key} is stored as {_brief(merged[key])}", Change.ADDED
        changes.append(MergeChange(kind, key, message, origin, None, old, merged[key]))
    return merged, changes


def deep_merge(old: JsonValue, new: JsonValue, depth: int = 0) -> JsonValue:
    """Objects merge member by member, everything else is replaced."""
    if not isinstance(new, dict) or not isinstance(old, dict) or depth > DEEPEST_MERGE:
        return new
    return {**old, **{key: deep_merge(old.get(key), value, depth + 1) for key, value in new.items()}}


def _brief(value: JsonValue) -> str:
    """A value in a message: short, and never a whole structure."""
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
    return text if len(text) <= 60 else text[:57] + "…"
