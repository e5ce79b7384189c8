"""What was, in the inspector: shown in its own bytes, never changed; what is now can be changed beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.edits import Refused, SetValue
from ctxview.formats import open_source
from ctxview.recording.seen import with_seen
from ctxview.tui.drafts import Drafts
from ctxview.tui.layout import Pane
from ctxview.tui.loading import Manner
from ctxview.tui.session_view import SessionView
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.recording.making import Recorded
from tests.tui.driving import driving


def snapshot(*names: str) -> bytes:
    return to_bytes(snapshot_value(working=[block(name) for name in names]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_bytes(snapshot("first"))
    return path


def test_what_was_seen_has_no_draft_and_takes_none(file: Path) -> None:
    source = with_seen(open_source(file))
    file.write_bytes(snapshot("second"))
    view = SessionView()
    view.found([source.again()], [])
    drafts = Drafts(Manner("words"), view)
    drafts.open(view.sources[0], view.look, str(file)).apply(SetValue("/memory/working/0/decay", 0.5))
    assert drafts.dirty(view.look)

    view.go_to_revision(0)

    assert not drafts.dirty(view.look)
    with pytest.raises(Refused, match="only what is now can be changed"):
        drafts.open(view.sources[0], view.look, str(file))


async def test_a_recording_is_stepped_through_and_its_bytes_are_those_of_then(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"state.json": snapshot("first")})
    made.keep({"state.json": snapshot("first", "second")})
    made.close()
    async with driving(open_source(made.file)) as driver:
        assert "second" in driver.text(Pane.MEMORY)

        await driver.step("[")
        assert "second" not in driver.text(Pane.MEMORY)
        await driver.press("x")
        assert "Nothing of a recording can be changed: it is what was." in driver.notices

        await driver.press("o")
        shown = driver.screen_text()
        assert "first" in shown
        assert "second" not in shown
