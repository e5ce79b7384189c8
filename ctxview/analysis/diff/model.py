"""What a difference is made of: values that became others, on subjects, in groups. Compares nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Literal

from ctxview.analysis.diff.ladders import Course, course
from ctxview.analysis.diff.words import Piece
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue, Owner

Word = Literal["added", "removed", "raised", "lowered", "changed"]
Sight = Literal["hidden", "shown"]
Loss = Literal["recorded", "inferred"]
"""Whether a compaction names what it took, or only the words and the moment speak for it."""


class Kind(StrEnum):
    """The chief thing that happened to a subject; its deltas tell the rest."""

    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"
    HIDDEN = "hidden"
    SHOWN = "shown"
    CHANGED = "changed"
    REORDERED = "reordered"
    BROKEN = "broken"
    HEALED = "healed"
    OPENED = "opened"
    CLOSED = "closed"


class Group(StrEnum):
    """In the order a reader wants them."""

    BLOCKS = "blocks"
    ORDER = "order"
    COMPACTIONS = "compactions"
    CURSOR = "cursor"
    TODO = "todo"
    FIELDS = "fields"
    BUDGET = "budget"
    REFS = "refs"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Delta:
    """One value that became another; `word` "added" means there was none before, "removed" none after."""

    name: str
    before: JsonValue
    after: JsonValue
    word: Word
    owner: Owner | None = None
    pieces: tuple[Piece, ...] = ()
    """For prose: the same change word by word."""
    crossed: str = ""
    """Which limit a figure went beyond, or came back within."""
    tampered: bool = False
    """Set when whoever wrote it must not have."""

    @property
    def system(self) -> bool:
        return self.owner in (Owner.SYSTEM, Owner.APPEND_ONLY)


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one subject: a block, the cursor, a field, a budget, a reference, a gap."""

    group: Group
    kind: Kind
    subject: str
    place: str = ""
    """Where it stands now (or stood, when removed): a tier, a kind of reference, a budget's unit."""
    came_from: str | None = None
    """The tier a moved block left."""
    deltas: tuple[Delta, ...] = ()
    sight: Sight | None = None
    """Set when the model stopped or started being shown a block, whatever else happened to it."""
    why: str = ""
    loss: Loss | None = None
    """Set when a compaction took it, as far as can be told, and no summary speaks of it."""
    in_history: bool = False
    """Set when it only left the window: a history that never shrinks still has it."""

    @property
    def course(self) -> Course | None:
        """Whether a moved block went up or down, where its tiers stand above one another."""
        return course(self.came_from, self.place) if self.came_from is not None else None

    @property
    def is_field(self) -> bool:
        """Whether it is about one field of the whole, which may come and go by itself."""
        return self.group is Group.FIELDS

    @property
    def tampered(self) -> tuple[Delta, ...]:
        return tuple(found for found in self.deltas if found.tampered)

    @property
    def one_sided(self) -> bool:
        """Whether it only came or only went, so that nothing of it can be compared."""
        words = {found.word for found in self.deltas}
        return words in ({"added"}, {"removed"}) and self.kind in (
            Kind.ADDED,
            Kind.REMOVED,
            Kind.OPENED,
            Kind.CLOSED,
        )

    @property
    def name(self) -> str:
        if self.group is Group.BUDGET:
            return f"{self.subject} ({self.place})"
        return f"{self.place}/{self.subject}" if self.place else self.subject


@dataclass(frozen=True, slots=True)
class Side:
    """Which state stood on one side; never part of the difference."""

    title: str
    source: str
    revision: str


@dataclass(frozen=True, slots=True)
class StateDiff:
    """Every change from one state to another, by group; falsy when both mean the same."""

    before: Side
    after: Side
    changes: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def groups(self) -> Iterator[tuple[Group, tuple[Change, ...]]]:
        """The groups that have changes, in reading order."""
        for group in Group:
            if found := self.of(group):
                yield group, found

    def of(self, group: Group) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.group is group)

    def counts(self) -> dict[Kind, int]:
        found = Counter(change.kind for change in self.changes)
        return {kind: found[kind] for kind in Kind if found[kind]}

    def as_json(self) -> dict[str, JsonValue]:
        """A contract: keys are stable, what does not apply is null."""
        from ctxview.analysis.diff.report import json_of

        return json_of(self)

    def as_lines(self) -> list[str]:
        """For a terminal or a file: plain text, safe to print."""
        from ctxview.analysis.diff.report import lines_of

        return lines_of(self)
