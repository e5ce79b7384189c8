"""Files, controls and histories as files: ABI001 to ABI012."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.formats.session import rules
from ctxview.formats.session.root import read_root
from tests.formats.session.builders import Build, sound
from tests.formats.session.rules.tables import expect, findings_for
from tests.formats.session.sources import CORTEXFS, DOCUMENT, read_facts

CASES = [
    (1, "events.jsonl (absent)", "error", "there is no events.jsonl", "events.jsonl"),
    (1, "messages.jsonl (absent) ¶ messages.jsonl (link)", "error", "symbolic link", "messages.jsonl"),
    (2, "latest.md (absent) ¶ cwd (absent)", "warning", "lacks latest.md, cwd", "default"),
    (2, "context/swap (absent)", "warning", "context lacks swap/", "context"),
    (3, "context/child/rev.d/status = done", "error", '"rev.d"', "rev.d"),
    (3, "context/child/-x = a file", "error", '"-x"', "-x"),
    (4, "state = done done", "error", "done done", "state"),
    (4, "state += (blank)", "warning", "more than one word", "state"),
    (4, "context/budget =  12", "error", "white space", "budget"),
    (4, "context/budget += 12", "error", "more than one value", "budget"),
    (4, "context/budget = many", "error", "not an unsigned number", "budget"),
    (4, "context/budget = 18446744073709551616", "error", "64 bits", "budget"),
    (5, "cwd = workspace", "error", "clean absolute path", "cwd"),
    (5, "cwd = /work//space", "error", "clean absolute path", "cwd"),
    (5, "cwd (empty)", "error", "cwd is empty", "cwd"),
    (5, "meta.json = {", "error", "not JSON", "meta.json"),
    (5, "meta.json = []", "error", "not an object", "meta.json"),
    (5, 'meta.json = {"model": 5}', "error", "model is 5", "meta.json"),
    (5, 'meta.json = {"scope": "secret"}', "error", '"secret"', "meta.json"),
    (5, 'meta.json = {"scope": "temp"}', "warning", "temporary", "meta.json"),
    (6, "created_at = yesterday", "warning", "not a number", "created_at"),
    (6, "created_at = 1790000601", "warning", "1 second before", "updated_at"),
    (9, "state = idle", "warning", "should be done", "state"),
    (9, 'events.jsonl += {"type":"start","run":"r9","id":"r9"}', "warning", "active", "state"),
    (9, "messages.jsonl (empty)", "warning", "hold no answer", "latest.md"),
    (10, 'state.json.run = "r1"', "warning", "run is r1", "state.json"),
    (10, 'state.json.updated_at = "7"', "info", "updated_at is 7", "state.json"),
]
NEAR_MISSES = [
    (1, "messages.jsonl (empty) ¶ events.jsonl (empty)"),
    (2, "context/gc.policy (absent) ¶ context/plan.json (absent) ¶ current_run (absent)"),
    (3, "context/child/r-1.d_x/status = done"),
    (4, "state = cancelled"),
    (4, "state (torn) ¶ cwd (torn)"),
    (4, "context/budget (empty)"),
    (4, "context/budget = 18446744073709551615"),
    (5, "cwd = /"),
    (5, 'meta.json = {"model": "main", "scope": "shared", "anything": [1]}'),
    (5, "meta.json (empty)"),
    (6, "updated_at = 1790000000"),
    (7, 'meta.json = {"scope": "shared"}'),
    (9, "latest.md (torn)"),
    (9, 'events.jsonl += {"type":"start","run":"r9","id":"r9"} ¶ state = active'),
    (10, 'state.json = {"phase": "resting"}'),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words", "file"), CASES)
def test_a_fault_gives_a_finding(
    rule: int, changes: str, severity: str, words: str, file: str, tmp_path: Path
):
    expect(rule, changes, severity, words, file, tmp_path)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_a_near_miss_gives_no_finding(rule: int, changes: str, tmp_path: Path):
    assert findings_for(rule, changes, tmp_path) == []


def test_a_session_with_a_bad_name_is_an_error(tmp_path: Path):
    build = sound(tmp_path)
    build.root = build.root.with_name("a session")
    found = [each for each in rules.check_session(read_facts(build.write())) if each.rule == "ABI003"]
    assert "a session" in found[0].message


def test_a_pipe_in_the_place_of_a_history_is_an_error_and_is_not_opened(tmp_path: Path):
    root = sound(tmp_path).remove("messages.jsonl").write()
    os.mkfifo(root / "messages.jsonl")
    (found,) = (each for each in rules.check_session(read_facts(root)) if each.rule == "ABI001")
    assert "neither a file nor a folder" in found.message


def test_the_document_profile_requires_no_other_file(tmp_path: Path):
    root = sound(tmp_path).remove("latest.md", "context").write()
    assert "ABI002" not in {each.rule for each in rules.check_session(read_facts(root, DOCUMENT))}


def test_a_private_session_that_others_may_read_is_a_warning(tmp_path: Path):
    root = sound(tmp_path).write()
    (root / "context" / "summary.md").chmod(0o644)
    (found,) = (each for each in rules.check_session(read_facts(root)) if each.rule == "ABI007")
    assert "context/summary.md" in found.message


def test_links_in_the_terminal_folder_are_ignored(tmp_path: Path):
    root = sound(tmp_path).write()
    (root / "terminal").mkdir(mode=0o700)
    (root / "terminal" / "socket").symlink_to("/dev/null")
    assert "ABI007" not in {each.rule for each in rules.check_session(read_facts(root))}


# -- the index of a folder of sessions -----------------------------------------------------------------------


def test_every_fault_of_an_index_is_reported_with_its_origin(tmp_path: Path):
    build = sound(tmp_path)
    other = Build(tmp_path, "home/1000/agent/coder/session/older")
    other.set("messages.jsonl", "").set("cwd", "/elsewhere\n").set("updated_at", "1790000900\n").write()
    sessions = "home/1000/agent/coder/session/index"
    build.around |= {
        f"{sessions}/list": b"default\nolder\nlost\n",
        f"{sessions}/current": b"nowhere\n",
        f"{sessions}/by-cwd/cwd-990e10b3394addcf": b"older\n",
        f"{sessions}/by-uuid/u1": b"gone\n",
    }
    root = build.write().parent
    (root / "index" / "by-hash").symlink_to("/dev/null")
    found = list(rules.check_root(read_root(root), CORTEXFS))
    messages = {(each.severity.value, each.message.split(",")[0].split(";")[0]) for each in found}
    assert messages == {
        ("error", '"index/by-hash" is a symbolic link'),
        ("error", 'the list names "lost"'),
        ("error", 'the current session "nowhere" is not there'),
        ("warning", "older is newer than default"),
        ("warning", "cwd-990e10b3394addcf leads to older"),
        ("error", 'by-uuid leads to "gone"'),
    }
    assert {each.origin.line for each in found if "lost" in each.message} == {3}


def test_a_current_session_that_is_not_listed_is_a_warning(tmp_path: Path):
    build = sound(tmp_path)
    build.around["home/1000/agent/coder/session/index/list"] = b""
    build.around["home/1000/agent/coder/session/index/current"] = b"default\n"
    (found,) = rules.check_root(read_root(build.write().parent), CORTEXFS)
    assert (found.rule, found.severity.value) == ("ABI011", "warning")


@pytest.mark.parametrize(
    "place", ["session/memory", "session/../swap", "session/../../../history"], ids=["root", "agent", "home"]
)
def test_context_folders_beside_or_above_the_sessions_are_reported(place: str, tmp_path: Path):
    root = sound(tmp_path).write().parent
    (root.parent / place).mkdir()
    assert [each.rule for each in rules.check_root(read_root(root), CORTEXFS)] == ["ABI008"]


def test_a_session_may_have_the_name_of_a_context_folder(tmp_path: Path):
    build = sound(tmp_path)
    build.root = build.root.with_name("memory")
    build.around["home/1000/agent/coder/session/index/list"] = b"memory\n"
    root = read_root(build.write().parent)
    assert [each.name for each in root.sessions] == ["memory"]
    assert list(rules.check_root(root, CORTEXFS)) == []


@pytest.mark.parametrize("start", [".", "coder/session"])
def test_context_folders_are_named_relative_to_the_given_path(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    root = sound(tmp_path).write().parent
    (root.parent / "swap").mkdir()
    monkeypatch.chdir(root if start == "." else root.parent.parent)
    (found,) = rules.check_root(read_root(Path(start)), CORTEXFS)
    assert found.message == '"../swap" is outside of any session; nothing reads it'
    assert found.origin.file == ("../swap" if start == "." else "coder/swap")
