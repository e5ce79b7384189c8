"""Watches the whole test run: no code of ctxview may open, move or remove a session's history for writing.

Tests write histories themselves, so only calls with a ctxview module on the stack count. What Python cannot
see (system calls made through ctypes) is watched by `test_session_histories` with strace.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

import ctxview

HISTORIES = ("messages.jsonl", "events.jsonl")
OURS = str(Path(ctxview.__file__).parent) + os.sep
WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
CHANGES = frozenset(
    {f"os.{verb}" for verb in ("rename", "remove", "truncate", "link", "symlink", "chmod", "utime")}
)

breaches: list[str] = []


def watch() -> None:
    """From now on, for the life of the process: Python has no way to take such a hook out again."""
    sys.addaudithook(_notice)


def _notice(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        touched = (path,) if isinstance(flags, int) and flags & WRITING else ()
    elif event in CHANGES:
        touched = arguments
    else:
        return
    histories = [path for path in touched if _is_history(path)]
    if histories and (culprit := _ours(sys._getframe())):
        breaches.append(f"{event} {histories} by {culprit}")


def _is_history(value: object) -> bool:
    """Not the copies that ctxview lays out in its own cache to look at a recorded moment."""
    if not isinstance(value, str | bytes | os.PathLike):
        return False
    path = os.fsdecode(value)
    return path.endswith(HISTORIES) and not path.startswith(_own_copies())


def _own_copies() -> str:
    return str(Path(os.environ.get("XDG_CACHE_HOME", "/nowhere")).resolve() / "ctxview" / "moments") + os.sep


def _ours(frame: FrameType | None) -> str | None:
    while frame is not None:
        if frame.f_code.co_filename.startswith(OURS):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None
