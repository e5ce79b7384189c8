"""The values that every dialect of transcripts is read into: rows, their parts, calls and compactions.

A row is one record of the file. A part is one thing of a row that may be in the context: a text, a tool call,
a result. Parts hold sizes and facts, not texts; `texts` reads a text when it is shown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import chain
from operator import attrgetter

from msgspec import Struct, field

from ctxview.core.origin import JsonValue, Origin

Record = dict[str, JsonValue]


class Dialect(StrEnum):
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    BODY = "request-body"
    OPENCODE = "opencode"


class PartKind(StrEnum):
    PROMPT = "prompt"
    ANSWER = "answer"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    REMINDER = "reminder"
    MEMORY = "memory"
    SUMMARY = "summary"
    IMAGE = "image"
    SYSTEM = "system"
    SCHEMA = "schema"


ROLLBACK = "event_msg thread_rolled_back"
"""The sort of a row that says that turns of a rollout were rolled back."""
MADE_BY_MODEL = frozenset((PartKind.ANSWER, PartKind.THINKING, PartKind.CALL))


class Mark(StrEnum):
    """What is special about a result: the model has less than the tool gave."""

    PERSISTED = "persisted"
    """Only a preview was sent; the whole output is in a file."""
    PARTIAL = "partial"
    """A part of a file was read, although all of it was asked for."""
    UNCHANGED = "unchanged"
    """The result refers to an earlier one instead of repeating it."""
    CUT = "cut"
    """The program shortened the output on its way into the context."""
    CLEARED = "cleared"
    ENCRYPTED = "encrypted"
    REFUSED = "refused"
    """A person refused or interrupted the call."""


class LogPart(Struct, eq=False, gc=False):
    """One thing of a row that may be in the context. `size` is in characters."""

    row: int
    place: int
    """The position in the content of the row."""
    kind: PartKind
    segment: str
    size: int
    call_id: str | None = None
    tool: str | None = None
    about: str | None = None
    """The path, or the beginning of the command, that a call is about."""
    error: str | None = None
    mark: Mark | None = None
    detail: str | None = None
    """More about the mark: the path of a persisted output, or a sentence."""
    lost: int = 0
    """How many characters or lines of the whole the model did not get, where that is known."""
    images: int = 0
    digest: int = 0
    """A hash of the text, for comparing requests; equal texts have equal ones. 0 when it is short."""
    cache: int = 0
    """The minutes of a cache breakpoint behind this part; 0 without one."""


class TranscriptRow(Struct, eq=False, gc=False):
    """One record. `sort` is its type as written; rows that are not part of a conversation have no parts."""

    start: int
    end: int
    sort: str
    line: int | None = None
    """The number of the line from 0; None while the lines are not counted."""
    id: str | None = None
    parent: str | None = None
    time: str | None = None
    parts: tuple[LogPart, ...] = ()
    message: str | None = None
    """The id of the call that wrote the row."""
    role: str | None = None
    prompt: bool = False
    """Whether a person, or a queue, wrote it: a turn begins here."""
    meta: bool = False
    side: bool = False
    """Whether it belongs to a sub-agent that wrote into the same file."""
    boundary: bool = False
    source: str | None = None
    """The id of the tool call that this row belongs to, beyond its results."""
    origin: Origin | None = None
    """Its place, where the row is not a line of the file."""

    @property
    def in_context(self) -> bool:
        return bool(self.parts)


class ModelCall(Struct, eq=False, gc=False):
    """One request to the model and its answer. Sizes are tokens as the provider reported them."""

    number: int
    row: int
    """The first row of its answer."""
    id: str | None
    model: str | None
    time: str | None
    sent: int | None = None
    out: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    cache_minutes: int = 5
    thinking: int | None = None
    last_row: int = 0
    rows: int = 1
    """The number of rows that state its usage."""
    version: str | None = None
    output_known: bool = True
    """False when the written output size is a placeholder."""
    previous: int | None = None
    """The index of the call that it continues."""
    compaction: int | None = None
    """The row of the compaction that it is the first to follow; only noted where calls have branches."""
    turn: int = 0
    limit: int | None = None
    """The most tokens that it may answer, where the request says so."""

    @property
    def after(self) -> int | None:
        if self.sent is None:
            return None
        return self.sent + (self.out or 0 if self.output_known else 0)


class LoggedCompaction(Struct, eq=False):
    """A cut in the history: `before` as the program wrote it, `written_after` likewise."""

    row: int
    trigger: str | None = None
    before: int | None = None
    written_after: int | None = None
    kept: tuple[str, ...] = ()
    """The ids of the rows that stay."""


LONGEST_PROMPT = 4000
SUBAGENT_OF = "sub-agent of"
"""The fact that has the id of the session that started this one."""
"""How much of the prompt of a sub-agent is kept and compared."""


class ChildAgent(Struct, eq=False):
    """A sub-agent: where it was called, and what is known of its own session."""

    call_id: str | None
    agent: str | None
    row: int
    kind: str | None = None
    prompt: str = ""
    status: str | None = None
    tokens: int | None = None
    """What it used in all, as the program wrote it."""
    file: str | None = None
    """The name of its transcript beside the session; None when there is none."""
    inline: bool = False
    read_size: int | None = None
    """The size of its transcript when that was read."""
    sent: int | None = None
    """The size of its last call."""
    model: str | None = None
    compacted: bool = False
    """Whether its own context was compacted."""


class TodoChange(Struct, eq=False):
    """A call that changes the list of tasks; `result_row` is None until it is answered."""

    row: int
    call_id: str | None
    tool: str
    input: Record
    answered: bool = False
    failed: bool = False
    task: str | None = None


class QueuedText(Struct, eq=False):
    """A text that was queued for the model."""

    row: int
    text: str
    task: str | None = None
    delivered: bool = False
    removed: bool = False


class LineProblem(Struct, frozen=True):
    """A line that is not a plain record: the rule it breaks, its place, and a sentence."""

    rule: str
    origin: Origin
    message: str


class Api(StrEnum):
    """The interface that a request body is written for."""

    ANTHROPIC = "Anthropic Messages"
    CHAT = "OpenAI chat"
    RESPONSES = "OpenAI Responses"
    BARE = "bare messages"


class RequestBody(Struct, eq=False):
    """One request of a file of bodies: its rows, and what the rules need beyond its parts."""

    api: Api
    first: int
    """Its first row; the rows up to `answer` belong to it."""
    answer: int
    """The row of its answer; also there when the file has none."""
    origin: Origin
    blank: tuple[tuple[int, str], ...] = ()
    """Rows with an empty text, or without content."""
    on_server: tuple[tuple[int, str, str], ...] = ()
    """Rows that name something that only the provider has: the row, the kind, the name."""
    links: tuple[tuple[int, str, str], ...] = ()
    """Rows that name something by its address: the row, the kind, the address."""
    thinking: bool = False
    """Whether the request asks for thinking in every answer."""
    error: str | None = None
    """What the provider answered instead of an answer."""
    edits: tuple[str, ...] = ()
    """The removals that it asks for, and those that the answer says were done."""


class TranscriptLog(Struct, eq=False):
    """Everything that was read of one transcript so far. A reader adds rows; nothing else changes it."""

    dialect: Dialect
    file: str
    rows: list[TranscriptRow] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    compactions: list[LoggedCompaction] = field(default_factory=list)
    children: list[ChildAgent] = field(default_factory=list)
    todos: list[TodoChange] = field(default_factory=list)
    queue: list[QueuedText] = field(default_factory=list)
    problems: list[LineProblem] = field(default_factory=list)
    unknown: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Types that are not known: how often, and the first row."""
    versions: dict[str, int] = field(default_factory=dict)
    """Each version of the program and its first row."""
    models: dict[str, int] = field(default_factory=dict)
    sessions: Counter[str] = field(default_factory=Counter)
    facts: dict[str, str] = field(default_factory=dict)
    """Small facts for the header: cwd, branch, title, …"""
    window: int | None = None
    window_from: str | None = None
    stated: dict[str, int] = field(default_factory=dict)
    """The parts of the context as the program itself listed them, by name."""
    errors: list[tuple[int, str]] = field(default_factory=list)
    """Failed requests: the row and the text."""
    partial: bool = False
    """Whether only the end of the file was read so far."""
    left_out: str | None = None
    """What was not read of the file, in words; None when all of it was."""
    repeated: list[tuple[int, int]] = field(default_factory=list)
    """Rows with the id of an earlier row, and that row. They are not read further."""
    copied: int = 0
    """The number of rows at the beginning that were copied from the session this one was forked from."""
    named_files: list[tuple[int, str, str]] = field(default_factory=list)
    """Files that rows name beside their texts: the row, what became of the file, its path."""
    turn_ends: list[int] = field(default_factory=list)
    """Rows that say that turns were rolled back, or that one was aborted."""
    unfinished: list[int] = field(default_factory=list)
    """Rows of compactions that do not count because no summary was finished."""
    graph: object = None
    """What a dialect keeps with the log for the next context."""
    density: tuple[int, float | None] = (0, None)
    """The characters of a token that the first calls of the file show, with their number."""
    requests: list[RequestBody] = field(default_factory=list)
    """The request of each call, where the file is made of request bodies."""

    def title(self, name: str) -> str:
        """Return the project and the title of the session, as far as they are known, or its `name`."""
        project = self.facts.get("cwd", "").replace("\\", "/").rstrip("/").rpartition("/")[2]
        return ": ".join(filter(None, (project, self.facts.get("title", name))))

    def compacted_between(self, before: int, after: int) -> bool:
        """Whether a compaction lies between two rows, or is the first of them."""
        at = bisect_left(self.compactions, before, key=_row_of)
        return at < len(self.compactions) and self.compactions[at].row < after

    def calls_before(self, row: int) -> int:
        """Return the number of calls whose answers begin before a row."""
        return bisect_left(self.calls, row, key=_row_of)

    @property
    def usage_rows(self) -> int:
        return sum(call.rows for call in self.calls)

    def origin(self, row: int) -> Origin:
        """Return the origin of a row."""
        found = self.rows[row]
        if found.origin is not None:
            return found.origin
        line = None if found.line is None else found.line + 1
        pointer = None if found.line is None else f"/{found.line}"
        return Origin(self.file, pointer, found.start, found.end, line, 1)

    def name(self, row: int) -> str:
        """Return the id of a row, or its place when it has none."""
        found = self.rows[row]
        return found.id or (f"line {found.line + 1}" if found.line is not None else f"byte {found.start}")


_row_of = attrgetter("row")


class Absence(StrEnum):
    """Why a part is not in the context."""

    COMPACTED = "compacted away"
    DEAD = "dead branch"
    SUPERSEDED = "superseded"
    ROLLED_BACK = "rolled back"
    SIDE = "sub-agent"
    OTHER_SESSION = "carried over"
    REVERTED = "reverted"
    FAILED = "failed"


class LiveContext(Struct, eq=False):
    """The context at one moment: the parts that are sent, in their order, and the rows that are not."""

    parts: Sequence[LogPart]
    absent: Mapping[Absence, Sequence[int]]
    """The rows that are not live, by the reason."""
    calls: Sequence[ModelCall]
    """The calls whose answers are in the context, in their order."""
    beside_walk: frozenset[int] = frozenset()
    """Live rows that a plain walk over the parents would miss."""
    lineage: Sequence[int] = ()
    """All rows on the way to the end, compacted ones too, in file order."""
    circle: int | None = None
    """A row at which the parents form a circle."""
    broken: Sequence[tuple[int, bool]] = ()
    """Rows whose parent is not in the file, and whether a bad line explains it."""
    uncertain: str | None = None
    """Why the context may be another one."""
    start: LoggedCompaction | None = None
    """The compaction that the context begins with."""
    missing_results: Sequence[LogPart] = ()
    """Calls without a result."""
    missing_calls: Sequence[LogPart] = ()
    """Results without their call."""
    dangling: Sequence[tuple[int, str]] = ()
    """Rows that name something of this session that is not there, and its name."""

    def gone(self, *reasons: Absence) -> Sequence[int]:
        """Return the rows that are not live for one of some reasons, in the order of the file."""
        found = [self.absent.get(why, ()) for why in reasons]
        return found[0] if len(found) == 1 else sorted(chain.from_iterable(found))
