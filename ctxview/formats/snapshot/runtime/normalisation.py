"""Normalises todo cursors and memory blocks as the runtime does before it stores them."""

from __future__ import annotations

import math

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.formats.snapshot.model import (
    ACTIONS_WITH_TARGET,
    ACTIONS_WITHOUT_TARGET,
    PHASES,
    STATUSES,
    TERMINAL_STATUSES,
    integer,
)
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.runtime.javascript import cut, finite_number, trim

CURSOR_FIELDS = ("v", "phase", "next", "targetId", "note")
ACTIONS = (*ACTIONS_WITHOUT_TARGET, *ACTIONS_WITH_TARGET)


def cursor_fault(value: JsonValue) -> str | None:
    """Return the first reason why the runtime discards this cursor; None for a valid one."""
    if not isinstance(value, dict):
        return "it is not an object"
    unknown = [key for key in value if key not in CURSOR_FIELDS]
    if unknown:
        return f"{unknown[0]!r} is not one of its keys"
    if integer(value.get("v")) != 1:
        return "v must be 1"
    if value.get("phase") not in PHASES:
        return f"phase must be one of {', '.join(PHASES)}"
    if value.get("next") not in ACTIONS:
        return f"next must be one of {', '.join(ACTIONS)}"
    if (fault := _target_fault(value)) is not None:
        return fault
    note = value.get("note")
    is_blank = "note" in value and not (isinstance(note, str) and trim(note))
    return "note must be a non-blank text if present" if is_blank else None


def stored_cursor(value: dict[str, JsonValue], profile: Profile) -> dict[str, JsonValue]:
    """Return a valid cursor as the runtime stores it: with its note trimmed and cut."""
    note = value.get("note")
    cursor: dict[str, JsonValue] = {key: value[key] for key in CURSOR_FIELDS[:-1]}
    return {**cursor, "note": cut(trim(note), profile.limits.note)} if isinstance(note, str) else cursor


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


MOST_CACHED = 10_000


class StoredBlock(Struct, frozen=True):
    """A block that survived normalisation; `value` is the whole object as it would be stored."""

    id: str
    type: str
    decay: float
    confidence: float
    round: int
    tags: tuple[str, ...]
    content: str
    status: str | None
    value: dict[str, JsonValue]

    @property
    def quality(self) -> float:
        return quality(self.decay, self.confidence)

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL_STATUSES


_cache: dict[tuple[int, str, int | None, int], tuple[JsonValue, Profile, StoredBlock | None]] = {}


def quality(decay: float, confidence: float) -> float:
    """Return half of (1 - decay) plus half of confidence, both clamped as the runtime clamps them."""
    return 0.5 * (1 - _clamp(decay)) + 0.5 * _clamp(confidence)


def normalise(value: JsonValue, tier: str, current_round: int | None, profile: Profile) -> StoredBlock | None:
    """Return the block as stored; None when it is dropped (`why_invalid` gives the reason)."""
    # A dozen rules normalise the same blocks. The value is kept beside the result, so that its id is not
    # reused for another object.
    key = (id(value), tier, current_round, id(profile))
    known = _cache.get(key)
    if known is not None:
        return known[2]
    if len(_cache) > MOST_CACHED:
        _cache.clear()
    normal = _normalise(value, tier, current_round, profile)
    _cache[key] = (value, profile, normal)
    return normal


def _normalise(
    value: JsonValue, tier: str, current_round: int | None, profile: Profile
) -> StoredBlock | None:
    if not isinstance(value, dict) or why_invalid(value, profile) is not None:
        return None
    block = StoredBlock(
        id=trim(str(value["id"])),
        type=trim(str(value["type"])),
        decay=_clamp(finite_number(value["decay"]) or 0.0),
        confidence=_clamp(finite_number(value.get("confidence", profile.default_confidence)) or 0.0),
        round=_round(value.get("round"), current_round),
        tags=normal_tags(value.get("tags"), profile),
        content=cut(trim(str(value["content"])), profile.limits.content),
        status=_status(value.get("status"), tier),
        value={},
    )
    block.value.update(_stored(value, block))
    return block


def why_invalid(value: JsonValue, profile: Profile) -> str | None:
    """Return why the runtime drops this block; None when it keeps it."""
    if not isinstance(value, dict):
        return "not an object"
    for name in ("id", "type", "content"):
        found = value.get(name)
        if not isinstance(found, str) or not trim(found):
            return _fault(value, name, "a non-blank string")
    if finite_number(value.get("decay")) is None:
        return _fault(value, "decay", "a number")
    if finite_number(value.get("confidence", profile.default_confidence)) is None:
        return _fault(value, "confidence", "a number")
    return None


def normal_tags(value: JsonValue, profile: Profile) -> tuple[str, ...]:
    """Return the tags trimmed, cut, without blanks and duplicates, up to the limit."""
    found = [trim(tag) for tag in value if isinstance(tag, str)] if isinstance(value, list) else []
    distinct = dict.fromkeys(cut(tag, profile.limits.tag) for tag in found if tag)
    return tuple(distinct)[: profile.limits.tags]


def _fault(value: dict[str, JsonValue], name: str, wanted: str) -> str:
    return f"{name} is not {wanted}" if name in value else f"no {name}"


def _clamp(value: float) -> float:
    return max(0, min(1, value))


def _round(value: JsonValue, current: int | None) -> int:
    found = finite_number(value)
    sent = math.trunc(found) if found is not None else 0
    if sent < 1:
        return current if current is not None else 1
    return sent if current is None else min(sent, current)


def _status(value: JsonValue, tier: str) -> str | None:
    word = trim(value) if isinstance(value, str) else None
    if word in STATUSES:
        return word
    return "open" if tier == "working" else None


def _stored(value: dict[str, JsonValue], block: StoredBlock) -> dict[str, JsonValue]:
    """Return the normalised fields in their fixed order, then all other members as they were sent.

    A status outside working stays as sent.
    """
    fields: dict[str, JsonValue] = {
        "id": block.id,
        "type": block.type,
        "decay": block.decay,
        "confidence": block.confidence,
        "round": block.round,
        "tags": list(block.tags),
        "content": block.content,
    }
    status: dict[str, JsonValue] = {"status": block.status} if block.status is not None else {}
    return {**fields, **{key: each for key, each in value.items() if key not in fields}, **status}
