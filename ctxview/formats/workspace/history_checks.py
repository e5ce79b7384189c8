"""The checks of single lines: messages of raw histories, audit chains, turn logs and learnings."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import orjson
from msgspec import Struct

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import excerpt, quoted
from ctxview.core.findings import Hit, Severity
from ctxview.core.origin import JsonValue, Origin
from ctxview.formats.kit.history_line import HistoryLine

if TYPE_CHECKING:
    from ctxview.files.strict_json.document import JsonDocument
    from ctxview.formats.workspace.survey import WorkspaceSurvey

SUMMARY_MARK = "[Conversation summary:"
CARRIED_OVER = 10
"""The messages that a rotation copies to the beginning of the next file."""
LONGEST_CONTEXT = 100
_ROLES = frozenset(("user", "assistant", "tool", "system", "clear", "summary", "tool_result"))


class Turn(Struct, frozen=True):
    """The size of the context in one turn, as the program logged it."""

    session: str
    number: int
    time: str | None
    context: int
    working_memory: int | None
    origin: Origin


class HistoryMessage(Struct, frozen=True):
    """One message of a raw history, in either of its two spellings."""

    role: str | None
    text: str
    time: str | None
    calls: tuple[str, ...] = ()
    answers: str | None = None

    @property
    def identity(self) -> tuple[str | None, str, str | None]:
        return self.role, self.text, self.time


class LineCheck:
    """Takes the lines of one file in order; a subclass checks its records."""

    def __init__(self, survey: WorkspaceSurvey) -> None:
        self._survey = survey

    def line(self, line: HistoryLine) -> None:
        if line.value is not None:
            self._record(line, line.value)
        elif not line.is_blank:
            self._survey.fault("WSP018", Hit(line.origin(), excerpt(line.problem or "not a record", 160)))

    def end(self) -> None:
        """Do nothing, as long as the file may end anywhere."""

    def _record(self, line: HistoryLine, value: dict[str, JsonValue]) -> None:
        raise NotImplementedError


def history_message(value: dict[str, JsonValue]) -> HistoryMessage:
    """Return the message of a line, spelled with `role` and `content` or with `kind` and `text`."""
    role = _text(value.get("role")) or _text(value.get("kind"))
    text = next((found for key in ("content", "text", "result") if (found := _text(value.get(key)))), "")
    calls = value.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    names = [_text(call.get("id")) for call in listed if isinstance(call, dict)]
    answers = _text(value.get("tool_call_id")) or _text(value.get("call_id"))
    if listed:
        text = f"{text}\n{orjson.dumps(listed).decode()}"
    return HistoryMessage(role, text, _text(value.get("timestamp")), tuple(filter(None, names)), answers)


class MessageCheck:
    """Checks the messages of one session in order: calls and results, and summaries in their place."""

    def __init__(self, survey: WorkspaceSurvey) -> None:
        self._survey = survey
        self._open: dict[str, Origin] = {}
        self._answered: set[str] = set()
        self._waiting: frozenset[str] = frozenset()
        """The calls of the last message but results: they may still get theirs."""

    def add(self, message: HistoryMessage, origin: Origin) -> None:
        survey = self._survey
        survey.messages += 1
        survey.note_text(message.text)
        for call in message.calls:
            self._open[call] = origin
        if message.role not in ("tool", "tool_result"):
            self._waiting = frozenset(message.calls)
        elif message.answers is not None:
            call = message.answers
            if self._open.pop(call, None) is not None:
                self._answered.add(call)
            else:
                again = call in self._answered
                why = "has a result already" if again else "was made by no message before"
                survey.fault("HIS002", Hit(origin, f"a result for the call {quoted(call)}, which {why}"))
        if message.role == "user" and message.text.startswith(SUMMARY_MARK):
            survey.fault("HIS003", Hit(origin, "a summary is stored in place of the messages it is about"))

    def end(self) -> None:
        """Report calls without a result, unless nothing but results came after them."""
        for call, origin in self._open.items():
            if call not in self._waiting:
                self._survey.fault("HIS002", Hit(origin, f"the call {quoted(call)} has no result"))


class HistoryCheck(LineCheck):
    """Checks one raw history: its first line, its records, their times, and what a rotation copied."""

    def __init__(self, survey: WorkspaceSurvey, name: str, before: HistoryCheck | None) -> None:
        super().__init__(survey)
        self._name = name
        self._messages = MessageCheck(survey)
        self._seen = 0
        self._latest: datetime | None = None
        self._first: list[HistoryMessage] = []
        self._before = before if before is not None and before.series == self.series else None
        self.last: deque[HistoryMessage] = deque(maxlen=CARRIED_OVER)
        self._origin: Origin | None = None

    @property
    def series(self) -> str:
        """The name without its date: the files of one session differ only in it."""
        return self._name.rpartition("_")[0]

    def line(self, line: HistoryLine) -> None:
        if line.is_blank:
            return
        self._seen += 1
        value = line.value
        if value is None:
            problem = excerpt(line.problem or "not a record", 160)
            rule, severity = ("WSP018", Severity.WARNING) if not line.ending else ("HIS001", Severity.ERROR)
            self._survey.fault(rule, Hit(line.origin(), problem, severity))
            return
        if self._seen == 1:
            self._origin = line.origin()
            if value.get("_type") != "metadata":
                self._survey.fault("HIS001", Hit(line.origin(), "the first line is not the metadata"))
        if value.get("_type") == "metadata":
            return
        message = history_message(value)
        if message.role not in _ROLES:
            found = "no role" if message.role is None else f"the unknown role {quoted(message.role)}"
            self._survey.fault("HIS001", Hit(line.origin(), f"the line has {found}"))
            return
        self._check_time(message, line)
        if len(self._first) < CARRIED_OVER:
            self._first.append(message)
        self.last.append(message)
        self._messages.add(message, line.origin())

    def end(self) -> None:
        self._messages.end()
        carried = self._carried_over()
        if carried and self._origin is not None:
            text = f"the first {carried} messages were copied from the end of the file before"
            self._survey.fault("HIS004", Hit(self._origin, text))

    def _check_time(self, message: HistoryMessage, line: HistoryLine) -> None:
        time = parse_time(message.time)
        if time is None:
            return
        if self._latest is not None and time < self._latest:
            text = f"the time {message.time} is before that of the message before"
            self._survey.fault("HIS001", Hit(line.origin("timestamp"), text, Severity.WARNING))
        self._latest = max(time, self._latest or time)

    def _carried_over(self) -> int:
        if self._before is None:
            return 0
        last = [message.identity for message in self._before.last]
        first = [message.identity for message in self._first]
        sizes = range(min(len(last), len(first)), 0, -1)
        return next((size for size in sizes if last[-size:] == first[:size]), 0)


class AuditCheck(LineCheck):
    """Verifies the hash chain of an audit log and collects the names of the tools."""

    def __init__(self, survey: WorkspaceSurvey) -> None:
        super().__init__(survey)
        self._hash = ""
        self._next = 0

    def _record(self, line: HistoryLine, value: dict[str, JsonValue]) -> None:
        if tool := _text(value.get("tool_name")):
            self._survey.tools.add(tool)
        sequence, stated = value.get("seq"), _text(value.get("hash"))
        if sequence != self._next:
            text = f"the number is {sequence if isinstance(sequence, int) else 'missing'}, not {self._next}"
            self._survey.fault("HIS005", Hit(line.origin("seq"), text))
        if (_text(value.get("prev_hash")) or "") != self._hash:
            text = "prev_hash is not the hash of the entry before: an entry was changed, removed or added"
            self._survey.fault("HIS005", Hit(line.origin("prev_hash"), text))
        if stated not in audit_hashes(line, value):
            text = "the hash is not that of the entry: the entry was changed after it was written"
            self._survey.fault("HIS005", Hit(line.origin("hash"), text))
        self._hash = stated or ""
        self._next = (sequence if isinstance(sequence, int) else self._next) + 1


def audit_hashes(line: HistoryLine, value: dict[str, JsonValue]) -> set[str]:
    """Return the hashes that an entry may have: of its arguments as written, and with sorted keys."""
    place = line.origin("arguments")
    written = None
    if place.start is not None and place.end is not None:
        written = line.content[place.start - line.start : place.end - line.start]
    return {*_hashes(value, written)}


def entry_hashes(entry: JsonDocument) -> list[str]:
    """Return the same hashes of an entry that was parsed alone, always in the same order."""
    span = entry.span("/arguments")
    value = entry.value if isinstance(entry.value, dict) else {}
    return [*_hashes(value, entry.data[slice(*span)] if span is not None else None)]


def _hashes(value: Mapping[str, JsonValue], written: bytes | None) -> Iterator[str]:
    spellings = [orjson.dumps(value.get("arguments"), option=orjson.OPT_SORT_KEYS)]
    spellings += [written] if written is not None else []
    parts = [_text(value.get("prev_hash")) or "", str(value.get("seq"))]
    parts += [_text(value.get(key)) or "" for key in ("tool_name", "tool_call_id")]
    rest = [_text(value.get(key)) or "" for key in ("result_data", "timestamp")]
    for spelled in spellings:
        whole = "|".join((*parts, spelled.decode("utf-8", "replace"), *rest))
        yield hashlib.sha256(whole.encode()).hexdigest()


class TurnCheck(LineCheck):
    """Collects the sizes of the turns."""

    def __init__(self, survey: WorkspaceSurvey, session: str) -> None:
        super().__init__(survey)
        self._session = session

    def _record(self, line: HistoryLine, value: dict[str, JsonValue]) -> None:
        turn, context, memory = (
            _count(value.get(key)) for key in ("turn", "context_tokens", "working_memory_tokens")
        )
        if turn is None or context is None:
            self._survey.fault(
                "WSP018", Hit(line.origin(), "the turn has no number, or no size of its context")
            )
        else:
            time = _text(value.get("timestamp"))
            self._survey.turns.append(Turn(self._session, turn, time, context, memory, line.origin()))
        called = value.get("tools_called")
        for tool in called if isinstance(called, list) else []:
            if isinstance(tool, dict) and (name := _text(tool.get("name"))):
                self._survey.tools.add(name)


class LearningsCheck(LineCheck):
    """Checks what was learned about tools: an error means that the tool did not succeed."""

    def _record(self, line: HistoryLine, value: dict[str, JsonValue]) -> None:
        if tool := _text(value.get("tool_name")):
            self._survey.tools.add(tool)
        if value.get("error") and value.get("succeeded") is not False:
            text = "there is an error text, but succeeded is not false"
            self._survey.fault("HIS008", Hit(line.origin("error"), text))
        if len(_text(value.get("context")) or "") >= LONGEST_CONTEXT:
            text = f"the context was cut at {LONGEST_CONTEXT} characters"
            self._survey.fault("HIS008", Hit(line.origin("context"), text))


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: JsonValue) -> int | None:
    """Return a number of things; None for anything that cannot be one."""
    return value if type(value) is int and 0 <= value < 2**53 else None
