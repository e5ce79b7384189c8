"""The entries of the start screen: sources nearby, recent paths, first steps, samples."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from msgspec import Struct

from ctxview.analysis.wording import counted
from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.undo_copies import write_state_file
from ctxview.files.user_folders import state_folder
from ctxview.samples import ABOUT, STORIES
from ctxview.tui.model.jobs import Job, JobControl

if TYPE_CHECKING:
    from ctxview.formats import DiscoveredSource

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
    """Paths to open together, or an action of the start screen, with a name and a short description."""

    section: str
    name: str
    about: str
    paths: tuple[Path, ...] = ()
    group: str = ""
    """The folder above, for the sessions of one home."""
    format: str = ""
    time: float | None = None
    """When the path was changed last, in seconds since the epoch."""
    action: str = ""


FIRST_STEPS = (
    StartEntry("First steps", "demo", "watch an agent remember and forget, with captions", action="demo"),
    StartEntry("First steps", "tour", "five steps through the inspector, on a sample", action="tour"),
    StartEntry("First steps", "open a path…", "type or complete a file or folder", action="open"),
)


def nearby_entries(folder: Path) -> tuple[list[StartEntry], str]:
    """The sources below `folder`, the newest first within their group, and a sentence about the search."""
    from ctxview.formats import OpenError, discover

    try:
        found = discover(folder, into_lists=False)
    except OpenError as error:
        return [], str(error)
    known = [_nearby(each, folder) for each in found.found if each.format != "raw"]
    if not known:
        places = counted(found.looked_at, "place")
        return [], f"nothing is recognised in {folder.resolve().name} ({places} searched)"
    listed = sorted(known, key=lambda each: (-(each.time or 0), each.paths[0].parts))[:MOST_ENTRIES]
    newest = {each.group: each.time or 0 for each in reversed(listed)}
    listed.sort(key=lambda each: (-newest[each.group], each.group))
    if len(known) > 1:
        listed.insert(0, StartEntry("Nearby", "all", f"{counted(len(known), 'source')} together", (folder,)))
    more = f" ({MOST_ENTRIES} listed)" if len(known) > MOST_ENTRIES else ""
    return listed, found.capped or f"{len(known)}{more}"


def _nearby(found: DiscoveredSource, folder: Path) -> StartEntry:
    group, name = _agent_and_session(found.path, folder)
    about = found.why if not group else ""
    return StartEntry("Nearby", name, about, (found.path,), group, found.format, _changed(found.path))


def _agent_and_session(path: Path, folder: Path) -> tuple[str, str]:
    """The home of an agent and "agent / session" for a session in one; else no home and the path."""
    *above, word, agent, of, session = ("", "", "", "", *path.resolve().parts)
    if (word, of) != ("agent", "session"):
        return "", _relative(path, folder)
    home = Path(*above)
    if len(above) > 2 and above[-2] == "home":
        home = home.parent.parent
    return _relative(home, folder.resolve()), f"{agent} / {'all sessions' if session == 'index' else session}"


def _changed(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def home_entries(home: Path) -> list[StartEntry]:
    """The sources in places where programs keep them, by names and sizes; no file is opened."""
    from ctxview.formats.registry import found_at_home

    return [
        StartEntry("At home", each.name, each.about, (each.path,), format=name, time=each.modified)
        for name, each in found_at_home(home)
    ]


def recent_entries(paths: Iterable[Path], known: Container[Path]) -> list[StartEntry]:
    """The recent paths that are not among the `known` ones, with their format; peeks into each."""
    from ctxview.formats import detect

    new = (path for path in paths if path.absolute() not in known)
    found: list[StartEntry] = []
    for path in islice(new, MOST_ENTRIES):
        format_ = next((match.format for match in detect(path)), "raw")
        name = _agent_and_session(path, path.parent)[1]
        found.append(
            StartEntry("Recent", name, str(path.parent), (path,), format=format_, time=_changed(path))
        )
    return found


def sample_entries(paths: Sequence[Path]) -> list[StartEntry]:
    every = StartEntry("Samples", "all samples", "to explore", tuple(paths))
    return [
        every,
        *(
            StartEntry("Samples", path.name, ABOUT.get(path.name, ""), (path,), format=path.parent.name)
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


class EntriesFound(Struct, frozen=True):
    """The entries found nearby, a remark on the search, and those at home and the recent ones."""

    nearby: Sequence[StartEntry]
    remark: str
    recent: Sequence[StartEntry]


class FindEntries(Job, frozen=True, eq=False):
    """Look for what can be opened in the working folder and in `home`; the samples are listed already."""

    group: ClassVar[str] = "searching nearby"
    home: Path | None
    samples: Sequence[StartEntry]

    def run(self, _: JobControl) -> EntriesFound:
        nearby, remark = nearby_entries(Path())
        at_home = home_entries(self.home) if self.home is not None else []
        known = {path.absolute() for each in (*nearby, *self.samples, *at_home) for path in each.paths}
        return EntriesFound(nearby, remark, [*at_home, *recent_entries(recent_paths(), known)])
