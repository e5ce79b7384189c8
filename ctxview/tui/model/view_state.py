"""The values that the model, the jobs and the panes exchange: what was read, and what to draw. No toolkit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from ctxview.core.findings import Finding, Severity
from ctxview.core.transcript import Transcript
from ctxview.tui.model.change_marks import ChangeMark, ChangeMarks
from ctxview.tui.model.reading_index import ItemId, ReadingIndex
from ctxview.tui.model.trends import PastTrends, Trends

if TYPE_CHECKING:
    from ctxview.analysis.revisions.facts import KnownRevisions
    from ctxview.formats import Lens
    from ctxview.tui.model.jobs.xray import XrayResult


class ReadOptions(Struct, frozen=True):
    """How to count tokens and judge, the same for every reading of a run."""

    tokens: str = "o200k_base"
    options: Mapping[str, str | int] = field(default_factory=dict)
    """The values of `LensOption`s that were given on the command line."""


class ReadingKey(Struct, frozen=True):
    """The key of a reading: a revision of a source under a profile. `edits` counts the steps of the draft.

    `options` are values of `LensOption`s that a person tries. `editor` is the name under which one edits;
    None for the first, or where a source does not distinguish them. `seen` counts the rereads of the source.
    """

    source: int
    revision: int
    profile: str | None = None
    edits: int = 0
    options: tuple[tuple[str, str | int], ...] = ()
    editor: str | None = None
    seen: int = 0
    run: ReadOptions = field(default_factory=ReadOptions)

    def option(self, name: str) -> str | int | None:
        """The value that is tried for an option; None when there is none."""
        return dict(self.options).get(name)

    def with_option(self, name: str, value: str | int | None) -> ReadingKey:
        others = tuple(each for each in self.options if each[0] != name)
        return replace(self, options=others if value is None else (*others, (name, value)))

    @property
    def trials(self) -> tuple[str, ...]:
        """Each tried option in words."""
        return tuple(trial_text(name, tried) for name, tried in self.options)

    @property
    def is_estimate(self) -> bool:
        """Whether the chosen token counter is an estimate, so that a quick reading has nothing to gain."""
        from ctxview.analysis.tokens import ESTIMATES

        return self.run.tokens in ESTIMATES

    def lens(self, *, rough: bool = False, trial: bool = True) -> Lens:
        """How to read: with the token counter of the view, or a `rough` estimate; without `trial` no options
        are tried.
        """
        from ctxview.analysis.tokens import ESTIMATES, counter_named
        from ctxview.formats.interface import Lens

        counter = ESTIMATES["bytes/4"] if rough else counter_named(self.run.tokens)
        options = {**self.run.options, **dict(self.options if trial else ())}
        return Lens(counter, self.profile, options, self.editor)


def trial_text(name: str, tried: str | int) -> str:
    value = f"{tried:,}" if isinstance(tried, int) else tried
    if name == "budget":
        return f"what if {value}" if tried else "what if no limit"
    return f"what if {name} is {value}"


class OpenProblem(Struct, frozen=True):
    """A path that could not be opened."""

    path: Path
    reason: str


class FindingTotals(Struct, frozen=True):
    """The numbers of findings and revisions of a source.

    `partly`: its long work was not done, so there may be more.
    """

    counts: Mapping[Severity, int]
    revisions: int
    partly: bool = False


class TranscriptGrowth(Struct, frozen=True):
    """The transcript of a source as it was at the time `at`."""

    source: int
    profile: str | None
    transcript: Transcript
    at: float

    def belongs_to(self, key: ReadingKey) -> bool:
        return (self.source, self.profile) == (key.source, key.profile)


class ViewState(Struct, frozen=True, eq=False):
    """Everything the panes draw."""

    key: ReadingKey
    index: ReadingIndex
    draft: bool = False
    blocks: tuple[ItemId, ...] = ()
    """The memory rows, after filter and order."""
    marks: ChangeMarks = field(default_factory=ChangeMarks)
    trends: Trends | None = None
    """The trends of the source; None until they are read."""
    known: KnownRevisions | None = None
    """The facts of all revisions, as far as they are read; None before."""
    xray: XrayResult | None = None
    """The prompt of the selected revision; None until a pane wants it."""

    @property
    def changes(self) -> Mapping[ItemId, ChangeMark]:
        return self.marks.changes

    @property
    def past(self) -> PastTrends | None:
        """The trends around the selected revision; None when there are none."""
        if self.trends is None or not self.trends.points:
            return None
        return self.trends.past(self.key.revision, self.key.seen, self.index.reading.state.revision)

    @property
    def owner(self) -> str:
        """The owner of all that is shown, when nothing of it can be edited; empty otherwise."""
        return self.index.reading.state.extra.get("owner", "")

    @property
    def counts(self) -> dict[Severity, int]:
        return count_severities(self.index.reading.findings)


def count_severities(findings: Sequence[Finding]) -> dict[Severity, int]:
    counted = dict.fromkeys(Severity, 0)
    for finding in findings:
        counted[finding.severity] += 1
    return counted
