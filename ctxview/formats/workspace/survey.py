"""One pass over the histories and logs of a workspace, in slices and in bounded memory.

It collects what the rules and the state need: faults of single lines, the turns, the tools that were used,
and which texts of the documents ever occurred.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from operator import is_not
from pathlib import Path
from threading import Lock

from msgspec import Struct

from ctxview.core.findings import Hit
from ctxview.core.origin import Origin
from ctxview.files.reading import ReadError
from ctxview.files.readonly_sqlite import open_readonly
from ctxview.formats.kit.history import Cancelled, HistoryStream, Report, open_stream, stream_again
from ctxview.formats.kit.history_line import PassClock
from ctxview.formats.workspace.database import messages_of
from ctxview.formats.workspace.history_checks import (
    AuditCheck,
    HistoryCheck,
    LearningsCheck,
    LineCheck,
    MessageCheck,
    Turn,
    TurnCheck,
)
from ctxview.formats.workspace.model import Workspace

MOST_FAULTS = 100
SMALL = 4 * 1024 * 1024
"""Histories of this size in all are read at once, larger ones as long work."""


class WorkspaceSurvey:
    """What the pass found so far. `complete` says whether it has seen everything."""

    def __init__(self, wanted: frozenset[str]) -> None:
        self.wanted = wanted
        """Texts of the documents that should occur in the histories."""
        self.unseen = set(wanted)
        self.faults: dict[str, list[Hit]] = defaultdict(list)
        self.more: Counter[str] = Counter()
        self.tools: set[str] = set()
        self.turns: list[Turn] = []
        self.messages = 0
        self.problems: list[tuple[str, str]] = []
        self.invalid_texts: Mapping[str, int] = {}
        """By table of the database, the texts that are not UTF-8."""
        self.has_history = False
        self.complete = False

    def fault(self, rule: str, hit: Hit) -> None:
        if len(self.faults[rule]) < MOST_FAULTS:
            self.faults[rule].append(hit)
        else:
            self.more[rule] += 1

    def note_text(self, text: str) -> None:
        """Note which of the wanted texts occur in a message."""
        if self.unseen:
            self.unseen.difference_update([each for each in self.unseen if each in text])

    def hits(self, rule: str) -> Iterator[Hit]:
        """Yield the faults of a rule; the last one says how many more there are."""
        found = self.faults.get(rule, [])
        yield from found
        if found and self.more[rule]:
            yield Hit(found[-1].origin, f"{self.more[rule]:,} more like the ones before")


class HistoryStreams(Struct, frozen=True):
    """The open histories and logs by name; opening them reads almost nothing."""

    streams: tuple[HistoryStream, ...]

    @property
    def size(self) -> int:
        return sum(stream.size for stream in self.streams)

    def again(self, workspace: Workspace) -> tuple[HistoryStreams, bool]:
        """Return the streams as they are now, and whether any changed."""
        known = {each.name: each for each in self.streams}
        made = tuple(
            stream_again(known[name], workspace.folder)[0]
            if name in known
            else open_stream(workspace.folder, name)
            for name in _names(workspace)
        )
        changed = len(made) != len(self.streams) or any(map(is_not, made, self.streams))
        return (HistoryStreams(made), True) if changed else (self, False)

    def named(self, name: str) -> HistoryStream | None:
        return next((each for each in self.streams if each.name == name), None)


def open_streams(workspace: Workspace) -> HistoryStreams:
    return HistoryStreams(tuple(open_stream(workspace.folder, name) for name in _names(workspace)))


def _names(workspace: Workspace) -> list[str]:
    logs = [each for each in (workspace.learnings,) if each is not None]
    return [*workspace.histories, *workspace.audits, *workspace.turns, *logs]


class SurveyPass:
    """The pass over all histories and logs; it can be interrupted and continued."""

    def __init__(self, workspace: Workspace, streams: HistoryStreams, wanted: frozenset[str]) -> None:
        self._workspace = workspace
        self._streams = streams
        self.survey = WorkspaceSurvey(wanted)
        self._steps = self._pass()
        self._working = Lock()

    def advance(self, cancelled: Cancelled, report: Report | None = None) -> bool:
        """Read on until the end or until cancelled; return whether the survey is complete."""
        while not self.survey.complete and not cancelled():
            with self._working:
                done = next(self._steps, None)
            if report is not None and done is not None:
                report(done, self._streams.size)
        return self.survey.complete

    def _pass(self) -> Iterator[int]:
        workspace, survey = self._workspace, self.survey
        survey.has_history = bool(workspace.histories) or workspace.database is not None
        done, clock = 0, PassClock()
        check: LineCheck | None = None
        for stream in self._streams.streams:
            if stream.problem is not None:
                survey.problems.append((workspace.folder.file(stream.name), stream.problem))
            check = _check(workspace, stream, survey, check)
            for line in stream.scan():
                check.line(line)
                done += line.size + line.ending
                if clock.due(line.size):
                    yield done
            check.end()
        _read_stored(workspace, survey)
        survey.turns.sort(key=lambda turn: (turn.session, turn.number))
        survey.complete = True


def _check(
    workspace: Workspace, stream: HistoryStream, survey: WorkspaceSurvey, before: LineCheck | None
) -> LineCheck:
    if stream.name in workspace.histories:
        return HistoryCheck(survey, stream.name, before if isinstance(before, HistoryCheck) else None)
    if stream.name in workspace.audits:
        return AuditCheck(survey)
    if stream.name in workspace.turns:
        return TurnCheck(survey, Path(stream.name).name.removesuffix(".turns.jsonl"))
    return LearningsCheck(survey)


def _read_stored(workspace: Workspace, survey: WorkspaceSurvey) -> None:
    """Check the messages of the database."""
    if workspace.database is None or workspace.database.problem is not None:
        return
    file = workspace.database.file
    checks: dict[str, MessageCheck] = {}
    try:
        with open_readonly(Path(file)) as database:
            survey.invalid_texts = database.invalid_texts
            for stored in messages_of(database):
                check = checks.setdefault(stored.session_id, MessageCheck(survey))
                check.add(stored.message, Origin(file, f"/messages/{stored.id}"))
    except ReadError as error:
        survey.problems.append((file, error.reason))
    for check in checks.values():
        check.end()
