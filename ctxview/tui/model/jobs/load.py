"""Jobs that open sources, read a revision, mark its changes, count findings and do long work.

A revision is read first with a quick token estimate, so that something can be shown, then with the exact
counter.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.state import ContextState
from ctxview.files.recently_used import Releasable
from ctxview.tui.model.change_marks import ChangeMarks, marks_of
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.reading_index import ReadingIndex
from ctxview.tui.model.view_state import FindingTotals, OpenProblem, ReadingKey, count_severities

if TYPE_CHECKING:
    from ctxview.analysis.diff.model import StateDiff
    from ctxview.formats import OpenError, Source
    from ctxview.formats.interface import LongWork, Progress


Opener: TypeAlias = "Callable[[], Iterable[Source | OpenProblem]]"

BATCH = 0.15
"""Seconds between two results about many sources."""
GROWN_EVERY = 3.0
"""Seconds between two readings of a list that is being read."""
MOST_HELD = 2_000
"""The sources of one path that stay in memory; those that are read at the first look are not among them."""


class SourcesFound(Struct, frozen=True):
    """More sources, and paths that could not be opened. `last`: there are no more."""

    sources: Sequence[Source]
    problems: Sequence[OpenProblem] = ()
    last: bool = True


class OpenPaths(Job, frozen=True, eq=False):
    """Open one source after the other; the first is reported at once, the others in batches."""

    group: ClassVar[str] = "opening"
    paints: ClassVar[bool] = True
    opener: Opener

    def run(self, control: JobControl) -> SourcesFound | None:
        sources: list[Source] = []
        problems: list[OpenProblem] = []
        reported = 0.0
        for found in self.opener():
            if control.stopped:
                return None
            if isinstance(found, OpenProblem):
                problems.append(found)
            else:
                sources.append(found)
            if sources and monotonic() - reported > BATCH:
                is_first = not reported
                control.partial(SourcesFound(sources, problems, last=False))
                sources, problems, reported = [], [], monotonic()
                if is_first and control.cancelled:  # the others wait until the first is painted
                    return None
        return SourcesFound(sources, problems)


class FindNewSources(Job, frozen=True, eq=False):
    """Open the sources that appeared in opened folders; `known` are the paths of the others."""

    group: ClassVar[str] = "looking for new sources"
    opener: PathOpener
    known: Container[Path]

    def run(self, _: JobControl) -> SourcesFound | None:
        found = [each for each in self.opener.new_sources(self.known) if not isinstance(each, OpenProblem)]
        return SourcesFound(found) if found else None


class ReadingReady(Struct, frozen=True, eq=False):
    """A reading. `final` is False while the exact token count is running."""

    index: ReadingIndex
    final: bool


class ReadRevision(Job, frozen=True, eq=False):
    """Read one revision with the drafts of its files: if `quick`, first with an estimate, then exactly."""

    group: ClassVar[str] = "reading"
    paints: ClassVar[bool] = True
    source: Source
    key: ReadingKey
    overlay: Mapping[str, bytes]
    quick: bool = True

    def run(self, control: JobControl) -> ReadingReady | None:
        from ctxview.formats import Hurry

        source, key, lens = self.source, self.key, self.key.lens(rough=True)
        for hurry in (Hurry.LINKS, Hurry.FINDINGS) if self.quick and not key.is_estimate else ():
            rough = source.reading(key.revision, replace(lens, hurry=hurry), self.overlay)
            index = ReadingIndex(rough)
            if hurry < Hurry.LINKS:
                index.prepare()
            control.partial(ReadingReady(index, final=False))
            if control.cancelled:
                return None
            if rough.linked:
                break
        index = ReadingIndex(source.reading(key.revision, key.lens(), self.overlay))
        index.prepare()
        return ReadingReady(index, final=True)


Side: TypeAlias = tuple[int, Mapping[str, bytes]]
"""A revision, and the overlay to read it with."""


def compare_states(source: Source, key: ReadingKey, old: Side, new: Side) -> StateDiff:
    """Compare two sides, read as the panes show them, so that all figures agree."""
    from ctxview.analysis.diff import diff

    left, right = (source.reading(revision, key.lens(), overlay).state for revision, overlay in (old, new))
    return diff(left, right)


class MarkChanges(Job, frozen=True, eq=False):
    """Mark the changes of a reading: since the state `before` of the same revision, or without one since the
    revision that it continues.
    """

    group: ClassVar[str] = "marking"
    source: Source
    key: ReadingKey
    before: ContextState | None
    now: ContextState
    fading: bool = False

    def run(self, _: JobControl) -> ChangeMarks:
        from ctxview.analysis.diff import diff
        from ctxview.formats.revisions import previous_revision

        if self.before is not None:
            return marks_of(diff(self.before, self.now), fading=self.fading)
        revisions = self.source.revisions
        earlier = previous_revision(revisions, self.key.revision)
        if earlier is None:
            return ChangeMarks()
        old = self.source.reading(earlier, self.key.lens()).state
        return marks_of(diff(old, self.now), revisions[earlier].label)


class TotalsCounted(Struct, frozen=True):
    """The numbers of findings of some sources, by their number."""

    totals: Mapping[int, FindingTotals]


class CountFindings(Job, frozen=True, eq=False):
    """Count the findings of sources, one after the other; with long work left, only the known ones."""

    group: ClassVar[str] = "totals"
    exclusive: ClassVar[bool] = False
    sources: Sequence[tuple[int, Source]]
    key: ReadingKey

    def run(self, control: JobControl) -> TotalsCounted | None:
        totals: dict[int, FindingTotals] = {}
        reported = monotonic()
        for number, source in self.sources:
            if control.cancelled:
                return None
            profile = self.key.profile if self.key.profile in source.profiles else None
            lens = replace(self.key, profile=profile, editor=None).lens(rough=True, trial=False)
            work = source.abilities.work
            partly = work is not None and work.has_work(lens)
            if work is not None and not partly:
                work.work(lens, control)
            revisions = len(source.revisions)
            found = source.reading(revisions - 1, lens).findings if partly else source.findings(lens)
            totals[number] = FindingTotals(count_severities(found), revisions, partly)
            if monotonic() - reported > BATCH:
                control.partial(TotalsCounted(totals))
                totals, reported = {}, monotonic()
        return TotalsCounted(totals)


class LongWorkDone(Struct, frozen=True):
    """All long work of a job is done; a new reading shows more."""


class DoLongWork(Job, frozen=True, eq=False):
    """Do the long work of a source; after a cancel the next job continues it."""

    group: ClassVar[str] = "the work in the background"
    work: LongWork
    key: ReadingKey
    grows: bool = False
    """Whether a reading in between shows more, as that of a list does."""

    def run(self, control: JobControl) -> LongWorkDone:
        progress: Progress = _GrowingWork(control) if self.grows else control
        self.work.work(self.key.lens(rough=True, trial=False), progress)
        return LongWorkDone()


class LongWorkGrown(Struct, frozen=True):
    """A part of the long work is done; a new reading shows more."""


class _GrowingWork:
    """Passes on the control of long work, and says every few seconds that a new reading shows more."""

    def __init__(self, control: JobControl) -> None:
        self._control, self._said = control, monotonic()

    @property
    def cancelled(self) -> bool:
        return self._control.cancelled

    def report(self, done: int, total: int, what: str) -> None:
        self._control.report(done, total, what)
        if monotonic() - self._said > GROWN_EVERY:
            self._control.partial(LongWorkGrown())
            self._said = monotonic()


class PathOpener:
    """Opens every source that is recognised in some paths; a path that cannot be opened is a problem."""

    def __init__(
        self, paths: Sequence[Path], as_format: str | None = None, *, remembers: bool = False
    ) -> None:
        """With `remembers` the start screen offers the paths from now on."""
        self._paths = paths
        self._as_format = as_format
        self._remembers = remembers
        self.folders: list[Path] = []
        """The folders that were searched; new sources may appear in them."""

    def __call__(self) -> Iterator[Source | OpenProblem]:
        from ctxview.formats.registry import unusable_formats

        opened = chain.from_iterable(map(self._below, self._paths))
        yield from islice(opened, 1)
        if self._remembers:
            from ctxview.tui.model.start_entries import remember_path

            remember_path(self._paths)
        yield from opened
        for note in unusable_formats() if self._as_format is None else ():
            yield OpenProblem(self._paths[0], note)

    def new_sources(self, known: Container[Path]) -> Iterator[Source | OpenProblem]:
        """The sources whose paths are not in `known`."""
        from ctxview.formats import OpenError, discover

        folders: list[Path] = []
        for path in self._paths if self._as_format is None else ():
            try:
                discovery = discover(path, into_lists=False)
            except OpenError:
                continue
            folders += discovery.folders
            for found in discovery.found:
                if found.path not in known:
                    yield from _opened(found.path, found.open)
        self.folders = folders

    def _below(self, path: Path) -> Iterator[Source | OpenProblem]:
        from ctxview.formats import OpenError, discover, open_source
        from ctxview.formats.path_hints import nothing_recognised
        from ctxview.formats.peek import Peek

        if self._as_format is not None:
            yield from _opened(path, partial(open_source, path, self._as_format))
            return
        try:
            discovery = discover(path, into_lists=False)
        except OpenError as error:
            yield _problem(path, error)
            return
        self.folders += discovery.folders
        held = 0
        for found in discovery.found:
            for each in _opened(found.path, found.open):
                held += not isinstance(each, Releasable)
                yield each
            if held >= MOST_HELD:
                yield OpenProblem(path, f"stopped after opening {MOST_HELD:,} sources")
                break
        if not discovery.found:
            yield OpenProblem(path, nothing_recognised(path, Peek(path).names))
        for note in (discovery.capped, *discovery.notes):
            if note is not None:
                yield OpenProblem(path, note)
        yield from (OpenProblem(folder, why) for folder, why in discovery.unread)


def _opened(path: Path, opener: Callable[[], Source]) -> Iterator[Source | OpenProblem]:
    from ctxview.formats import OpenError

    try:
        yield opener()
    except OpenError as error:
        yield _problem(path, error)


def _problem(path: Path, error: OpenError) -> OpenProblem:
    return OpenProblem(path, str(error).removeprefix(f"{path}: "))
