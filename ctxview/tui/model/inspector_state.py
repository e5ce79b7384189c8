"""What is open in the inspector and how it is viewed: sources, key, view, filter, order. No toolkit.

It never reads a file: readings come from jobs, and the panes draw the `ViewState`. `InspectorModel` decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ctxview.analysis.wording import excerpt
from ctxview.core.figures import Figure
from ctxview.core.state import ContextState
from ctxview.core.transcript import Transcript
from ctxview.formats.revisions import is_past, same_revision
from ctxview.tui.model.change_marks import ChangeMarks
from ctxview.tui.model.drafts import DraftSet, read_only_reason
from ctxview.tui.model.jobs.load import MarkChanges
from ctxview.tui.model.query import TIER_ORDER, BlockFacts, Query, figures_in, sort_key, sort_orders
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex
from ctxview.tui.model.search import Search
from ctxview.tui.model.trends import Trends
from ctxview.tui.model.view_state import (
    FindingTotals,
    OpenProblem,
    ReadingKey,
    ReadOptions,
    TranscriptGrowth,
    ViewState,
)

if TYPE_CHECKING:
    from ctxview.analysis.revisions.facts import KnownRevisions
    from ctxview.core.format_spec import LensOption
    from ctxview.formats import Source
    from ctxview.formats.interface import Listing
    from ctxview.tui.model.jobs.xray import XrayResult


class Awaiting(StrEnum):
    """The work that a person waits for, as the text for the header."""

    OPENING = "opening…"
    READING = "reading…"
    COUNTING = "counting…"


class InspectorState:
    """The mutable state of one inspector; every method is called on the interface's thread."""

    def __init__(self, profile: str | None = None, options: ReadOptions | None = None) -> None:
        self.sources: list[Source] = []
        self.drafts = DraftSet(self.sources)
        self.problems: list[OpenProblem] = []
        self.totals: dict[int, FindingTotals] = {}
        """Findings of whole sources, by number, as far as they have been counted."""
        self.key = ReadingKey(0, 0, profile, run=options or ReadOptions())
        self.view: ViewState | None = None
        self.query = Query()
        self.sort = TIER_ORDER
        self.reverse = False
        self.search = Search()
        self.selected: ItemId | None = None
        self.awaiting: Awaiting | None = Awaiting.OPENING
        self._keys: dict[int, ReadingKey] = {}
        self._revisions: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._growth: TranscriptGrowth | None = None
        self._is_fading = False
        self._before: ContextState | None = None
        """The state of the view before, with which the view is compared; None for the revision before."""
        self._read_at = 0.0

    # -- sources, revisions, profiles ------------------------------------------------------------------------

    def add_sources(self, sources: Sequence[Source], problems: Sequence[OpenProblem]) -> None:
        """Add opened sources; select the newest revision of the very first one."""
        first = not self.sources and bool(sources)
        self.sources += sources
        self.problems += problems
        if first:
            self.key = replace(
                self.key, revision=self.last_revision, profile=self._profile_for(0, self.key.profile)
            )

    @property
    def source(self) -> Source | None:
        return self.sources[self.key.source] if self.sources else None

    @property
    def last_revision(self) -> int:
        """The number of the last revision when they were last counted; long work may find more."""
        if self.source is None:
            return 0
        if self.key.source not in self._revisions:
            self._revisions[self.key.source] = len(self.source.revisions)
        return self._revisions[self.key.source] - 1

    def count_revisions(self) -> None:
        """Count again, since long work may have found more; if the newest was selected, it stays selected."""
        if self.source is None:
            return
        newest = self.key.revision == self.last_revision
        self._revisions[self.key.source] = len(self.source.revisions)
        if newest:
            self.key = replace(self.key, revision=self.last_revision)

    @property
    def read_only_reason(self) -> str | None:
        """Why the selected revision is read-only, or None."""
        return read_only_reason(self.source, self.key.revision)

    @property
    def as_of(self) -> str | None:
        """The label of the selected revision when it is in the past and read-only; None for the present.

        A revision that was replaced while it was edited is not read-only until its draft is saved or dropped.
        """
        if self.source is None or self.drafts.begun_at(self.key):
            return None
        revisions, number = self.source.revisions, self.key.revision
        is_over = self.read_only_reason is not None or is_past(revisions, number, self.last_revision)
        return revisions[number].label if is_over else None

    @property
    def latest_is_current(self) -> bool:
        """Whether the latest revision is the present; in a recording, all revisions are in the past."""
        return read_only_reason(self.source, self.last_revision) is None

    @property
    def profile(self) -> str | None:
        """The name of the profile in use: the chosen one, or the default of the format."""
        if self.key.profile is not None or self.source is None:
            return self.key.profile
        return next(iter(self.source.profiles), None)

    def select_source(self, number: int) -> bool:
        """Select another source as it was left, at first its newest revision; False when nothing changes."""
        if number == self.key.source or not 0 <= number < len(self.sources):
            return False
        self._keys[self.key.source] = self.key
        profile = self._profile_for(number, self.key.profile)
        known = self._revisions.setdefault(number, len(self.sources[number].revisions))
        key = self._keys.get(number, ReadingKey(number, known - 1, profile, run=self.key.run))
        self.key = replace(key, seen=self._seen.get(number, 0))
        self._read_at = 0.0
        self.count_revisions()
        return True

    def select_revision(self, number: int) -> bool:
        """Select another revision, at most the last; False when nothing changes."""
        number = min(max(number, 0), self.last_revision)
        if number == self.key.revision:
            return False
        self.key = replace(self.key, revision=number)
        return True

    def select_next_profile(self) -> bool:
        """Select the next profile; False when the source has only one."""
        names = list(self.source.profiles) if self.source is not None else []
        if len(names) < 2:
            return False
        at = names.index(self.profile) if self.profile in names else -1
        self.key = replace(self.key, profile=names[(at + 1) % len(names)])
        return True

    def _profile_for(self, number: int, profile: str | None) -> str | None:
        """Return `profile` when the source knows it, else None; the format judges a path."""
        known = profile is None or "/" in profile or profile in self.sources[number].profiles
        return profile if known else None

    def profile_problem(self, wanted: str | None) -> str:
        """Return why the wanted profile is not used; empty when it is."""
        if wanted is None or wanted == self.key.profile or self.source is None:
            return ""
        known = ", ".join(self.source.profiles) or "none"
        return f"unknown profile {excerpt(wanted)}; known: {known}"

    @property
    def options(self) -> tuple[LensOption, ...]:
        """The options that the format of the source declares."""
        from ctxview.formats.registry import known_formats

        spec = known_formats().specs.get(self.source.format) if self.source is not None else None
        return spec.options if spec is not None else ()

    def set_option(self, name: str, value: str | int | None) -> bool:
        """Try a value of a `LensOption`, None for the source's own; False when nothing changes."""
        if value == self.key.option(name):
            return False
        self.key = self.key.with_option(name, value)
        return True

    @property
    def editors(self) -> Sequence[str]:
        """The names under which a person may edit; empty where a source does not distinguish them."""
        editors = self.source.abilities.editors if self.source is not None else None
        return editors.editors if editors is not None else ()

    @property
    def editor(self) -> str | None:
        """The name under which a person edits; None where a source does not distinguish them."""
        return self.key.editor or next(iter(self.editors), None)

    def select_editor(self, editor: str) -> bool:
        """Edit in the name of `editor`; False when nothing changes."""
        if editor == self.editor:
            return False
        self.key = replace(self.key, editor=None if editor == self.editors[0] else editor)
        return True

    def set_edits(self, edits: int) -> None:
        self.key = replace(self.key, edits=edits)

    @property
    def listing(self) -> Listing | None:
        """The list that is shown; None for any other source."""
        return self.source.abilities.listing if self.source is not None else None

    @property
    def is_reading(self) -> bool:
        """Whether a reading that a person asked for is running; it goes first."""
        if not self.sources:
            return False
        is_shown = self.view is not None and self.view.key == self.key
        return not is_shown or self.awaiting is not None

    def is_held_back(self, number: int) -> bool:
        """Whether files of a source are being written, so that their last good content is shown."""
        partial_writes = self.sources[number].abilities.partial_writes
        return partial_writes is not None and bool(partial_writes.held_back)

    @property
    def transcript(self) -> Transcript | None:
        return self.view.index.reading.state.transcript if self.view is not None else None

    # -- changes on disk -------------------------------------------------------------------------------------

    def replace_source(self, number: int, source: Source) -> None:
        """Replace a source by a newer reading of it; the same revision stays selected."""
        before = self.sources[number]
        key = self.key if number == self.key.source else self._keys.get(number)
        known = self._revisions.get(number, len(before.revisions))
        stay = key is not None and self.drafts.begun_at(key)
        self.sources[number] = source
        self._revisions[number] = len(source.revisions)
        self._seen[number] = self._seen.get(number, 0) + 1
        if key is None:
            return
        revision = same_revision(before.revisions[:known], key.revision, source.revisions, stay=stay)
        key = replace(key, revision=revision, seen=self._seen[number])
        if number == self.key.source:
            self.key = key
        else:
            self._keys[number] = key

    def take_growth(self, growth: TranscriptGrowth) -> ViewState | None:
        """Add messages that are newer than the reading; None when they do not belong to the view."""
        view = self.view
        if view is None or not growth.belongs_to(view.key) or growth.at <= self._read_at:
            return None
        self._growth = growth
        self.view = replace(view, index=view.index.with_transcript(growth.transcript))
        return self.view

    def clear_fading_marks(self) -> ViewState | None:
        """Return the view without the marks of changes on disk; None when there are none."""
        if self.view is None or not self.view.marks.fading:
            return None
        view = replace(self.view, marks=ChangeMarks())
        return self._show(replace(view, blocks=self._rows(view)))

    # -- the view --------------------------------------------------------------------------------------------

    def take(self, key: ReadingKey, index: ReadingIndex, *, draft: bool, at: float = 0.0) -> ViewState | None:
        """Show a reading; None when `key` is no longer the selected one.

        `at` is the time at which its source was read: messages that were seen later stay.
        """
        if key != self.key:
            return None
        before = self.view
        if before is not None and before.key == key and before.index.reading is index.reading:
            return before
        self._read_at = max(self._read_at, at)
        if self._growth is not None and self._growth.at > self._read_at and self._growth.belongs_to(key):
            index = index.with_transcript(self._growth.transcript)
        same = before is not None and before.key.source == key.source and before.key.profile == key.profile
        trends, known = (before.trends, before.known) if before is not None and same else (None, None)
        xray = before.xray if before is not None and before.key == key else None
        marks = self._marks(before, key)
        view = ViewState(key, index, draft, marks=marks, trends=trends, known=known, xray=xray)
        return self._show(replace(view, blocks=self._rows(view)))

    def mark_job(self) -> MarkChanges | None:
        """The job that compares the view with the one before; None when that is done."""
        view, source = self.view, self.source
        if view is None or source is None or not view.marks.pending:
            return None
        return MarkChanges(source, view.key, self._before, view.index.reading.state, self._is_fading)

    def take_marks(self, key: ReadingKey, marks: ChangeMarks) -> ViewState | None:
        """Mark the changes; None when another reading is shown by now.

        A change on disk that changes no block leaves the marks of an earlier one.
        """
        if self.view is None or self.view.key != key or not self.view.marks.pending:
            return None
        kept = marks or replace(self.view.marks, pending=False)
        view = replace(self.view, marks=kept if marks.fading else marks)
        return self._show(replace(view, blocks=self._rows(view)))

    def take_trends(self, trends: Trends) -> ViewState | None:
        """Add trends to the view; None when they belong to another source or profile."""
        view = self.view
        if view is None or (view.key.source, view.key.profile) != (trends.source, trends.profile):
            return None
        self.view = replace(view, trends=trends)
        return self.view

    def take_known(self, known: KnownRevisions) -> ViewState | None:
        """Add the facts of all revisions to the view; None without a view."""
        if self.view is None:
            return None
        self.view = replace(self.view, known=known)
        return self.view

    def take_xray(self, result: XrayResult) -> ViewState | None:
        """Add the X-ray of the selected revision to the view; None when another one is shown by now."""
        if self.view is None or self.view.key != result.key:
            return None
        self.view = replace(self.view, xray=result)
        return self.view

    def rearranged(self) -> ViewState | None:
        """Return the same reading under the present filter and order."""
        if self.view is None:
            return None
        return self._show(replace(self.view, blocks=self._rows(self.view)))

    def forget(self) -> None:
        """Drop the view until the next reading arrives."""
        self.view = None
        self.search.forget()

    def _show(self, view: ViewState) -> ViewState:
        self.view = view
        self.search.update(view.index)
        return view

    def _marks(self, before: ViewState | None, key: ReadingKey) -> ChangeMarks:
        """The marks until the view is compared; they stay when only the token count is new.

        Another revision is compared with the one that it continues, not with the one that was shown before.
        """
        if before is None or before.key.source != key.source:
            return ChangeMarks()
        if before.key == key:
            return before.marks
        on_disk = before.key.seen != key.seen
        is_same = before.key.revision == key.revision or on_disk
        self._before = before.index.reading.state if is_same else None
        self._is_fading = on_disk
        return replace(before.marks if on_disk else ChangeMarks(), pending=True)

    def _rows(self, view: ViewState) -> tuple[ItemId, ...]:
        index, query = view.index, self.query
        rows = [*index.of(ItemKind.BLOCK)]
        if query:
            rows = [
                row
                for row in rows
                if query.accepts(index.block(row), BlockFacts(row in view.changes, bool(index.about(row))))
            ]
        if self.sort != TIER_ORDER:
            tiers = {tier.name: at for at, tier in enumerate(index.reading.state.tiers)}
            rows.sort(key=lambda row: sort_key(self.sort, index.block(row), tiers))
        if self.reverse:
            rows.reverse()
        return tuple(rows)

    # -- order ------------------------------------------------------------------------------------

    @property
    def orders(self) -> list[str]:
        """The orders in which the blocks can be listed."""
        return sort_orders(self.figures)

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of the blocks that are shown, by name."""
        return figures_in(self.view.index.reading.state if self.view is not None else None)

    def sort_by(self, sort: str) -> None:
        """Sort by a column; the same column again reverses the order."""
        self.reverse = not self.reverse if sort == self.sort else False
        self.sort = sort
