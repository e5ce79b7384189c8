"""With blank lines in a history, a message has one number everywhere: the one by which sources cite it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind, message_id
from tests.formats.session.builders import Build, sound
from tests.tui.driver import driving


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A session with two blank lines before its third message, which f1 cites with the fourth."""
    build: Build = sound(tmp_path)
    first, second, *others = build.text("messages.jsonl").splitlines(keepends=True)
    return build.set("messages.jsonl", "".join([first, second, "\n", " \n", *others, "\n"])).write()


async def test_history_and_detail_number_messages_as_memory_does(root: Path) -> None:
    async with driving(open_source(root)) as drive:
        await drive.press("0")
        rows = drive.text(Pane.HISTORY).splitlines()
        assert [row.split()[0] for row in rows] == ["1", "2", "–", "–", "3", "4", "5", "6", "–"]
        assert "History 6" in drive.screen_text()
        drive.inspector.go_to(message_id(4))
        await drive.settle()
        assert drive.text(Pane.DETAIL).startswith("message 3\n")
        drive.inspector.go_to(message_id(2))
        await drive.settle()
        assert drive.text(Pane.DETAIL).startswith("blank line 3\n")
        drive.inspector.go_to(ItemId(ItemKind.BLOCK, "message 3", "recent"))
        await drive.settle()
        assert "1 failed: test_blank_lines" in drive.text(Pane.DETAIL)


async def test_a_cited_range_is_shown_with_the_cited_numbers(root: Path) -> None:
    async with driving(open_source(root)) as drive:
        drive.inspector.go_to(ItemId(ItemKind.REF, "f1", "source"))
        await drive.settle()
        assert "3 tool: 1 failed: test_blank_lines" in drive.text(Pane.DETAIL)
        await drive.press("r")
        assert "messages 3–4" in drive.screen_text()
