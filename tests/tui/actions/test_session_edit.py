"""`e`, `a` and `x` act on what is under the cursor in every pane of a session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.widgets import Input

from ctxview.formats import open_source
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.save import SaveScreen
from tests.formats.session.builders import Build, sound
from tests.tui.driver import Driver, driving

HISTORY = "Histories only grow"


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return sound(tmp_path)


def records(root: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (root / "context/refs.jsonl").read_text().splitlines()]


async def save(drive: Driver) -> None:
    await drive.pilot.press("w")
    await drive.wait_for(SaveScreen)
    await drive.pilot.press("y")
    await drive.settle()


async def fill_in(drive: Driver, **values: str) -> None:
    await drive.wait_for(FormScreen)
    for name, value in values.items():
        field = next(each for each in drive.app.screen.query(Input) if each.value == name)
        field.value = value
    await drive.pilot.pause()
    await drive.pilot.press("ctrl+s")
    await drive.settle()


async def test_e_on_a_reference_edits_its_record(build: Build) -> None:
    root = build.write()
    before = (root / "context/refs.jsonl").read_text().splitlines()
    async with driving(open_source(root)) as drive:
        drive.inspector.go_to(ItemId(ItemKind.REF, "r2", "child_result"))
        await drive.settle()
        await drive.pilot.press("e")
        await fill_in(drive, **{"the review": "the review of the parser"})
        await save(drive)
    after = (root / "context/refs.jsonl").read_text().splitlines()
    assert after == [before[0], before[1].replace("the review", "the review of the parser")]


async def test_a_adds_a_reference_and_x_removes_one(build: Build) -> None:
    root = build.write()
    async with driving(open_source(root)) as drive:
        drive.inspector.go_to(ItemId(ItemKind.REF, "r1", "swap"))
        await drive.settle()
        await drive.pilot.press("x")
        await drive.settle()
        await drive.press("5")
        await drive.pilot.press("a")
        await drive.wait_for(FormScreen)
        path, summary = [each for each in drive.app.screen.query(Input) if each.value == ""]
        path.value, summary.value = "context/todo.md", "what is left"
        await drive.pilot.pause()
        await drive.pilot.press("ctrl+s")
        await drive.settle()
        await save(drive)
    assert [(each["id"], each["path"]) for each in records(root)] == [
        ("r2", "context/child/rev-1/result.md"),
        ("r3", "context/todo.md"),
    ]


async def test_e_on_a_message_in_the_history_is_refused_as_in_memory(build: Build) -> None:
    async with driving(open_source(build.write())) as drive:
        await drive.press("0")
        await drive.pilot.press("e")
        await drive.settle()
        assert any(notice.startswith("message 1 is locked: " + HISTORY) for notice in drive.notices)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (ItemId(ItemKind.REF, "summary", "pack"), "The pack is built from its sources"),
        (ItemId(ItemKind.REF, "c1", "artifact"), "communicate through this channel"),
        (ItemId(ItemKind.REF, "rev-1", "child"), "communicate through this channel"),
        (ItemId(ItemKind.ITEM, "tell after review: coder"), "The parent agent writes this schedule"),
    ],
)
async def test_e_on_what_is_locked_says_why(item: ItemId, reason: str, build: Build) -> None:
    async with driving(open_source(build.write())) as drive:
        drive.inspector.go_to(item)
        await drive.settle()
        await drive.pilot.press("e")
        await drive.settle()
        assert any(reason in notice for notice in drive.notices), drive.notices


async def test_e_on_the_source_of_a_fact_edits_the_fact(build: Build) -> None:
    async with driving(open_source(build.write())) as drive:
        drive.inspector.go_to(ItemId(ItemKind.REF, "f1", "source"))
        await drive.settle()
        await drive.pilot.press("e")
        await drive.wait_for(FormScreen)
        assert "Edit f1" in drive.screen_text()
        assert "The parser counted blank lines." in drive.screen_text()


async def test_e_on_a_box_edits_the_todo_file(build: Build) -> None:
    async with driving(open_source(build.write())) as drive:
        drive.inspector.go_to(ItemId(ItemKind.ITEM, "tell the user"))
        await drive.settle()
        await drive.pilot.press("e")
        await drive.wait_for(FormScreen)
        assert "Edit todo.md" in drive.screen_text()
