"""What differs between two readings, to be marked, and where a revision is found again. Knows no screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from ctxview.quick_dataclass import dataclass
from ctxview.state import Block
from ctxview.tui.things import Index, Kind, Thing

if TYPE_CHECKING:
    from ctxview.formats import Revision


class Change(StrEnum):
    """How a block differs from what was shown before: another profile, revision, draft or file."""

    ADDED = "added"
    CHANGED = "changed"
    VERDICT = "verdict"


@dataclass(frozen=True, slots=True)
class Marks:
    """The blocks that are new or differ, and the names of those that are gone."""

    changes: Mapping[Thing, Change] = field(default_factory=dict)
    gone: tuple[Thing, ...] = ()
    fading: bool = False
    """Whether the changes are those on disk, which are marked only for a moment."""

    def __bool__(self) -> bool:
        return bool(self.changes or self.gone)


def compare(before: Index, after: Index, *, fading: bool = False) -> Marks:
    changes: dict[Thing, Change] = {}
    for thing in after.of(Kind.BLOCK):
        old = before.value(thing)
        if not isinstance(old, Block):
            changes[thing] = Change.ADDED
        elif change := _difference(old, after.block(thing)):
            changes[thing] = change
    gone = tuple(thing for thing in before.of(Kind.BLOCK) if thing not in after.things)
    return Marks(changes, gone, fading)


def same_revision(before: Sequence[Revision], at: int, after: Sequence[Revision]) -> int:
    """Where a revision is after another look: the newest stays the newest, any other stays itself."""
    last = len(after) - 1
    if at >= len(before) - 1:
        return last
    wanted = before[at]
    alike = (
        lambda each: each == wanted,
        lambda each: (each.file, each.label) == (wanted.file, wanted.label),
        lambda each: (each.file, each.kind) == (wanted.file, wanted.kind),
    )
    found = (place for test in alike for place, each in enumerate(after) if test(each))
    return next(found, min(at, last))


def _difference(old: Block, new: Block) -> Change | None:
    if (old.visible, old.reason) != (new.visible, new.reason):
        return Change.VERDICT
    told = ("text", "type", "decay", "confidence", "round", "tags", "state")
    return Change.CHANGED if any(getattr(old, name) != getattr(new, name) for name in told) else None
