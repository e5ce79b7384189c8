"""One memory block as the reference runtime keeps it: trimmed, clamped, defaulted, cut, or not at all.

Pure: the block as written is never changed. Which blocks are shown or kept is `projection` and `retention`.
"""

from __future__ import annotations

import math

from ctxview.formats.snapshot.javascript import cut, finite_number, trim
from ctxview.formats.snapshot.model import STATUSES, TERMINAL_STATUSES
from ctxview.formats.snapshot.profile import Profile
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass

MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class NormalBlock:
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


_recent: dict[tuple[int, str, int | None, int], tuple[JsonValue, Profile, NormalBlock | None]] = {}


def quality(decay: float, confidence: float) -> float:
    """Half of (1 - decay) plus half of confidence."""
    return 0.5 * (1 - decay) + 0.5 * confidence


def normalise(value: JsonValue, tier: str, current_round: int | None, profile: Profile) -> NormalBlock | None:
    """The block as stored; None when it is dropped (`why_invalid` then says why)."""
    # A dozen rules ask about the same blocks one after the other. The value itself is kept beside the answer,
    # so that its id cannot come to mean another one.
    key = (id(value), tier, current_round, id(profile))
    known = _recent.get(key)
    if known is not None:
        return known[2]
    if len(_recent) > MOST_REMEMBERED:
        _recent.clear()
    normal = _normalise(value, tier, current_round, profile)
    _recent[key] = (value, profile, normal)
    return normal


def _normalise(
    value: JsonValue, tier: str, current_round: int | None, profile: Profile
) -> NormalBlock | None:
    if not isinstance(value, dict) or why_invalid(value, profile) is not None:
        return None
    block = NormalBlock(
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
    """Why the runtime drops this block; None when it keeps it."""
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
    """Trimmed, cut, without blanks and repetitions, and only the first few."""
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


def _stored(value: dict[str, JsonValue], block: NormalBlock) -> dict[str, JsonValue]:
    """All that was sent, overlaid with the normalised fields; an odd status outside working stays as sent."""
    status: dict[str, JsonValue] = {"status": block.status} if block.status is not None else {}
    return {
        **value,
        "id": block.id,
        "type": block.type,
        "content": block.content,
        "decay": block.decay,
        "confidence": block.confidence,
        "round": block.round,
        "tags": list(block.tags),
        **status,
    }
