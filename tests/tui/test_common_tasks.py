"""The ten commonest tasks of `docs/keys.md`, each driven by exactly the keys that stand there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.samples import folder
from ctxview.tui.layout import Pane
from ctxview.tui.screens.diff import DiffScreen
from ctxview.tui.screens.help import HelpScreen
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.things import Kind
from docs.make_keys import TASKS, Task
from tests.tui.driving import Driver, driving

SESSION = "home/1000/agent/coder/session/default"


def a_finding_is_explained(drive: Driver, _: Path) -> None:
    assert drive.selected is not None
    assert drive.selected.kind is Kind.FINDING
    assert "Why" in drive.text(Pane.DETAIL)


def only_hidden_blocks_are_left_with_their_reasons(drive: Driver, _: Path) -> None:
    shown = drive.inspector.shown
    assert shown is not None
    assert {shown.index.block(thing).visible for thing in shown.blocks} == {False}
    assert drive.text(Pane.MEMORY).count("hidden:") == len(shown.blocks) > 0


def the_bytes_of_the_block_are_shown(drive: Driver, _: Path) -> None:
    assert isinstance(drive.app.screen, RawScreen)
    assert '"core-evidence"' in drive.screen_text()


def the_difference_is_shown(drive: Driver, _: Path) -> None:
    assert isinstance(drive.app.screen, DiffScreen)
    assert "What changed since the revision before" in drive.screen_text()


def the_word_is_in_what_is_selected(drive: Driver, _: Path) -> None:
    assert drive.inspector.view.hit is not None
    assert "replica" in drive.text(Pane.DETAIL).lower()


def the_confidence_is_on_disk(drive: Driver, path: Path) -> None:
    before = next(folder().rglob(path.name)).read_text("utf-8")
    assert before.count('"confidence": 0.9,') > 0
    assert path.read_text("utf-8") == before.replace('"confidence": 0.9,', '"confidence": 0.8,', 1)


def the_blocking_gap_is_selected_and_says_what_it_blocks(drive: Driver, _: Path) -> None:
    assert drive.front is Pane.MISSING
    assert drive.selected is not None
    assert drive.selected.kind is Kind.GAP
    assert "blocking" in drive.text(Pane.MISSING).splitlines()[1]
    assert "It blocks" in drive.text(Pane.DETAIL)


def the_budget_is_another(drive: Driver, _: Path) -> None:
    assert drive.inspector.view.look.budget == 1000
    assert "1,000" in drive.text(Pane.BUDGET)


def one_pane_has_the_screen(drive: Driver, _: Path) -> None:
    assert [pane for pane, widget in drive.inspector.panes.items() if widget.display] == [Pane.MEMORY]


def all_keys_are_listed(drive: Driver, _: Path) -> None:
    assert isinstance(drive.app.screen, HelpScreen)
    assert "Previous finding" in drive.screen_text()


DONE: dict[str, Callable[[Driver, Path], None]] = {
    "next_finding": a_finding_is_explained,
    "why_hidden": only_hidden_blocks_are_left_with_their_reasons,
    "origin": the_bytes_of_the_block_are_shown,
    "what_changed": the_difference_is_shown,
    "search": the_word_is_in_what_is_selected,
    "edit": the_confidence_is_on_disk,
    "worst_gap": the_blocking_gap_is_selected_and_says_what_it_blocks,
    "budget": the_budget_is_another,
    "zoom": one_pane_has_the_screen,
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
            await drive.press(_as_the_toolkit_calls_it(key))
            await _until_a_person_is_asked(drive)
        DONE[task.id](drive, path)


async def _until_a_person_is_asked(drive: Driver) -> None:
    """An edit goes through threads; one that lives on while a dialog is open waits for the next key."""
    while any(worker.group in {"editing", "comparing"} for worker in drive.app.workers):
        if len(drive.app.screen_stack) > 1:
            return
        await drive.pilot.pause(0.01)
    await drive.settle()


def _copy(sample: str, to: Path) -> Path:
    """The sample, where it may be changed; of a home with many sessions the first that would be shown."""
    original = folder() / sample
    path = to / original.name
    if original.is_file():
        shutil.copy(original, path)
        return path
    shutil.copytree(original, path)
    return path / SESSION if (path / SESSION).exists() else path


def _as_the_toolkit_calls_it(key: str) -> str:
    return key if len(key) == 1 else key.lower().replace("-", "+")
