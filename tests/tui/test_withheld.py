"""Withheld content is not on any screen, and not in a search, copy or difference."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.formats import Source, open_source
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.formats.masked_bytes import showable_bytes
from ctxview.tui.drawing.text import plain
from ctxview.tui.model.layout import Pane
from ctxview.tui.screens.dialogs import ReasonDialog
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.screens.save import ConflictScreen, SaveScreen
from ctxview.tui.widgets.virtual_lines import ScrollList
from tests.formats.envelope.bundles import changed, named
from tests.formats.envelope.publishing import setting
from tests.tui.driver import Driver, driving
from tests.tui.handoff_story import DOCUMENT, FILE, SECRET, Handoff

WITHHELD_ITEM = 9


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The handoff as a real file."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / FILE
    file.parent.mkdir()
    file.write_bytes(Handoff().bytes_of(FILE))
    return file


async def retitle(drive: Driver) -> None:
    """Change the title of the item with withheld content, as a reviewer."""
    await drive.press("E", "r", *["j"] * WITHHELD_ITEM, "e")
    field = drive.app.screen.query(Input).first()
    field.focus()
    field.value = "kin of the passengers"
    await drive.press("ctrl+s")


def listed(drive: Driver) -> str:
    pages = [listing.page for listing in drive.app.screen.query(ScrollList)]
    return "\n".join(plain(page.line(number)) for page in pages for number in range(page.lines))


async def test_the_raw_view_marks_withheld_content_and_opens_at_the_item() -> None:
    async with driving(Handoff()) as drive:
        await drive.press(*["j"] * WITHHELD_ITEM, "o")
        raw = drive.app.screen
        assert isinstance(raw, RawScreen)
        await drive.settle()
        assert '"content": "[withheld]"' in drive.screen_text()
        assert SECRET not in drive.screen_text()
        assert "2 spans are withheld" in drive.screen_text()
        copied = json.loads(raw.copied_text())
        assert copied["item_id"] == "itm-kin"
        assert copied["content"] == "[withheld]"
        await drive.press("G")
        assert "They said: [withheld], line one." in drive.screen_text()


async def test_withheld_content_is_not_found() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("o", "slash")
        await drive.type("Ingrid")
        assert "not found in this file" in drive.screen_text()


async def test_copying_the_raw_view_copies_no_secret() -> None:
    async with driving(Handoff()) as drive:
        await drive.press(*["j"] * WITHHELD_ITEM, "o", "y")
        assert "[withheld]" in drive.app.clipboard
        assert SECRET not in drive.app.clipboard


async def test_the_difference_before_a_save_shows_no_secret(on_disk: Path) -> None:
    async with driving(Handoff()) as drive:
        await retitle(drive)
        await drive.press("w")
        assert isinstance(drive.app.screen, SaveScreen)
        text = listed(drive)
        assert "kin of the passengers" in text
        assert '"content": "[withheld]"' in text
        assert SECRET not in text
        await drive.press("y")
        written = json.loads(on_disk.read_bytes())
        assert written["items"][WITHHELD_ITEM]["title"] == "kin of the passengers"
        assert written["items"][WITHHELD_ITEM]["content"] == SECRET


async def test_a_conflict_shows_no_secret_on_either_side(on_disk: Path) -> None:
    async with driving(Handoff()) as drive:
        await retitle(drive)
        theirs = json.loads(json.dumps(DOCUMENT))
        theirs["items"][WITHHELD_ITEM]["kind"] = f"note: {SECRET}"
        on_disk.write_bytes(json.dumps(theirs, indent=2).encode())
        await drive.press("w", "y")
        assert isinstance(drive.app.screen, ConflictScreen)
        text = listed(drive)
        assert "note: [withheld]" in text
        assert SECRET not in text


async def test_the_difference_of_states_shows_no_secret(on_disk: Path) -> None:
    assert on_disk.exists()
    async with driving(Handoff()) as drive:
        await retitle(drive)
        await drive.press("d")
        assert isinstance(drive.app.screen, DiffScreen)
        assert SECRET not in drive.screen_text()
        await drive.press("escape", "o")
        assert SECRET not in drive.screen_text()
        assert "kin of the passengers" in drive.screen_text()


async def test_the_preview_of_a_redaction_shows_neither_the_content_nor_a_finding_that_the_save_answers(
    tmp_path: Path,
) -> None:
    file = tmp_path / "turn.json"
    values = changed("item-goal", content=SECRET, byte_size=len(SECRET.encode()))
    file.write_text(json.dumps(values, indent=1))
    source = EnvelopeSource(file)
    facts = {"redaction_state": "removed", "redaction_reason": "a private name"}
    edits = [setting(source, "item-goal", name, value)[1] for name, value in facts.items()]
    async with driving(source) as drive:
        await drive.press("E", "r")
        screen = drive.inspector
        draft = screen.model.drafts.open(source, screen.model.key, str(file))
        draft.apply(*edits)
        draft.being_edited = False
        screen.perform(screen.model.drafted())
        await drive.press("w")
        await drive.wait_for(ReasonDialog)
        await drive.type("it is private")
        await drive.press("enter")
        await drive.wait_for(SaveScreen)
        text = listed(drive)
        assert '+     "redaction_state": "removed"' in text
        assert SECRET not in text
        assert "ENV077" in text
        assert not [rule for rule in ("ENV079", "ENV080", "ENV083") if rule in text]
        await drive.press("y")
        await drive.wait_until((tmp_path / "turn.r2.json").exists, "the new revision is written")


MOVING = "Zebra Quartz 4417 sleeps under the third flowerpot"


@pytest.fixture
def revised(tmp_path: Path) -> Source:
    """An envelope with a content that its next revision removes, and a broken line that names a redaction."""
    first = changed("item-plan", content=MOVING)
    second = changed("item-plan", content=..., redaction_state="removed")
    named(second, "ctx-1").update(
        context_id="ctx-1.r2",
        metadata={"ctxview": {"revision_of": "ctx-1"}},
        created_at="2026-05-12T09:00:00Z",
    )
    (tmp_path / "turn.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in first)
        + f'{{"item_id": "x", "redaction_state": "removed", "content": "{MOVING}",,}}\n'
    )
    (tmp_path / "turn.r2.jsonl").write_text("".join(json.dumps(each) + "\n" for each in second))
    return open_source(tmp_path / "turn.jsonl")


async def test_what_the_next_revision_removes_is_on_no_screen(revised: Source) -> None:
    async with driving(revised) as drive:
        seen = []
        for step in (False, True):
            if step:
                await drive.press("[")
                assert drive.revision == 0
            for pane in Pane:
                with suppress(KeyError):
                    seen.append(drive.text(pane))
            for keys in (["d"], ["o"], ["o", "G"], ["o", "g"]):
                await drive.press(*keys)
                seen += [drive.screen_text(), listed(drive)]
                await drive.press("y")
                seen.append(drive.app.clipboard)
                await drive.press("escape")
        assert "item-plan" in "".join(seen)
        assert "4417" not in "".join(seen)
        await drive.press("o", "slash")
        await drive.type("4417")
        assert "not found in this file" in drive.screen_text()


async def test_a_draft_that_redacts_or_loosens_shows_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "turn.json"
    values = changed("item-note", redacted_fields=["metadata.mail"], metadata={"mail": MOVING})
    named(values, "ctx-1")["lifecycle"] = "draft"
    file.write_text(json.dumps(values, indent=1))
    source = open_source(file)
    assert isinstance(source, EnvelopeSource)
    data = json.dumps(changed("item-note", redacted_fields=[], metadata={"mail": MOVING})).encode()
    shown = showable_bytes(source, str(file), data).data
    assert b"4417" not in shown
