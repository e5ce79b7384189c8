"""Which tiers stand above which: moving up is being promoted, moving down being demoted.

By the names that formats give their tiers. Between tiers that no ladder has in common there is no up or down.
"""

from __future__ import annotations

from typing import Literal

Course = Literal["promoted", "demoted"]

LADDERS = (
    ("ephemeral", "working", "longterm", "core"),
    ("redacted", "omitted", "compacted", "available", "selected", "assembled", "injected"),
)
"""From what is gone soonest, or came least far, to what lasts longest, or was shown."""


def course(before: str, after: str) -> Course | None:
    for ladder in LADDERS:
        if before in ladder and after in ladder and before != after:
            return "promoted" if ladder.index(after) > ladder.index(before) else "demoted"
    return None
