"""Everything that state, prompt and rules of one moment are made from."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.transcript.accounting import ContextSizes, Estimator, account, estimator_of
from ctxview.formats.transcript.children import TOOL_RESULTS, missing_session
from ctxview.formats.transcript.loading import LogHolder, context_of
from ctxview.formats.transcript.model import (
    Absence,
    Dialect,
    LiveContext,
    LogPart,
    ModelCall,
    PartKind,
    RequestBody,
    TodoChange,
    TranscriptLog,
)
from ctxview.formats.transcript.profile import Profile
from ctxview.formats.transcript.requests.accounting import account_request
from ctxview.formats.transcript.texts import Texts

FILE_TOOLS = {
    "Read": "read",
    "Edit": "edited",
    "Write": "written",
    "MultiEdit": "edited",
    "NotebookEdit": "edited",
    "read": "read",
    "edit": "edited",
    "write": "written",
    "multiedit": "edited",
}
EDITING_TOOLS = frozenset(tool for tool, use in FILE_TOOLS.items() if use != "read")
MOST_PROMPTS = 400
"""The prompts, the newest ones, whose texts are searched for instructions and for names of files."""


class Task(Struct):
    """One task of the agent's list."""

    id: str
    title: str
    status: str
    row: int
    active: str = ""


class TranscriptFacts:
    """A log at one moment: before `call`, or now. Derived values are made when they are first needed."""

    def __init__(
        self,
        reader: LogHolder,
        call: ModelCall | None,
        profile: Profile,
        texts: Texts,
        beside: Mapping[str, int],
        stale: bool,
        memory_lines: int | None = None,
        memory_files: Sequence[str] = (),
    ) -> None:
        self.reader, self.call, self.profile, self.texts = reader, call, profile, texts
        self.beside = beside
        """The files in the folder of the session, relative to it."""
        self.stale = stale
        """Whether the file has not changed for a while."""
        self.memory_lines = memory_lines
        """The lines of the project's MEMORY.md beside the session; None without one."""
        self.memory_files = memory_files
        """The names of the project's memory files beside the session."""
        self.counter: TokenCounter | None = None
        """Counts requests without a reported size, where it is the counter of their model."""

    @property
    def log(self) -> TranscriptLog:
        return self.reader.log

    @property
    def request(self) -> RequestBody | None:
        """The request of this moment, where the file is made of request bodies."""
        requests = self.log.requests
        return requests[self.call.number - 1] if self.call is not None and requests else None

    @property
    def parent(self) -> str | None:
        """The file of the session that this sub-agent belongs to, where that is not there."""
        return missing_session(Path(self.log.file))

    @cached_property
    def context(self) -> LiveContext:
        return context_of(self.reader, self.call)

    @cached_property
    def sizes(self) -> ContextSizes:
        if self.request is not None and self.call is not None:
            return account_request(self.log, self.call, self.profile, self.texts, self.counter)
        return account(self.log, self.context, self.call, self.profile)

    def sizes_up_to(self, part: LogPart) -> int:
        """Return the tokens from the beginning of the prompt to the end of a part."""
        return self._running_sizes[part.row, part.place]

    @cached_property
    def _running_sizes(self) -> dict[tuple[int, int], int]:
        sums = accumulate(map(self.sizes.of, self.context.parts))
        return {(part.row, part.place): total for part, total in zip(self.context.parts, sums, strict=True)}

    @cached_property
    def estimator(self) -> Estimator:
        return estimator_of(self.log, self.profile)

    @cached_property
    def window(self) -> SessionWindow:
        return window_of(self.log, self.profile, self.call)

    def turn_of(self, row: int) -> int | None:
        """Return the turn of a row; None when it is not on the lineage."""
        return bisect_right(self._turn_starts, row) if is_among(row, self.context.lineage) else None

    @cached_property
    def prompts(self) -> Sequence[int]:
        """The rows that begin a turn, of the whole log."""
        return [index for index, row in enumerate(self.log.rows) if row.prompt]

    @cached_property
    def _turn_starts(self) -> Sequence[int]:
        lineage = self.context.lineage
        return [row for row in self.prompts if is_among(row, lineage)]

    @property
    def last_turn(self) -> int:
        return len(self._turn_starts)

    @property
    def end(self) -> int:
        """The number of rows before this moment."""
        return self.call.row if self.call is not None else len(self.log.rows)

    @cached_property
    def lost_prompts(self) -> Sequence[LogPart]:
        """The prompts of a person that were compacted away or rolled back."""
        rows, rolled = self.log.rows, set(self.context.gone(Absence.ROLLED_BACK))
        compacted = set(self.prompts).intersection(self.context.gone(Absence.COMPACTED))
        # What was compacted away on a branch that was left was given up with the branch.
        lost = [
            row
            for row in self.prompts
            if row in rolled or (row in compacted and self.turn_of(row) is not None)
        ]
        return [part for row in lost for part in rows[row].parts if part.kind is PartKind.PROMPT]

    @cached_property
    def live_prompts(self) -> Sequence[LogPart]:
        rows = self.log.rows
        return [part for part in self.context.parts if part.kind is PartKind.PROMPT and rows[part.row].prompt]

    @property
    def left_out(self) -> Iterator[str]:
        """Say what the findings and the state do not cover because there is too much of it."""
        if self.log.left_out is not None:
            yield self.log.left_out
        for prompts, what in (
            (self.lost_prompts, "lost prompts were searched for instructions"),
            (self.live_prompts, "live prompts were searched for names of files"),
        ):
            if len(prompts) > MOST_PROMPTS:
                yield f"only the last {MOST_PROMPTS:,} of {len(prompts):,} {what}"

    @cached_property
    def history(self) -> Sequence[LogPart]:
        """The parts on the way to this moment, those that were compacted away too."""
        lineage = map(self.log.rows.__getitem__, self.context.lineage)
        return list(chain.from_iterable(map(_parts_of, lineage)))

    @cached_property
    def edits(self) -> Sequence[LogPart]:
        """The calls of the history that edit files."""
        return [part for part in self.history if part.tool in EDITING_TOOLS and part.kind is PartKind.CALL]

    @cached_property
    def noted(self) -> Sequence[LogPart]:
        """The parts of the history that failed, were refused, or that the model has less of."""
        return [
            part
            for part in self.history
            if (part.mark is not None or part.error is not None) and part.kind is not PartKind.THINKING
        ]

    def tasks(self, upto: int | None = None) -> list[Task]:
        """Return the agent's list of tasks as of row `upto`, by the answered calls on the lineage."""
        rows = set(self.context.lineage)
        end = self.end if upto is None else upto
        tasks: dict[str, Task] = {}
        for change in self.log.todos:
            if change.row in rows and change.row < end and change.answered and not change.failed:
                _apply(change, tasks)
        return list(tasks.values())

    def persisted_name(self, part: LogPart) -> str | None:
        """Return the name of a persisted output in the session's own folder; None when it is elsewhere."""
        if part.detail is None:
            return None
        path = Path(part.detail)
        session = Path(self.log.file).stem
        inside = path.parent.name == TOOL_RESULTS and path.parent.parent.name == session
        return f"{TOOL_RESULTS}/{path.name}" if inside else None


_parts_of = attrgetter("parts")


def is_among(row: int, rows: Sequence[int]) -> bool:
    """Whether a row is one of `rows`, which are in the order of the file."""
    at = bisect_left(rows, row)
    return at < len(rows) and rows[at] == row


def _apply(change: TodoChange, tasks: dict[str, Task]) -> None:
    given = change.input
    if change.tool in ("TodoWrite", "todowrite", "update_plan"):
        tasks.clear()
        found = given.get("todos", given.get("plan"))
        for at, each in enumerate(found if isinstance(found, list) else ()):
            if isinstance(each, dict):
                title = str(each.get("content") or each.get("step") or "")
                active = str(each.get("activeForm") or "")
                tasks[str(at + 1)] = Task(str(at + 1), title, str(each.get("status")), change.row, active)
    elif change.tool == "TaskCreate":
        name = change.task or str(len(tasks) + 1)
        title, active = str(given.get("subject") or ""), str(given.get("activeForm") or "")
        tasks[name] = Task(name, title, "pending", change.row, active)
    elif change.tool == "TaskUpdate":
        name = str(given.get("taskId") or "")
        status = given.get("status")
        if status == "deleted":
            tasks.pop(name, None)
        elif name in tasks:
            task = tasks[name]
            task.status = status if isinstance(status, str) else task.status
            task.title = str(given.get("subject") or task.title)
            task.row = change.row


AUTO_COMPACTION = 200_000
_NEAR = (160_000, 180_000)


class SessionWindow(Struct, frozen=True):
    """The window, how it is known, and what is kept free of it."""

    size: int
    known_by: str
    inferred: bool
    exceeded: bool = False
    """Whether a call is larger than what was inferred at first."""
    reserved: int | None = None
    assumed: bool = False
    """Whether it is a guess: the model is not in the table."""


def window_of(log: TranscriptLog, profile: Profile, call: ModelCall | None = None) -> SessionWindow:
    """Return the window at a call, or at the end."""
    limits = profile.limits
    last = call or next(reversed(log.calls), None)
    model = last.model if last is not None else next(reversed(log.models), None)
    peak = max((each.sent or 0 for each in log.calls), default=0)
    codex = log.dialect is Dialect.CODEX
    if log.window is not None:
        reserved = log.window * limits.codex_reserve_percent // 100 if codex else None
        if log.dialect is Dialect.CLAUDE_CODE:
            printed = log.stated.get("autocompact buffer")
            reserved = printed or limits.reserve_output + limits.reserve_margin
        return SessionWindow(log.window, log.window_from or "written", inferred=False, reserved=reserved)
    reserved = limits.reserve_output + limits.reserve_margin if not codex else None
    by_api = log.dialect in (Dialect.BODY, Dialect.OPENCODE)
    if log.dialect is Dialect.OPENCODE:
        reserved = limits.reserve_output
    if log.dialect is Dialect.BODY:
        reserved = call.limit if call is not None else None
    table = profile.window(model, by_api=by_api)
    size = table or AUTO_COMPACTION
    by = f"inferred from the model {model}" if table is not None else "assumed: the model is not known"
    if table is None and any(
        each.trigger == "auto" and each.before is not None and _NEAR[0] <= each.before <= _NEAR[1]
        for each in log.compactions
    ):
        by = "inferred from an automatic compaction near 167,000"
    if peak > size:
        larger = profile.larger_window(peak)
        if log.dialect is Dialect.CLAUDE_CODE and peak > AUTO_COMPACTION:
            larger = max(larger, 1_000_000)
        by = f"inferred from a call of {peak:,} tokens"
        return SessionWindow(larger, by, inferred=True, exceeded=True, reserved=reserved)
    return SessionWindow(size, by, inferred=True, reserved=reserved, assumed=table is None)
