"""How far a field may be moved, and by whom: what protects somebody may be tightened, rarely loosened.

Answers with a sentence for the person who tried, or None when the step is allowed. It looks at one field of
one record; `ownership` says which fields may be touched at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ctxview.analysis.rfc3339 import instant
from ctxview.formats.envelope.model import Record, text, texts
from ctxview.formats.envelope.ownership import REVIEWER, Right, ownership
from ctxview.formats.envelope.vocabulary import KNOWN, Words
from ctxview.origin import JsonValue

TRANSITIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "open": ("requested", "resolved"),
    "requested": ("waiting",),
    "waiting": ("resolved", "declined", "blocked", "expired"),
    "resolved": (),
    "declined": (),
    "blocked": (),
    "expired": (),
}
"""Where a gap may go from each state; what is settled reopens only as a new record."""
REDACTION_STEPS: Final[Mapping[str, int]] = {
    "unknown": 0,
    "none": 0,
    "masked": 1,
    "summarized": 1,
    "encrypted_ref": 2,
    "removed": 3,
    "policy_blocked": 3,
}
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
"""The draft lists no words for these two. Of others nobody knows which is more, so a reviewer decides."""


def refusal(record: Record, name: str, new: JsonValue, editor: str) -> str | None:
    """Why the field may not become `new` in that editor's hands; None when it may."""
    old = record.value.get(name)
    right = ownership(record.kind, name).right
    if right is Right.APPEND_ONLY:
        return _appending(old, new)
    if right is not Right.GUARDED:
        return None
    judge = _JUDGES.get(name)
    return judge(record, old, new, editor) if judge is not None else None


def next_states(status: str | None) -> tuple[str, ...]:
    """The states a gap may be in after an edit, its own first."""
    if status is None or status not in TRANSITIONS:
        return KNOWN[Words.MISSING_STATUS]
    return (status, *TRANSITIONS[status])


def _appending(old: JsonValue, new: JsonValue) -> str | None:
    before = old if isinstance(old, list) else []
    if isinstance(new, list) and new[: len(before)] == before:
        return None
    return "Entries are only added at the end; those that are there stay."


def _by_steps(steps: Mapping[str, int], *, down: bool, words: str) -> Judge:
    """May go one way in anybody's hands, the other way in a reviewer's."""

    def judge(_record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
        if editor == REVIEWER:
            return None
        before, after = steps.get(text(old) or ""), steps.get(text(new) or "")
        if old is None and after is not None and not down:
            return None
        if before is None or after is None:
            return f"Nobody here knows which of {old!r} and {new!r} is {words}; a reviewer may decide."
        loosened = after > before if down else after < before
        return f"A model may only make it {words}; a reviewer may do the other." if loosened else None

    return judge


def _visibility(_record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    added = [each for each in texts(new) if each not in texts(old)]
    if not added or editor == REVIEWER:
        return None
    return f"This would show it to {', '.join(added)} as well; only a reviewer may widen visibility."


def _expiry(_record: Record, old: JsonValue, new: JsonValue, _editor: str) -> str | None:
    before, after = instant(text(old)), instant(text(new))
    if after is None:
        return "This is no date and time such as 2026-05-11T09:00:00Z."
    return "It may expire earlier than it did, not later." if before is not None and after > before else None


def _status(record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    before, after = text(old) or "", text(new) or ""
    if before == after:
        return None
    if before in TRANSITIONS and after not in TRANSITIONS[before]:
        ways = " or ".join(TRANSITIONS[before])
        settled = "It is settled: a gap that opens again is a new record."
        return f"From {before} it can only become {ways}." if ways else settled
    if editor != REVIEWER and record.text("severity") == "blocking" and after in _SETTLED:
        return "It blocks the work, so only a reviewer may end it."
    return None


def _reviewers(_record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    return None if old == new or editor == REVIEWER else "Only a reviewer may change this."


def _evidence(record: Record, old: JsonValue, new: JsonValue, editor: str) -> str | None:
    return _reviewers(record, old, new, editor) or _appending(old, new)


def _moves(_record: Record, old: JsonValue, new: JsonValue, _editor: str) -> str | None:
    """Which items were chosen is judged over both lists; see `changes`."""
    return None if isinstance(new, list) or old == new else "This is a list of items."


Judge = Callable[[Record, JsonValue, JsonValue, str], str | None]
_SETTLED: Final = ("resolved", "declined", "expired")
_TIGHTER: Final = _by_steps(REDACTION_STEPS, down=False, words="tighter")
_JUDGES: Final[Mapping[str, Judge]] = {
    "visibility": _visibility,
    "redaction_state": _TIGHTER,
    "sensitivity": _by_steps(SENSITIVITY_STEPS, down=False, words="more sensitive"),
    "trust_level": _by_steps(TRUST_STEPS, down=True, words="less trusted"),
    "severity": _by_steps(
        {word: step for step, word in enumerate(KNOWN[Words.SEVERITY])}, down=False, words="more severe"
    ),
    "expires_at": _expiry,
    "status": _status,
    "policy_refs": _reviewers,
    "evidence_refs": _evidence,
    "selected_item_refs": _moves,
    "omitted_item_refs": _moves,
}
