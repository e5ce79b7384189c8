"""The decisions of the model without an app: late results, failures, changes on disk, drafts, replay."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec import structs

from ctxview.core.edits import SetValue
from ctxview.editing.draft import Draft
from ctxview.formats import OpenError, open_source
from ctxview.formats.interface import Abilities, Lens, Progress
from ctxview.tui.model.change_marks import ChangeMark
from ctxview.tui.model.effects import Cancel, Ended, Notify, Refresh, Select, Show, ShowMessages, Start
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.inspector_state import Awaiting
from ctxview.tui.model.jobs import Job
from ctxview.tui.model.jobs.captions import FindEvent, ReadCaptions
from ctxview.tui.model.jobs.load import (
    CountFindings,
    DoLongWork,
    MarkChanges,
    OpenPaths,
    ReadRevision,
    SourcesFound,
)
from ctxview.tui.model.jobs.reread import Reread, SourceReread
from ctxview.tui.model.jobs.watcher import FilesChanged, FolderChanged, TranscriptGrown
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import parse_query
from ctxview.tui.model.reading_index import ItemId, ItemKind, message_id
from ctxview.tui.model.replay import ReplayOptions
from ctxview.tui.model.search import FindInHistory
from ctxview.tui.model.trends import ReadTrends
from ctxview.tui.model.view_state import OpenProblem, ReadOptions, TranscriptGrowth
from tests.tui.fakes import FakeSource, block, memory
from tests.tui.model.controls import FakeControl
from tests.tui.model.model_driver import ModelDriver
from tests.tui.snapshot_stories import night
from tests.tui.transcripts import FakeTranscript, WorkingSource, talking, working

W1 = ItemId(ItemKind.BLOCK, "w-1", "working")
W2 = ItemId(ItemKind.BLOCK, "w-2", "working")


@dataclass
class ChangingSource(FakeSource):
    """A source that is `next` after a change; without one it can no longer be read."""

    next: FakeSource | None = None
    changed: bool = False
    files: Sequence[Path] = ()

    @property
    def watched(self) -> Sequence[Path]:
        return self.files

    def again(self) -> FakeSource:
        if self.changed and self.next is None:
            raise OpenError(f"{self.path}: there is no such file")
        return self.next if self.changed and self.next is not None else self


def rounds(*texts: str) -> list[dict[str, object]]:
    """Each text is the content of one block in one revision."""
    return [memory(working=[block("w-1", text)]) for text in texts]  # type: ignore[misc]


def changing(*texts: str, to: FakeSource | None = None) -> ChangingSource:
    return ChangingSource(rounds(*texts), next=to)


def change(driver: ModelDriver) -> None:
    if isinstance(driver.first, ChangingSource):
        driver.first.changed = True
    driver.do(driver.model.finished(Job(), FilesChanged(0, [])))


# -- reading -------------------------------------------------------------------------------------------------


def test_the_first_source_is_read_at_once_and_the_header_says_so() -> None:
    driver = ModelDriver(night())
    assert driver.model.awaiting is Awaiting.READING
    driver.run(ReadRevision)
    assert driver.model.awaiting is None
    assert driver.model.view is not None
    assert driver.taken(Show)


def test_an_estimate_is_shown_before_the_exact_count() -> None:
    driver = ModelDriver(night(), tokens="o200k_base")
    job = driver.job(ReadRevision)
    estimate = structs.replace(job.key, run=ReadOptions("bytes/4"))
    quick = ReadRevision(job.source, estimate, {}).run(FakeControl())
    assert quick is not None
    driver.do(driver.model.finished(job, structs.replace(quick, final=False)))
    assert driver.model.view is not None
    assert driver.model.awaiting is Awaiting.COUNTING
    assert not driver.has(CountFindings)
    driver.do(driver.model.finished(job, quick))
    assert driver.model.awaiting is None
    assert driver.has(CountFindings)


def test_a_reading_comes_with_its_reference_graph() -> None:
    job = ModelDriver(night()).job(ReadRevision)
    ready = job.run(FakeControl())
    assert ready is not None
    assert "graph" in vars(ready.index)


def test_a_reading_that_arrives_late_is_dropped() -> None:
    driver = ModelDriver(night())
    late = driver.job(ReadRevision)
    driver.do(driver.model.go_to_revision(0))
    driver.finish(late)
    assert driver.model.view is None
    assert driver.model.awaiting is Awaiting.READING
    driver.run(ReadRevision)
    assert driver.model.view is not None
    assert driver.model.view.key.revision == 0


def test_a_revision_that_is_shown_is_not_read_again() -> None:
    driver = ModelDriver(night())
    driver.settle()
    assert driver.model.go_to_revision(2) == []
    assert driver.model.go_to_source(0) == []


def test_a_reading_that_fails_is_a_problem_in_place_of_the_panes() -> None:
    driver = ModelDriver(night())
    job = driver.job(ReadRevision)
    driver.do(driver.model.finished(job, ValueError("no luck")))
    assert driver.model.problem == "Cannot be read: no luck"
    assert (driver.model.view, driver.model.awaiting) == (None, None)
    assert not driver.notices


def test_a_failure_of_an_earlier_reading_does_not_clear_the_view() -> None:
    driver = ModelDriver(night())
    job = driver.job(ReadRevision)
    driver.do(driver.model.go_to_revision(0))
    driver.settle()
    driver.do(driver.model.finished(job, ValueError("no luck")))
    assert driver.model.view is not None
    assert driver.notices == ["no luck"]


def test_without_any_source_the_problem_is_said_after_the_last_path() -> None:
    driver = ModelDriver()
    assert driver.model.problem == "No source could be opened."
    assert driver.model.awaiting is None
    driver.do(driver.model.finished(Job(), SourcesFound([night()], [OpenProblem(Path("x"), "gone")])))
    driver.settle()
    assert (driver.model.problem, driver.model.view is None) == (None, False)


def test_a_profile_that_the_source_does_not_have_is_said() -> None:
    model = InspectorModel("nix", ReadOptions("bytes/3"), lambda: [night()], watching=False)
    effects = model.finished(Job(), SourcesFound([night()]))
    (notice,) = [each.text for each in effects if isinstance(each, Notify)]
    assert notice.startswith("unknown profile nix; known: atom-0.17")


def test_a_failed_opening_is_a_problem() -> None:
    driver = ModelDriver()
    driver.do(driver.model.finished(OpenPaths(lambda: ()), OSError()))
    assert driver.model.problem == "Cannot be read: OSError"


# -- background work -----------------------------------------------------------------------------------------


def test_long_work_starts_after_the_reading_and_leads_to_another_one() -> None:
    source = working()
    source.go.set()
    driver = ModelDriver(source)
    driver.run(ReadRevision)
    job = driver.job(DoLongWork)
    driver.do(driver.model.progressed(job, "reading history 42 %"))
    assert driver.model.status == "reading history 42 %"
    driver.finish(job)
    assert driver.model.awaiting is Awaiting.READING
    driver.settle()
    assert driver.model.last_revision == 2
    assert driver.model.status == ""


@dataclass
class GrowingList(WorkingSource):
    """A list whose sources are read in the background."""

    @property
    def abilities(self) -> Abilities:
        return Abilities(work=self, listing=self)

    def path_of(self, name: str) -> Path | None:
        return None

    def look_at(self, name: str) -> None:
        """Do nothing."""

    def work(self, lens: Lens, progress: Progress) -> None:
        progress.report(1, 2, "reading")
        super().work(lens, progress)


@pytest.mark.parametrize(("seconds", "read"), [(-1.0, 2), (1e9, 1)])
def test_a_list_is_read_again_while_its_sources_are_read(
    seconds: float, read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxview.tui.model.jobs.load.GROWN_EVERY", seconds)
    source = GrowingList([night().documents[0]] * 3, transcript=FakeTranscript(40, complete=False))
    source.go.set()
    driver = ModelDriver(source)
    driver.run(ReadRevision)
    driver.run(DoLongWork)
    started = [
        each for each in driver.effects if isinstance(each, Start) and isinstance(each.job, ReadRevision)
    ]
    assert len(started) == 1 + read


def test_long_work_is_cancelled_when_another_source_is_opened_and_its_late_progress_is_dropped() -> None:
    driver = ModelDriver(working(), night())
    driver.run(ReadRevision)
    job = driver.job(DoLongWork)
    driver.do(driver.model.go_to_source(1))
    assert Cancel(DoLongWork.group) in driver.effects
    assert driver.model.progressed(job, "50 %") == []
    assert driver.model.work.progress == ""


def test_failed_long_work_is_reported_and_not_shown_as_running() -> None:
    driver = ModelDriver(working())
    driver.run(ReadRevision)
    job = driver.job(DoLongWork)
    driver.do(driver.model.progressed(job, "42 %"))
    driver.do(driver.model.finished(job, MemoryError("too large")))
    assert driver.notices == ["too large"]
    assert driver.model.status == ""


def test_findings_of_all_sources_are_counted_once() -> None:
    driver = ModelDriver(night(), night())
    driver.settle()
    assert set(driver.model.totals) == {0, 1}
    driver.do(driver.model.go_to_revision(0))
    driver.run(ReadRevision)
    assert not driver.has(CountFindings)


def test_trends_are_read_only_while_a_pane_draws_them_and_shown_from_memory_afterwards() -> None:
    driver = ModelDriver(night())
    driver.settle()
    assert driver.model.panes_drawn(trends=False) == []
    driver.do(driver.model.panes_drawn(trends=True))
    assert driver.model.panes_drawn(trends=True) == []
    driver.run(ReadTrends)
    assert driver.model.panes_drawn(trends=True) == [Show()]
    assert driver.model.view is not None
    assert driver.model.view.trends is not None
    assert driver.model.panes_drawn(trends=True) == []


def test_hidden_panes_cancel_the_reading_of_trends() -> None:
    driver = ModelDriver(night())
    driver.settle()
    driver.do(driver.model.panes_drawn(trends=True))
    assert driver.model.panes_drawn(trends=False) == [Cancel(ReadTrends.group)]


def test_trends_that_failed_are_not_read_again() -> None:
    driver = ModelDriver(night())
    driver.settle()
    driver.do(driver.model.panes_drawn(trends=True))
    driver.do(driver.model.finished(driver.job(ReadTrends), ValueError("odd")))
    driver.do(driver.model.panes_drawn(trends=True))
    assert not driver.has(ReadTrends)


# -- marks ---------------------------------------------------------------------------------------------------


def test_marks_come_from_a_job_after_the_view() -> None:
    driver = ModelDriver(FakeSource(rounds("one", "two")))
    driver.settle()
    driver.do(driver.model.go_to_revision(0))
    driver.settle()
    driver.do(driver.model.go_to_revision(1))
    driver.run(ReadRevision)
    assert driver.model.view is not None
    assert not driver.model.view.changes
    driver.run(MarkChanges)
    assert driver.model.view.changes == {W1: ChangeMark.CHANGED}


def test_marks_that_arrive_after_another_revision_was_chosen_are_dropped() -> None:
    driver = ModelDriver(FakeSource(rounds("one", "two", "three")))
    driver.settle()
    driver.do(driver.model.go_to_revision(1))
    driver.run(ReadRevision)
    late = driver.job(MarkChanges)
    driver.do(driver.model.go_to_revision(0))
    driver.run(ReadRevision)
    driver.finish(late)
    assert driver.model.view is not None
    assert not driver.model.view.changes


# -- changes on disk -----------------------------------------------------------------------------------------


def test_a_change_is_reread_and_its_marks_fade() -> None:
    driver = ModelDriver(changing("one", to=FakeSource(rounds("two"))))
    driver.settle()
    change(driver)
    driver.settle()
    assert driver.model.view is not None
    assert driver.model.view.changes == {W1: ChangeMark.CHANGED}
    assert driver.model.view.marks.fading
    driver.do(driver.model.woke("fade"))
    assert not driver.model.view.changes


def test_a_person_who_waits_for_a_reading_comes_first() -> None:
    driver = ModelDriver(changing("one", to=FakeSource(rounds("two"))))
    change(driver)
    assert not driver.has(Reread)
    driver.run(ReadRevision)
    assert driver.has(Reread)


def test_only_one_reread_runs_at_a_time() -> None:
    driver = ModelDriver(changing("one", to=FakeSource(rounds("two"))))
    driver.settle()
    change(driver)
    change(driver)
    assert isinstance(driver.job(Reread), Reread)
    assert not driver.has(Reread)


def test_a_source_that_disappears_keeps_its_last_state_and_is_said_once() -> None:
    driver = ModelDriver(ChangingSource(rounds("one"), files=[Path("night/context.json")]))
    driver.settle()
    view = driver.model.view
    for _ in range(2):
        change(driver)
        driver.settle()
    assert driver.model.view is view
    assert driver.notices == [
        "night/context.json: there is no such file. The last state is still shown.",
    ]
    assert driver.model.live_status(following=False) == ("gone", "bad")


def test_a_reread_that_fails_is_reported_and_the_next_change_starts_another() -> None:
    driver = ModelDriver(changing("one", to=FakeSource(rounds("two"))))
    driver.settle()
    change(driver)
    driver.do(driver.model.finished(driver.job(Reread), OSError("a hanging disk")))
    assert driver.notices == ["a hanging disk"]
    change(driver)
    assert driver.has(Reread)


def test_a_reread_for_a_revision_that_was_left_replaces_the_source_and_reads_the_chosen_one() -> None:
    later = FakeSource(rounds("one", "two", "three"))
    driver = ModelDriver(changing("one", "two", to=later))
    driver.settle()
    change(driver)
    job = driver.job(Reread)
    driver.do(driver.model.go_to_revision(0))
    driver.finish(job)
    driver.settle()
    assert driver.model.source is later
    assert driver.model.view is not None
    assert driver.model.view.key.revision == 0


def test_the_newest_revision_stays_the_newest() -> None:
    driver = ModelDriver(changing("one", to=FakeSource(rounds("one", "two"))))
    driver.settle()
    change(driver)
    driver.settle()
    assert driver.model.key.revision == 1


def test_a_selected_earlier_revision_stays() -> None:
    driver = ModelDriver(changing("one", "two", to=FakeSource(rounds("one", "two", "three"))))
    driver.settle()
    driver.do(driver.model.go_to_revision(0))
    driver.settle()
    change(driver)
    driver.settle()
    assert driver.model.key.revision == 0
    assert driver.model.last_revision == 2


def test_a_revision_that_disappears_while_playing_is_left_for_the_last_one() -> None:
    driver = ModelDriver(
        changing("one", "two", "three", to=FakeSource(rounds("one"))), replay=ReplayOptions(ticking=False)
    )
    driver.settle()
    driver.do(driver.model.replay.tick(99))
    driver.settle()
    assert driver.model.key.revision == 1
    change(driver)
    driver.settle()
    assert driver.model.key.revision == 0
    driver.do(driver.model.replay.tick(99))
    assert driver.taken(Ended)
    assert not driver.model.replay.clock.playing


def test_new_messages_are_shown_without_a_reading_unless_they_are_older_than_it() -> None:
    driver = ModelDriver(talking(10))
    driver.settle()
    driver.taken(ShowMessages)
    more = TranscriptGrown(TranscriptGrowth(0, None, FakeTranscript(12), at=5.0), only=True)
    driver.do(driver.model.finished(Job(), more))
    assert driver.taken(ShowMessages) == [ShowMessages(10)]
    assert len(driver.model.transcript or ()) == 12
    other = TranscriptGrown(TranscriptGrowth(1, None, FakeTranscript(99), at=6.0), only=True)
    driver.do(driver.model.finished(Job(), other))
    assert len(driver.model.transcript or ()) == 12


def test_a_reread_that_began_before_new_messages_were_seen_does_not_take_them_away() -> None:
    driver = ModelDriver(talking(10))
    driver.settle()
    source = driver.model.source
    assert source is not None
    change(driver)
    job = driver.job(Reread)
    grown = TranscriptGrown(TranscriptGrowth(0, None, FakeTranscript(12), at=50.0), only=True)
    driver.do(driver.model.finished(Job(), grown))
    later = talking(11)
    reading = ReadRevision(later, driver.model.key, {}).run(FakeControl())
    assert reading is not None
    driver.do(driver.model.finished(job, SourceReread(later, reading.index, 0, {}, at=40.0, since=0.0)))
    assert len(driver.model.transcript or ()) == 12


def test_a_new_file_in_a_folder_is_looked_for_only_when_folders_were_opened() -> None:
    driver = ModelDriver(night())
    assert driver.model.finished(Job(), FolderChanged()) == []


# -- drafts --------------------------------------------------------------------------------------------------


def edit(driver: ModelDriver, text: str) -> Draft:
    source = driver.model.source
    assert source is not None
    draft = driver.model.drafts.open(source, driver.model.key, str(source.path))
    draft.apply(SetValue("/memory/working/0/content", text))
    draft.being_edited = False
    driver.do(driver.model.drafted())
    driver.settle()
    return draft


def content(driver: ModelDriver) -> str:
    assert driver.model.view is not None
    return next(iter(driver.model.view.index.reading.state.blocks())).text


def test_a_draft_is_shown_undone_and_redone() -> None:
    driver = ModelDriver(FakeSource(rounds("one")))
    driver.settle()
    edit(driver, "mine")
    assert (content(driver), driver.model.drafts.dirty(driver.model.key)) == ("mine", True)
    [draft] = driver.model.drafts.of(driver.model.key)
    draft.undo()
    driver.do(driver.model.drafted())
    driver.settle()
    assert (content(driver), driver.model.drafts.dirty(driver.model.key)) == ("one", False)
    draft.redo()
    driver.do(driver.model.drafted())
    driver.settle()
    assert content(driver) == "mine"


def test_a_file_that_changes_under_a_draft_leaves_the_draft_and_is_named() -> None:
    theirs = FakeSource(rounds("theirs"))
    driver = ModelDriver(changing("one", to=theirs))
    driver.settle()
    edit(driver, "mine")
    change(driver)
    driver.settle()
    assert driver.model.source is theirs
    assert content(driver) == "mine"
    assert driver.model.drafts.changed_on_disk(driver.model.key) == ["context.json"]


def test_a_draft_with_nothing_to_save_gives_way_to_the_file() -> None:
    driver = ModelDriver(changing("one", to=FakeSource(rounds("theirs"))))
    driver.settle()
    edit(driver, "one")
    change(driver)
    driver.settle()
    assert content(driver) == "theirs"
    assert driver.model.drafts.changed_on_disk(driver.model.key) == []


def test_a_reread_that_began_before_a_save_does_not_bring_the_old_file_back(tmp_path: Path) -> None:
    file = tmp_path / "context.json"
    file.write_text(json.dumps(*rounds("one")))
    driver = ModelDriver(open_source(file))
    driver.settle()
    edit(driver, "two").save()
    change(driver)
    job = driver.job(Reread)
    late = job.run(FakeControl())
    edit(driver, "three").save()
    driver.do(driver.model.finished(job, late))
    driver.settle()
    assert content(driver) == "three"
    edit(driver, "four").save()
    assert b'"four"' in file.read_bytes()


def test_a_draft_keeps_its_revision_when_a_newer_one_appears() -> None:
    later = FakeSource(rounds("one", "two"))
    driver = ModelDriver(changing("one", to=later))
    driver.settle()
    edit(driver, "mine")
    change(driver)
    driver.settle()
    assert (driver.model.key.revision, driver.model.last_revision) == (0, 1)


# -- selection -----------------------------------------------------------------------------------------------


def test_an_item_that_the_filter_hides_clears_the_filter() -> None:
    driver = ModelDriver(FakeSource([memory(working=[block("w-1", "one"), block("w-2", "two")])]))
    driver.settle()
    driver.do(driver.model.filter_by(parse_query("one")))
    driver.do(driver.model.go_to(W2))
    assert not driver.model.query
    assert driver.notices == ["The filter was cleared, because it hid this block."]
    assert driver.taken(Select) == [Select(W2, Pane.MEMORY)]


def test_back_returns_to_the_item_and_the_pane_that_were_left() -> None:
    driver = ModelDriver(night())
    driver.settle()
    assert driver.model.view is not None
    first, second = driver.model.view.blocks[:2]
    driver.do(driver.model.go_to(first))
    driver.do(driver.model.go_to(second, leaving=Pane.VISIBILITY))
    driver.taken(Select)
    driver.do(driver.model.go_back())
    assert driver.taken(Select) == [Select(first, Pane.MEMORY), Select(first, Pane.VISIBILITY)]
    assert not driver.model.back


def test_another_source_cannot_be_left_with_back() -> None:
    driver = ModelDriver(night(), night())
    driver.settle()
    assert driver.model.view is not None
    first, second = driver.model.view.blocks[:2]
    driver.do(driver.model.go_to(first))
    driver.do(driver.model.go_to(second, leaving=Pane.MEMORY))
    assert driver.model.back
    driver.do(driver.model.go_to_source(1))
    assert not driver.model.back


def test_findings_are_stepped_through_in_a_circle() -> None:
    driver = ModelDriver(night())
    driver.settle()
    assert driver.model.view is not None
    findings = driver.model.view.index.findings
    for _ in range(len(findings) + 1):
        driver.do(driver.model.step_finding(1, Pane.MEMORY))
    assert [each.item for each in driver.taken(Select)] == [*findings, findings[0]]
    driver.do(driver.model.step_finding(-1, Pane.FINDINGS))
    assert driver.model.selected == findings[-1]


def test_an_item_is_selected_once_as_soon_as_a_reading_has_it() -> None:
    driver = ModelDriver(FakeSource(rounds("one")))
    driver.model.select_when_read(W1)
    assert driver.model.awaited_item() is None
    driver.settle()
    assert driver.model.awaited_item() == W1
    assert driver.model.awaited_item() is None


# -- search --------------------------------------------------------------------------------------------------


def test_a_hit_in_the_history_is_searched_in_the_foreground_and_selected() -> None:
    driver = ModelDriver(talking(60, m40="a heron"))
    driver.settle()
    driver.do(driver.model.search_for("heron"))
    driver.do(driver.model.step_hit(back=False))
    assert driver.model.status == "searching the history…"
    assert FindInHistory.foreground
    driver.run(FindInHistory)
    assert driver.model.selected == message_id(39)
    assert driver.model.status == "hit in message 40"


def test_a_late_result_of_another_search_is_dropped() -> None:
    driver = ModelDriver(talking(60, m40="a heron"))
    driver.settle()
    driver.do(driver.model.search_for("heron"))
    driver.do(driver.model.step_hit(back=False))
    late = driver.job(FindInHistory)
    driver.do(driver.model.search_for("hero"))
    assert Cancel(FindInHistory.group) in driver.effects
    assert driver.model.status == ""
    driver.taken(Select)
    driver.finish(late)
    assert driver.taken(Select) == []


def test_a_search_without_a_hit_says_where_it_looked() -> None:
    driver = ModelDriver(talking(60))
    driver.settle()
    driver.do(driver.model.search_for("heron"))
    driver.do(driver.model.step_hit(back=False))
    driver.settle()
    assert driver.notices == ["“heron” was not found in what is loaded or in the history."]
    assert driver.model.status == ""


def test_a_search_that_fails_does_not_go_on_for_ever() -> None:
    driver = ModelDriver(talking(60))
    driver.settle()
    driver.do(driver.model.search_for("heron"))
    driver.do(driver.model.step_hit(back=False))
    driver.do(driver.model.finished(driver.job(FindInHistory), OSError("gone")))
    assert driver.model.status == ""
    assert driver.notices == ["gone"]


def test_a_step_without_a_search_says_how_to_begin_one() -> None:
    driver = ModelDriver(night())
    driver.settle()
    driver.do(driver.model.step_hit(back=False))
    assert driver.notices == ["There is no search yet: press / first."]


# -- replay --------------------------------------------------------------------------------------------------


def playing(*texts: str, loop: bool = False) -> ModelDriver:
    source = FakeSource(rounds(*texts))
    driver = ModelDriver(source, replay=ReplayOptions(ticking=False, loop=loop))
    driver.settle()
    return driver


def test_a_replay_begins_with_the_first_revision_and_ends_after_the_last() -> None:
    driver = playing("one", "two")
    assert driver.model.key.revision == 0
    driver.do(driver.model.replay.tick(99))
    driver.settle()
    assert driver.model.key.revision == 1
    driver.do(driver.model.replay.tick(99))
    assert driver.taken(Ended)


def test_time_does_not_count_before_the_captions_are_made() -> None:
    driver = playing("one", "two")
    driver.do(driver.model.replay.tick(99))
    driver.run(ReadRevision)
    driver.do(driver.model.replay.tick(99))
    assert driver.model.key.revision == 1
    assert driver.has(ReadCaptions)


def test_a_loop_starts_again() -> None:
    driver = playing("one", "two", loop=True)
    for expected in (1, 0):
        driver.do(driver.model.replay.tick(99))
        driver.settle()
        assert driver.model.key.revision == expected


def test_an_action_pauses_unless_it_belongs_to_the_replay() -> None:
    driver = playing("one", "two")
    assert driver.model.replay.action_started("faster") == []
    assert driver.model.replay.clock.playing
    driver.do(driver.model.replay.action_started("down"))
    assert not driver.model.replay.clock.playing


def test_captions_of_a_source_that_was_replaced_are_dropped() -> None:
    driver = playing("one", "two")
    driver.do(driver.model.replay.jump(back=False))
    late = driver.job(FindEvent)
    driver.model.replace_source(0, FakeSource(rounds("one", "two")))
    driver.finish(late)
    assert driver.model.replay.captions is None
    assert not driver.model.replay.searching


def test_a_search_for_an_event_that_fails_ends() -> None:
    driver = playing("one", "two")
    driver.do(driver.model.replay.jump(back=False))
    assert driver.model.replay.searching
    driver.do(driver.model.finished(driver.job(FindEvent), ValueError("odd")))
    assert not driver.model.replay.searching
    assert driver.notices == ["odd"]


def test_the_end_of_the_events_is_said() -> None:
    driver = playing("one", "one")
    driver.do(driver.model.replay.jump(back=False))
    driver.settle()
    assert driver.notices == ["There are no more important events in this direction."]


def test_an_unknown_timer_and_result_change_nothing() -> None:
    driver = ModelDriver(night())
    driver.settle()
    view = driver.model.view
    assert driver.model.woke("something else") == [Refresh()]
    assert driver.model.finished(Job(), object()) == []
    assert driver.model.view is view


def test_a_talking_source_is_one_of_several() -> None:
    """Growth of a transcript that is not in front is left to the reread."""
    driver = ModelDriver(night(), talking(5))
    driver.settle()
    grown = TranscriptGrown(TranscriptGrowth(1, None, FakeTranscript(9), at=5.0), only=True)
    assert driver.model.finished(Job(), grown) == []
