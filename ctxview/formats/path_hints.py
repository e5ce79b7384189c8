"""Hints for a path that cannot be opened: the reason, and the nearest path that exists."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from ctxview.analysis.wording import counted, listed
from ctxview.files.reading import error_text

MOST_NAMES = 5_000
LIKENESS = 0.6


def missing_path_reason(path: Path) -> str | None:
    """Say why nothing is at `path`, with the nearest path; None when the path exists."""
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ENOTDIR and _is_database(path.parent):
            # A database may hold several sources, each named by a path below it.
            return None
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return f"there is no such file or folder{_nearest_hint(path)}"
        return error_text(error)
    return None


def _is_database(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def unlisted_reason(folder: Path) -> str | None:
    """Say why `folder` cannot be listed; None when it can."""
    try:
        os.scandir(folder).close()
    except OSError as error:
        return error_text(error)
    return None


def nothing_recognised(folder: Path, names: Sequence[str]) -> str:
    """Return a sentence about a folder in which no format recognises anything."""
    if (why := unlisted_reason(folder)) is not None:
        return f"this folder cannot be listed: {why}"
    if not names:
        return "this folder is empty"
    many = counted(len(names), "entry", "entries") if len(names) < MOST_NAMES else f"{MOST_NAMES:,} and more"
    holds = f"{many}, such as {listed(names[:3], 3)}"
    return f"nothing in this folder was recognised ({holds}); any one file can be opened by its own path"


def nearest_path(path: Path) -> Path | None:
    """Return an existing path that is spelled like `path`, or one of the same name further down."""
    found = Path(path.anchor)
    for part in path.parts[1:] if path.anchor else path.parts:
        if os.path.lexists(found / part):
            found /= part
        elif close := _close(part, _names(found)):
            found /= close
        else:
            return next((each for each in _below(found) if each.name == path.name), None)
    return found


def _nearest_hint(path: Path) -> str:
    found = nearest_path(path)
    if found is not None:
        return f" (did you mean {found}?)"
    missing = next((each for each in reversed(path.parents) if not os.path.lexists(each)), None)
    return f" (nor a folder {missing})" if missing is not None else ""


def _close(name: str, names: list[str]) -> str | None:
    from difflib import get_close_matches

    folded = {each.casefold(): each for each in reversed(names)}
    found = get_close_matches(name.casefold(), list(folded), n=1, cutoff=LIKENESS)
    return folded[found[0]] if found else None


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, MOST_NAMES))
    except OSError:
        return []


def _below(folder: Path) -> Iterator[Path]:
    """Yield up to about `MOST_NAMES` paths below a folder, near ones first."""
    waiting, count = [folder], 0
    for place in waiting:
        for name in _names(place):
            count += 1
            below = place / name
            yield below
            if count < MOST_NAMES and not name.startswith(".") and _is_folder(below):
                waiting.append(below)
        if count >= MOST_NAMES:
            return


def _is_folder(path: Path) -> bool:
    """Whether `path` is a folder that can be searched; False when it is not permitted to ask."""
    try:
        return path.is_dir() and not path.is_symlink()
    except OSError:
        return False
