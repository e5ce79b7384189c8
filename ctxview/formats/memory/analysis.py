"""The long work on one bundle under one profile, in slices: all lines, lineage, rules, secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Lock
from typing import Final

from ctxview.analysis.json_rules import check_json_texts
from ctxview.analysis.text_rules import json_strings
from ctxview.core.findings import Finding, worst_first
from ctxview.files.line_columns import LineColumn
from ctxview.files.line_file import never_cancelled
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.kit.file_rules import report_partly_read, report_unreadable
from ctxview.formats.kit.history import Cancelled
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.history_passes import FindingTally, TextPass, tallied
from ctxview.formats.memory.files import SMALL, BundleFiles
from ctxview.formats.memory.model import BrokenLine, MemoryBundle
from ctxview.formats.memory.parser import DraftLines, read_bundle
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.survey import MemorySurvey

STEP: Final = 200
"""Entries between two looks at whether to stop."""


class MemoryAnalysis:
    """What is known of a bundle: after a first look its end, after the work everything."""

    def __init__(self, files: BundleFiles, profile: Profile) -> None:
        self.files = files
        self.profile = profile
        self._survey: MemorySurvey | None = None
        self._findings: tuple[Finding, ...] | None = None
        self._first_look: MemoryBundle | None = None
        self._entries = _EntryTally()
        self._earlier: MemoryAnalysis | None = None
        self._texts = TextPass(tuple(files.streams.values()), _text_of)
        self._steps: Iterator[tuple[int, int, str]] | None = None
        self._working = Lock()

    def again(self, files: BundleFiles) -> MemoryAnalysis:
        """Return the analysis for a later look; files that only grew are not read and checked again."""
        made = MemoryAnalysis(files, self.profile)
        if files.grown and self._survey is not None:
            made._earlier, made._entries = self, self._entries.copy()
            if files.streams.keys() == self.files.streams.keys():
                made._texts = self._texts.on(tuple(files.streams.values()))
        return made

    @property
    def complete(self) -> bool:
        return self._findings is not None

    @property
    def small(self) -> bool:
        """Whether the rest of the work is short enough to do at once."""
        before = self._earlier.files.size if self._earlier is not None else 0
        return self.files.size - before <= SMALL

    @property
    def survey(self) -> MemorySurvey:
        """The survey of all lines, or of the last ones while not all are read."""
        if self._survey is not None:
            return self._survey
        if self._first_look is None:
            gap = self.profile.session_gap_minutes
            self._first_look = read_bundle(self.files.streams, self.files.names, gap, whole=False)
        return MemorySurvey(self._first_look)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self._findings or ()

    def finish(self) -> None:
        self.advance(never_cancelled, lambda _done, _total, _what: None)

    def advance(self, cancelled: Cancelled, report: Callable[[int, int, str], object]) -> bool:
        """Continue until all is known or `cancelled`; return whether all is known."""
        with self._working:
            if self._steps is None:
                self._steps = self._work()
            while not self.complete and not cancelled():
                if (step := next(self._steps, None)) is None:
                    break
                report(*step)
        return self.complete

    def drafted(self, overlay: Mapping[str, bytes]) -> MemorySurvey:
        """Return the survey with drafts in place of their files."""
        streams = {
            name: DraftLines(name, file, overlay[file]) if (file := str(stream.path)) in overlay else stream
            for name, stream in self.files.streams.items()
        }
        before = self.survey
        bundle = read_bundle(
            streams, self.files.names, self.profile.session_gap_minutes, whole=True, before=before.bundle
        )
        return MemorySurvey(bundle, before)

    def findings_in(self, survey: MemorySurvey) -> tuple[Finding, ...]:
        """Return the findings of a survey, such as one with drafts."""
        from ctxview.formats.memory.rules import check_entry, check_together

        own = (each for entry in survey.bundle.entries for each in check_entry(entry, self.profile))
        found = (*own, *check_together(survey, self.profile), *self._file_findings(survey))
        return worst_first((*tallied(found), *self._texts.findings))

    def _work(self) -> Iterator[tuple[int, int, str]]:
        from ctxview.formats.memory.rules import check_together

        total = self.files.size
        for stream in self.files.streams.values():
            stream.index()
            yield 0, total, "counting lines"
        before = self._earlier._survey if self._earlier is not None else None
        bundle = read_bundle(
            self.files.streams,
            self.files.names,
            self.profile.session_gap_minutes,
            whole=True,
            before=before.bundle if before is not None else None,
        )
        yield 0, total, "reading the bundle"
        survey = MemorySurvey(bundle, before)
        for done in survey.index_entries(STEP):
            yield done, len(bundle.entries), "indexing entries"
        for done in self._entries.check(bundle, self.profile):
            yield done, len(bundle.entries), "checking entries"
        self._survey, self._earlier = survey, None
        found = [*check_together(survey, self.profile), *self._file_findings(survey)]
        yield total, total, "checking contexts"
        while not self._texts.complete:
            self._texts.advance(_after_one_step())
            yield total - self._texts.left, total, "looking for secrets"
        self._findings = worst_first((*tallied(found), *self._entries.findings(), *self._texts.findings))
        yield total, total, "done"

    def _file_findings(self, survey: MemorySurvey) -> Iterator[Finding]:
        for name, reason in self.files.problems.items():
            yield from report_unreadable(str(self.files.path / name), reason)
        for file, why in survey.left_out:
            yield from report_partly_read(file, why)
        for broken in survey.bundle.broken:
            yield from _check_broken(broken)


class _EntryTally:
    """The findings of single entries so far, and how many entries were checked."""

    def __init__(self) -> None:
        self._tally = FindingTally()
        self._checked = 0
        self._last: str | None = None

    def copy(self) -> _EntryTally:
        made = _EntryTally()
        made._tally, made._checked, made._last = self._tally.copy(), self._checked, self._last
        return made

    def check(self, bundle: MemoryBundle, profile: Profile) -> Iterator[int]:
        from ctxview.formats.memory.rules import check_entry

        entries = bundle.entries
        if self._checked and (len(entries) < self._checked or entries[self._checked - 1].id != self._last):
            self._tally, self._checked = FindingTally(), 0
        for number in range(self._checked, len(entries)):
            for finding in check_entry(entries[number], profile):
                self._tally.add(finding)
            self._checked, self._last = number + 1, entries[number].id
            if number % STEP == 0:
                yield number

    def findings(self) -> tuple[Finding, ...]:
        return self._tally.findings()


def _check_broken(broken: BrokenLine) -> Iterator[Finding]:
    """Report a line that is not JSON, or not a record."""
    line = broken.line
    try:
        parse(b"" if line.cut else line.content)
    except JsonError as error:
        if not line.cut:
            number = (line.number or 0) + 1
            place = LineColumn(line.start + error.place.offset, number, error.place.column)
            yield from check_json_texts(line.file, b"", (), [JsonError(error.reason, place)])
            return
    yield from report_partly_read(line.file, f"line {(line.number or 0) + 1:,}: {broken.problem}")


def _text_of(line: HistoryLine) -> str | None:
    return "\n".join(text for _, text in json_strings(line.value))


def _after_one_step() -> Cancelled:
    steps = iter((False,))
    return lambda: next(steps, True)
