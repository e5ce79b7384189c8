"""What the start screen offers: what lies nearby, what was open last, the samples. Draws nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from ctxview.analysis.wording import counted
from ctxview.quick_dataclass import dataclass
from ctxview.samples import ABOUT, STORIES

MOST = 8
"""So that the rest of the screen can be seen, too."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something to open, and what it is in a few words."""

    section: str
    name: str
    about: str
    paths: tuple[Path, ...]


def nearby(folder: Path) -> tuple[list[Offer], str]:
    """What can be opened below a folder, and a sentence about the search."""
    from ctxview.formats import CannotOpen, discover

    try:
        found = discover(folder)
    except CannotOpen as error:
        return [], str(error)
    known = [each for each in found.found if each.format != "raw"]
    known.sort(key=lambda each: -each.matches[0].score)
    offers = [
        Offer("Nearby", _relative(each.path, folder), f"{each.format}: {each.why}", (each.path,))
        for each in known[:MOST]
    ]
    if len(known) > 1:
        whole = Offer("Nearby", "all of it", counted(len(known), "thing"), (folder,))
        offers.insert(0, whole)
    more = f"; {len(known) - MOST} more in all of it" if len(known) > MOST else ""
    if known:
        return offers, found.capped or f"in {folder.resolve().name}{more}"
    return (
        [],
        f"nothing is recognised in {folder.resolve().name} ({counted(found.looked_at, 'place')} looked at)",
    )


def recently(paths: Iterable[Path]) -> list[Offer]:
    return [
        Offer("Recent", path.name or str(path), str(path.parent), (path,)) for path in islice(paths, MOST)
    ]


def samples(paths: Sequence[Path]) -> list[Offer]:
    every = Offer("Samples", "all samples", "to look around in", tuple(paths))
    return [
        every,
        *(Offer("Samples", path.name, ABOUT.get(path.name, path.parent.name), (path,)) for path in paths),
    ]


def stories(paths: Sequence[Path]) -> list[Offer]:
    """The samples in which something happens over time."""
    named = {path.name: path for path in paths}
    return [Offer("Stories", name, ABOUT[name], (named[name],)) for name in STORIES if name in named]


def _relative(path: Path, folder: Path) -> str:
    found = path.relative_to(folder) if path.is_relative_to(folder) else path
    return str(found) if found.name else folder.resolve().name
