"""The model of the inspector: takes results and wishes, decides, and returns effects. No toolkit.

The parts (live updates, background work, trends, replay, search, back stack, drafts) see the public state,
not each other's privates and not the screen. Every method is called on the interface's thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.tui.model import background_work, live_updates
from ctxview.tui.model.background_work import BackgroundWork, TrendLoader
from ctxview.tui.model.change_marks import ChangeMarks
from ctxview.tui.model.effects import Cancel, Effects, MarkText, Notify, Refresh, Select, Show, Start, Unmark
from ctxview.tui.model.inspector_state import Awaiting, InspectorState
from ctxview.tui.model.jobs import Job
from ctxview.tui.model.jobs.captions import CaptionsReady, FindEvent, ReadCaptions
from ctxview.tui.model.jobs.facts import FACTS_TIMER, FactsLoader, FindInRevisions, ReadFacts, TimeResult
from ctxview.tui.model.jobs.load import (
    DoLongWork,
    LongWorkDone,
    LongWorkGrown,
    MarkChanges,
    Opener,
    OpenPaths,
    ReadingReady,
    ReadRevision,
    SourcesFound,
    TotalsCounted,
)
from ctxview.tui.model.jobs.reread import Reread, SourceLost, SourceReread
from ctxview.tui.model.jobs.watcher import FilesChanged, FolderChanged, TranscriptGrown
from ctxview.tui.model.jobs.xray import MakeXray, XrayLoader, XrayResult
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.live_updates import LiveUpdates
from ctxview.tui.model.navigation import PANE_OF, BackStack, ShownView
from ctxview.tui.model.query import Query
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.replay import TICK_TIMER, Replay, ReplayOptions
from ctxview.tui.model.search import FindInHistory, HistoryHit
from ctxview.tui.model.trends import ReadTrends, Trends
from ctxview.tui.model.view_state import ReadOptions


class InspectorModel(InspectorState):
    def __init__(
        self,
        profile: str | None = None,
        options: ReadOptions | None = None,
        opener: Opener | None = None,
        replay: ReplayOptions | None = None,
        *,
        watching: bool = True,
    ) -> None:
        """With `replay` the revisions are replayed from the first on.

        Without `watching` sources are reread only on request.
        """
        super().__init__(profile, options)
        self.problem: str | None = None
        """Why nothing is shown; None while it is read."""
        self.finding: ItemId | None = None
        """The finding that was stepped to last."""
        self.shown = ShownView()
        self.back = BackStack()
        self.work = BackgroundWork(self)
        self.live = LiveUpdates(self, self.work, opener, automatic=watching)
        self.replay = Replay(self, replay, self.go_to_revision)
        self.trends = TrendLoader(self)
        self.facts = FactsLoader(self)
        self.xray = XrayLoader(self)
        self._opener = opener
        self._reader: ReadRevision | None = None
        self._awaited: ItemId | None = None
        self._awaits_finding = 0

    @property
    def status(self) -> str:
        """The current work, for the header; empty when all is done."""
        return self.awaiting or self.search.status or self.work.progress

    def live_status(self, *, following: bool) -> tuple[str, str]:
        """Whether the files are watched or how they just changed, and the style of this text."""
        return ("", "") if self.replay.stage else self.live.status(following=following)

    # -- results of jobs -------------------------------------------------------------------------------------

    def start(self) -> Effects:
        return [*([Start(OpenPaths(self._opener))] if self._opener is not None else []), *self.live.start()]

    def finished(self, job: Job, result: object) -> Effects:
        """Take a result of a job, or the exception that ended it."""
        match job, result:
            case _, Exception():
                return self._failed(job, result)
            case _, SourcesFound():
                return self._take_sources(result)
            case ReadRevision(), ReadingReady():
                return self._take_reading(job, result)
            case MarkChanges(), ChangeMarks():
                marked = self.take_marks(job.key, result)
                return [Show(), *(self.live.fade_later() if result.fading else [])] if marked else []
            case _, TotalsCounted():
                self.totals.update(result.totals)
                return [Refresh(sources=True)]
            case DoLongWork(), LongWorkDone():
                return self.read(quick=False) if self.work.finish(job) else []
            case DoLongWork(), LongWorkGrown() if self.work.runs(job) and not self.is_reading:
                return self.read(quick=False)
            case ReadTrends(), Trends():
                self.trends.take(job, result)
                return [Refresh()]
            case ReadFacts(), KnownRevisions():
                return self.facts.take(job, result)
            case FindInRevisions(), TimeResult():
                return self._show_time_hit(job, result)
            case MakeXray(), XrayResult():
                return self.xray.take(job, result)
            case ReadCaptions() | FindEvent(), CaptionsReady():
                return self.replay.take(job, result)
            case FindInHistory(), HistoryHit():
                return self._show_hit(grown=True) if self.search.found(job, result.hit) else []
            case Reread(), SourceReread():
                return self._take_reread(job, result)
            case Reread(), SourceLost():
                return self.live.lose_source(job, result)
            case _, TranscriptGrown():
                return self.live.transcript_grown(result)
            case _, FilesChanged():
                return self.live.files_changed(result)
            case _, FolderChanged():
                return self.live.folder_changed()
        return []

    def progressed(self, job: Job, text: str) -> Effects:
        return [Refresh(messages=True)] if self.work.report(job, text) else []

    def woke(self, timer: str) -> Effects:
        """Do what is due when a timer is over."""
        match timer:
            case live_updates.FADE:
                self.live.faded()
                return [Unmark(), *([Show()] if self.clear_fading_marks() else [])]
            case live_updates.QUIET:
                self.live.clear_recent()
            case live_updates.NEXT:
                return self.live.start_next()
            case background_work.TRENDS_TIMER:
                self.trends.rested()
            case _ if timer == FACTS_TIMER:
                self.facts.rested()
            case live_updates.LATE:
                pass
            case _ if timer == TICK_TIMER:
                return self.replay.tick()
        return [Refresh()]

    def panes_drawn(self, *, trends: bool, facts: bool = False, xray: bool = False) -> Effects:
        """Note what the visible panes draw beside the reading: get it, or stop getting it.

        A search needs the facts of all revisions, too.
        """
        worked = bool(self.sources) and self.work.is_done(self.key)
        wanted = facts or bool(self.search.hits.needle.strip() and self.last_revision)
        return [
            *self.trends.update(drawn=trends, worked=worked),
            *self.facts.update(wanted=wanted, worked=worked),
            *self.xray.update(drawn=xray),
        ]

    def _take_sources(self, found: SourcesFound) -> Effects:
        first, wanted = not self.sources, self.key.profile
        self.add_sources(found.sources, found.problems)
        effects: Effects = []
        if first and self.sources:
            if self.listing is not None:
                self.shown.show(Pane.MEMORY)
            self.replay.sources_found()
            effects = self.read()
            if problem := self.profile_problem(wanted):
                effects.append(Notify(problem, "warning"))
        elif found.last and not self.sources:
            self.problem, self.awaiting = "No source could be opened.", None
            effects = [Show()]
        elif not first and not self.is_reading:
            effects = self.work.start_next()
        self.live.update_target()
        return [*effects, Refresh(sources=True)]

    def _take_reading(self, job: ReadRevision, result: ReadingReady) -> Effects:
        if self.take(job.key, result.index, draft=self.drafts.dirty(job.key)) is None:
            return []
        self.awaiting = None if result.final else Awaiting.COUNTING
        self.live.update_target()
        return [Show(), *(self._reading_complete() if result.final else [])]

    def _reading_complete(self) -> Effects:
        marking = self.mark_job()
        return [
            *([Start(marking)] if marking is not None else []),
            *self.work.start_next(),
            *self.replay.reading_shown(worked=self.work.is_done(self.key)),
            *self.live.start_next(),
        ]

    def _take_reread(self, job: Reread, result: SourceReread) -> Effects:
        """Replace a source together with its reading, so that both are always of the same state."""
        effects = self.live.replace_source(job, result)
        if result.source is not job.source and job.number == self.key.source:
            effects += [*self.work.stop(), *self._show_reread(job, result)]
        elif result.source is not job.source:
            effects += [*self.work.start_next(), Refresh(sources=True)]
        return [*effects, *self.live.rest(job, result.at)]

    def _show_reread(self, job: Reread, result: SourceReread) -> Effects:
        """Show the reading of a reread source, unless another revision is selected by now."""
        view = None
        if job.key is not None and result.index is not None:
            key = replace(job.key, revision=result.revision, seen=self.key.seen)
            view = self.take(key, result.index, draft=self.drafts.dirty(self.key), at=result.at)
        if view is None:
            return self.read()
        self.awaiting = None
        return [Cancel(ReadRevision.group), Show(), *self._reading_complete()]

    def _failed(self, job: Job, error: Exception) -> Effects:
        reason = str(error) or type(error).__name__
        stopped: Effects = []
        match job:
            case DoLongWork():
                stopped = self.work.stop()
            case Reread():
                self.live.failed()
            case ReadTrends():
                self.trends.failed(job)
            case ReadFacts():
                self.facts.failed(job)
            case MakeXray():
                return self.xray.failed(job, reason)
            case FindEvent() | ReadCaptions():
                self.replay.failed(job)
            case FindInHistory():
                self.search.found(job, None)
            case ReadRevision() | OpenPaths() if job is self._reader or not self.sources:
                self.problem, self.awaiting = f"Cannot be read: {reason}", None
                self.clear()
                return [Show()]
        return [*stopped, Notify(reason, "error", f"{job.group} failed"), Refresh()]

    # -- what is read ----------------------------------------------------------------------------------------

    def read(self, *, quick: bool = True) -> Effects:
        """Start reading the selected revision; the result of an earlier call is dropped."""
        self.count_revisions()
        if self.source is None:
            return []
        self.problem, self.awaiting = None, Awaiting.READING
        self.search.reading_started()
        self._reader = ReadRevision(self.source, self.key, self.drafts.overlay(self.key.source), quick)
        return [Start(self._reader), Show() if self.view is None else Refresh()]

    def go_to_source(self, number: int) -> Effects:
        """Show another source as it was left; no effects when it is shown already."""
        if not self.select_source(number):
            return []
        self.back.clear()
        self.clear()
        return self._read_other()

    def go_to_revision(self, number: int) -> Effects:
        """Show another revision, at most the last; no effects when it is shown already."""
        return self._read_other() if self.select_revision(number) else []

    def next_profile(self) -> Effects:
        """Judge by the next profile; no effects when the source has only one."""
        return self._read_other() if self.select_next_profile() else []

    def try_option(self, name: str, value: str | int | None) -> Effects:
        """Try a value of a `LensOption`, None for the source's own; no effects when nothing changes."""
        return self.read() if self.set_option(name, value) else []

    def edit_as(self, editor: str) -> Effects:
        """Edit in the name of `editor`; no effects when that is so already."""
        if not self.select_editor(editor):
            return []
        self.drafts.change_editor(self.key)
        return self.drafted()

    def drafted(self) -> Effects:
        """Read again after a step or a save of a draft."""
        self.set_edits(self.drafts.steps(self.key.source))
        return self.read()

    def clear(self) -> None:
        """Drop the view: it belongs to another source, or can no longer be read."""
        self.forget()
        self.finding = None

    def _read_other(self) -> Effects:
        return [*self.work.stop_unless(self.key), *self.read(), Refresh(sources=True)]

    # -- what is selected ------------------------------------------------------------------------------------

    def filter_by(self, query: Query) -> Effects:
        self.query = query
        return self._rearrange()

    def order_by(self, sort: str) -> Effects:
        """Sort by a column or a named order; the same again reverses it."""
        self.sort_by(sort)
        return self._rearrange(from_top=True)

    def reverse_order(self) -> Effects:
        self.reverse = not self.reverse
        return self._rearrange(from_top=True)

    def _rearrange(self, *, from_top: bool = False) -> Effects:
        return [Show(from_top)] if self.rearranged() else []

    def go_to(self, item: ItemId, leaving: Pane | None = None, line: int | None = None) -> Effects:
        """Select `item` in its pane; the selected item in the pane `leaving` is one to go back to."""
        pane = PANE_OF[item.kind]
        if leaving is not None and self.selected is not None and (leaving, self.selected) != (pane, item):
            self.back.remember(leaving, self.selected)
        shown: Effects = []
        if item.kind is ItemKind.BLOCK and self.view is not None and item not in self.view.blocks:
            notice = Notify("The filter was cleared, because it hid this block.")
            shown = [*self.filter_by(Query()), notice]
        return [*shown, Select(item, pane, line)]

    def go_back(self) -> Effects:
        """Go to the item that was left last, in the same pane while that exists."""
        pane, item = self.back.pop()
        again = [Select(item, pane)] if pane is not PANE_OF[item.kind] else []
        return [*self.go_to(item), *again]

    def select_when_read(self, item: ItemId) -> None:
        """Select `item` as soon as a reading has it."""
        self._awaited = item

    def awaited_item(self) -> ItemId | None:
        """The item to select now that a reading has it; only once."""
        if self._awaits_finding and self.view is not None and (found := self.view.index.findings):
            self._awaited = self.finding = found[0 if self._awaits_finding > 0 else -1]
            self._awaits_finding = 0
        if self._awaited is None or self.view is None or self.view.index.value(self._awaited) is None:
            return None
        awaited, self._awaited = self._awaited, None
        return awaited

    def step_finding(self, step: int, leaving: Pane) -> Effects:
        """Go to the next or previous finding in its pane; from the last one to another revision, if known."""
        findings: Sequence[ItemId] = self.view.index.findings if self.view is not None else ()
        here = self.selected if self.selected in findings else self.finding
        is_last = not findings or here == findings[-1 if step > 0 else 0]
        if is_last and (other := self.facts.next_finding(self.key.revision, step)) is not None:
            self.finding, self._awaits_finding = None, step
            return [*self.go_to_revision(other), Notify("The next finding is in this revision.")]
        if not findings:
            judged = self.view is not None and self.view.index.reading.judged
            return [Notify("There are no findings." if judged else "The findings are not known yet.")]
        at = findings.index(here) + step if here in findings else 0 if step > 0 else -1
        self.finding = findings[at % len(findings)]
        return self.go_to(self.finding, None if here in findings else leaving)

    # -- search ----------------------------------------------------------------------------------------------

    def search_for(self, needle: str) -> Effects:
        self.search.begin(needle, self.view.index if self.view is not None else None)
        return [Cancel(FindInHistory.group), MarkText(needle), Refresh()]

    def step_hit(self, *, back: bool) -> Effects:
        if not self.search.hits.needle:
            return [Notify("There is no search yet: press / first.")]
        job = self.search.step(self.selected, self.transcript, back=back)
        return [Start(job), Refresh()] if job is not None else self._show_hit()

    def _show_hit(self, *, grown: bool = False) -> Effects:
        hit = self.search.hit
        if hit is not None:
            return [Refresh(messages=grown), *self.go_to(hit.item, line=hit.line), Refresh()]
        known = self.facts.known
        if known is not None and self.last_revision:
            return [Refresh(messages=grown), Start(FindInRevisions(known, self.search.hits.needle))]
        where = "in what is loaded or in the history" if self.transcript else "in what is loaded"
        notice = f"“{self.search.hits.needle}” was not found {where}."
        return [Refresh(messages=grown), Notify(notice, "warning")]

    def _show_time_hit(self, job: FindInRevisions, result: TimeResult) -> Effects:
        """Go to the newest revision that has the needle, and say what became of it since then."""
        if job.needle != self.search.hits.needle:
            return []
        if result.hit is None:
            return [Notify(job.notice(result), "warning")]
        if result.item is not None:
            self.select_when_read(result.item)
        return [*self.go_to_revision(result.hit.number), Notify(job.notice(result))]
