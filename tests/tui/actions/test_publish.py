"""Saving an envelope that is no longer a draft: a reason, a preview, and a new file beside the old one."""

from __future__ import annotations

import json
from pathlib import Path

from textual.widgets import Input

from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.screens.dialogs import ReasonDialog
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.save import SaveScreen
from tests.formats.envelope.bundles import good, named
from tests.tui.driver import Driver, driving


def handoff(folder: Path, lifecycle: str = "injected") -> EnvelopeSource:
    values = good()
    named(values, "ctx-1")["lifecycle"] = lifecycle
    path = folder / "handoff.json"
    path.write_text(json.dumps(values, indent=2))
    return EnvelopeSource(path)


async def retitle(drive: Driver, title: str) -> None:
    drive.inspector.go_to(ItemId(ItemKind.BLOCK, "item-plan", "injected"))
    await drive.pilot.pause()
    await drive.pilot.press("e")
    await drive.wait_for(FormScreen)
    field = next(each for each in drive.app.screen.query(Input) if each.value == "about item-plan")
    field.value = title
    await drive.pilot.pause()
    await drive.pilot.press("ctrl+s")
    await drive.settle()


async def test_a_change_to_a_finished_envelope_becomes_a_new_revision_with_a_reason(tmp_path: Path) -> None:
    source = handoff(tmp_path)
    before = source.path.read_bytes()
    async with driving(source) as drive:
        await retitle(drive, "The plan, agreed")
        await drive.pilot.press("w")
        await drive.wait_for(ReasonDialog)
        await drive.pilot.press(*"agreed", "enter")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.settle()
        assert "DRAFT" not in drive.screen_text()
    assert source.path.read_bytes() == before
    values = json.loads((tmp_path / "handoff.r2.json").read_bytes())
    assert named(values, "ctx-1.r2")["metadata"]["ctxview"]["reason"] == "agreed"
    assert named(values, "item-plan")["title"] == "The plan, agreed"


async def test_escape_at_the_reason_writes_nothing_and_keeps_the_draft(tmp_path: Path) -> None:
    async with driving(handoff(tmp_path)) as drive:
        await retitle(drive, "Another")
        await drive.pilot.press("w")
        await drive.wait_for(ReasonDialog)
        await drive.pilot.press("escape")
        await drive.settle()
        assert "DRAFT" in drive.screen_text()
    assert [path.name for path in tmp_path.iterdir()] == ["handoff.json"]


async def test_a_move_between_selected_and_omitted_needs_a_reason(tmp_path: Path) -> None:
    async with driving(handoff(tmp_path)) as drive:
        drive.inspector.go_to(ItemId(ItemKind.BLOCK, "item-extra", "omitted"))
        await drive.pilot.pause()
        await drive.pilot.press("m")
        await drive.settle()
        assert "DRAFT" in drive.screen_text()
        await drive.pilot.press("w")
        await drive.wait_for(ReasonDialog)
        await drive.pilot.press("enter")
        await drive.pilot.pause()
        assert isinstance(drive.app.screen, ReasonDialog)
        assert "A reason is required." in drive.screen_text()
        await drive.pilot.press(*"needed", "enter")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.settle()
    values = json.loads((tmp_path / "handoff.r2.json").read_bytes())
    assert "item-extra" in named(values, "selection-1.r2")["selected_item_refs"]


async def test_a_draft_envelope_is_edited_in_place(tmp_path: Path) -> None:
    source = handoff(tmp_path, "draft")
    async with driving(source) as drive:
        await retitle(drive, "Another")
        await drive.pilot.press("w")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.settle()
    assert named(json.loads(source.path.read_bytes()), "item-plan")["title"] == "Another"
    assert [path.name for path in tmp_path.iterdir()] == ["handoff.json"]
