"""What cannot be read is called unreadable, and neither empty nor missing."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Finding, Severity
from ctxview.formats import Lens
from ctxview.formats.session import rules
from ctxview.formats.session.history import ColumnarStore
from ctxview.formats.session.source import SessionSource
from tests.formats.session.builders import Build, sha256, sound, user, words
from tests.formats.session.columnar_stores import columnar
from tests.formats.session.open_sessions import locked_session, make_fifo
from tests.formats.session.sources import DOCUMENT, comparison_with, observation_of, read_facts

PARTS = [
    "meta.json",
    "state",
    "cwd",
    "context/budget",
    "context/pack.json",
    "context/plan.json",
    "context/gc.policy",
    "context/pinned/system.md",
    "context/swap/index.jsonl",
    "context/dedup/index.jsonl",
    "context/child/rev-1/status",
]


def names_and_rules(root: Path, found: list[Finding]) -> set[tuple[str, str]]:
    return {(each.rule, os.path.relpath(each.origin.file, root)) for each in found}


def make_folder(path: Path) -> None:
    path.mkdir(0o700)


def make_socket(path: Path) -> None:
    # The whole path is too long for a socket.
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)


@pytest.mark.parametrize("make", [make_fifo, make_folder, make_socket])
@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_is_not_a_file_is_an_error(name: str, make, tmp_path: Path):
    root = sound(tmp_path).remove(name).write()
    make(root / name)
    found = list(rules.check_all(read_facts(root)))
    assert ("RAW002", name) in names_and_rules(root, found)


@pytest.mark.parametrize("area", ["swap/chunk", "dedup/blob"])
def test_a_chunk_or_blob_that_is_not_a_file_is_an_error(area: str, tmp_path: Path):
    build = sound(tmp_path)
    name = next(each for each in build.files if each.startswith(f"context/{area}/"))
    root = build.write()
    (root / name).unlink()
    make_fifo(root / name)
    assert ("RAW002", name) in names_and_rules(root, list(rules.check_all(read_facts(root))))


@pytest.mark.parametrize("name", ["context", "context/child", "context/swap", "context/pinned"])
def test_a_file_in_the_place_of_a_folder_is_an_error_under_every_profile(name: str, tmp_path: Path):
    root = sound(tmp_path).remove(name).set(name, "a file").write()
    found = list(rules.check_all(read_facts(root, DOCUMENT)))
    (wrong,) = (each for each in found if each.origin.file == str(root / name))
    assert (wrong.rule, wrong.message) == ("RAW002", "cannot be read: this is a file, not a folder")


def test_a_session_that_can_be_read_has_no_such_finding(tmp_path: Path):
    found = rules.check_all(read_facts(sound(tmp_path).write()))
    assert [each for each in found if each.rule == "RAW002"] == []


@contextmanager
def locked(name: str, change=lambda build: build) -> Iterator[tuple[Path, list[Finding]]]:
    """A session with one entry that the user may not read, and its findings."""
    with TemporaryDirectory() as folder:
        build = change(sound(Path(folder)))
        with locked_session(build, name) as root:
            found = list(rules.check_all(read_facts(root)))
        yield root, [each for each in found if each.severity is not Severity.INFO and each.rule != "ABI007"]


@pytest.mark.parametrize(
    "name",
    [
        "context/summary.md",
        "context/child",
        "context/child/rev-1",
        "context/child/rev-1/result.md",
        "context/swap/chunk",
        "context/swap/index.jsonl",
        "context/dedup/blob",
        "context/dedup/index.jsonl",
        "context/refs.jsonl",
        "context/pinned",
        "context",
        "messages.jsonl",
        "events.jsonl",
    ],
)
def test_an_unreadable_part_gets_one_finding_and_no_other_rule_calls_it_empty_or_gone(name: str):
    with locked(name) as (root, found):
        assert names_and_rules(root, found) == {("RAW002", name)}


def test_a_summary_that_is_too_large_is_not_called_empty(tmp_path: Path):
    root = sound(tmp_path).set("context/summary.md", "x" * (8 * 1024 * 1024 + 1)).write()
    found = [each for each in rules.check_all(read_facts(root)) if "empty" in each.message]
    assert found == []


@pytest.mark.parametrize(
    "name",
    [
        "context",
        "context/facts.jsonl",
        "context/child",
        "context/child/rev-1",
        "context/child/rev-1/status",
        "context/child/rev-1/result.md",
        "context/dedup/blob",
        "created_at",
        "updated_at",
    ],
)
def test_what_became_unreadable_is_not_called_removed(name: str):
    with TemporaryDirectory() as folder:
        build = sound(Path(folder))
        before = observation_of(read_facts(build.write()))
        with locked_session(build, name) as root:
            facts = read_facts(root)
            found = list(rules.check_succession(facts, comparison_with(facts, before)))
        assert found == []


@pytest.mark.parametrize("name", [".store", ".store/manifest.json", ".store/wal.jsonl", ".store/data"])
def test_a_store_that_became_unreadable_has_lost_nothing(name: str):
    with TemporaryDirectory() as folder:
        build = columnar(sound(Path(folder)))
        before = observation_of(read_facts(build.write()))
        with locked_session(build, name) as root:
            facts = read_facts(root)
            found = [*rules.check_succession(facts, comparison_with(facts, before)), *rules.check_all(facts)]
    place = ".store/manifest.json" if name == ".store" else name
    reported = names_and_rules(root, [each for each in found if each.severity is Severity.ERROR])
    assert reported <= {("RAW002", name), ("ABI012", place)}
    assert reported


@pytest.mark.parametrize(
    "name",
    ["context/child/rev-1", "context/child", "context/pinned", "context/swap", "context/dedup", "context"],
)
def test_a_fifo_in_the_place_of_a_folder_gets_the_only_finding(name: str, tmp_path: Path):
    root = sound(tmp_path).remove(name).write()
    if (root / name).exists():
        shutil.rmtree(root / name)
    make_fifo(root / name)
    found = [each for each in rules.check_all(read_facts(root)) if each.severity is not Severity.INFO]
    assert names_and_rules(root, found) == {("RAW002", name)}
    assert {each.message for each in found} == {"cannot be read: this is neither a file nor a folder"}


def with_swapped_output(build: Build) -> Build:
    output = "1 failed: test_blank_lines"
    name = f"sha256-{sha256(output)}"
    line = {"id": name, "kind": "tool_output", "source": "events.jsonl", "event": "call-1", "summary": "s"}
    build.set(f"context/swap/chunk/{name}", output)
    return build.add("context/swap/index.jsonl", {**line, "tokens": words(output)})


def with_lost_output(build: Build) -> Build:
    before = set(build.files)
    (chunk,) = set(with_swapped_output(build).files) - before
    return build.remove(chunk)


def with_small_budget(build: Build) -> Build:
    return build.set("context/budget", "30\n").pack()


def at_work(build: Build) -> Build:
    events = build.text("events.jsonl").splitlines(keepends=True)
    build.set("events.jsonl", "".join(events[:-1])).set("state", "active\n")
    return build.remove("state.json")


def with_repeated_content(build: Build) -> Build:
    content = "x" * 5000
    build.add("messages.jsonl", user(content, None), user(content, None)).blob(content, "messages:7-8")
    return build.pack()


@pytest.mark.parametrize(
    ("name", "change", "rule"),
    [
        ("events.jsonl", with_swapped_output, "ABI042"),
        ("messages.jsonl", with_small_budget, "ABI035"),
        ("context/budget", with_small_budget, "ABI035"),
        ("context/pinned", with_small_budget, "ABI035"),
        ("context/summary.md", with_small_budget, "ABI035"),
        ("state", at_work, "ABI018"),
        ("context/dedup/blob", with_repeated_content, "ABI045"),
        ("context", with_repeated_content, "ABI045"),
    ],
)
def test_no_rule_says_that_something_is_absent_when_it_may_be_in_an_unreadable_part(
    name: str, change: Callable[[Build], Build], rule: str
):
    with TemporaryDirectory() as folder:
        build = change(sound(Path(folder)))
        before = {each.rule for each in rules.check_all(read_facts(build.write()))}
        with locked_session(build, name) as root:
            found = {each.rule for each in rules.check_all(read_facts(root))}
    assert rule not in before
    assert rule not in found
    assert "RAW002" in found


@pytest.mark.parametrize(
    ("name", "change"), [("events.jsonl", with_lost_output), ("context/child/rev-1", lambda build: build)]
)
def test_what_cannot_be_read_is_the_only_gap(name: str, change: Callable[[Build], Build]):
    with TemporaryDirectory() as folder, locked_session(change(sound(Path(folder))), name) as root:
        gaps = SessionSource(root).reading(-1, Lens(ESTIMATES["words"])).state.missing
    assert [(gap.id, gap.status) for gap in gaps] == [(name, "unreadable")]


def test_shards_that_cannot_be_read_may_hold_what_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ColumnarStore, "readable", False)
    for in_log in range(5):
        root = columnar(sound(tmp_path), in_log).write()
        found = rules.check_all(read_facts(root))
        assert [each for each in found if each.severity is not Severity.INFO] == []


@pytest.mark.parametrize(
    "name", ["context/summary.md", "context/todo.md", "context/pinned/system.md", "latest.md"]
)
def test_a_text_that_is_not_utf8_is_a_finding(tmp_path: Path, name: str) -> None:
    build = sound(tmp_path / "session")
    build.write()
    path = build.root / name
    path.write_bytes(b"caf\xe9\n")
    found = SessionSource(build.root).findings(Lens(ESTIMATES["words"]))
    assert ("RAW004", name) in names_and_rules(build.root, list(found))
