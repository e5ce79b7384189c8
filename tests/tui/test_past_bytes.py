"""Past states in the inspector: shown with their own bytes and read-only, beside the present state."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.core.edits import EditRefused, SetValue
from ctxview.formats import open_source
from ctxview.formats.recording.observed_source import with_history
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.layout import Pane
from tests.formats.snapshot.builders import block, snapshot_value, to_bytes
from tests.recording.builders import Recorded
from tests.tui.driver import driving


def snapshot(*names: str) -> bytes:
    return to_bytes(snapshot_value(working=[block(name) for name in names]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_bytes(snapshot("first"))
    return path


def test_a_past_state_has_no_draft_and_refuses_one(file: Path) -> None:
    source = with_history(open_source(file))
    file.write_bytes(snapshot("second"))
    model = InspectorModel()
    model.add_sources([source.again()], [])
    drafts = model.drafts
    drafts.open(model.sources[0], model.key, str(file)).apply(SetValue("/memory/working/0/decay", 0.5))
    assert drafts.dirty(model.key)

    model.go_to_revision(0)

    assert not drafts.dirty(model.key)
    with pytest.raises(EditRefused, match="only the latest one can be changed"):
        drafts.open(model.sources[0], model.key, str(file))


async def test_each_revision_of_a_recording_has_its_own_bytes(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    recorded.keep({"state.json": snapshot("first")})
    recorded.keep({"state.json": snapshot("first", "second")})
    recorded.close()
    async with driving(open_source(recorded.file)) as driver:
        assert "second" in driver.text(Pane.MEMORY)

        await driver.press("[")
        assert "second" not in driver.text(Pane.MEMORY)
        await driver.press("x")
        assert "A recording is read-only." in driver.notices

        await driver.press("o")
        shown = driver.screen_text()
        assert "first" in shown
        assert "second" not in shown
