"""Editing a workspace in the inspector: Space ticks the box of a pending item."""

from __future__ import annotations

from pathlib import Path

from ctxview.formats.workspace.source import WorkspaceSource
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
