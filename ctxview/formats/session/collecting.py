"""Doing what a GC plan says, with everything checked again right before each removal; and undoing it.

What is removed moves into the user's state folder. The names that may ever be removed are listed here: the
histories and the results of children are none of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ctxview.files import undo_copies
from ctxview.files.removal import Batch, NotRemoved, Restored, begin, latest, seen
from ctxview.formats.session.gc import Fate, GcItem, GcPlan
from ctxview.quick_dataclass import dataclass

_REMOVABLE: Final = re.compile(r"context/(?:pack\.json|pack\.md|swap/chunk/[^/]+|dedup/blob/[^/]+)")


class GcFailed(Exception):
    """Nothing could be removed or restored at all; the message says why."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What was done: files removed, and files that stayed after all with the reason."""

    removed: tuple[GcItem, ...]
    stayed: tuple[tuple[GcItem, str], ...]
    backup: Path | None


def apply_gc(root: Path, plan: GcPlan, again: Callable[[], GcPlan]) -> Collected:
    """Remove what the plan lists. Whenever anything it rests on has changed, `again` is asked for a new plan.

    Raises `GcFailed` when the backup cannot be made.
    """
    removed: list[GcItem] = []
    stayed: list[tuple[GcItem, str]] = []
    batch: Batch | None = None
    current, known_items = plan, {item.name: item for item in plan.items}
    try:
        with undo_copies.lock():
            for item in plan.removals:
                gone = {each.name for each in removed}
                if _changed(root, current, gone):
                    current = again()
                    known_items = {each.name: each for each in current.items}
                known = known_items.get(item.name)
                if known is None or known.fate is not Fate.REMOVE or known.seen is None:
                    stayed.append((item, known.reason if known else "it is gone"))
                    continue
                try:
                    batch = batch or begin(root)
                    _take(batch, known)
                    removed.append(known)
                except NotRemoved as error:
                    stayed.append((item, str(error)))
    except undo_copies.Busy:
        raise GcFailed("another ctxview has been saving for a long time") from None
    except OSError as error:
        raise GcFailed(f"the backup could not be made: {error.strerror or error}") from None
    return Collected(tuple(removed), tuple(stayed), batch.folder if batch else None)


def undo_gc(root: Path) -> list[Restored]:
    """Put back what the last collection removed; empty when there is nothing. Raises `GcFailed`."""
    try:
        with undo_copies.lock():
            batch = latest(root)
            return batch.restore() if batch else []
    except undo_copies.Busy:
        raise GcFailed("another ctxview has been saving for a long time") from None
    except OSError as error:
        raise GcFailed(f"restoring failed: {error.strerror or error}") from None


def _take(batch: Batch, item: GcItem) -> None:
    """The one place from which anything is removed."""
    if _REMOVABLE.fullmatch(item.name) is None or item.seen is None:
        raise NotRemoved("only packs, chunks and blobs are ever removed")
    batch.take(item.name, item.seen)


def _changed(root: Path, plan: GcPlan, gone: set[str]) -> bool:
    return any(seen(root, name) != before for name, before in plan.witnesses.items() if name not in gone)
