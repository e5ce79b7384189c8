"""Changes on disk are shown and marked, and never move the selection or an edit."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.events import MouseScrollUp
from textual.widgets import Input

from ctxview.formats import Source, open_source
from ctxview.samples import samples_folder
from ctxview.tui.app import CtxviewApp
from ctxview.tui.model import live_updates
from ctxview.tui.model.jobs.load import PathOpener
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import parse_query
from ctxview.tui.model.reading_index import ItemId, ItemKind, message_id
from ctxview.tui.model.view_state import ReadOptions
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.save import ConflictScreen, SaveScreen
from tests.formats.snapshot.builders import at, block, to_bytes
from tests.formats.transcript import builders as transcripts
from tests.formats.watching import Time, replace, write
from tests.tui.driver import Driver, driving
from tests.tui.settling import LIMIT

CODER = samples_folder() / "session/coder/home/1000/agent/coder/session/default"
W2 = ItemId(ItemKind.BLOCK, "w-2", "working")


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


def message_line(text: str, **more: Any) -> str:
    return json.dumps({"role": "user", "content": text, **more}, separators=(",", ":")) + "\n"


def append(session: Path, text: str) -> None:
    with (session / "messages.jsonl").open("a") as end:
        end.write(text)


def header(drive: Driver) -> str:
    return drive.screen_text().splitlines()[0]


# -- one file ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [write, replace])
async def test_a_change_is_shown_and_marked_and_the_selection_stays(work: Path, change: Any) -> None:
    async with driving(open_source(work)) as drive:
        await drive.press("j")
        assert "live" in header(drive)
        change(work, round_(1, "one", "another two", "three"))
        await drive.poll()
        memory = drive.text(Pane.MEMORY)
        assert "another two" in memory
        assert "~ ● working w-2" in memory
        assert "+ ● working w-3" in memory
        assert drive.selected == W2
        assert "another two" in drive.text(Pane.DETAIL)
        assert "work.json" in header(drive)
        drive.inspector.wake("fade")
        drive.inspector.wake("quiet")
        await drive.settle()
        assert "   ● working w-2" in drive.text(Pane.MEMORY)
        assert "live" in header(drive)


async def test_the_references_screen_shows_a_change(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        await drive.press("r")
        assert "a new text" not in drive.screen_text()
        write(work, round_(1, "a new text", "two"))
        await drive.poll()
        assert "a new text" in drive.screen_text()


async def test_a_touched_file_changes_nothing(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        view = drive.inspector.view
        work.touch()
        await drive.poll()
        assert drive.inspector.view is not None
        assert view is not None
        assert not drive.inspector.view.changes
        assert drive.text(Pane.MEMORY).count("   ● working w-") == 2


async def test_a_sub_agent_is_shown_when_its_file_appears(tmp_path: Path) -> None:
    row = """u1 user : Go\na1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}"""
    agents = tmp_path / "s1/subagents"
    async with driving(open_source(transcripts.write(tmp_path, row))) as drive:
        await drive.press("5")
        assert "agent-x1" not in drive.text(Pane.REFERENCES)
        agents.mkdir(parents=True)
        await drive.poll()
        (agents / "agent-x1.jsonl").write_text('{"message": {"role": "user", "content": "search"}}\n')
        await drive.poll()
        assert "subagents/agent-x1.jsonl" in drive.text(Pane.REFERENCES)


async def test_filter_order_and_view_stay(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        drive.inspector.perform(drive.inspector.model.filter_by(parse_query("one")))
        await drive.press("S")
        write(work, round_(1, "one", "two", "one more"))
        await drive.poll()
        memory = drive.text(Pane.MEMORY)
        assert ("w-2" in memory, memory.index("w-3") < memory.index("w-1")) == (False, True)
        assert drive.view is Pane.MEMORY


async def test_the_scroll_position_stays_when_rows_are_inserted_before_it(work: Path) -> None:
    work.write_bytes(round_(1, *(f"text {number}" for number in range(80))))
    async with driving(open_source(work), size=(80, 24)) as drive:
        # The timeline takes a line as soon as there is a past revision.
        await drive.press(*["pagedown"] * 2, "k", "k")
        pane = drive.inspector.memory
        chosen, line = drive.selected, pane.page.lines_of(pane.cursor).start - pane.scroll_y
        value = json.loads(work.read_bytes())
        value["memory"]["working"][:0] = [block(f"new-{number}", content="x") for number in range(7)]
        write(work, json.dumps(value).encode())
        await drive.poll()
        assert drive.selected == chosen
        assert pane.page.lines_of(pane.cursor).start - pane.scroll_y == line


async def test_a_half_written_file_keeps_the_last_good_state_with_a_notice(work: Path, time: Time) -> None:
    async with driving(open_source(work)) as drive:
        time.stands_still()
        write(work, round_(1, "unfinished")[:-30])
        await drive.poll()
        assert "one" in drive.text(Pane.MEMORY)
        assert "being written, the last good state is shown" in header(drive)
        write(work, round_(1, "finished"))
        await drive.poll()
        assert "finished" in drive.text(Pane.MEMORY)
        assert "being written" not in header(drive)


async def test_a_file_that_stays_broken_is_shown_without_another_change(work: Path, time: Time) -> None:
    async with driving(open_source(work)) as drive:
        await drive.press("j")
        time.stands_still()
        write(work, round_()[:-30])
        await drive.poll()
        time.passes()
        await drive.poll()
        assert "being written" not in header(drive)
        assert "✖ 0" not in header(drive)
        assert drive.selected != W2
        write(work, round_(1, "one", "two", "three"))
        await drive.poll()
        assert drive.selected == W2


async def test_a_deleted_file_keeps_its_last_state_until_it_is_back(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        work.unlink()
        await drive.poll()
        assert "gone" in header(drive)
        assert "there is no such file. The last state is still shown." in drive.notices[-1]
        assert "one" in drive.text(Pane.MEMORY)
        work.write_bytes(round_(1, "back again"))
        await drive.poll()
        assert "back again" in drive.text(Pane.MEMORY)
        assert "gone" not in header(drive)


async def test_without_watching_the_header_says_so_and_a_key_starts_it(work: Path) -> None:
    async with open_paths(work) as drive:
        assert "not followed" in header(drive)
        await drive.press("F")
        assert "live" in header(drive)


# -- revisions and folders -----------------------------------------------------------------------------------


@pytest.fixture
def rounds(tmp_path: Path) -> Path:
    place = tmp_path / "rounds"
    place.mkdir()
    for number in (1, 2, 4):
        (place / f"r{number}.json").write_bytes(round_(number, f"of round {number}"))
    return place


async def test_the_newest_revision_stays_selected(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        (rounds / "r5.json").write_bytes(round_(5, "of round 5"))
        await drive.poll()
        assert "rev 4 of 4" in header(drive)
        assert "r5.json appeared" in header(drive)
        assert "of round 5" in drive.text(Pane.MEMORY)


async def test_a_selected_revision_stays_selected_when_others_appear(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("left_square_bracket")
        assert "rev 2 of 3" in header(drive)
        (rounds / "r3.json").write_bytes(round_(3, "of round 3"))
        (rounds / "r1.json").unlink()
        await drive.poll()
        assert "past  round 2 ·" in header(drive)
        assert drive.revision == 0
        assert "of round 2" in drive.text(Pane.MEMORY)


@asynccontextmanager
async def open_paths(*paths: Path) -> AsyncIterator[Driver]:
    app = CtxviewApp(PathOpener(paths), ReadOptions("bytes/3"), watching=False)
    async with app.run_test(size=(170, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        yield drive


async def test_a_new_source_in_an_opened_folder_is_listed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    shutil.copytree(CODER, tree / "first")
    async with open_paths(tree) as drive:
        assert [source.path.name for source in drive.inspector.model.sources] == ["first"]
        shutil.copytree(CODER, tree / "deep" / "second")
        await drive.poll()
        assert [source.path.name for source in drive.inspector.model.sources] == ["first", "second"]
        assert "second" in drive.text(Pane.SOURCES)


async def test_the_first_source_in_an_empty_folder_is_opened(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    async with open_paths(tree) as drive:
        assert "No source could be opened" in drive.screen_text()
        (tree / "work.json").write_bytes(round_())
        await drive.poll()
        assert "one" in drive.text(Pane.MEMORY)


async def test_a_source_that_is_not_in_front_is_watched_too(work: Path, rounds: Path) -> None:
    async with driving(open_source(work), open_source(rounds), size=(170, 36)) as drive:
        (rounds / "r5.json").write_bytes(b'{"version": 3, "memory": {"core": [')
        await drive.poll()
        assert len(drive.inspector.model.sources[1].revisions) == 4
        assert "work.json" in header(drive)
        assert drive.text(Pane.SOURCES).splitlines()[1].count("✖") == 1


# -- histories -----------------------------------------------------------------------------------------------


async def test_new_messages_are_shown_and_the_selected_one_stays(session: Path) -> None:
    async with driving(open_source(session)) as drive:
        await drive.press("0", "j")
        before = len(drive.inspector.model.transcript or ())
        append(session, message_line("The lamp is lit.") + message_line("And the horn?"))
        await drive.poll()
        assert len(drive.inspector.model.transcript or ()) == before + 2
        assert "The lamp is lit." in drive.text(Pane.HISTORY)
        assert f"History {before + 2}" in drive.screen_text()
        assert "messages.jsonl +2 lines" in header(drive)
        assert drive.selected == message_id(1)
        assert drive.inspector.history.scroll_y == 0


async def test_following_stops_after_scrolling_up_and_starts_again_at_the_last_row(
    session: Path,
) -> None:
    append(session, "".join(message_line(f"line {number}") for number in range(60)))
    async with driving(open_source(session), size=(80, 24)) as drive:
        history = drive.inspector.history
        await drive.press("F")
        assert drive.front is Pane.HISTORY
        assert "following" in header(drive)
        last = len(drive.inspector.model.transcript or ()) - 1
        assert drive.selected == message_id(last)
        append(session, message_line("newest of all"))
        await drive.poll()
        assert drive.selected == message_id(last + 1)
        assert "newest of all" in drive.screen_text()
        await drive.press("k")
        append(session, message_line("and one more"))
        await drive.poll()
        assert (drive.selected, history.following) == (message_id(last), False)
        assert "and one more" not in drive.screen_text()
        await drive.press("G")
        append(session, message_line("after the last key"))
        await drive.poll()
        assert "after the last key" in drive.screen_text()
        await drive.pilot._post_mouse_events([MouseScrollUp], history)
        await drive.settle()
        assert not history.following


async def test_a_truncated_history_is_in_the_header_and_is_a_finding(session: Path) -> None:
    async with driving(open_source(session)) as drive:
        await drive.press("0", "G")
        os.truncate(session / "messages.jsonl", (session / "messages.jsonl").read_bytes().index(b"\n") + 1)
        await drive.poll()
        assert len(drive.inspector.model.transcript or ()) == 1
        assert "messages.jsonl truncated" in header(drive)
        assert "ABI057" in drive.text(Pane.FINDINGS)
        assert drive.selected is not None


async def test_a_message_is_shown_when_its_line_is_complete(session: Path, time: Time) -> None:
    async with driving(open_source(session)) as drive:
        before = len(drive.inspector.model.transcript or ())
        time.stands_still()
        append(session, message_line("half of a line")[:20])
        await drive.poll()
        assert len(drive.inspector.model.transcript or ()) == before
        assert "being written" in header(drive)
        append(session, message_line("half of a line")[20:])
        await drive.poll()
        assert "half of a line" in drive.text(Pane.HISTORY)
        assert "being written" not in header(drive)


async def test_without_messages_follow_goes_to_the_latest_revision(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await drive.press("left_square_bracket")
        await drive.press("F")
        assert "rev 3 of 3" in header(drive)


async def test_the_header_says_that_a_change_is_known_but_not_shown_yet(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_updates, "LAG", 0.0)
    goes_on = Event()
    source = open_source(work)
    again = type(source).again

    def slowly(self: Source) -> Source:
        assert goes_on.wait(LIMIT)
        return again(self)

    monkeypatch.setattr(type(source), "again", slowly)
    async with driving(source, wait=False) as drive:
        await drive.wait_until(lambda: "w-1" in drive.text(Pane.MEMORY), "the file is shown")
        replace(work, theirs())
        drive.inspector.perform(drive.inspector.model.live.poll())
        await drive.wait_until(lambda: "catching up" in header(drive), "the header says so")
        assert "live" not in header(drive)
        goes_on.set()
        await drive.settle()
        assert "theirs" in drive.text(Pane.MEMORY)
        assert "catching up" not in header(drive)


# -- drafts --------------------------------------------------------------------------------------------------


async def edit_confidence(drive: Driver, change: Any = None) -> None:
    """Change the confidence of the selected block; `change` is called while the form is open."""
    await drive.pilot.press("e")
    await drive.wait_for(FormScreen)
    if change is not None:
        change()
        await drive.poll()
    field = next(each for each in drive.app.screen.query(Input) if each.value == "0.9")
    field.value = "0.5"
    await drive.pilot.pause()
    await drive.pilot.press("ctrl+s")
    await drive.settle()


def theirs() -> bytes:
    """The file with another block in the place of the edited one."""
    value = json.loads(round_())
    value["memory"]["working"].insert(0, block("w-0", content="theirs"))
    return json.dumps(value).encode()


async def test_a_draft_stays_and_a_banner_says_that_the_file_changed(work: Path) -> None:
    async with driving(open_source(work), size=(80, 24)) as drive:
        await edit_confidence(drive)
        before = drive.text(Pane.MEMORY)
        replace(work, theirs())
        await drive.poll()
        assert drive.text(Pane.MEMORY) == before
        assert "work.json changed on disk. Your draft is unchanged" in drive.screen_text()
        assert "DRAFT" in header(drive)
        await drive.pilot.press("w")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.wait_for(ConflictScreen)
        assert work.read_bytes() == theirs()
        await drive.pilot.press("2")
        await drive.settle()
        assert "theirs" in drive.text(Pane.MEMORY)
        assert "changed on disk" not in drive.screen_text()


async def test_a_draft_stays_in_view_and_can_be_saved_when_a_newer_round_appears(rounds: Path) -> None:
    async with driving(open_source(rounds)) as drive:
        await edit_confidence(drive)
        (rounds / "r5.json").write_bytes(round_(5, "of round 5"))
        await drive.poll()
        assert "rev 3 of 4" in header(drive)
        assert "DRAFT" in header(drive)
        assert "read-only" not in header(drive)
        assert "is newer. Your draft is unchanged" in drive.screen_text()
        await drive.pilot.press("w")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.settle()
        assert " past " in header(drive)
    assert json.loads((rounds / "r4.json").read_bytes())["memory"]["working"][0]["confidence"] == 0.5


async def test_after_an_undo_the_changed_file_is_shown(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        await edit_confidence(drive)
        replace(work, theirs())
        await drive.poll()
        await drive.press("u")
        assert "theirs" in drive.text(Pane.MEMORY)
        assert "DRAFT" not in header(drive)
        await drive.press("ctrl+r")
        assert "changed on disk" in drive.screen_text()
        assert "theirs" not in drive.text(Pane.MEMORY)
        await drive.press("u", "2", "g")
        await edit_confidence(drive)
        await drive.press("w", "y")
        saved = json.loads(work.read_bytes())["memory"]["working"]
        assert [(each["id"], each["confidence"]) for each in saved[:2]] == [("w-0", 0.5), ("w-1", 0.9)]


async def test_a_change_while_a_form_is_open_does_not_move_what_is_edited(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        await edit_confidence(drive, lambda: write(work, theirs()))
        assert "changed on disk" in drive.screen_text()
        memory = drive.text(Pane.MEMORY)
        assert "theirs" not in memory
        line = next(line for line in memory.splitlines() if "w-1" in line)
        assert ".50" in line


async def test_after_a_save_the_file_is_watched_again(work: Path) -> None:
    async with driving(open_source(work)) as drive:
        await edit_confidence(drive)
        await drive.pilot.press("w")
        await drive.wait_for(SaveScreen)
        await drive.pilot.press("y")
        await drive.settle()
        await drive.poll()
        assert "changed on disk" not in drive.screen_text()
        assert ".50" in drive.text(Pane.MEMORY)
        write(work, theirs())
        await drive.poll()
        assert "theirs" in drive.text(Pane.MEMORY)


async def test_following_writes_nothing(session: Path) -> None:
    def everything() -> list[tuple[str, os.stat_result]]:
        return [(str(path), path.lstat()) for path in sorted(session.rglob("*"))]

    before = everything()
    async with driving(open_source(session)) as drive:
        await drive.poll()
        await drive.press("F")
        await drive.poll()
    assert everything() == before


async def test_an_earlier_state_of_an_open_file_stays_as_a_revision(tmp_path: Path) -> None:
    file = tmp_path / "context.json"
    file.write_bytes(round_(2, "as it was"))
    async with driving(open_source(file)) as drive:
        await drive.poll()
        file.write_bytes(round_(2, "as it is now"))
        await drive.poll()
        assert "as it is now" in drive.text(Pane.MEMORY)
        model = drive.inspector.model
        assert model.source is not None
        assert next(each.kind for each in model.source.revisions) == "seen"
        await drive.press("left_square_bracket")
        assert "as it was" in drive.text(Pane.MEMORY)
        assert " past " in drive.screen_text()
        await drive.press("right_square_bracket")
        assert "as it is now" in drive.text(Pane.MEMORY)
