"""What changes on disk shows up, is said and marked, and never moves what a person looks at or edits."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.events import MouseScrollUp
from textual.widgets import Input

from ctxview.formats import open_source
from ctxview.samples import folder
from ctxview.tui.app import CtxviewApp
from ctxview.tui.layout import Pane
from ctxview.tui.loading import Manner
from ctxview.tui.opening import Opening
from ctxview.tui.query import parse
from ctxview.tui.screens.conflict import ConflictScreen
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.save import SaveScreen
from ctxview.tui.things import Kind, Thing, message
from tests.formats.snapshot.builders import block, to_bytes
from tests.formats.snapshot.test_source import at
from tests.formats.watching import Time, replace, write
from tests.tui.driving import Driver, driving
from tests.tui.test_drafting import wait_for

CODER = folder() / "session/coder/home/1000/agent/coder/session/default"
W2 = Thing(Kind.BLOCK, "w-2", "working")


@pytest.fixture(autouse=True)
def time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Time:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Time(monkeypatch)


def round_(number: int = 1, *texts: str) -> bytes:
    working = [block(f"w-{place}", content=text) for place, text in enumerate(texts or ("one", "two"), 1)]
    return to_bytes(at(number, working=working))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    file = tmp_path / "work.json"
    file.write_bytes(round_())
    return file


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return shutil.copytree(CODER, tmp_path / "default")


def says(text: str, **more: Any) -> str:
    return json.dumps({"role": "user", "content": text, **more}, separators=(",", ":")) + "\n"


def append(session: Path, text: str) -> None:
    with (session / "messages.jsonl").open("a") as end:
        end.write(text)


def header(drive: Driver) -> str:
    return drive.screen_text().splitlines()[0]


# -- one file ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [write, replace])
async def test_a_change_shows_up_marked_and_said_and_the_selection_stays(work: Path, change: Any) -> None:
    async with driving(open_source(work)) as drive:
        await drive.press("j")
        assert "● live" in header(drive)
        change(work, round_(1, "one", "another two", "three"))
        await drive.look()
        told = drive.text(Pane.MEMORY)
        assert "another two" in told
        assert "~✓ working w-2" in told
        assert "+✓ working w-3" in told
        assert drive.selected == W2
        assert "another two" in drive.text(Pane.DETAIL)
        assert "work.json" in header(drive)
        drive.inspector.following.fade()
        drive.inspector.following.fall_silent()
        await drive.settle()
        assert " ✓ working w-2" in drive.text(Pane.MEMORY)
        assert "● live" in header(drive)


async def test_what_is_the_same_changes_nothing(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        shown = drive.inspector.shown
        work.touch()
        await drive.look()
        assert drive.inspector.shown is not None
        assert shown is not None
        assert not drive.inspector.shown.changes
        assert drive.text(Pane.MEMORY).count("✓ working") == 2


async def test_filter_order_and_zoom_stay(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        drive.inspector.view.query = parse("one")
        drive.inspector.rearrange()
        await drive.press("S", "z")
        write(work, round_(1, "one", "two", "one more"))
        await drive.look()
        told = drive.text(Pane.MEMORY)
        assert ("w-2" in told, told.index("w-3") < told.index("w-1")) == (False, True)
        assert drive.inspector.deck.zoomed is Pane.MEMORY


async def test_what_is_in_sight_stays_where_it_is_when_rows_come_before_it(work: Path) -> None:
    work.write_bytes(round_(1, *(f"text {number}" for number in range(80))))
    async with driving(open_source(work), size=(80, 24)) as drive:
        # The strip of revisions takes a line of its own as soon as there is something to go back to.
        await drive.press(*["pagedown"] * 2, "k", "k")
        pane = drive.inspector.memory
        chosen, line = drive.selected, pane.page.lines_of(pane.cursor).start - pane.scroll_y
        value = json.loads(work.read_bytes())
        value["memory"]["working"][:0] = [block(f"new-{number}", content="x") for number in range(7)]
        write(work, json.dumps(value).encode())
        await drive.look()
        assert drive.selected == chosen
        assert pane.page.lines_of(pane.cursor).start - pane.scroll_y == line


async def test_a_half_written_file_keeps_the_last_good_state_and_says_so(work: Path, time: Time) -> None:
    async with driving(open_source(work)) as drive:
        time.stands_still()
        write(work, round_(1, "unfinished")[:-30])
        await drive.look()
        assert "one" in drive.text(Pane.MEMORY)
        assert "being written, the last good state is shown" in header(drive)
        write(work, round_(1, "finished"))
        await drive.look()
        assert "finished" in drive.text(Pane.MEMORY)
        assert "being written" not in header(drive)


async def test_a_file_that_stays_broken_is_shown_so_without_another_change(work: Path, time: Time) -> None:
    async with driving(open_source(work)) as drive:
        await drive.press("j")
        time.stands_still()
        write(work, round_()[:-30])
        await drive.look()
        time.passes()
        await drive.look()
        assert "being written" not in header(drive)
        assert "✖ 0" not in header(drive)
        assert drive.selected != W2
        write(work, round_(1, "one", "two", "three"))
        await drive.look()
        assert drive.selected == W2


async def test_a_deleted_file_leaves_its_last_state_until_it_is_back(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        work.unlink()
        await drive.look()
        assert "○ gone" in header(drive)
        assert "there is no such file. The last state is still shown." in drive.notices[-1]
        assert "one" in drive.text(Pane.MEMORY)
        work.write_bytes(round_(1, "back again"))
        await drive.look()
        assert "back again" in drive.text(Pane.MEMORY)
        assert "○ gone" not in header(drive)


async def test_who_does_not_want_to_follow_is_told_so_and_may_begin(work: Path) -> None:
    async with opening(work) as drive:
        assert "○ not followed" in header(drive)
        await drive.press("F")
        assert "● live" in header(drive)


# -- revisions and folders -----------------------------------------------------------------------------------


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    place = tmp_path / "rounds"
    place.mkdir()
    for number in (1, 2, 4):
        (place / f"r{number}.json").write_bytes(round_(number, f"of round {number}"))
    return place


async def test_the_newest_stays_the_newest(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        (rounds / "r5.json").write_bytes(round_(5, "of round 5"))
        await drive.look()
        assert "rev 4/4" in header(drive)
        assert "r5.json appeared" in header(drive)
        assert "of round 5" in drive.text(Pane.MEMORY)


async def test_a_chosen_revision_stays_itself_wherever_others_appear(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.step("left_square_bracket")
        assert "rev 2/3" in header(drive)
        (rounds / "r3.json").write_bytes(round_(3, "of round 3"))
        (rounds / "r1.json").unlink()
        await drive.look()
        assert "as of round 2" in header(drive)
        assert drive.inspector.view.look.revision == 0
        assert "of round 2" in drive.text(Pane.MEMORY)


@asynccontextmanager
async def opening(*paths: Path) -> AsyncIterator[Driver]:
    app = CtxviewApp(Opening(paths), Manner("bytes/3"), watching=False)
    async with app.run_test(size=(170, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        yield drive


async def test_something_that_appears_in_an_opened_folder_is_listed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    shutil.copytree(CODER, tree / "first")
    async with opening(tree) as drive:
        assert [source.path.name for source in drive.inspector.view.sources] == ["first"]
        shutil.copytree(CODER, tree / "deep" / "second")
        await drive.look()
        assert [source.path.name for source in drive.inspector.view.sources] == ["first", "second"]
        assert "second" in drive.text(Pane.SOURCES)


async def test_the_first_thing_that_appears_in_an_empty_folder_is_opened(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    async with opening(tree) as drive:
        assert "Nothing here could be opened" in drive.text(Pane.MEMORY)
        (tree / "work.json").write_bytes(round_())
        await drive.look()
        assert "one" in drive.text(Pane.MEMORY)


async def test_a_source_that_is_not_in_front_is_followed_too(work: Path, rounds: Path) -> None:
    async with driving(open_source(work), open_source(rounds), size=(170, 36)) as drive:
        (rounds / "r5.json").write_bytes(b'{"version": 3, "memory": {"core": [')
        await drive.look()
        assert len(drive.inspector.view.sources[1].revisions) == 4
        assert "work.json" in header(drive)
        assert drive.text(Pane.SOURCES).splitlines()[1].count("✖") == 1


# -- histories -----------------------------------------------------------------------------------------------


async def test_more_messages_show_up_and_the_chosen_one_stays(session: Path) -> None:
    async with driving(open_source(session)) as drive:
        await drive.press("0", "j")
        before = len(drive.inspector.view.transcript or ())
        append(session, says("The lamp is lit.") + says("And the horn?"))
        await drive.look()
        assert len(drive.inspector.view.transcript or ()) == before + 2
        assert "The lamp is lit." in drive.text(Pane.HISTORY)
        assert f"History {before + 2}" in drive.screen_text()
        assert "messages.jsonl +2 lines" in header(drive)
        assert drive.selected == message(1)
        assert drive.inspector.history.scroll_y == 0


async def test_following_keeps_to_the_end_until_one_scrolls_up_and_again_after_the_last_key(
    session: Path,
) -> None:
    append(session, "".join(says(f"line {number}") for number in range(60)))
    async with driving(open_source(session), size=(80, 24)) as drive:
        history = drive.inspector.history
        await drive.press("F")
        assert drive.front is Pane.HISTORY
        assert "● following" in header(drive)
        last = len(drive.inspector.view.transcript or ()) - 1
        assert drive.selected == message(last)
        append(session, says("newest of all"))
        await drive.look()
        assert drive.selected == message(last + 1)
        assert "newest of all" in drive.screen_text()
        await drive.press("k")
        append(session, says("and one more"))
        await drive.look()
        assert (drive.selected, history.following) == (message(last), False)
        assert "and one more" not in drive.screen_text()
        await drive.press("G")
        append(session, says("after the last key"))
        await drive.look()
        assert "after the last key" in drive.screen_text()
        await drive.pilot._post_mouse_events([MouseScrollUp], history)
        await drive.settle()
        assert not history.following


async def test_a_truncated_history_is_said_and_is_a_finding(session: Path) -> None:
    async with driving(open_source(session)) as drive:
        await drive.press("0", "G")
        os.truncate(session / "messages.jsonl", (session / "messages.jsonl").read_bytes().index(b"\n") + 1)
        await drive.look()
        assert len(drive.inspector.view.transcript or ()) == 1
        assert "messages.jsonl truncated" in header(drive)
        assert "ABI057" in drive.text(Pane.FINDINGS)
        assert drive.selected is not None


async def test_a_line_comes_when_it_is_whole(session: Path, time: Time) -> None:
    async with driving(open_source(session)) as drive:
        before = len(drive.inspector.view.transcript or ())
        time.stands_still()
        append(session, says("half of a line")[:20])
        await drive.look()
        assert len(drive.inspector.view.transcript or ()) == before
        assert "being written" in header(drive)
        append(session, says("half of a line")[20:])
        await drive.look()
        assert "half of a line" in drive.text(Pane.HISTORY)
        assert "being written" not in header(drive)


async def test_without_messages_the_key_goes_to_the_latest_revision(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.step("left_square_bracket")
        await drive.press("F")
        assert "rev 3/3" in header(drive)


# -- drafts --------------------------------------------------------------------------------------------------


async def edit_text(drive: Driver, change: Any = None) -> None:
    """Changes the confidence of the selected block; `change` happens while the form is open."""
    await drive.pilot.press("e")
    await wait_for(drive, FormScreen)
    if change is not None:
        change()
        await drive.look()
    field = next(each for each in drive.app.screen.query(Input) if each.value == "0.9")
    field.value = "0.5"
    await drive.pilot.pause()
    await drive.pilot.press("ctrl+s")
    while any(worker.group == "editing" for worker in drive.app.workers):
        await drive.pilot.pause(0.01)
    await drive.settle()


def theirs() -> bytes:
    """Another block stands where the edited one was."""
    value = json.loads(round_())
    value["memory"]["working"].insert(0, block("w-0", content="theirs"))
    return json.dumps(value).encode()


async def test_a_draft_is_not_disturbed_and_a_banner_says_what_happened(work: Path) -> None:
    async with driving(open_source(work), size=(80, 24)) as drive:
        await edit_text(drive)
        before = drive.text(Pane.MEMORY)
        replace(work, theirs())
        await drive.look()
        assert drive.text(Pane.MEMORY) == before
        assert "work.json changed on disk. Your draft is untouched" in drive.screen_text()
        assert "DRAFT" in header(drive)
        await drive.pilot.press("w")
        await wait_for(drive, SaveScreen)
        await drive.pilot.press("y")
        await wait_for(drive, ConflictScreen)
        assert work.read_bytes() == theirs()
        await drive.pilot.press("2")
        while any(worker.group == "editing" for worker in drive.app.workers):
            await drive.pilot.pause(0.01)
        await drive.settle()
        assert "theirs" in drive.text(Pane.MEMORY)
        assert "changed on disk" not in drive.screen_text()


async def test_a_change_while_a_form_is_open_does_not_move_what_is_edited(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        await edit_text(drive, lambda: write(work, theirs()))
        assert "changed on disk" in drive.screen_text()
        told = drive.text(Pane.MEMORY)
        assert "theirs" not in told
        line = next(line for line in told.splitlines() if "w-1" in line)
        assert ".50" in line


async def test_after_a_save_the_file_is_followed_again(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        await edit_text(drive)
        await drive.pilot.press("w")
        await wait_for(drive, SaveScreen)
        await drive.pilot.press("y")
        while any(worker.group == "editing" for worker in drive.app.workers):
            await drive.pilot.pause(0.01)
        await drive.look()
        assert "changed on disk" not in drive.screen_text()
        assert ".50" in drive.text(Pane.MEMORY)
        write(work, theirs())
        await drive.look()
        assert "theirs" in drive.text(Pane.MEMORY)


async def test_nothing_is_written_by_following(session: Path) -> None:
    def everything() -> list[tuple[str, os.stat_result]]:
        return [(str(path), path.lstat()) for path in sorted(session.rglob("*"))]

    before = everything()
    async with driving(open_source(session)) as drive:
        await drive.look()
        await drive.press("F")
        await drive.look()
    assert everything() == before


async def test_what_was_seen_while_it_was_open_stays_as_a_revision(tmp_path: Path) -> None:
    file = tmp_path / "context.json"
    file.write_bytes(round_(2, "as it was"))
    async with driving(open_source(file)) as drive:
        await drive.look()
        file.write_bytes(round_(2, "as it is now"))
        await drive.look()
        assert "as it is now" in drive.text(Pane.MEMORY)
        view = drive.inspector.view
        assert view.source is not None
        assert next(each.kind for each in view.source.revisions) == "seen"
        await drive.step("left_square_bracket")
        assert "as it was" in drive.text(Pane.MEMORY)
        assert "read-only" in drive.screen_text()
        await drive.step("right_square_bracket")
        assert "as it is now" in drive.text(Pane.MEMORY)
