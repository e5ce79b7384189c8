"""The `Source` of this format: a bundle, with one revision for each context snapshot, and now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Lock

from ctxview.analysis.rfc3339 import parse_time
from ctxview.core.edits import WritePolicy
from ctxview.core.findings import Finding
from ctxview.core.prompt import Prompt
from ctxview.files.reading import ReadError, read_beneath
from ctxview.formats.interface import AS_ON_DISK, Abilities, Lens, OpenError, Progress, Reading, Revision
from ctxview.formats.kit.file_source import Memo
from ctxview.formats.memory.analysis import MemoryAnalysis
from ctxview.formats.memory.files import BundleFiles
from ctxview.formats.memory.format import NAME
from ctxview.formats.memory.policy import AppendPolicy
from ctxview.formats.memory.profile import PROFILES, load_profile
from ctxview.formats.memory.records import CONTEXTS, ENTRIES, TRACE, text_of
from ctxview.formats.memory.state.inputs import MemoryStateInputs
from ctxview.formats.memory.state.timeline import build_revisions, build_timeline, revised_snapshots
from ctxview.formats.memory.survey import MemoryHistory, MemorySurvey
from ctxview.formats.peek import Peek


def open_memory(peek: Peek) -> MemorySource:
    """Open a bundle, or one of its files; raises `OpenError`."""
    return MemorySource(peek.path)


class MemorySource:
    """One bundle as it was read; every call may come from another thread."""

    format = NAME
    profiles: Sequence[str] = PROFILES

    def __init__(self, path: Path, files: BundleFiles | None = None) -> None:
        self._path = path
        self._files = files or BundleFiles.at(path)
        if not self._files.streams and self._files.problems:
            name, reason = next(iter(self._files.problems.items()))
            raise OpenError(f"{path}: {name}: {reason}")
        self._analyses: dict[str, MemoryAnalysis] = {}
        self._readings: Memo[Reading] = Memo(32)
        self._times: dict[tuple[str, int], datetime | None] = {}
        """The times of the records that findings are about, by file and line."""
        self._lock = Lock()

    @property
    def path(self) -> Path:
        return self._path

    @property
    def title(self) -> str:
        return self._path.resolve().name

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self, partial_writes=self, file_scope=self, prompt=self)

    @property
    def revisions(self) -> Sequence[Revision]:
        """The snapshots, and now; only now until all lines of a large bundle are read."""
        return build_revisions(self._known().survey, self._path)

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        analysis = self._analysis(lens.profile)
        if overlay:
            survey = analysis.drafted(overlay)
            # A draft adds snapshots behind those on disk; it is shown as the present revision.
            past = len(revised_snapshots(analysis.survey))
            number = revision if revision < past else len(revised_snapshots(survey))
            return self._read(number, lens, analysis, survey, analysis.findings_in(survey))
        key = (revision, lens.profile, lens.counter.name, analysis.complete)
        return self._readings.once(
            key,
            lambda: self._read(revision, lens, analysis, analysis.survey, self._known_at(revision, analysis)),
        )

    def findings(self, lens: Lens) -> Sequence[Finding]:
        analysis = self._analysis(lens.profile)
        analysis.finish()
        return analysis.findings

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:
        analysis = self._analysis(lens.profile)
        if overlay:
            return analysis.findings_in(analysis.drafted(overlay))
        return self._known_at(revision, analysis)

    def _known_at(self, revision: int, analysis: MemoryAnalysis) -> tuple[Finding, ...]:
        """Return the findings about everything that was written before the next snapshot."""
        past = revised_snapshots(analysis.survey)
        until = past[revision + 1].when if 0 <= revision < len(past) - 1 else None
        if until is None:
            return analysis.findings
        times = (self._written_at(each.origin.file, each.origin.line or 0) for each in analysis.findings)
        dated = zip(analysis.findings, times, strict=True)
        return tuple(each for each, time in dated if time is None or time < until)

    def _written_at(self, file: str, line: int) -> datetime | None:
        """Return the time of the record in a line, from 1; None when it has none."""
        if (file, line) not in self._times:
            self._times[file, line] = self._time_in(file, line - 1)
        return self._times[file, line]

    def _time_in(self, file: str, number: int) -> datetime | None:
        stream = next((each for each in self._files.streams.values() if str(each.path) == file), None)
        members = stream.line(number).value if stream is not None and 0 <= number < len(stream) else None
        times = (text_of(members or {}, name) for name in ("creationTime", "timestamp"))
        return parse_time(next(filter(None, times), None))

    def has_work(self, lens: Lens) -> bool:
        return not self._analysis(lens.profile).complete

    def work(self, lens: Lens, progress: Progress) -> None:
        self._analysis(lens.profile).advance(lambda: progress.cancelled, progress.report)

    def histories(self, profile: str | None = None) -> dict[str, MemoryHistory]:
        """Return the memories by title, after reading everything."""
        analysis = self._analysis(profile)
        analysis.finish()
        titles = analysis.survey.bundle.titles
        found = analysis.survey.histories.items()
        return {titles.get(name or "", name or "memory"): history for name, history in found}

    @property
    def targets(self) -> Sequence[str]:
        """The memories by title, the latest used first; empty when there is only one."""
        survey = self._known().survey
        titles = [survey.bundle.titles.get(each or "", each or "memory") for each in survey.histories]
        return tuple(reversed(titles)) if len(titles) > 1 else ()

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:
        from ctxview.formats.memory.prompt import bootstrap_prompt

        analysis = self._analysis(lens.profile)
        return bootstrap_prompt(self._inputs(revision, lens, analysis, analysis.survey), target)

    def bytes_of(self, file: str) -> bytes:
        for stream in self._files.streams.values():
            if str(stream.path) == file:
                return read_beneath(stream.path.parent, stream.path.name)
        raise ReadError(Path(file), "this file is not part of the bundle")

    def policy(self, file: str) -> WritePolicy | None:
        for name in (CONTEXTS, ENTRIES):
            stream = self._files.streams.get(name)
            if stream is not None and str(stream.path) == file:
                return AppendPolicy(name, stream.size, load_profile())
        return None

    @property
    def watched(self) -> Sequence[Path]:
        files = tuple(stream.path for stream in self._files.streams.values())
        return (*files, self._path) if self._path.is_dir() else files

    @property
    def made_of(self) -> Sequence[Path]:
        return tuple(stream.path for stream in self._files.streams.values())

    @property
    def held_back(self) -> Sequence[Path]:
        return self._files.held_back

    def again(self) -> MemorySource:
        if not self._path.exists():
            raise OpenError(f"{self._path}: there is no such file or folder any more")
        files = self._files.again()
        if files is self._files:
            return self
        made = MemorySource(self._path, files)
        with self._lock:
            made._analyses = {name: each.again(files) for name, each in self._analyses.items()}
        return made

    def _analysis(self, profile: str | None) -> MemoryAnalysis:
        """Return the analysis under a profile; a small bundle, or a small change, is analysed at once."""
        name = profile or PROFILES[0]
        with self._lock:
            analysis = self._analyses.get(name)
            if analysis is None:
                analysis = self._analyses[name] = MemoryAnalysis(self._files, load_profile(name))
        if analysis.small and not analysis.complete:
            analysis.finish()
        return analysis

    def _known(self) -> MemoryAnalysis:
        """Return the analysis that knows most: revisions are the same under all profiles."""
        with self._lock:
            complete = [each for each in self._analyses.values() if each.complete]
        return complete[0] if complete else self._analysis(None)

    def _inputs(
        self, revision: int, lens: Lens, analysis: MemoryAnalysis, survey: MemorySurvey
    ) -> MemoryStateInputs:
        past = revised_snapshots(survey)
        as_of = past[revision] if 0 <= revision < len(past) else None
        return MemoryStateInputs(survey, analysis.profile, lens.counter, as_of, as_of is None)

    def _read(
        self,
        revision: int,
        lens: Lens,
        analysis: MemoryAnalysis,
        survey: MemorySurvey,
        findings: tuple[Finding, ...],
    ) -> Reading:
        from ctxview.formats.memory.state import build_state

        inputs = self._inputs(revision, lens, analysis, survey)
        revisions = build_revisions(survey, self._path)
        label = revisions[revision].label if 0 <= revision < len(revisions) else revisions[-1].label
        timeline = build_timeline(survey, analysis.profile)
        trace = _passed_profiles(survey) if TRACE in survey.bundle.files else None
        state = build_state(inputs, self.title, str(self._path), label, timeline, trace)
        return Reading(state, findings, judged=analysis.complete)


def _passed_profiles(survey: MemorySurvey) -> str:
    """Return which profiles the trace passes: `passes v1, fails v2 (MTR008)`."""
    from ctxview.core.findings import Severity
    from ctxview.formats.memory.rules import check_session

    words = []
    for name in PROFILES:
        profile = load_profile(name)
        found = (each for session in survey.bundle.sessions for each in check_session(session, profile))
        broken = sorted({each.rule for each in found if each.severity is not Severity.INFO})
        words.append(f"fails {name} ({', '.join(broken)})" if broken else f"passes {name}")
    return ", ".join(words)
