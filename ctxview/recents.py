"""What was opened last, kept in the user's state folder: a short list of paths, the newest first."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ctxview.files.own_files import put
from ctxview.files.reading import Unreadable, read_bytes
from ctxview.files.user_folders import state_folder

KEPT: Final = 20
_LIMIT: Final = 256 * 1024


def recent() -> list[Path]:
    """Those that are still there."""
    return [path for path in _known() if path.exists()]


def note(paths: Sequence[Path]) -> None:
    """Put paths in front of the list. That it cannot be kept is nobody's trouble."""
    found = [path.absolute() for path in paths]
    kept = [*found, *(path for path in _known() if path not in found)][:KEPT]
    put(_file(), json.dumps([os.fspath(path) for path in kept]).encode("utf-8", "surrogateescape"))


def _known() -> list[Path]:
    try:
        found = json.loads(read_bytes(_file(), _LIMIT).decode("utf-8", "surrogateescape"))
    except (Unreadable, ValueError, RecursionError):
        return []
    return [Path(each) for each in found if isinstance(each, str) and each] if isinstance(found, list) else []


def _file() -> Path:
    return state_folder() / "recent.json"
