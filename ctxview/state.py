"""The neutral vocabulary: what any agent left on disk, in words every pane, report and command shares.

Nothing here knows a format, a file system or a screen. Values are immutable: a new look at the same thing is
a new `ContextState`. What a format does not have is `None`, never invented.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

from ctxview.origin import JsonValue as JsonValue
from ctxview.origin import Origin as Origin
from ctxview.quick_dataclass import dataclass
from ctxview.transcript import END as END
from ctxview.transcript import GrowingTranscript as GrowingTranscript
from ctxview.transcript import Row as Row
from ctxview.transcript import Transcript as Transcript

if TYPE_CHECKING:
    from ctxview.edits import MoveItem
    from ctxview.flow import Flow


class Owner(StrEnum):
    """Who may write a field."""

    MODEL = "model"
    SYSTEM = "system"
    DERIVED = "derived"
    APPEND_ONLY = "append-only"


# -- typed fields: what an editor needs to know about a value --------------------------------------------


@dataclass(frozen=True, slots=True)
class NumberShape:
    """A number within a range."""

    minimum: float
    maximum: float | None = None
    integer: bool = False
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class ChoiceShape:
    """One of a few words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TagsShape:
    """A few short words, each once."""

    max_items: int
    max_length: int


@dataclass(frozen=True, slots=True)
class TextShape:
    """A text; `max_length` is in UTF-16 units."""

    max_length: int | None = None
    multiline: bool = False
    required: bool = True


@dataclass(frozen=True, slots=True)
class JsonShape:
    """Any JSON value, edited as JSON text."""


Shape: TypeAlias = NumberShape | ChoiceShape | TagsShape | TextShape | JsonShape


@dataclass(frozen=True, slots=True)
class Field:
    """One named value, who owns it, and (when the model may write it) how it is edited.

    `shape` is None for what nobody may edit here; `why` then says the reason in a sentence.
    `present` is False when the file does not hold the key at all.
    """

    name: str
    value: JsonValue
    owner: Owner
    pointer: str
    shape: Shape | None = None
    why: str = ""
    present: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """An object a person may fill in: where it stands (or would stand) and its typed fields.

    A pointer ending in `/-` names a new element at the end of an array. An object that does not exist yet is
    written whole; of one that exists only the changed fields are written.
    """

    file: str
    pointer: str
    fields: Sequence[Field]
    exists: bool = True
    removable: bool = False

    @property
    def editable(self) -> bool:
        return any(item.shape is not None for item in self.fields)


@dataclass(frozen=True, slots=True)
class Move:
    """Where a thing may be moved, and the edit of which file that does it."""

    tier: str
    file: str
    edit: MoveItem


# -- the parts -------------------------------------------------------------------------------------------


class Sight(StrEnum):
    """How far something came on its way to one target. Being chosen is not being shown."""

    INJECTED = "injected"
    """A record says that it became visible there."""
    ASSEMBLED = "assembled"
    """It was put together for it; nothing says that it arrived."""
    ALLOWED = "allowed"
    """It may be seen there, and was not put together for it."""
    DENIED = "denied"
    """It may not be seen there."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One thing the agent remembers or was given, and whether the model is shown it."""

    id: str
    tier: str
    text: str
    origin: Origin
    type: str | None = None
    decay: float | None = None
    confidence: float | None = None
    quality: float | None = None
    round: int | None = None
    age: int | None = None
    tags: tuple[str, ...] = ()
    tokens: int | None = None
    visible: bool | None = None
    reason: str | None = None
    """Why it is hidden, or cannot be read."""
    state: str | None = None
    form: Form | None = None
    rank: int | None = None
    """Position in what the model is shown, from 0; None when it is not shown."""
    sights: Mapping[str, Sight] = field(default_factory=dict)
    """By target, where a format tells targets apart."""
    moves: tuple[Move, ...] = ()
    """Ways to another tier that are not simply taking it out of one list into another."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Beyond which the model is no longer shown a block of a tier: the most or the least a figure may be."""

    figure: Literal["decay", "confidence"]
    most: float | None = None
    least: float | None = None

    def is_broken(self, value: float | None) -> bool:
        if value is None:
            return False
        over = self.most is not None and value > self.most
        return over or (self.least is not None and value < self.least)


@dataclass(frozen=True, slots=True)
class Tier:
    """Blocks of one kind, in the order of the file."""

    name: str
    blocks: tuple[Block, ...]
    new: Form | None = None
    """How to add a block here; None when nobody may."""
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One thing to do."""

    id: int | None
    title: str
    status: str
    current: bool = False
    origin: Origin | None = None
    kept_in: str | None = None
    """Which list it is on, where a source keeps several."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """What the agent says it will do next."""

    phase: str | None
    next: str | None
    target: int | None
    note: str | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Todo:
    """How far the work is, by the system's count, and where the agent says it stands."""

    summary: str | None
    total: int | None
    step: int | None
    cursor: Cursor | None
    items: tuple[TodoItem, ...] = ()
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a budget. `estimator` names how `used` was found, `exact` whether it is the true count."""

    name: str
    used: int
    limit: int | None = None
    exact: bool = True
    estimator: str | None = None
    meaning: str | None = None
    """A digest of what was counted, however it is spelled: figures of equal ones tell of spelling only."""


@dataclass(frozen=True, slots=True)
class Budget:
    """`used` against `limit`, both in `unit`. `over` is how much does not fit (0 when all does).

    `cut` is what was left out or shortened on the way and is no part of `used`; None when nobody says.
    """

    target: str
    unit: str
    limit: int | None
    used: int | None
    reserved: int | None
    segments: tuple[Segment, ...]
    cut: int | None = None

    @property
    def over(self) -> int | None:
        if self.limit is None or self.used is None:
            return None
        return max(0, self.used - self.limit)


class RefStatus(StrEnum):
    RESOLVED = "resolved"
    DANGLING = "dangling"
    ORPHAN = "orphan"
    EXTERNAL = "external"
    MISMATCH = "mismatch"
    """It leads to something else than it promises, such as another hash."""
    STALE = "stale"
    """What it leads to has changed since."""
    REBUILDABLE = "rebuildable"
    """It is gone, but can be had again from what it was made of."""
    PLACEHOLDER = "placeholder"
    """It names no content that could be verified."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ref:
    """A pointer from one thing to another, and whether it leads anywhere. `text` is what it leads to."""

    id: str
    kind: str
    target: str
    status: RefStatus
    tokens: int | None
    bytes: int | None
    used_by: tuple[str, ...]
    origin: Origin
    text: str | None = None

    @property
    def names_itself(self) -> bool:
        """Whether it is called after what it leads to, with the kind before it or without."""
        return self.target == self.id or self.target.endswith(f" {self.id}")

    meaning: JsonValue = None
    """What it leads to as a value, where `text` only spells that out."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Context that is not there: what is missing, how bad that is, and what it blocks."""

    id: str
    question: str
    severity: str
    status: str
    blocks: tuple[str, ...]
    why: str
    origin: Origin
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A moment on the timeline. `revision` is the index to show for it."""

    label: str
    kind: str
    time: str | None
    revision: int | None
    origin: Origin


@dataclass(frozen=True, slots=True)
class Compaction:
    """A record that some blocks were taken together: what stands for them now, and what it says was lost."""

    id: str
    summary: str | None
    covers: tuple[str, ...]
    lost: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Counts:
    """Totals, with the name of the estimator behind the tokens."""

    blocks: int
    visible: int
    hidden: int
    tokens: int
    tokens_exact: bool
    estimator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextState:
    """Everything there is to show of one revision of one source."""

    format: str
    title: str
    source: str
    revision: str
    tiers: tuple[Tier, ...]
    counts: Counts
    todo: Todo | None = None
    budgets: tuple[Budget, ...] = ()
    refs: tuple[Ref, ...] = ()
    missing: tuple[Gap, ...] = ()
    timeline: tuple[Event, ...] = ()
    form: Form | None = None
    """The fields that belong to the whole: version, clock, task …"""
    text: str | None = None
    """Prose that stands beside the state: a reply's answer, or the whole of a raw file."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Small facts worth a line in the header: profile, version, kind of file."""
    transcript: Transcript | None = None
    """The messages themselves, where there are any."""
    citations: Mapping[str, range] = field(default_factory=dict)
    """Names by which references mean messages, such as `messages:7-10`, and the rows each stands for."""
    flow: Flow | None = None
    """The way from the sources to what was shown, where a format records it."""
    compactions: tuple[Compaction, ...] = ()
    """Those that a format keeps a record of."""
    written_by: Owner | None = None
    """Whose work the whole is, where it is one's: a reply is the model's."""

    def blocks(self) -> Iterator[Block]:
        for tier in self.tiers:
            yield from tier.blocks
