"""Opening, reading and counting, in threads; each job computes and posts its results.

A revision is read first with a quick token estimate, so that something can be shown, then with the exact
counter.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace
from textual.message import Message

from ctxview.files.recently_used import Releasable
from ctxview.tui.jobs.runner import Cancelled, Post, UserPriority
from ctxview.tui.model.change_marks import ChangeMarks, marks_of
from ctxview.tui.model.reading_index import ReadingIndex
from ctxview.tui.model.view_state import FindingTotals, OpenProblem, ReadingKey, count_severities

if TYPE_CHECKING:
    from ctxview.analysis.diff.model import StateDiff
    from ctxview.formats import OpenError, Source


Opener: TypeAlias = "Callable[[], Iterable[Source | OpenProblem]]"

BATCH = 0.15
"""Seconds between two messages about many sources."""
MOST_HELD = 2_000
"""The sources of one path that stay in memory; those that are read at the first look are not among them."""


class SourcesFound(Message):
    """More sources, and paths that could not be opened. `last`: there are no more."""

    def __init__(self, sources: list[Source], problems: list[OpenProblem], *, last: bool) -> None:
        super().__init__()
        self.sources = sources
        self.problems = problems
        self.last = last


class ReadingReady(Message):
    """A reading. `final` is False while the exact token count is running."""

    def __init__(self, key: ReadingKey, index: ReadingIndex, *, final: bool) -> None:
        super().__init__()
        self.key = key
        self.index = index
        self.final = final


class ChangesMarked(Message):
    """The changes of a revision since the one that it continues."""

    def __init__(self, key: ReadingKey, marks: ChangeMarks) -> None:
        super().__init__()
        self.key = key
        self.marks = marks


class TotalsCounted(Message):
    """The number of findings of some sources."""

    def __init__(self, totals: dict[int, FindingTotals]) -> None:
        super().__init__()
        self.totals = totals


def open_all(opener: Opener, post: Post, cancelled: Cancelled) -> None:
    """Open one source after the other; the first is posted at once, the others in batches."""
    sources: list[Source] = []
    problems: list[OpenProblem] = []
    posted = 0.0
    for found in opener():
        if cancelled():
            return
        if isinstance(found, OpenProblem):
            problems.append(found)
        else:
            sources.append(found)
        if sources and monotonic() - posted > BATCH:
            post(SourcesFound(sources, problems, last=False))
            sources, problems, posted = [], [], monotonic()
    post(SourcesFound(sources, problems, last=True))


def read_revision(
    source: Source,
    key: ReadingKey,
    overlay: Mapping[str, bytes],
    priority: UserPriority,
    post: Post,
    cancelled: Cancelled,
    *,
    quick: bool = True,
) -> None:
    """Read one revision with the drafts of its files: if `quick`, first with an estimate, then exactly."""
    from ctxview.formats import Hurry

    for hurry in (Hurry.LINKS, Hurry.FINDINGS) if quick and not key.is_estimate else ():
        rough = replace(key.lens(rough=True), hurry=hurry)
        reading = source.reading(key.revision, rough, overlay)
        post(ReadingReady(key, ReadingIndex(reading), final=False))
        priority.give_way(cancelled)
        if cancelled():
            return
        if reading.linked:
            break
    if not cancelled():
        post(ReadingReady(key, ReadingIndex(source.reading(key.revision, key.lens(), overlay)), final=True))


Side: TypeAlias = tuple[int, Mapping[str, bytes]]
"""A revision, and the overlay to read it with."""


def compare_states(source: Source, key: ReadingKey, old: Side, new: Side) -> StateDiff:
    """Compare two sides, read as the panes show them, so that all figures agree."""
    from ctxview.analysis.diff import diff

    left, right = (source.reading(revision, key.lens(), overlay).state for revision, overlay in (old, new))
    return diff(left, right)


def mark_changes(source: Source, key: ReadingKey, post: Post, cancelled: Cancelled) -> None:
    """Compare a revision with the one that it continues."""
    from ctxview.formats.revisions import previous_revision

    earlier = previous_revision(source.revisions, key.revision)
    marks = ChangeMarks()
    if earlier is not None:
        difference = compare_states(source, key, (earlier, {}), (key.revision, {}))
        marks = marks_of(difference, source.revisions[earlier].label)
    if not cancelled():
        post(ChangesMarked(key, marks))


def count_findings(
    sources: list[tuple[int, Source]],
    key: ReadingKey,
    priority: UserPriority,
    post: Post,
    cancelled: Cancelled,
) -> None:
    """Count the findings of sources, one after the other; with long work left, only the known ones."""
    from ctxview.tui.jobs.runner import SilentProgress

    totals: dict[int, FindingTotals] = {}
    posted = monotonic()
    progress = SilentProgress(cancelled, priority)
    for number, source in sources:
        if progress.cancelled:
            return
        profile = key.profile if key.profile in source.profiles else None
        lens = replace(key, profile=profile, editor=None).lens(rough=True, trial=False)
        work = source.abilities.work
        partly = work is not None and work.has_work(lens)
        if work is not None and not partly:
            work.work(lens, progress)
        revisions = len(source.revisions)
        found = source.reading(revisions - 1, lens).findings if partly else source.findings(lens)
        totals[number] = FindingTotals(count_severities(found), revisions, partly)
        if monotonic() - posted > BATCH:
            post(TotalsCounted(totals))
            totals, posted = {}, monotonic()
    post(TotalsCounted(totals))


class PathOpener:
    """Opens every source that is recognised in some paths; a path that cannot be opened is a problem."""

    def __init__(self, paths: Sequence[Path], as_format: str | None = None) -> None:
        self._paths = paths
        self._as_format = as_format
        self.folders: list[Path] = []
        """The folders that were searched; new sources may appear in them."""

    def __call__(self) -> Iterator[Source | OpenProblem]:
        for path in self._paths:
            yield from self._below(path)

    def new_sources(self, known: Container[Path]) -> Iterator[Source | OpenProblem]:
        """The sources whose paths are not in `known`."""
        from ctxview.formats import OpenError, discover

        folders: list[Path] = []
        for path in self._paths if self._as_format is None else ():
            try:
                discovery = discover(path)
            except OpenError:
                continue
            folders += discovery.folders
            for found in discovery.found:
                if found.path not in known:
                    yield from _opened(found.path)
        self.folders = folders

    def _below(self, path: Path) -> Iterator[Source | OpenProblem]:
        from ctxview.formats import OpenError, discover
        from ctxview.formats.path_hints import nothing_recognised
        from ctxview.formats.peek import Peek

        if self._as_format is not None:
            yield from _opened(path, self._as_format)
            return
        try:
            discovery = discover(path)
        except OpenError as error:
            yield _problem(path, error)
            return
        self.folders += discovery.folders
        held = 0
        for found in discovery.found:
            for each in _opened(found.path):
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


def _opened(path: Path, as_format: str | None = None) -> Iterator[Source | OpenProblem]:
    from ctxview.formats import OpenError, open_source

    try:
        yield open_source(path, as_format)
    except OpenError as error:
        yield _problem(path, error)


def _problem(path: Path, error: OpenError) -> OpenProblem:
    return OpenProblem(path, str(error).removeprefix(f"{path}: "))
