"""Brings a context document or a summary under its cap by the overflow rules. It proposes and writes nothing.

Context: the oldest lines of the lowest value go first, until the target is reached. Participants, open tasks
and decisions stay. Summary: sentences with little factual content go first, then `…` marks the cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from ctxview.formats.memory.document import DocumentLine, parse_document
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.words import kept_details

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_DONE: Final = re.compile(r"\[[xX-]\]")
_TASK: Final = re.compile(r"\[ \]|\b(?:todo|task)\b", re.IGNORECASE)
_PERSON: Final = re.compile(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b")
_KEPT: Final = ("description", "decisions", "entities")
_LOW: Final = ("notes", "topics", "diagram")


class TrimmedLine(Struct, frozen=True):
    """A line to delete, and why it may go."""

    number: int
    text: str
    reason: str


class TrimPlan(Struct, frozen=True):
    before: str
    after: str
    deleted: tuple[TrimmedLine, ...]
    target: int

    @property
    def reached(self) -> bool:
        return len(self.after) <= self.target


def trim_context(text: str, profile: Profile, first_seen: Mapping[str, int] | None = None) -> TrimPlan:
    """Propose which lines to delete; nothing when the text is within its cap.

    `first_seen` has the snapshot in which each line appeared; without it, upper lines are older.
    """
    target = profile.caps.trim_target
    if len(text) <= profile.caps.context:
        return TrimPlan(text, text, (), profile.caps.context)
    seen = first_seen or {}
    candidates = []
    introduced: set[str] = set()
    for line in parse_document(text).lines():
        names = set(_PERSON.findall(line.text)) - introduced
        introduced |= names
        value = _value(line)
        # The line that introduces a participant stays.
        if value is not None and (not names or value[0] == 0):
            candidates.append((value[0], seen.get(line.text, 0), line.number, value[1]))
    written = text.split("\n")
    excess, deleted = len(text) - target, []
    for _, age, number, reason in sorted(candidates):
        if excess <= 0:
            break
        excess -= len(written[number - 1]) + 1
        since = f", since snapshot {age}" if age else ""
        deleted.append(TrimmedLine(number, written[number - 1].strip(), f"{reason}{since}"))
    gone = {line.number for line in deleted}
    after = "\n".join(line for number, line in enumerate(written, 1) if number not in gone)
    return TrimPlan(text, after, tuple(sorted(deleted, key=lambda line: line.number)), target)


def trim_summary(text: str, profile: Profile) -> str:
    """Return a summary within the cap; `…` at its end when something was left out."""
    cap = profile.caps.summary
    if len(text) <= cap:
        return text
    sentences = _SENTENCE.split(text.strip())
    order = sorted(range(len(sentences)), key=lambda number: (len(kept_details(sentences[number])), -number))
    left = set(range(len(sentences)))
    for number in order[:-1]:
        if _size(sentences, left) < cap:
            break
        left.discard(number)
    kept = " ".join(sentences[number] for number in sorted(left))
    if len(kept) >= cap:
        kept = kept[: cap - 1].rsplit(" ", 1)[0]
    return f"{kept.rstrip()}…"


def _value(line: DocumentLine) -> tuple[int, str] | None:
    """Return the rank of a line that may go, the lowest first, and why; None for a line that stays."""
    section = line.section.partition(" (")[0].lower()
    if _DONE.match(line.text):
        return 0, "a finished task"
    if section in _KEPT or _TASK.search(line.text) or "task" in section:
        return None
    if section in _LOW:
        return 1, f"low value: {line.section}"
    details = len(kept_details(line.text))
    if section == "timeline":
        return 2, "an old event"
    return (3, "few details") if details == 0 else (4, "a fact without a decision or task")


def _size(sentences: Sequence[str], numbers: set[int]) -> int:
    return sum(len(sentences[number]) + 1 for number in numbers)
