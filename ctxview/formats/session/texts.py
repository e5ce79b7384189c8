"""Deceiving text and secrets in a session: in small files at once, in histories in a pass of their own.

The pass can be stopped anywhere and goes on from there. What the rules say is `analysis`' business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from threading import Lock

from ctxview.analysis.plain_text import check_bytes
from ctxview.analysis.secret_openings import could_hold_secret
from ctxview.analysis.secrets import check_secrets
from ctxview.analysis.text_rules import check_text
from ctxview.findings import Finding
from ctxview.formats.session.finding_tally import FindingTally
from ctxview.formats.session.folder import Part
from ctxview.formats.session.history import Cancelled, History, Report
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import message_in
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.pace import Pace
from ctxview.formats.session.records import Record, RecordFile
from ctxview.state import Origin

CHECKED_EVENTS = ("tool_call", "error", "approval_request", "approval_result")
"""Events with words of their own; the others repeat the messages."""
LARGEST_TEXT = 2 * 1024 * 1024
_ESCAPES = re.compile(rb"\\[bfru/]")


def check_small_texts(session: Session) -> Iterator[Finding]:
    """Summary, todo, pinned files, records and child channels; the pack only repeats them."""
    parts = [session.part("context/summary.md"), session.part("context/todo.md"), *session.pinned]
    for child in session.children:
        parts += [child.part("handoff.md"), child.result]
    for part in parts:
        yield from _check_part(part)
    for records in (session.facts, session.decisions, session.refs):
        yield from _check_records(records)


class TextPass:
    """Looks at every message, and at the events that say something of their own."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._tally = FindingTally()
        self._lines = {MESSAGES: 0, EVENTS: 0}
        self._done = 0
        self._working = Lock()
        self._steps = self._pass()
        self._findings: tuple[Finding, ...] | None = None

    @property
    def complete(self) -> bool:
        return self._findings is not None

    @property
    def left(self) -> int:
        """How many bytes the pass has still to read."""
        return max(0, self._history.size - self._done)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found; nothing before the end of the pass."""
        return self._findings or ()

    def on(self, history: History) -> TextPass:
        """One that goes on from here through histories that begin with these."""
        made = TextPass(history)
        with self._working:
            made._tally, made._lines, made._done = self._tally.copy(), dict(self._lines), self._done
            made._findings = self._findings if history == self._history else None
        return made

    def advance(self, cancelled: Cancelled, report: Report | None = None) -> bool:
        while not self.complete and not cancelled():
            with self._working:
                done = next(self._steps, None)
            if report is not None and done is not None:
                report(done, self._history.size)
        return self.complete

    def _pass(self) -> Iterator[int]:
        pace = Pace()
        torn: list[HistoryLine] = []
        for stream in (self._history.messages, self._history.events):
            for line in stream.scan(self._lines[stream.name]):
                if not line.ending:
                    torn.append(line)
                    continue
                _add(self._tally, line)
                self._lines[stream.name] = (line.number or 0) + 1
                self._done += line.size + line.ending
                if pace.due(line.size):
                    yield self._done
        # A last line without its newline may still become another one.
        whole = self._tally.copy() if torn else self._tally
        for line in torn:
            _add(whole, line)
        self._findings = whole.findings()


def _add(tally: FindingTally, line: HistoryLine) -> None:
    for finding in _check_line(line):
        tally.add(finding)


def _check_line(line: HistoryLine) -> Iterator[Finding]:
    if line.is_blank or line.cut:
        return
    # Of nearly all lines in ASCII the bytes alone tell that there is nothing to be found in the text.
    deceiving = _may_deceive(line.content)
    if not deceiving and not could_hold_secret(line.content):
        return
    if line.stream == MESSAGES:
        text = message_in(line).text
    elif (line.value or {}).get("type") in CHECKED_EVENTS:
        text = line.content.decode("utf-8", "replace")
    else:
        return
    # The origin is worked out only for a find.
    check = check_text if deceiving else check_secrets
    yield from check(text, lambda _start, _end: line.origin())


def _may_deceive(content: bytes) -> bool:
    """Whether the text could hold anything but printable ASCII, or spells any of that in another way."""
    return not content.isascii() or b"\x7f" in content or _ESCAPES.search(content) is not None


def _check_part(part: Part) -> Iterator[Finding]:
    if part.data is None or len(part.data) > LARGEST_TEXT:
        return
    yield from check_bytes(part.file, part.data)


def _check_records(records: RecordFile) -> Iterator[Finding]:
    for record in records.records:
        for name, value in record.members.items():
            if isinstance(value, str):
                yield from check_text(value, _everywhere(record, name))


def _everywhere(record: Record, name: str) -> Callable[[int, int], Origin]:
    """A string inside JSON is one place: its escapes keep characters from having a place of their own."""
    return lambda _start, _end: record.origin(name)
