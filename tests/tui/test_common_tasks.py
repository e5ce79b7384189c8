"""The ten commonest tasks of `docs/keys.md`, each driven by exactly the keys listed there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemKind
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.screens.help import HelpLines, HelpScreen
from ctxview.tui.screens.raw import RawScreen
from docs.make_keys import TASKS, Task
from tests.tui.driver import Driver, driving

SESSION = "home/1000/agent/coder/session/default"


def a_finding_is_explained(drive: Driver, _: Path) -> None:
    assert drive.selected is not None
    assert drive.selected.kind is ItemKind.FINDING
    assert "Why" in drive.text(Pane.DETAIL)


def only_hidden_blocks_are_left_with_their_reasons(drive: Driver, _: Path) -> None:
    view = drive.inspector.view
    assert view is not None
    assert {view.index.block(item).visible for item in view.blocks} == {False}
    assert drive.text(Pane.MEMORY).count("not shown:") == len(view.blocks) > 0


def the_bytes_of_the_block_are_shown(drive: Driver, _: Path) -> None:
    assert isinstance(drive.app.screen, RawScreen)
    assert '"core-evidence"' in drive.screen_text()


def the_difference_is_shown(drive: Driver, _: Path) -> None:
    assert isinstance(drive.app.screen, DiffScreen)
    assert "Changes since the previous revision" in drive.screen_text()


def the_word_is_in_the_selected_item(drive: Driver, _: Path) -> None:
    assert drive.inspector.model.search.hit is not None
    assert "replica" in drive.text(Pane.DETAIL).lower()


def the_confidence_is_on_disk(drive: Driver, path: Path) -> None:
    before = next(samples_folder().rglob(path.name)).read_text("utf-8")
    assert before.count('"confidence": 0.97,') == 1
    assert path.read_text("utf-8") == before.replace('"confidence": 0.97,', '"confidence": 0.8,')


def the_blocking_gap_is_selected_with_its_blocked_items(drive: Driver, _: Path) -> None:
    assert drive.front is Pane.MISSING
    assert drive.selected is not None
    assert drive.selected.kind is ItemKind.GAP
    assert "blocking" in drive.text(Pane.MISSING).splitlines()[1]
    assert "It blocks" in drive.text(Pane.DETAIL)


def the_budget_is_changed(drive: Driver, _: Path) -> None:
    assert drive.inspector.model.key.option("budget") == 1000
    assert "1,000" in drive.text(Pane.BUDGET)


def the_window_over_time_is_shown(drive: Driver, _: Path) -> None:
    assert drive.view is Pane.SKYLINE


def all_keys_are_listed(drive: Driver, _: Path) -> None:
    assert isinstance(drive.app.screen, HelpScreen)
    lines = drive.app.screen.query_one(HelpLines)
    assert lines.rows_with("Next row")
    assert lines.rows_with("Previous finding")


DONE: dict[str, Callable[[Driver, Path], None]] = {
    "next_finding": a_finding_is_explained,
    "why_hidden": only_hidden_blocks_are_left_with_their_reasons,
    "origin": the_bytes_of_the_block_are_shown,
    "what_changed": the_difference_is_shown,
    "search": the_word_is_in_the_selected_item,
    "edit": the_confidence_is_on_disk,
    "worst_gap": the_blocking_gap_is_selected_with_its_blocked_items,
    "budget": the_budget_is_changed,
    "skyline": the_window_over_time_is_shown,
    "help": all_keys_are_listed,
}


def test_there_are_ten_tasks_and_each_is_tried() -> None:
    assert [task.id for task in TASKS] == list(DONE)
    assert len(TASKS) == 10


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
async def test_a_common_task_takes_exactly_these_keys(task: Task, tmp_path: Path) -> None:
    path = _copy(task.sample, tmp_path)
    async with driving(open_source(path)) as drive:
        for key in task.presses:
            await drive.press(_toolkit_key(key))
        DONE[task.id](drive, path)


def _copy(sample: str, to: Path) -> Path:
    """Copy the sample; for a home with many sessions, return the first one."""
    original = samples_folder() / sample
    path = to / original.name
    if original.is_file():
        shutil.copy(original, path)
        return path
    shutil.copytree(original, path)
    return path / SESSION if (path / SESSION).exists() else path


def _toolkit_key(key: str) -> str:
    return key if len(key) == 1 else key.lower().replace("-", "+")
