"""Pictures of the screen as files: where they may be written, and that they ask nobody for anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxview.files.user_folders import state_folder

_FONTS = re.compile(r"@font-face\s*\{[^}]*\}\s*")


def folder_for(inspected: Iterable[Path]) -> Path:
    """The working folder, unless it is inspected: then the home folder, then our own."""
    taken = [path.resolve() for path in inspected]
    free = (each for each in _folders() if not any(each.resolve().is_relative_to(path) for path in taken))
    return next(free, state_folder())


def self_contained(picture: str) -> str:
    """Without the fonts that the toolkit would have fetched from elsewhere; any of one's own will do."""
    return _FONTS.sub("", picture)


def _folders() -> Iterator[Path]:
    for find in (Path.cwd, Path.home):
        try:
            yield find()
        except (OSError, RuntimeError):
            continue
