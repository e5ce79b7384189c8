"""Which of the system's fields a reply does not send back as they were; it says nothing of what follows."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.files.json_values import same_value
from ctxview.formats.snapshot.model import Snapshot
from ctxview.formats.snapshot.ownership import SYSTEM_FIELDS
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NotPreserved:
    """One of the system's fields, before and after. `known` and `sent` say whether it was there at all."""

    path: tuple[str, ...]
    known: bool
    was: JsonValue
    sent: bool
    now: JsonValue

    @property
    def name(self) -> str:
        return ".".join(self.path)


def not_preserved(received: Snapshot, emitted: Snapshot) -> Iterator[NotPreserved]:
    """What was changed, made up (not `known`) or left out (not `sent`); equal is what means the same."""
    for path in SYSTEM_FIELDS:
        known, was = _look(received.value, path)
        sent, now = _look(emitted.value, path)
        if known != sent or not same_value(was, now):
            yield NotPreserved(path, known, was, sent, now)


def _look(value: JsonValue, path: tuple[str, ...]) -> tuple[bool, JsonValue]:
    """Whether anything stands at `path`, and what."""
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value
