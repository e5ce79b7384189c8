"""The switch that refuses every write of this process to inspected files, for viewers that may only read.

`save`, `create` and `removal` ask it, so that no key, form or message can get around it. The caches and the
settings of the user are not locked.
"""

from __future__ import annotations

_reason: str | None = None


def lock_writes(reason: str) -> None:
    """Refuse all writes from now on, with `reason`."""
    global _reason
    _reason = reason


def write_refusal() -> str | None:
    """Why nothing may be written; None when it may."""
    return _reason
