"""Saving: all or nothing, conflict-aware, with an undo copy and nothing left beside the file."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.files import system_calls, undo_copies
from ctxview.files.save import SaveConflict, SavedFile, SaveRefused, save
from tests.running import LIMIT, Program

OLD, NEW = b'{"a": 1}\n', b'{"a": 2}\n'


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "state"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file that was last changed long ago."""
    folder = tmp_path / "agent"
    folder.mkdir()
    path = folder / "snapshot.json"
    path.write_bytes(OLD)
    os.utime(path, (0, 0))
    return path


@pytest.fixture(params=["exchange", "no exchange", "other file system"])
def save_method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each way in which a save can be made."""
    if request.param == "no exchange":
        monkeypatch.setattr(system_calls, "exchange", _no_such_call)
    if request.param != "other file system":
        yield request.param
        return
    shared_memory = Path("/dev/shm")
    if not shared_memory.is_dir() or shared_memory.stat().st_dev == Path.cwd().stat().st_dev:
        pytest.skip("there is no second file system to write to")
    with TemporaryDirectory(dir=shared_memory) as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        yield request.param


def _no_such_call(*_: object) -> None:
    raise OSError(errno.ENOSYS, "not here")


def just_before_exchange(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Run `act` at the worst moment: after the last comparison of the file, before the first exchange."""
    exchange = system_calls.exchange
    acts = [act]

    def act_then_exchange(directory: int, one: str, other: str) -> None:
        if acts:
            acts.pop()()
        exchange(directory, one, other)

    monkeypatch.setattr(system_calls, "exchange", act_then_exchange)


def renamed_over(file: Path, content: bytes) -> None:
    other = file.with_name("agent.tmp")
    other.write_bytes(content)
    other.rename(file)


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- a save that works ---------------------------------------------------------------------------------------


def test_the_file_is_new_the_undo_copy_is_old_and_nothing_else_is_left(file: Path, save_method: str) -> None:
    saved = save(file, NEW, OLD)

    assert file.read_bytes() == NEW
    assert saved.backup.read_bytes() == OLD
    assert saved.warning is None
    assert contents(file.parent) == ["snapshot.json"]


def undo(saved: SavedFile) -> SavedFile:
    return save(saved.path, saved.backup.read_bytes(), expected=saved.written)


def test_undo_puts_the_old_bytes_back(file: Path, save_method: str) -> None:
    undone = undo(save(file, NEW, OLD))

    assert file.read_bytes() == OLD
    assert undone.backup.read_bytes() == NEW
    assert contents(file.parent) == ["snapshot.json"]


def test_mode_and_attributes_survive(file: Path, save_method: str) -> None:
    file.chmod(0o604)
    attributes = hasattr(os, "setxattr")
    if attributes:
        os.setxattr(file, "user.note", b"kept")

    save(file, NEW, OLD)

    assert file.stat().st_mode & 0o7777 == 0o604
    if attributes:
        assert os.getxattr(file, "user.note") == b"kept"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_owner_survives(file: Path) -> None:
    os.chown(file, 1234, 4321)

    save(file, NEW, OLD)

    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 4321)


def test_a_relative_path_and_a_hostile_name_work(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(file.parent)
    hostile = Path("-rf \x1b[31m\n\udcff" + "x" * 200)
    file.rename(hostile)

    assert save(hostile, NEW, OLD).backup.read_bytes() == OLD
    assert hostile.read_bytes() == NEW


def test_a_symbolic_link_in_the_folders_above_is_allowed(file: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(file.parent)

    save(tmp_path / "alias" / file.name, NEW, OLD)

    assert file.read_bytes() == NEW


def test_old_undo_copies_are_deleted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo_copies, "KEPT", 3)
    content = OLD
    for number in range(6):
        saved = save(file, b"%d" % number, content)
        content = b"%d" % number

    assert [path.read_bytes() for path in sorted(saved.backup.parent.iterdir())] == [b"2", b"3", b"4"]


def test_the_leftover_of_a_crash_becomes_an_undo_copy(file: Path, save_method: str) -> None:
    save(file, NEW, OLD)
    name = leftover_name(file)
    (file.parent / name).write_bytes(b"perhaps the only copy")

    saved = save(file, OLD, NEW)

    assert contents(file.parent) == ["snapshot.json"]
    assert b"perhaps the only copy" in [path.read_bytes() for path in saved.backup.parent.iterdir()]


def leftover_name(file: Path) -> str:
    """Return the hidden name that a save uses, as another process sees it."""
    seen: list[str] = []
    content = file.read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        exchange = system_calls.exchange

        def look(directory: int, one: str, other: str) -> None:
            seen.append(one)
            exchange(directory, one, other)

        patch.setattr(system_calls, "exchange", look)
        undo(save(file, content + b" ", content))
    return seen[0]


# -- a save that must be refused -----------------------------------------------------------------------------


def test_a_file_that_changed_since_it_was_loaded_is_a_conflict(file: Path, save_method: str) -> None:
    file.write_bytes(b"agent")

    with pytest.raises(SaveConflict) as caught:
        save(file, NEW, OLD)

    assert (caught.value.current, caught.value.wanted) == (b"agent", NEW)
    assert file.read_bytes() == b"agent"
    assert contents(file.parent) == ["snapshot.json"]


def test_a_rename_at_the_last_moment_is_a_conflict_and_survives(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_before_exchange(monkeypatch, lambda: renamed_over(file, b"agent"))

    with pytest.raises(SaveConflict) as caught:
        save(file, NEW, OLD)

    assert caught.value.current == file.read_bytes() == b"agent"
    assert contents(file.parent) == ["snapshot.json"]


def test_a_write_in_place_at_the_last_moment_is_a_conflict_and_survives(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_before_exchange(monkeypatch, lambda: file.write_bytes(b"agent"))

    with pytest.raises(SaveConflict):
        save(file, NEW, OLD)

    assert file.read_bytes() == b"agent"


def test_writes_that_keep_coming_while_a_save_is_undone_all_survive(
    file: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = system_calls.exchange
    writes = [b"agent 3", b"agent 2", b"agent 1"]

    def write_then_exchange(directory: int, one: str, other: str) -> None:
        if writes:
            renamed_over(file, writes.pop())
        exchange(directory, one, other)

    monkeypatch.setattr(system_calls, "exchange", write_then_exchange)

    with pytest.raises(SaveConflict) as caught:
        save(file, NEW, OLD)

    assert caught.value.current == file.read_bytes() == b"agent 3"
    kept = [path.read_bytes() for path in state.rglob("*Z")]
    assert b"agent 2" in kept or b"agent 1" in kept
    assert contents(file.parent) == ["snapshot.json"]


def test_a_write_that_gets_the_inode_number_of_the_saved_file_is_not_mistaken_for_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = system_calls.exchange
    writes = [b"agent 2", b"agent 1"]

    def write_anew_then_exchange(directory: int, one: str, other: str) -> None:
        if writes:
            recreated(file, writes.pop())
        exchange(directory, one, other)

    monkeypatch.setattr(system_calls, "exchange", write_anew_then_exchange)

    with pytest.raises(SaveConflict) as caught:
        save(file, NEW, OLD)

    assert caught.value.current == file.read_bytes() == b"agent 2"


def recreated(file: Path, content: bytes) -> None:
    """Remove the file and write it anew, with the same inode number if the file system gives it out again."""
    number = file.stat().st_ino
    file.unlink()
    tries = [file.with_name(f"try-{count}") for count in range(50)]
    for path in tries:
        path.write_bytes(content)
        if path.stat().st_ino == number:
            break
    path.rename(file)
    for path in tries:
        path.unlink(missing_ok=True)


def test_a_link_put_in_place_of_the_file_is_not_written_through(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(OLD)

    def replace_by_link() -> None:
        file.unlink()
        file.symlink_to(secret)

    just_before_exchange(monkeypatch, replace_by_link)

    with pytest.raises(SaveRefused):
        save(file, NEW, OLD)

    assert secret.read_bytes() == OLD
    assert file.is_symlink()


def test_without_exchange_a_rename_seen_in_time_is_a_conflict(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rename_and_fail(*_: object) -> None:
        renamed_over(file, b"agent")
        _no_such_call()

    monkeypatch.setattr(system_calls, "exchange", rename_and_fail)

    with pytest.raises(SaveConflict):
        save(file, NEW, OLD)

    assert file.read_bytes() == b"agent"
    assert contents(file.parent) == ["snapshot.json"]


def test_undo_after_a_foreign_write_is_a_conflict(file: Path) -> None:
    saved = save(file, NEW, OLD)
    file.write_bytes(b"agent")

    with pytest.raises(SaveConflict):
        undo(saved)

    assert file.read_bytes() == b"agent"


class Late:
    """A program that has the file open while it is saved: what it does at each look at the old file."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        self.acts = list(acts)
        self.waited = 0.0

    def wait(self, seconds: float) -> None:
        self.waited += seconds
        if self.acts:
            self.acts.pop(0)()


def test_a_late_write_in_place_is_reported_and_kept(file: Path, save_method: str) -> None:
    with file.open("r+b", buffering=0) as agent:
        late = Late(lambda: agent.write(b"agent, late"), agent.close)
        saved = save(file, NEW, OLD, late.wait)

    assert saved.warning is not None
    assert "another program wrote into the file" in saved.warning
    assert saved.backup.read_bytes() == b"agent, late"
    assert file.read_bytes() == NEW
    assert contents(file.parent) == ["snapshot.json"]


@pytest.mark.parametrize("knows_writers", [True, False])
def test_what_is_appended_through_an_open_handle_is_handed_over(
    file: Path, save_method: str, knows_writers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not knows_writers:
        monkeypatch.setattr(system_calls, "has_writer", lambda _: None)
    with file.open("ab", buffering=0) as agent:
        late = Late(lambda: agent.write(b"one\n"), lambda: None, lambda: agent.write(b"two\n"), agent.close)
        saved = save(file, NEW, OLD, late.wait)

    assert file.read_bytes() == saved.written == NEW + b"one\ntwo\n"
    assert saved.backup.read_bytes() == OLD + b"one\ntwo\n"
    assert saved.warning is not None
    assert "8 bytes" in saved.warning
    assert contents(file.parent) == ["snapshot.json"]


def test_a_program_that_replaces_the_file_keeps_it_when_another_appended_late(file: Path) -> None:
    with file.open("ab", buffering=0) as agent:
        late = Late(lambda: agent.write(b"late\n"), lambda: renamed_over(file, b"agent"), agent.close)
        saved = save(file, NEW, OLD, late.wait)

    assert file.read_bytes() == b"agent"
    assert saved.backup.read_bytes() == OLD + b"late\n"
    assert "undo copy" in (saved.warning or "")


def test_nothing_is_waited_for_when_no_program_has_the_file_open(file: Path, save_method: str) -> None:
    late = Late()
    save(file, NEW, OLD, late.wait)

    with file.open("rb") as opened:
        assert late.waited == 0 or system_calls.has_writer(opened.fileno()) is None


def test_the_wait_for_a_program_that_never_stops_writing_ends(file: Path) -> None:
    with file.open("ab", buffering=0) as agent:
        late = Late(*[lambda: agent.write(b"more\n")] * 1000)
        saved = save(file, NEW, OLD, late.wait)

        assert 0 < late.waited < 5
        assert file.read_bytes() == NEW + b"more\n" * (1000 - len(late.acts))
        agent.write(b"after\n")
        assert "still has the previous file open" in (saved.warning or "")
        assert str(saved.backup) in (saved.warning or "")
        assert saved.backup.read_bytes().endswith(b"after\n")


@pytest.mark.parametrize("was_idle", [False, True])
def test_where_the_system_cannot_tell_a_file_in_use_may_still_be_open(
    file: Path, save_method: str, was_idle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_calls, "has_writer", lambda _: None)
    if not was_idle:
        os.utime(file)

    saved = save(file, NEW, OLD, Late().wait)

    assert ("may still have the previous file open" in (saved.warning or "")) is not was_idle


def test_a_copy_that_a_program_still_writes_into_is_not_deleted(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_copies, "KEPT", 3)
    with file.open("ab", buffering=0) as agent:
        first = save(file, NEW, OLD, Late().wait)
        agent.write(b"after\n")
        content = NEW
        for number in range(6):
            save(file, b"%d" % number, content)
            content = b"%d" % number

        assert first.backup.read_bytes() == OLD + b"after\n"


@pytest.mark.parametrize("save_method", ["other file system"], indirect=True)
def test_on_another_file_system_the_old_file_stays_while_a_program_has_it_open(
    file: Path, save_method: str
) -> None:
    with file.open("ab", buffering=0) as agent:
        saved = save(file, NEW, OLD, Late().wait)
        (name,) = leftovers(file)
        agent.write(b"after\n")

        assert name in (saved.warning or "")
        assert (file.parent / name).read_bytes() == OLD + b"after\n"
        assert name in refusal(file, OLD, NEW)
    saved = save(file, b"third", NEW)

    assert contents(file.parent) == ["snapshot.json"]
    kept = [path.read_bytes() for path in saved.backup.parent.iterdir()]
    assert OLD + b"after\n" in kept


def test_what_is_appended_to_a_save_that_is_undone_is_handed_over(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = system_calls.exchange
    acts: list[Callable[[], object]] = [
        lambda: renamed_over(file, b"agent\n"),
        lambda: append(file, b"late\n"),
    ]

    def act_then_exchange(directory: int, one: str, other: str) -> None:
        if acts:
            acts.pop(0)()
        exchange(directory, one, other)

    monkeypatch.setattr(system_calls, "exchange", act_then_exchange)

    with pytest.raises(SaveConflict) as caught:
        save(file, NEW, OLD)

    assert caught.value.current == file.read_bytes() == b"agent\nlate\n"
    assert contents(file.parent) == ["snapshot.json"]


def test_a_program_that_keeps_writing_into_a_save_that_is_undone_is_reported(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = system_calls.exchange
    agents: list[FileIO] = []
    acts: list[Callable[[], object]] = [
        lambda: renamed_over(file, b"agent\n"),
        lambda: agents.append(file.open("ab", buffering=0)),
    ]

    def act_then_exchange(directory: int, one: str, other: str) -> None:
        if acts:
            acts.pop(0)()
        exchange(directory, one, other)

    monkeypatch.setattr(system_calls, "exchange", act_then_exchange)
    late = Late(*[lambda: agents[0].write(b"more\n")] * 1000)

    with pytest.raises(SaveConflict) as caught:
        save(file, NEW, OLD, late.wait)

    written = b"more\n" * (1000 - len(late.acts))
    assert file.read_bytes() == b"agent\n" + written
    warning = caught.value.warning or ""
    assert "still has the previous file open" in warning
    agents[0].write(b"after\n")
    agents[0].close()
    assert Path(warning.rpartition(" in ")[2]).read_bytes() == NEW + written + b"after\n"


def append(file: Path, content: bytes) -> None:
    with file.open("ab") as agent:
        agent.write(content)


def leftovers(file: Path) -> list[str]:
    return [name for name in contents(file.parent) if name != file.name]


def refusal(path: Path, new: bytes = NEW, expected: bytes = OLD) -> str:
    with pytest.raises(SaveRefused) as caught:
        save(path, new, expected)
    return str(caught.value)


def test_nothing_is_written_when_nothing_changed(file: Path) -> None:
    before = file.stat()

    assert "nothing was changed" in refusal(file, OLD, OLD)
    assert file.stat().st_mtime_ns == before.st_mtime_ns


def test_links_are_refused_with_a_reason(file: Path) -> None:
    (file.parent / "symbolic").symlink_to(file)
    assert "is a symbolic link" in refusal(file.parent / "symbolic")

    (file.parent / "hard").hardlink_to(file)
    assert "has 2 names (hard links)" in refusal(file)
    assert file.read_bytes() == OLD


def test_only_an_ordinary_file_is_saved(file: Path) -> None:
    assert "no longer there" in refusal(file.with_name("missing"))
    assert "not an ordinary file" in refusal(file.parent)
    os.mkfifo(file.with_name("pipe"))
    assert "not an ordinary file" in refusal(file.with_name("pipe"))
    assert "saving failed" in refusal(file / "below")


def test_a_write_protected_file_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.chmod(0o444)
    if os.geteuid() == 0:
        # Root may write every file: let the system answer as for any other user.
        monkeypatch.setattr(os, "access", lambda *_, **__: False)

    assert "write-protected" in refusal(file)


def test_a_file_whose_owner_cannot_be_kept_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not yours to give")

    monkeypatch.setattr(os, "fchown", forbidden)
    monkeypatch.setattr("ctxview.files.save._same_owner", lambda *_: False)

    assert "the owner and group of the old one" in refusal(file)
    assert contents(file.parent) == ["snapshot.json"]


def test_a_state_directory_that_cannot_be_made_refuses_before_anything_happens(
    file: Path, state: Path
) -> None:
    state.write_bytes(b"in the way")

    assert "saving failed" in refusal(file)
    assert file.read_bytes() == OLD
    assert contents(file.parent) == ["snapshot.json"]


def test_something_else_under_the_hidden_name_is_not_touched(file: Path) -> None:
    (file.parent / leftover_name(file)).mkdir()

    assert "is in the way" in refusal(file)


def test_two_ctxviews_save_one_after_the_other(
    file: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(file, NEW, OLD)
    monkeypatch.setattr(undo_copies, "_WAIT_SECONDS", 0.05)
    with (state / "ctxview" / "save.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another ctxview" in refusal(file, OLD, NEW)
    save(file, OLD, NEW)


# -- against an agent that writes all the time ---------------------------------------------------------------

AGENT = """
import json, os, random, sys, time
from ctxview.files.system_calls import exchange
folder = os.open(sys.argv[1], os.O_RDONLY)
replaced = []
while "stop" not in os.listdir(folder):
    new = os.open("agent.tmp", os.O_CREAT | os.O_EXCL | os.O_WRONLY, dir_fd=folder)
    os.write(new, b"agent %d" % len(replaced))
    os.close(new)
    exchange(folder, "agent.tmp", "snapshot.json")
    old = os.open("agent.tmp", os.O_RDONLY, dir_fd=folder)
    replaced.append(os.read(old, 100).decode())
    os.close(old)
    os.unlink("agent.tmp", dir_fd=folder)
    time.sleep(random.random() / 100)
print(json.dumps(replaced))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can exchange names")
def test_no_write_of_a_renaming_agent_is_ever_lost(file: Path) -> None:
    """The agent exchanges too, so it knows which bytes each of its writes replaced.

    A save that succeeded on top of write N must be what write N + 1 replaces: had it destroyed a later write
    unseen, that one would have come in between.
    """
    succeeded: set[str] = set()
    conflicts = 0
    end = time.monotonic() + LIMIT
    with Program([sys.executable, "-c", AGENT, file.parent]) as agent:
        while len(succeeded) + conflicts < 150 or not (succeeded and conflicts):
            assert time.monotonic() < end, f"waited for both: {len(succeeded)} saves, {conflicts} conflicts"
            found = file.read_bytes()
            if not found.startswith(b"agent") or found.endswith(b"+"):
                continue
            try:
                save(file, found + b"+", found)
                succeeded.add(found.decode() + "+")
            except SaveConflict:
                conflicts += 1
        file.with_name("stop").touch()
        replaced = json.loads(agent.finish().out)

    for number, content in enumerate(replaced):
        if content in succeeded:
            assert content == f"agent {number - 1}+"
