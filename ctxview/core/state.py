"""The neutral state of one reading, which every pane, report and command shares.

Nothing here knows a format, a file system or a screen. Values are immutable: a new reading gives a new
`ContextState`. A value that a format does not have is `None`, never invented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from ctxview.core.budget import Budget as Budget
from ctxview.core.budget import LoggedWindow as LoggedWindow
from ctxview.core.budget import Segment as Segment
from ctxview.core.fields import Form, Move, Owner
from ctxview.core.figures import Figure, Limit, Reason
from ctxview.core.lazy import LazySequence, LazyText
from ctxview.core.origin import JsonValue as JsonValue
from ctxview.core.origin import Origin as Origin
from ctxview.core.transcript import Transcript as Transcript

if TYPE_CHECKING:
    from ctxview.core.flow import Flow


class Reach(StrEnum):
    """How far an item came towards one target. A selected item is not necessarily shown."""

    INJECTED = "injected"
    """A record says that the target was shown the item."""
    ASSEMBLED = "assembled"
    """The item was assembled for the target; no record says that it arrived."""
    ALLOWED = "allowed"
    """The target may see the item, but the item was not assembled for it."""
    DENIED = "denied"
    """The target may not see the item."""
    VIOLATION = "violation"
    """The item was injected for the target although the target may not see it."""
    UNKNOWN = "unknown"


SHOWN_TO = (Reach.INJECTED, Reach.VIOLATION)
"""The reaches of an item that a target was shown."""


class Block(Struct, frozen=True, kw_only=True):
    """One thing that the agent remembers or was given, and whether the model is shown it."""

    id: str
    tier: str
    text: str
    origin: Origin
    type: str | None = None
    figures: tuple[Figure, ...] = ()
    round: int | None = None
    age: int | None = None
    tags: tuple[str, ...] = ()
    tool: str | None = None
    """The name of the tool whose call or result this is."""
    tokens: int | None = None
    """Tokens of the text as the model is shown it, where a format cuts long texts."""
    tokens_from: str = ""
    """How the tokens are known, where that is not what the counts of the state say."""
    cut: int = 0
    """Tokens that were cut on the way to the model, where a record says so."""
    visible: bool | None = None
    reason: Reason | None = None
    state: str | None = None
    form: Form | None = None
    rank: int | None = None
    """Position among the blocks that the model is shown, from 0; None when it is not shown."""
    reach: Mapping[str, Reach] = field(default_factory=dict)
    """The reach by target, where a format distinguishes targets."""
    redaction: str = ""
    """What a redaction did to the content, by whom and why; empty without one."""
    moves: tuple[Move, ...] = ()
    """Moves to another tier that are more than moving an element from one list to another."""

    def figure(self, name: str) -> float | None:
        """The value of the figure `name`; None when the block does not have it."""
        return next((each.value for each in self.figures if each.name == name), None)

    @property
    def why(self) -> str:
        """The text of the reason; empty without one."""
        return self.reason.text if self.reason is not None else ""


class Tier(Struct, frozen=True):
    """Blocks of one kind, in the order of the file. The name is also the id of the tier."""

    name: str
    blocks: tuple[Block, ...]
    new: Form | None = None
    """The form that adds a block to this tier; None when blocks cannot be added."""
    limits: tuple[Limit, ...] = ()
    rank: int | None = None
    """The place in the order of the tiers: a move to a higher rank is a promotion. None without an order."""
    meaning: str = ""
    """What it means for a block to come into this tier, as a sentence."""
    role: str = ""
    """The colour role, such as `core`; without one, tiers take colours in turn."""


_DONE = frozenset({"done", "completed", "complete", "closed", "x"})
_DROPPED = frozenset({"dropped", "cancelled", "canceled", "skipped"})


class TodoItem(Struct, frozen=True):
    """One item of a to-do list. An item that was dropped is neither done nor open."""

    id: int | None
    title: str
    status: str
    current: bool = False
    origin: Origin | None = None
    kept_in: str | None = None
    """The name of its list, where a source has several lists."""
    form: Form | None = None
    """Its own form; None when the form of the whole list has it."""

    @property
    def is_done(self) -> bool:
        return self.status.casefold() in _DONE

    @property
    def is_dropped(self) -> bool:
        return self.status.casefold() in _DROPPED


def progress_text(items: Sequence[TodoItem]) -> str:
    """Return how many items are done, and how many were dropped: `4 of 11 done, 1 dropped`."""
    dropped = sum(item.is_dropped for item in items)
    done = f"{sum(item.is_done for item in items)} of {len(items)} done"
    return f"{done}, {dropped} dropped" if dropped else done


class Cursor(Struct, frozen=True):
    """The next step as the agent itself states it."""

    phase: str | None
    next: str | None
    target: int | None
    note: str | None
    origin: Origin


class Todo(Struct, frozen=True):
    """The progress of the work as the system counts it, and the position that the agent states.

    `step` is the position in the list that the source states, from 1; it is not a number of done items.
    """

    summary: str | None
    total: int | None
    step: int | None
    cursor: Cursor | None
    items: tuple[TodoItem, ...] = ()
    form: Form | None = None
    cleared: bool = False
    """Whether the source states that there is no cursor, instead of saying nothing about it."""

    @property
    def done(self) -> int | None:
        """How many items are done; None when the items are not known or are not steps."""
        return sum(item.is_done for item in self.items) if self.items and self.total is not None else None


class RefStatus(StrEnum):
    RESOLVED = "resolved"
    DANGLING = "dangling"
    ORPHAN = "orphan"
    EXTERNAL = "external"
    MISMATCH = "mismatch"
    """The target is not the promised one, for example because its hash differs."""
    STALE = "stale"
    """The target has changed since the reference was made."""
    REBUILDABLE = "rebuildable"
    """The target is gone but can be rebuilt from its sources."""
    PLACEHOLDER = "placeholder"
    """The reference names no content that could be verified."""
    DUPLICATE = "duplicate"
    """Both places say the same."""
    CONTRADICTION = "contradiction"
    """Both places speak of the same and say different things."""
    UNKNOWN = "unknown"


class Ref(Struct, frozen=True):
    """A pointer from one item to another, with its status. `text` is the content of the target."""

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
        """Whether the id of the reference is the name of its target, with or without the kind in front."""
        return self.target == self.id or self.target.endswith(f" {self.id}")

    meaning: JsonValue = None
    """The target as a value, where `text` is only one spelling of it."""
    form: Form | None = None
    """The form of the record that makes the reference, where that is not a block."""


class Gap(Struct, frozen=True):
    """Missing context: the open question, its severity, and the ids it blocks."""

    id: str
    question: str
    severity: str
    status: str
    blocks: tuple[str, ...]
    why: str
    origin: Origin
    form: Form | None = None


class Event(Struct, frozen=True):
    """An event on the timeline. `revision` is the index of the revision to show for it."""

    label: str
    kind: str
    time: str | None
    revision: int | None
    origin: Origin


class CompactionRecord(Struct, frozen=True):
    """A record of a compaction: the summary that replaces the covered blocks, and the reported losses."""

    id: str
    summary: str | None
    covers: tuple[str, ...]
    lost: tuple[str, ...]
    origin: Origin


class Counts(Struct, frozen=True):
    """The totals, with the name of the estimator behind the tokens."""

    blocks: int
    visible: int
    hidden: int
    tokens: int
    tokens_exact: bool
    estimator: str


class PromptComponent(Struct, frozen=True, kw_only=True):
    """One part of an assembled prompt: a file or a part of it, and what became of it."""

    name: str
    source: str | None = None
    """The file, relative to the source; None for a text that no file holds."""
    limit: int | None = None
    tokens: int = 0
    whole_tokens: int | None = None
    state: Literal["whole", "cut", "dropped"] = "whole"
    lines: tuple[int, int] | None = None
    """The first and the last line that the model is shown, from 1."""
    reason: str | None = None


class PromptAssembly(Struct, frozen=True):
    """The components of a prompt in their order, for one window and mode; None where a source has none."""

    era: str | None
    window: int | None
    mode: str | None
    cap: int | None
    tokens: int
    components: tuple[PromptComponent, ...]


class SummedCompaction(Struct, frozen=True):
    """A compaction in a log: what started it, and the tokens before and after it."""

    trigger: str | None
    before: int | None
    after: int | None


class LogSummary(Struct, frozen=True, kw_only=True):
    """The figures of a transcript as a whole, for programs. Rows are named by id, or by line."""

    dialect: str
    calls: int
    last_sent: int | None
    peak_sent: int | None
    output_tokens: int | None
    output_known: bool
    compactions: tuple[SummedCompaction, ...]
    live_rows: tuple[str, ...]
    dead_rows: tuple[str, ...]
    calls_without_result: tuple[str, ...]
    results_without_call: tuple[str, ...]
    children: tuple[str, ...]
    window: int
    window_from: str
    models: tuple[str, ...]
    versions: tuple[str, ...]


class ContextState(Struct, frozen=True, kw_only=True):
    """Everything to show of one revision of one source."""

    format: str
    title: str
    source: str
    revision: str
    tiers: tuple[Tier, ...]
    counts: Counts
    todo: Todo | None = None
    budgets: tuple[Budget, ...] = ()
    refs: tuple[Ref, ...] = ()
    new_ref: Form | None = None
    """The form that adds a reference; None when references cannot be added."""
    missing: tuple[Gap, ...] = ()
    timeline: tuple[Event, ...] = ()
    form: Form | None = None
    """The fields of the source as a whole: version, clock, task …"""
    text: str | None = None
    """Prose beside the state: the answer of a reply, or the whole text of a raw file."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Small facts worth a line in the header: profile, version, kind of file."""
    transcript: Transcript | None = None
    """The messages, where the source has any."""
    citations: Mapping[str, range] = field(default_factory=dict)
    """The names by which references cite messages, such as `messages:7-10`, and the cited rows."""
    flow: Flow | None = None
    """The flow from the sources to the shown content, where a format records it."""
    compactions: tuple[CompactionRecord, ...] = ()
    """The compactions that a format records."""
    advice: str | None = None
    """The change that would help most, as a sentence, where a format knows one."""
    assembly: PromptAssembly | None = None
    """The prompt as it is put together from files, where a format does that."""
    log: LogSummary | None = None
    """The figures of the whole log, where the source is the transcript of an agent."""
    windows: tuple[LoggedWindow, ...] = ()
    """The window over time where a log records it, so that it need not be made of revisions."""
    written_by: Owner | None = None
    """The author of the whole source, where there is a single one: the model wrote a reply."""
    shown_only: bool = False
    """Whether this is a copy of what the model was shown: it does not say which hidden blocks exist."""
    outcome: Sequence[ContextState] = ()
    """For a reply whose received state is known: the state with all that the reply states, and the state
    that the runtime keeps. Empty for everything that is a whole state itself."""

    @property
    def stated(self) -> ContextState:
        """The whole state after this one, with the values that a runtime does not accept from a reply."""
        return self.outcome[0] if self.outcome else self

    @property
    def kept(self) -> ContextState:
        """The whole state after this one, as a runtime keeps it."""
        return self.outcome[1] if self.outcome else self

    def blocks(self) -> Iterator[Block]:
        for tier in self.tiers:
            yield from tier.blocks


def map_parts(value: object, change: Callable[[object], object]) -> object:
    """Return `value` with `change` applied to each direct part; `value` itself when no part changed."""
    match value:
        case Struct():
            changed = {}
            for name in value.__struct_fields__:
                old = getattr(value, name)
                if (new := change(old)) is not old:
                    changed[name] = new
            return replace(value, **changed) if changed else value
        case LazyText():
            return LazyText(lambda: str(change(str(value))))
        case LazySequence():
            return LazySequence(lambda: [change(part) for part in value])
        case tuple():
            parts = tuple(map(change, value))
            return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
        case list():
            return [change(part) for part in value]
        case Mapping():
            return {change(key): change(part) for key, part in value.items()}
    return value
