"""Editing from the inspector: forms, undo, save, conflicts, refusals, and leaving with unsaved changes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.edits import DeleteValue, InsertItem, Refused, SetValue
from ctxview.tui.drafts import Drafts
from ctxview.tui.layout import Pane
from ctxview.tui.loading import Manner
from ctxview.tui.screens.conflict import ConflictScreen
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.pick import PickScreen
from ctxview.tui.screens.question import Question
from ctxview.tui.screens.save import SaveScreen
from ctxview.tui.session_view import SessionView
from ctxview.tui.things import Kind, Thing
from ctxview.tui.work import Work
from tests.tui.driving import Driver, driving
from tests.tui.fakes import FakeSource, block, spelled
from tests.tui.stories import RICH, night


@pytest.fixture
def on_disk(tmp_path: Path) -> FakeSource:
    """The night with its last round in a file that can be saved."""
    path = tmp_path / "context.json"
    path.write_bytes(spelled(RICH))
    return replace(night(), path=path, documents=[RICH], more_findings=(), missing=(), refs=(), todo=None)


def draft_of(source: FakeSource) -> Work:
    view = SessionView()
    view.found([source], [])
    return Drafts(Manner("bytes/3"), view).open(source, view.look, str(source.path))


async def wait_for(drive: Driver, screen: type) -> None:
    for _ in range(100):
        await drive.pilot.pause(0.02)
        if isinstance(drive.app.screen, screen):
            return
    raise AssertionError(f"{screen.__name__} did not come; there is {drive.app.screen}")


async def change_confidence(drive: Driver, value: str) -> None:
    await drive.pilot.press("e")
    await wait_for(drive, FormScreen)
    field = next(each for each in drive.app.screen.query(Input) if each.value == "0.97")
    field.value = value
    await drive.pilot.pause()
    await drive.pilot.press("ctrl+s")
    await until_read(drive)


async def until_read(drive: Driver) -> None:
    """An edit goes through a thread before the reading does."""
    await drive.pilot.pause(0.15)
    await drive.settle()


def test_edits_can_be_made_again_on_other_bytes() -> None:
    work = draft_of(night())
    work.apply(SetValue("/memory/core/0/decay", 0.3))
    work.apply(DeleteValue("/memory/working/3"))
    work.undo()
    other = json.loads(spelled(RICH))
    other["memory"]["core"][0]["content"] = "theirs"
    assert work.cannot_reapply(spelled(other)) is None
    work.reapply(spelled(other))
    made = json.loads(work.draft.data)
    assert made["memory"]["core"][0]["decay"] == 0.3
    assert made["memory"]["core"][0]["content"] == "theirs"
    assert len(made["memory"]["working"]) == 4


def test_only_edits_that_are_not_saved_are_made_again(on_disk: FakeSource) -> None:
    work = draft_of(on_disk)
    work.apply(InsertItem("/memory/core/-", block("saved", "once")))
    work.save()
    work.apply(InsertItem("/memory/core/-", block("mine", "not yet")))
    theirs = json.loads(on_disk.path.read_bytes())
    theirs["memory"]["core"][0]["content"] = "theirs"
    work.reapply(spelled(theirs))
    core = json.loads(work.draft.data)["memory"]["core"]
    assert [each["id"] for each in core].count("saved") == 1
    assert (core[0]["content"], core[-1]["id"]) == ("theirs", "mine")


def test_an_undo_of_what_is_saved_is_not_made_again_on_other_bytes(on_disk: FakeSource) -> None:
    work = draft_of(on_disk)
    work.apply(SetValue("/memory/core/0/decay", 0.3))
    work.save()
    work.undo()
    assert "in the file already" in (work.cannot_reapply(b"{}") or "")


def test_what_would_be_wrong_is_known_before_it_is_done() -> None:
    work = draft_of(night())
    added = work.would_add((SetValue("/memory/core/0/decay", 0.9),))
    assert [finding.rule for finding in added] == ["SNP021"]
    assert not work.draft.dirty


def test_a_source_that_may_not_be_written_has_no_draft() -> None:
    with pytest.raises(Refused):
        draft_of(replace(night(), writable=False))


async def test_an_edit_is_shown_saved_and_undone(on_disk: FakeSource) -> None:
    async with driving(on_disk) as drive:
        await change_confidence(drive, "0.5")
        assert "DRAFT" in drive.screen_text()
        assert "~✓ core      core-001" in drive.text(Pane.MEMORY)
        assert drive.selected == Thing(Kind.BLOCK, "core-001", "core")
        await drive.press("u")
        assert "DRAFT" not in drive.screen_text()
        await drive.press("ctrl+r")
        assert "DRAFT" in drive.screen_text()
        await drive.pilot.press("w")
        await wait_for(drive, SaveScreen)
        await drive.pilot.press("y")
        await until_read(drive)
        assert json.loads(on_disk.path.read_bytes())["memory"]["core"][0]["confidence"] == 0.5
        assert "DRAFT" not in drive.screen_text()
        assert ".50" in drive.text(Pane.MEMORY)


async def test_a_file_that_changed_meanwhile_stops_the_save_and_shows_both(on_disk: FakeSource) -> None:
    async with driving(on_disk) as drive:
        await change_confidence(drive, "0.5")
        theirs = json.loads(spelled(RICH))
        theirs["memory"]["core"][1]["confidence"] = 0.11
        on_disk.path.write_bytes(spelled(theirs))
        await drive.pilot.press("ctrl+s")
        await wait_for(drive, SaveScreen)
        await drive.pilot.press("y")
        await wait_for(drive, ConflictScreen)
        assert json.loads(on_disk.path.read_bytes()) == theirs
        await drive.pilot.press("3")
        await until_read(drive)
        told = drive.text(Pane.MEMORY)
        assert ".50" in told
        assert ".11" in told
        assert "DRAFT" in drive.screen_text()


async def test_blocks_are_added_moved_and_removed() -> None:
    async with driving(night()) as drive:
        await drive.pilot.press("a")
        await wait_for(drive, FormScreen)
        await drive.pilot.press("escape")
        await drive.pilot.pause()
        await drive.pilot.press("m")
        await wait_for(drive, PickScreen)
        await drive.pilot.press("l")
        await until_read(drive)
        assert drive.selected == Thing(Kind.BLOCK, "core-001", "longterm")
        await drive.press("x")
        await until_read(drive)
        assert "core-001" not in drive.text(Pane.MEMORY)
        await drive.press("u", "u")
        assert "core-001" in drive.text(Pane.MEMORY)


async def test_what_may_not_be_done_is_told() -> None:
    async with driving(replace(night(), writable=False)) as drive:
        for key in ("e", "a", "u", "ctrl+r", "w"):
            await drive.pilot.press(key)
            await until_read(drive)
        told = " ".join(toast.message for toast in drive.app._notifications)
        assert "Nothing may be written in this file" in told
        assert "Nothing may be added here" in told
        assert "nothing to undo" in told
        assert "nothing to redo" in told
        assert "nothing to save" in told


async def test_leaving_with_unsaved_changes_asks_first() -> None:
    async with driving(night()) as drive:
        await drive.press("x")
        await until_read(drive)
        await drive.pilot.press("q")
        await wait_for(drive, Question)
        await drive.pilot.press("n")
        await drive.pilot.pause()
        assert drive.app.screen is drive.inspector
        await drive.pilot.press("q")
        await wait_for(drive, Question)
        await drive.pilot.press("y")
        await drive.pilot.pause()
        assert drive.app.return_code == 0


async def test_the_difference_to_the_revision_before_and_of_the_draft() -> None:
    async with driving(night()) as drive:
        await drive.pilot.press("d")
        await wait_for(drive, DiffScreen)
        assert "work-009" in drive.screen_text()
        await drive.pilot.press("escape")
        await drive.pilot.pause()
        await drive.press("x")
        await until_read(drive)
        await drive.pilot.press("d")
        await wait_for(drive, DiffScreen)
        assert "What the draft changes" in drive.screen_text()
