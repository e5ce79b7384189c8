"""The entries of the start screen: recent paths from the user's state folder, sources nearby, samples."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from ctxview.analysis.wording import counted
from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.undo_copies import write_state_file
from ctxview.files.user_folders import state_folder
from ctxview.samples import ABOUT, STORIES

MOST_RECENT: Final = 20
_LARGEST_FILE: Final = 256 * 1024


def recent_paths() -> list[Path]:
    """The recently opened paths that still exist, the newest first."""
    return [path for path in _known() if path.exists()]


def remember_path(paths: Sequence[Path]) -> None:
    """Put `paths` at the front of the list; a failure to write it is ignored."""
    found = [path.absolute() for path in paths]
    recent = [*found, *(path for path in _known() if path not in found)][:MOST_RECENT]
    write_state_file(
        _file(), json.dumps([os.fspath(path) for path in recent]).encode("utf-8", "surrogateescape")
    )


def _known() -> list[Path]:
    try:
        found = json.loads(read_bytes(_file(), _LARGEST_FILE).decode("utf-8", "surrogateescape"))
    except (ReadError, ValueError, RecursionError):
        return []
    return [Path(each) for each in found if isinstance(each, str) and each] if isinstance(found, list) else []


def _file() -> Path:
    return state_folder() / "recent.json"


MOST_ENTRIES = 8
"""Entries of one section, so that the others stay on the screen."""


class StartEntry(Struct, frozen=True):
    """Paths to open together, with a name and a short description."""

    section: str
    name: str
    about: str
    paths: tuple[Path, ...]


def nearby_entries(folder: Path) -> tuple[list[StartEntry], str]:
    """The sources below `folder`, and a sentence about the search."""
    from ctxview.formats import OpenError, discover

    try:
        found = discover(folder)
    except OpenError as error:
        return [], str(error)
    known = [each for each in found.found if each.format != "raw"]
    known.sort(key=lambda each: -each.matches[0].score)
    offers = [
        StartEntry("Nearby", _relative(each.path, folder), f"{each.format}: {each.why}", (each.path,))
        for each in known[:MOST_ENTRIES]
    ]
    if len(known) > 1:
        whole = StartEntry("Nearby", "all of it", counted(len(known), "source"), (folder,))
        offers.insert(0, whole)
    more = f"; {len(known) - MOST_ENTRIES} more in all of it" if len(known) > MOST_ENTRIES else ""
    if known:
        return offers, found.capped or f"in {folder.resolve().name}{more}"
    return (
        [],
        f"nothing is recognised in {folder.resolve().name} ({counted(found.looked_at, 'place')} searched)",
    )


def recent_entries(paths: Iterable[Path]) -> list[StartEntry]:
    return [
        StartEntry("Recent", path.name or str(path), str(path.parent), (path,))
        for path in islice(paths, MOST_ENTRIES)
    ]


def sample_entries(paths: Sequence[Path]) -> list[StartEntry]:
    every = StartEntry("Samples", "all samples", "to explore", tuple(paths))
    return [
        every,
        *(
            StartEntry("Samples", path.name, ABOUT.get(path.name, path.parent.name), (path,))
            for path in paths
        ),
    ]


def story_entries(paths: Sequence[Path]) -> list[StartEntry]:
    """The samples with several revisions, for a demo."""
    named = {path.name: path for path in paths}
    return [StartEntry("Stories", name, ABOUT[name], (named[name],)) for name in STORIES if name in named]


def _relative(path: Path, folder: Path) -> str:
    found = path.relative_to(folder) if path.is_relative_to(folder) else path
    return str(found) if found.name else folder.resolve().name
