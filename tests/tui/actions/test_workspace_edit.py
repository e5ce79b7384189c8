"""Editing a workspace in the inspector: Space ticks a box, and x removes what is said twice."""

from __future__ import annotations

import shutil
from pathlib import Path

from ctxview.core.state import Ref
from ctxview.formats.workspace.source import WorkspaceSource
from ctxview.samples import samples_folder
from tests.formats.workspace.builders import changed_home, write
from tests.tui.driver import driving


async def test_space_ticks_the_box_of_a_pending_item_in_a_draft(tmp_path: Path) -> None:
    home = write(tmp_path, changed_home(""))
    async with driving(WorkspaceSource(home)) as drive:
        await drive.press("3", "G", "space")
        await drive.settle()
        (draft,) = drive.inspector.model.drafts.of(drive.inspector.model.key)
        assert b"- [x] Write the test." in draft.data
        await drive.press("space")
        await drive.settle()
        assert b"- [ ] Write the test." in draft.data
    assert "- [ ] Write the test." in (home / "workspace" / "CONTEXT-cli.md").read_text()


async def test_duplicates_are_removed_one_after_the_other_as_the_person(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(samples_folder() / "workspace" / "workspace-before", tmp_path / "home"))
    async with driving(WorkspaceSource(folder)) as drive:
        await drive.press("5", "j", "x")
        await drive.settle()
        assert "MEMORY.md belongs to the reflector" in drive.notices[-1]
        await drive.press("E", "j", "enter")
        await drive.settle()
        for removed in ("SAVE TOKENS", "ALWAYS pass model"):
            ref = drive.inspector.view and drive.inspector.view.index.value(drive.inspector.selected)
            assert isinstance(ref, Ref)
            assert removed in (ref.text or ""), "the row at the cursor is selected"
            await drive.press("x")
            await drive.settle()
        (draft,) = drive.inspector.model.drafts.of(drive.inspector.model.key)
    assert b"SAVE TOKENS" not in draft.data
    assert b"ALWAYS pass" not in draft.data
