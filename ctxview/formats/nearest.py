"""When nothing can be opened at a path: why, and the nearest thing that would work. Opens nothing."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from ctxview.analysis.wording import counted, listed
from ctxview.files.reading import in_words

MOST_NAMES = 5_000
LIKENESS = 0.6


def absence(path: Path) -> str | None:
    """Why there is nothing at `path`, with what may be meant instead; None when there is something."""
    try:
        path.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return f"there is no such file or folder{_meant(path)}"
        return in_words(error)
    return None


def unlisted(folder: Path) -> str | None:
    """Why nobody can say what a folder holds; None when one can."""
    try:
        os.scandir(folder).close()
    except OSError as error:
        return in_words(error)
    return None


def nothing_in(folder: Path, names: Sequence[str]) -> str:
    """A sentence about a folder in which no format recognises anything."""
    if (why := unlisted(folder)) is not None:
        return f"what this folder holds cannot be read: {why}"
    if not names:
        return "this folder is empty"
    many = counted(len(names), "entry", "entries") if len(names) < MOST_NAMES else f"{MOST_NAMES:,} and more"
    holds = f"{many}, such as {listed(names[:3], 3)}"
    return f"nothing in this folder was recognised ({holds}); any one file can be opened as it is"


def nearest(path: Path) -> Path | None:
    """An existing path spelled much like this one, or one of the same name further down."""
    found = Path(path.anchor)
    for part in path.parts[1:] if path.anchor else path.parts:
        if os.path.lexists(found / part):
            found /= part
        elif close := _close(part, _names(found)):
            found /= close
        else:
            return next((each for each in _below(found) if each.name == path.name), None)
    return found


def _meant(path: Path) -> str:
    found = nearest(path)
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
    """What lies in a folder and the folders in it, near ones first, as far as is quickly looked through."""
    waiting, seen = [folder], 0
    for place in waiting:
        for name in _names(place):
            seen += 1
            below = place / name
            yield below
            if seen < MOST_NAMES and not name.startswith(".") and _is_folder(below):
                waiting.append(below)
        if seen >= MOST_NAMES:
            return


def _is_folder(path: Path) -> bool:
    """Whether one could look into it; what nobody may ask about is none."""
    try:
        return path.is_dir() and not path.is_symlink()
    except OSError:
        return False
