"""Editing from the inspector: forms, undo, save, conflicts, refusals, and leaving with unsaved changes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.core.edits import DeleteValue, EditRefused, InsertItem, SetValue
from ctxview.editing.draft import Draft
from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.screens.dialogs import ChooseDialog, ConfirmDialog
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.save import ConflictScreen, SaveScreen
from tests.tui.driver import Driver, driving
from tests.tui.fakes import FakeSource, block, spelled
from tests.tui.snapshot_stories import RICH, night


@pytest.fixture
def on_disk(tmp_path: Path) -> FakeSource:
    """The source `night` with its last round in a file that can be saved."""
    path = tmp_path / "context.json"
    path.write_bytes(spelled(RICH))
    return replace(night(), path=path, documents=[RICH], more_findings=(), missing=(), refs=(), todo=None)


def draft_of(source: FakeSource) -> Draft:
    model = InspectorModel()
    model.add_sources([source], [])
    return model.drafts.open(source, model.key, str(source.path))


async def change_confidence(drive: Driver, value: str) -> None:
    await drive.pilot.press("e")
    await drive.wait_for(FormScreen)
    field = next(each for each in drive.app.screen.query(Input) if each.value == "0.97")
    field.value = value
    await drive.pilot.pause()
    await drive.pilot.press("ctrl+s")
    await drive.settle()


def test_edits_can_be_reapplied_to_other_bytes() -> None:
    draft = draft_of(night())
    draft.apply(SetValue("/memory/core/0/decay", 0.3))
    draft.apply(DeleteValue("/memory/working/3"))
    draft.undo()
    other = json.loads(spelled(RICH))
    other["memory"]["core"][0]["content"] = "theirs"
    assert draft.cannot_reapply(spelled(other)) is None
    draft.reapply(spelled(other))
    made = json.loads(draft.data)
    assert made["memory"]["core"][0]["decay"] == 0.3
    assert made["memory"]["core"][0]["content"] == "theirs"
    assert len(made["memory"]["working"]) == 4


def test_only_unsaved_edits_are_reapplied(on_disk: FakeSource) -> None:
    draft = draft_of(on_disk)
    draft.apply(InsertItem("/memory/core/-", block("saved", "once")))
    draft.save()
    draft.apply(InsertItem("/memory/core/-", block("mine", "not yet")))
    theirs = json.loads(on_disk.path.read_bytes())
    theirs["memory"]["core"][0]["content"] = "theirs"
    draft.reapply(spelled(theirs))
    core = json.loads(draft.data)["memory"]["core"]
    assert [each["id"] for each in core].count("saved") == 1
    assert (core[0]["content"], core[-1]["id"]) == ("theirs", "mine")


def test_an_undo_of_a_saved_edit_is_not_reapplied(on_disk: FakeSource) -> None:
    draft = draft_of(on_disk)
    draft.apply(SetValue("/memory/core/0/decay", 0.3))
    draft.save()
    draft.undo()
    assert "already saved in the file" in (draft.cannot_reapply(b"{}") or "")


def test_findings_of_an_edit_are_known_before_it_is_applied() -> None:
    draft = draft_of(night())
    added = draft.would_add((SetValue("/memory/core/0/decay", 0.9),))
    assert [finding.rule for finding in added] == ["SNP021"]
    assert not draft.dirty


def test_a_read_only_source_has_no_draft() -> None:
    with pytest.raises(EditRefused):
        draft_of(replace(night(), writable=False))


async def test_an_edit_is_shown_saved_and_undone(on_disk: FakeSource) -> None:
    async with driving(on_disk) as drive:
        await change_confidence(drive, "0.5")
        assert "DRAFT" in drive.screen_text()
        assert "~ ● core-001" in drive.text(Pane.MEMORY)
        assert drive.selected == ItemId(ItemKind.BLOCK, "core-001", "core")
        await drive.press("u")
        assert "DRAFT" not in drive.screen_text()
        await drive.press("ctrl+r")
        assert "DRAFT" in drive.screen_text()
        await drive.pilot.press("w")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.settle()
        assert json.loads(on_disk.path.read_bytes())["memory"]["core"][0]["confidence"] == 0.5
        assert "DRAFT" not in drive.screen_text()
        assert ".50" in drive.text(Pane.MEMORY)


async def test_a_conflict_stops_the_save_and_shows_both_differences(on_disk: FakeSource) -> None:
    async with driving(on_disk) as drive:
        await change_confidence(drive, "0.5")
        theirs = json.loads(spelled(RICH))
        theirs["memory"]["core"][1]["confidence"] = 0.11
        on_disk.path.write_bytes(spelled(theirs))
        await drive.pilot.press("ctrl+s")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.wait_for(ConflictScreen)
        assert json.loads(on_disk.path.read_bytes()) == theirs
        await drive.pilot.press("3")
        await drive.settle()
        text = drive.text(Pane.MEMORY)
        assert ".50" in text
        assert ".11" in text
        assert "DRAFT" in drive.screen_text()


async def test_blocks_are_added_moved_and_removed() -> None:
    async with driving(night()) as drive:
        await drive.pilot.press("a")
        await drive.wait_for(FormScreen)
        await drive.pilot.press("escape")
        await drive.pilot.pause()
        await drive.pilot.press("m")
        await drive.wait_for(ChooseDialog)
        await drive.pilot.press("l")
        await drive.settle()
        assert drive.selected == ItemId(ItemKind.BLOCK, "core-001", "longterm")
        await drive.press("x")
        await drive.settle()
        assert "core-001" not in drive.text(Pane.MEMORY)
        await drive.press("u", "u")
        assert "core-001" in drive.text(Pane.MEMORY)


async def test_a_notice_explains_each_refused_action() -> None:
    async with driving(replace(night(), writable=False)) as drive:
        for key in ("e", "a", "u", "ctrl+r", "w"):
            await drive.pilot.press(key)
            await drive.settle()
        text = " ".join(toast.message for toast in drive.app._notifications)
        assert "This file is read-only" in text
        assert "No block can be added here" in text
        assert "nothing to undo" in text
        assert "nothing to redo" in text
        assert "nothing to save" in text


async def test_quitting_with_unsaved_changes_asks_first() -> None:
    async with driving(night()) as drive:
        await drive.press("x")
        await drive.press("q")
        assert drive.view is Pane.OVERVIEW
        await drive.pilot.press("q")
        await drive.wait_for(ConfirmDialog)
        await drive.pilot.press("n")
        await drive.pilot.pause()
        assert drive.app.screen is drive.inspector
        await drive.pilot.press("q")
        await drive.wait_for(ConfirmDialog)
        await drive.pilot.press("y")
        await drive.pilot.pause()
        assert drive.app.return_code == 0


async def test_the_difference_counts_tokens_as_the_panes_do() -> None:
    story = open_source(samples_folder() / "snapshot" / "lighthouse")
    async with driving(story, tokens="words", size=(120, 200)) as drive:
        # A prompt: the difference of a reply is that of the whole state after it.
        drive.inspector.action_go_to_revision(14)
        await drive.settle()
        assert drive.inspector.view is not None
        state = drive.inspector.view.index.reading.state
        shown = next(each for each in state.budgets if each.target == "snapshot in the prompt")
        await drive.pilot.press("d")
        await drive.wait_for(DiffScreen)
        assert re.search(rf"used\s.*\b{shown.used}\b", drive.screen_text())


async def test_the_difference_to_the_previous_revision_and_of_the_draft() -> None:
    async with driving(night()) as drive:
        await drive.pilot.press("d")
        await drive.wait_for(DiffScreen)
        assert "work-009" in drive.screen_text()
        await drive.pilot.press("escape")
        await drive.pilot.pause()
        await drive.press("x")
        await drive.settle()
        await drive.pilot.press("d")
        await drive.wait_for(DiffScreen)
        assert "Changes of the draft" in drive.screen_text()


@pytest.mark.parametrize("revision", ["now", "earlier"])
async def test_a_transcript_says_why_it_cannot_be_edited(revision: str) -> None:
    source = open_source(next(samples_folder().glob("transcript/refund-day/*.jsonl")))
    async with driving(source) as drive:
        await drive.pilot.press("2", *([] if revision == "now" else ["["]))
        await drive.settle()
        for key in ("e", "a", "x", "m"):
            await drive.pilot.press(key)
            await drive.settle()
        found = drive.notices
    assert [each.partition(": ")[2] for each in found] == ["the agent's own record: read-only history."] * 4
