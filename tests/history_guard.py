"""Watch the whole test run: ctxview may not open for writing, move or remove the history of a session.

Tests write histories themselves, so only calls with a ctxview module on the stack count. System calls
through ctypes, which Python does not report, are watched by `test_session_histories` with strace. A redacted
copy has histories too: it consists of new files, which `write_copy` creates in a folder that did not exist.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from types import FrameType

import ctxview

HISTORIES = ("messages.jsonl", "events.jsonl")
PACKAGE = str(Path(ctxview.__file__).parent) + os.sep
WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
CHANGES = frozenset(
    {f"os.{verb}" for verb in ("rename", "remove", "truncate", "link", "symlink", "chmod", "utime")}
)

COPIES = (f"{PACKAGE}review{os.sep}redaction{os.sep}redaction.py", "write_copy")
"""The function that creates the files of redacted copies."""

breaches: list[str] = []


def watch() -> None:
    """Watch until the end of the process: Python cannot remove an audit hook."""
    sys.addaudithook(_check_event)


def _check_event(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        touched = (path,) if isinstance(flags, int) and flags & WRITING else ()
    elif event == "os.remove":
        touched = (_absolute(*arguments),)
    elif event in CHANGES:
        touched = arguments
    else:
        return
    histories = [path for path in touched if _is_history(path)]
    if histories and (caller := _ctxview_caller(sys._getframe())):
        breaches.append(f"{event} {histories} by {caller}")


def _absolute(path: object, folder: object) -> object:
    """Return the path that a name in an open folder stands for."""
    if not isinstance(folder, int) or folder < 0 or not isinstance(path, str | bytes):
        return path
    return Path(f"/proc/self/fd/{folder}").readlink() / os.fsdecode(path)


def _is_history(value: object) -> bool:
    """Whether a path is a history, apart from copies: recorded moments in the cache, sources behind a URL."""
    if not isinstance(value, str | bytes | os.PathLike):
        return False
    path = os.fsdecode(value)
    copies = _cached_moments(), str(Path(tempfile.gettempdir()) / "ctxview-fleet-")
    return path.endswith(HISTORIES) and not path.startswith(copies)


def _cached_moments() -> str:
    return str(Path(os.environ.get("XDG_CACHE_HOME", "/nowhere")).resolve() / "ctxview" / "moments") + os.sep


def _ctxview_caller(frame: FrameType | None) -> str | None:
    """The innermost line of ctxview that is being run; None without one, and for redacted copies."""
    found = None
    while frame is not None:
        if (frame.f_code.co_filename, frame.f_code.co_name) == COPIES:
            return None
        if found is None and frame.f_code.co_filename.startswith(PACKAGE):
            found = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return found
