"""What the server promises about its files: append-only, whole lines, nothing confirmed is lost."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from ctxview.files.save import save
from ctxview.formats.memory.server.arguments import Refused
from ctxview.formats.memory.server.log_files import LOCK, LogFile, LogFolder, StorageFailed
from ctxview.formats.memory.server.service import MemoryService
from tests.formats.memory.server.clients import records
from tests.formats.ordinary_user import as_ordinary_user
from tests.running import LIMIT, default_signals, line_of

WRITER = """
import sys
from pathlib import Path
from ctxview.formats.memory.server.service import MemoryService
service, memory = MemoryService(Path(sys.argv[1])), sys.argv[2]
for number in range(100_000):
    text = f"{sys.argv[3]} {number} " + "lamp " * 200
    made = service.call("add_entry", {"memory_id": memory, "raw_entry": text, "summary": "Ada lit it."}, "s")
    print(made["entryId"], flush=True)
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[MemoryService]:
    made = MemoryService(tmp_path)
    yield made
    made.close()


def add(service: MemoryService, memory: str, raw: str = "the lamp is lit") -> str:
    stored = service.call("add_entry", {"memory_id": memory, "raw_entry": raw, "summary": "Ada lit it."}, "s")
    assert isinstance(stored, dict)
    return str(stored["entryId"])


def create(service: MemoryService, title: str = "chat") -> str:
    made = service.call("create_memory", {"title": title, "memory_type": "chat"}, "s")
    assert isinstance(made, dict)
    return str(made["memoryId"])


def test_kill_in_the_middle_of_writes_loses_nothing_that_was_confirmed(
    service: MemoryService, tmp_path: Path
) -> None:
    memory = create(service)
    confirmed: list[str] = []
    for round_number in range(3):
        command = [sys.executable, "-c", WRITER, str(tmp_path), memory]
        writers = [
            subprocess.Popen(
                [*command, f"{round_number}{name}"], stdout=subprocess.PIPE, preexec_fn=default_signals
            )
            for name in "ab"
        ]
        for writer in writers:
            confirmed += [line_of(writer, writer.stdout).decode().strip() for _ in range(30)]
        for writer in writers:
            writer.send_signal(signal.SIGKILL)
            writer.wait(LIMIT)
            assert writer.stdout is not None
            # Not `communicate`: with a limit it leaves out what `readline` has read ahead.
            with writer.stdout as pipe:
                confirmed += [line for line in pipe.read().decode().split("\n")[:-1] if line]
    MemoryService(tmp_path).close()
    stored = records(tmp_path)
    ids = [entry["entryId"] for entry in stored]
    assert set(confirmed) <= set(ids)
    assert ids == sorted(set(ids))
    assert [entry["creationTime"] for entry in stored] == sorted({entry["creationTime"] for entry in stored})


def test_an_interrupted_last_line_is_cut_off_at_the_next_start_and_nothing_else(
    service: MemoryService, tmp_path: Path
) -> None:
    memory = create(service)
    add(service, memory)
    file = tmp_path / "entries.jsonl"
    whole = b"not json, but a whole line\n" + file.read_bytes()
    file.write_bytes(whole + b'{"entryId":"half')
    MemoryService(tmp_path).close()
    assert file.read_bytes() == whole


def test_a_line_that_another_process_left_half_written_is_cut_before_the_next_write(
    service: MemoryService, tmp_path: Path
) -> None:
    memory = create(service)
    first = add(service, memory)
    with (tmp_path / "entries.jsonl").open("ab") as file:
        file.write(b'{"entryId":"half' + b"x" * 3_000_000)
    second = add(service, memory)
    assert [entry["entryId"] for entry in records(tmp_path)] == [first, second]


def test_ids_and_times_rise_even_when_the_clock_of_another_process_is_ahead(
    service: MemoryService, tmp_path: Path
) -> None:
    memory = create(service)
    ahead = {
        "entryId": "x",
        "memoryId": memory,
        "rawEntry": "a",
        "creationTime": "2999-01-01T00:00:00.000000Z",
    }
    with (tmp_path / "entries.jsonl").open("a") as file:
        file.write(json.dumps(ahead) + "\n")
    add(service, memory)
    times = [entry["creationTime"] for entry in records(tmp_path)]
    assert times[0] < times[1] < "2999-01-01T00:00:00.001"


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond `size`, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_full_disk_is_a_tool_error_and_leaves_whole_lines(service: MemoryService, tmp_path: Path) -> None:
    memory = create(service)
    first = add(service, memory)
    size = (tmp_path / "entries.jsonl").stat().st_size
    with largest_file(size + 50), pytest.raises(StorageFailed, match=r"nothing was stored.*the disk is full"):
        add(service, memory)
    second = add(service, memory)
    assert [entry["entryId"] for entry in records(tmp_path)] == [first, second]


def test_a_read_only_folder_can_be_read_and_says_so_when_written(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    made = MemoryService(folder)
    memory = create(made)
    add(made, memory)
    made.close()
    for file in (*folder.iterdir(), folder, tmp_path):
        file.chmod(0o555 if file.is_dir() else 0o444)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == os.getuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(0o755)
    with as_ordinary_user():
        service = MemoryService(folder)
        assert service.problem is not None
        listed = service.call("list_entries", {"memory_id": memory}, "s")
        assert isinstance(listed, dict)
        assert listed["count"] == 1
        with pytest.raises(
            StorageFailed, match=r"nothing was stored: .* cannot be written: permission denied"
        ):
            add(service, memory)
        service.close()
    for file in (tmp_path, folder):
        file.chmod(0o755)


def test_a_locked_folder_is_a_tool_error(service: MemoryService, tmp_path: Path) -> None:
    memory = create(service)
    service.wait_at_most(0.05)
    with (tmp_path / LOCK).open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StorageFailed, match=r"another process has held memory\.lock"):
            add(service, memory)
    assert add(service, memory)


def test_a_save_by_the_inspector_and_a_write_at_the_same_time_both_survive(
    service: MemoryService, tmp_path: Path
) -> None:
    memory = create(service)
    first = add(service, memory)
    file = tmp_path / "entries.jsonl"
    before = file.read_bytes()
    update = {"entryId": first, "tags": {"role": "user"}, "updateTime": "2026-05-11T09:00:00Z"}
    save(file, before + json.dumps(update).encode() + b"\n", before, wait=lambda _: None)
    second = add(service, memory)
    listed = service.call("list_entries", {"memory_id": memory}, "s")
    assert isinstance(listed, dict)
    entries = listed["entries"]
    assert isinstance(entries, list)
    assert [entry["entryId"] for entry in entries] == [second, first]  # type: ignore[index,call-overload]
    assert entries[1]["tags"] == {"role": "user"}  # type: ignore[index,call-overload]


@pytest.mark.parametrize("make", [lambda path: os.mkfifo(path), lambda path: path.mkdir()])
def test_something_else_in_the_place_of_a_file_is_an_error_not_a_hang(make, tmp_path: Path) -> None:
    service = MemoryService(tmp_path)
    memory = create(service)
    make(tmp_path / "entries.jsonl")
    with pytest.raises(StorageFailed, match="nothing was stored"):
        add(service, memory)
    service.close()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("keep\n")
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "entries.jsonl").symlink_to(outside)
    with pytest.raises(StorageFailed, match=r"entries.jsonl cannot be read: .*symbolic link"):
        MemoryService(folder)
    assert outside.read_text() == "keep\n"


def test_foreign_and_broken_lines_are_left_alone_and_do_not_stop_the_index(tmp_path: Path) -> None:
    rows = (
        b"\xff\xfe\n",
        b"[1]\n",
        b"{}\n",
        b'{"entryId": 7, "memoryId": "m"}\n',
        b"\n",
        b'{"entry_id": "e", "memory_id": "m", "raw_entry": "old lamp", "creation_time": "2020-01-01"}\n',
    )
    (tmp_path / "entries.jsonl").write_bytes(b"".join(rows))
    (tmp_path / "memories.jsonl").write_bytes(b'{"memory_id": "m", "title": "old"}\n')
    service = MemoryService(tmp_path)
    add(service, "m", "new lamp")
    found = service.call("search_memories", {"memory_id": "m", "query": "lamp"}, "s")
    assert isinstance(found, dict)
    assert found["count"] == 2
    assert (tmp_path / "entries.jsonl").read_bytes().startswith(b"".join(rows))
    service.close()


def test_the_words_of_a_query_are_never_the_query_language_of_the_engine(service: MemoryService) -> None:
    memory = create(service)
    add(service, memory)
    for query in (
        '"',
        "a OR",
        "NEAR(",
        "*",
        "summary:x",
        "'; DROP TABLE records; --",
        "^lamp",
        "\x00",
        "ﷺ" * 900,
    ):
        service.call("search_memories", {"memory_id": memory, "query": query}, "s")


def test_the_trace_has_every_call_and_its_result(service: MemoryService, tmp_path: Path) -> None:
    memory = create(service)
    add(service, memory)
    with pytest.raises(Exception, match="no memory"):
        service.call("get_context", {"memory_id": "other"}, "s")
    lines = records(tmp_path, "trace.jsonl")
    assert [line["params"]["name"] for line in lines if "params" in line] == [
        "create_memory",
        "add_entry",
        "get_context",
    ]
    assert [line["result"]["isError"] for line in lines if "result" in line] == [False, False, True]
    times = [line["timestamp"] for line in lines]
    assert times == sorted(times)


def test_a_last_line_of_any_length_is_found(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path, ("entries.jsonl",))
    with folder.locked():
        for length in (10, 5_000, 100_000):
            time, _ = folder.next_time()
            folder.append("entries.jsonl", {"creationTime": time, "rawEntry": "x" * length})
    fresh = LogFile(tmp_path / "entries.jsonl")
    assert fresh.latest() == folder.files["entries.jsonl"].latest() > 0
    fresh.close()
    folder.close()


def test_a_refused_call_with_a_huge_argument_is_in_the_trace_by_its_beginning(
    service: MemoryService, tmp_path: Path
) -> None:
    memory = create(service)
    for text in ("x" * 3_000_000, "\ud800"):
        with pytest.raises(Refused):
            service.call("put_context", {"memory_id": memory, "content": text}, "s")
    calls = [line for line in records(tmp_path, "trace.jsonl") if "params" in line][1:]
    assert [call["params"]["arguments"]["memory_id"] for call in calls] == [memory, memory]
    assert (tmp_path / "trace.jsonl").stat().st_size < 10_000


def test_threads_may_read_write_and_flush_while_the_files_are_replaced(
    service: MemoryService, tmp_path: Path
) -> None:
    memory = create(service)
    file = tmp_path / "entries.jsonl"
    add(service, memory)
    done, failures = Event(), []

    def repeat(tool: str) -> None:
        while not done.is_set():
            try:
                service.call(tool, {"memory_id": memory}, "s")
            except Exception as error:  # noqa: BLE001 - every failure counts
                failures.append(f"{tool}: {error!r}")

    threads = [
        Thread(target=repeat, args=(tool,))
        for tool in ("list_entries", "await_consistency", "get_memory") * 2
    ]
    for thread in threads:
        thread.start()
    try:
        for number in range(60):
            add(service, memory, f"lamp {number}")
            (tmp_path / "copy").write_bytes(file.read_bytes())
            (tmp_path / "copy").replace(file)
    finally:
        done.set()
        for thread in threads:
            thread.join(LIMIT)
    assert failures == []
    listed = service.call("get_memory", {"memory_id": memory}, "s")
    assert isinstance(listed, dict)
    assert listed["stats"]["entries"] == 61  # type: ignore[index,call-overload]
