"""The todo cursor's strict shape: whether one is valid, and what of it is stored."""

from __future__ import annotations

from ctxview.formats.snapshot.javascript import cut, trim
from ctxview.formats.snapshot.model import ACTIONS_WITH_TARGET, ACTIONS_WITHOUT_TARGET, PHASES, integer
from ctxview.formats.snapshot.profile import Profile
from ctxview.origin import JsonValue

FIELDS = ("v", "phase", "next", "targetId", "note")
ACTIONS = (*ACTIONS_WITHOUT_TARGET, *ACTIONS_WITH_TARGET)


def cursor_fault(value: JsonValue) -> str | None:
    """The first thing that makes the runtime discard this cursor; None for a valid one."""
    if not isinstance(value, dict):
        return "it is not an object"
    unknown = [key for key in value if key not in FIELDS]
    if unknown:
        return f"{unknown[0]!r} is not one of its keys"
    if integer(value.get("v")) != 1:
        return "v must be 1"
    if value.get("phase") not in PHASES:
        return f"phase must be one of {', '.join(PHASES)}"
    if value.get("next") not in ACTIONS:
        return f"next must be one of {', '.join(ACTIONS)}"
    return _target_fault(value) or _note_fault(value)


def stored_cursor(value: dict[str, JsonValue], profile: Profile) -> dict[str, JsonValue]:
    """A valid cursor as the runtime keeps it: its note trimmed and cut."""
    note = value.get("note")
    kept: dict[str, JsonValue] = {key: value[key] for key in FIELDS[:-1]}
    return {**kept, "note": cut(trim(note), profile.limits.note)} if isinstance(note, str) else kept


def _target_fault(value: dict[str, JsonValue]) -> str | None:
    if "targetId" not in value:
        return "targetId is missing"
    action, target = value["next"], value["targetId"]
    if action in ACTIONS_WITH_TARGET:
        number = integer(target)
        return (
            None if number is not None and number > 0 else f"targetId must be a positive integer for {action}"
        )
    return None if target is None else f"targetId must be null for {action}"


def _note_fault(value: dict[str, JsonValue]) -> str | None:
    if "note" not in value:
        return None
    note = value["note"]
    return None if isinstance(note, str) and trim(note) else "note must be a non-blank text when it is there"
