"""Who writes which file of a session, and the sentence that says so to a person who tries.

The one table behind locked fields in the editor and refused edits. Histories have no way through.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.quick_dataclass import dataclass
from ctxview.state import Owner


class Editing(StrEnum):
    """How a person may change a file."""

    TEXT = "as a whole text"
    NUMBER = "as one number"
    RECORDS = "record by record"
    NOT = "not at all"


@dataclass(frozen=True, slots=True)
class Ownership:
    owner: Owner
    editing: Editing
    why: str
    """Why it cannot be changed here; empty when it can."""


_HISTORY: Final = (
    "Histories only grow, and only the runtime writes them: they are never opened for writing here."
)
_RUNTIME: Final = "The runtime writes this file by itself; a change would contradict the histories."
_MODEL: Final = {
    "context/summary.md": Editing.TEXT,
    "context/todo.md": Editing.TEXT,
    "context/budget": Editing.NUMBER,
    "context/facts.jsonl": Editing.RECORDS,
    "context/decisions.jsonl": Editing.RECORDS,
    "context/refs.jsonl": Editing.RECORDS,
}
_LOCKED: Final = (
    (rf"{re.escape(MESSAGES)}|{re.escape(EVENTS)}|raw|\.store/.*", Owner.APPEND_ONLY, _HISTORY),
    (
        r"latest\.md|state|cwd|created_at|updated_at|current_run|meta\.json|state\.json",
        Owner.SYSTEM,
        _RUNTIME,
    ),
    (r"AGENTS\.md|SKILLS\.md", Owner.SYSTEM, "The runtime copies this for every run; change the original."),
    (
        r"context/pack\.(?:json|md)",
        Owner.DERIVED,
        "The pack is built from its sources: change those and build it anew.",
    ),
    (r"context/swap/.*", Owner.DERIVED, "Chunks carry their hash in their name; `ctxview swap` writes them."),
    (
        r"context/dedup/.*",
        Owner.DERIVED,
        "Blobs carry their hash in their name; `ctxview dedup` writes them.",
    ),
    (r"context/plan\.json", Owner.SYSTEM, "The parent agent's schedule: the runtime takes it as a whole."),
    (
        r"context/child/.*",
        Owner.SYSTEM,
        "Parent and child talk through this channel; the runtime records it.",
    ),
    (
        r"context/gc\.policy",
        Owner.SYSTEM,
        "This is the user's own policy: what may be deleted is decided in an editor.",
    ),
)
_PINNED: Final = re.compile(r"context/pinned/[^/]+")


def ownership(name: str) -> Ownership:
    """Whose the file is, by its name relative to the session."""
    if name in _MODEL:
        return Ownership(Owner.MODEL, _MODEL[name], "")
    if _PINNED.fullmatch(name):
        return Ownership(Owner.MODEL, Editing.TEXT, "")
    for pattern, owner, why in _LOCKED:
        if re.fullmatch(pattern, name, re.DOTALL):
            return Ownership(owner, Editing.NOT, why)
    return Ownership(
        Owner.SYSTEM, Editing.NOT, "This file is no part of a session that a person would change."
    )
