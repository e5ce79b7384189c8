"""Sources of workspaces: eras, live changes, drafts, and everything that can be broken on a disk."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxview.cli import main
from ctxview.formats import discover, open_source
from ctxview.formats.interface import Hurry, Lens
from ctxview.formats.workspace.source import WorkspaceSource
from ctxview.formats.workspace.survey import SMALL
from tests.formats.ordinary_user import as_ordinary_user
from tests.formats.workspace.builders import (
    HISTORY,
    LENS,
    changed_home,
    findings,
    lines,
    rules_of,
    session_file,
    sound_home,
    write,
)

ROW = """
CREATE TABLE working_memory(session_id TEXT PRIMARY KEY, content TEXT, status TEXT, last_updated_turn INT,
  created_at TEXT, updated_at TEXT);
INSERT INTO working_memory VALUES ('s1', '## Current Task
Fix the clock.

## Decisions

## Key Facts
- <think>Hm.</think>

## Pending

## Errors
', 'active', 3, '2026-07-01T10:00:00Z', '2026-07-01T11:00:00Z');
"""


def without(files: dict[str, str], *names: str) -> dict[str, str]:
    return {name: text for name, text in files.items() if not any(part in name for part in names)}


@pytest.mark.parametrize(
    ("files", "era"),
    [
        (without(sound_home(), "CONTEXT"), "A"),
        (sound_home(), "B"),
        ({**sound_home(), "sessions.db": " "}, "C"),
        ({**sound_home(), "sessions.db": ROW}, "D"),
        ({"AGENTS.md": "- Be brief.\n"}, None),
    ],
)
def test_the_era_is_detected_by_the_files(files: dict[str, str], era: str | None, tmp_path: Path) -> None:
    source = open_source(write(tmp_path, files))
    assembly = source.reading(0, LENS).state.assembly
    assert source.format == "workspace"
    assert assembly is not None
    assert assembly.era == era


def test_the_working_memory_of_era_d_is_a_row_of_the_database(tmp_path: Path) -> None:
    write(tmp_path, {**without(sound_home(), "CONTEXT", "SESSION"), "sessions.db": ROW})
    found = [each for each in findings(tmp_path) if each.rule == "DOC007"]
    assert [each.origin.pointer for each in found] == ["/working_memory/s1"]
    state = WorkspaceSource(tmp_path).reading(0, LENS).state
    assert "working memory of cli:default" in [
        part.source for part in (state.assembly.components if state.assembly else ())
    ]
    assert all(block.form is None for block in state.blocks() if block.tier.startswith("session"))


def test_a_workspace_opened_without_its_home_does_not_look_at_the_history(tmp_path: Path) -> None:
    write(tmp_path, changed_home("CONTEXT-cli.md > Facts += - The port is 5433."))
    assert "DOC015" in rules_of(findings(tmp_path))
    assert "DOC015" not in rules_of(findings(tmp_path / "workspace"))


def test_a_file_of_a_workspace_opens_it(tmp_path: Path) -> None:
    write(tmp_path, sound_home())
    source = open_source(tmp_path / "workspace" / "memory" / "sessions" / "SESSION_41308070.md")
    assert (source.format, source.path) == ("workspace", tmp_path / "workspace")


def test_a_home_is_one_source_and_a_repository_may_hold_others(tmp_path: Path) -> None:
    write(tmp_path / "home", sound_home())
    write(tmp_path / "repo", {"AGENTS.md": "- Be brief.\n"})
    write(tmp_path / "repo" / "inner", {"messages.jsonl": "", "meta.json": "{}"})
    found = {(each.path.name, each.format) for each in discover(tmp_path).found}
    assert found == {("home", "workspace"), ("repo", "workspace"), ("inner", "session")}


def test_a_changed_file_is_read_again_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path, sound_home())
    source = WorkspaceSource(tmp_path)
    source.reading(0, LENS)
    path = tmp_path / "workspace" / "SOUL.md"
    path.write_text("# Soul\n\n- Assumptions are forbidden.\n")
    os.utime(path, (1, 1))
    later = source.again()
    assert later is not source
    assert [ref.id for ref in later.reading(0, LENS).state.refs] == ["workspace/SOUL.md:3"]
    assert source.reading(0, LENS).state.refs == ()
    old, new = (each.workspace.file("workspace/USER.md") for each in (source, later))
    assert old is not None
    assert new is old


def test_an_appended_message_is_seen(tmp_path: Path) -> None:
    write(tmp_path, sound_home())
    source = WorkspaceSource(tmp_path)
    before = source.reading(0, LENS).state.transcript
    with (tmp_path / HISTORY).open("a") as file:
        file.write(lines({"role": "tool", "content": "x", "tool_call_id": "call_77"}))
    later = source.again().reading(0, LENS)
    assert before is not None
    assert later.state.transcript is not None
    assert len(later.state.transcript) == len(before) + 1
    assert "HIS002" in rules_of(later.findings)


def test_a_large_history_is_long_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, changed_home('sessions/cli_default_2026-02-17.jsonl += {"content": "no role"}'))
    monkeypatch.setattr("ctxview.formats.workspace.source.SMALL", 10)
    source = WorkspaceSource(tmp_path)
    assert "HIS001" not in rules_of(source.reading(0, LENS).findings)
    work = source.abilities.work
    assert work is not None
    assert work.has_work(LENS)
    progress = Cancelling()
    while work.has_work(LENS):
        work.work(LENS, progress)
    assert "HIS001" in rules_of(source.reading(0, LENS).findings)
    assert SMALL > 10


class Cancelling:
    """Cancels every other question, so that the work needs several calls."""

    def __init__(self) -> None:
        self._asked = 0

    @property
    def cancelled(self) -> bool:
        self._asked += 1
        return self._asked % 2 == 0

    def report(self, done: int, total: int, what: str) -> None:
        assert 0 <= done <= total
        assert what


def test_a_reading_in_a_hurry_has_a_state_and_no_findings(tmp_path: Path) -> None:
    source = WorkspaceSource(write(tmp_path, sound_home()))
    reading = source.reading(0, Lens(LENS.counter, hurry=Hurry.LINKS))
    assert not reading.judged
    assert not reading.linked
    assert reading.state.tiers[0].blocks[0].id == "workspace/AGENTS.md"


def test_no_value_of_the_config_is_shown_but_its_memory_settings(tmp_path: Path) -> None:
    config = {
        "providers": {"x": {"apiKey": "sk-secret-value-0123456789"}},
        "memory": {"workingMemoryBudget": 900, "token": "unseen-word"},
    }
    source = WorkspaceSource(write(tmp_path, {**sound_home(), "config.json": json.dumps(config)}))
    reading = source.reading(0, LENS)
    assert reading.state.extra["memory.workingMemoryBudget"] == "900"
    assert "secret-value" not in repr(reading)
    assert "unseen-word" not in repr(reading.state)
    assert reading.state.assembly is not None
    assert {part.limit for part in reading.state.assembly.components if part.name == "working memory"} == {
        900
    }


def test_reading_creates_nothing_beside_a_database_that_is_open(tmp_path: Path) -> None:
    write(tmp_path, {**sound_home(), "sessions.db": " "})
    connection = sqlite3.connect(tmp_path / "sessions.db")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("INSERT INTO messages(id, session_id, role, content) VALUES (9, 's1', 'user', 'New.')")
    connection.commit()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    source = WorkspaceSource(tmp_path)
    database = source.workspace.database
    source.findings(LENS)
    assert database is not None
    assert database.messages == 2
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
    connection.close()


@pytest.mark.parametrize(
    "damage",
    [
        {"workspace/AGENTS.md": b"\x00\xff\xfe\x89PNG" * 100},
        {"workspace/CONTEXT-cli.md": b"\xff\xfe## Task\n\x00"},
        {"workspace/memory/sessions/SESSION_41308070.md": b"---\nsession_key"},
        {"workspace/memory/MEMORY.md": b"- [" * 20_000},
        {"workspace/SOUL.md": b"> " * 5000 + b"deep"},
        {"workspace/SOUL.md": b"- a\n" + b"".join(b" " * at + b"- x\n" for at in range(300))},
        {HISTORY: b'{"_type": "metadata"}\n{"role": "user", "content"'},
        {HISTORY: b"\x00" * 5000},
        {"workspace/memory/audit/cli_default.jsonl": b"[]\n3\n\xff\n"},
        {"config.json": b'{"memory": ['},
        {"workspace/memory/learnings.jsonl": b'{"tool_name": 3, "context": []}\n'},
    ],
)
def test_damaged_files_give_findings_and_the_rest_is_shown(damage: dict[str, bytes], tmp_path: Path) -> None:
    write(tmp_path, {**sound_home(), **damage})
    source = WorkspaceSource(tmp_path)
    reading = source.reading(0, LENS)
    assert {"workspace/USER.md"} <= {block.id for block in reading.state.blocks()}
    source.findings(LENS)


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 3000])
def test_a_broken_database_is_named_and_the_rest_is_shown(content: bytes, tmp_path: Path) -> None:
    write(tmp_path, sound_home())
    (tmp_path / "sessions.db").write_bytes(content)
    reading = WorkspaceSource(tmp_path).reading(0, LENS)
    named = [
        each
        for each in reading.findings
        if each.rule == "RAW002" and each.origin.file.endswith("sessions.db")
    ]
    assert bool(named) == bool(content)
    assert {"workspace/USER.md"} <= {block.id for block in reading.state.blocks()}


@pytest.mark.parametrize("value", ["CAST(x'636166E9' AS TEXT)", "x'636166E9'"])
def test_text_of_the_database_that_is_not_utf8_is_a_finding(
    value: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = f"INSERT INTO messages(id, session_id, role, content) VALUES (8, 's1', 'user', {value});"
    write(tmp_path, {**sound_home(), "sessions.db": f"{row} UPDATE sessions SET session_key = {value}"})
    assert main(["check", str(tmp_path), "--select", "RAW"]) == 1
    found = capsys.readouterr().out
    assert [line.partition("RAW004 ")[2].split(",")[0] for line in found.splitlines()] == [
        "1 text of messages is not UTF-8",
        "1 text of sessions is not UTF-8",
    ]


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"# Rules\n\n- Serve caf\xe9.\n", 3, "the byte 0xE9 is not UTF-8"),
        ("- Serve coffee.\n".encode("utf-16"), 1, "byte order mark of UTF-16"),
        (b"\xef\xbb\xbf- Serve coffee.\n- caf\xe9\n", 2, "the byte 0xE9 is not UTF-8"),
    ],
)
def test_instructions_that_are_not_utf8_are_a_finding(
    tmp_path: Path, data: bytes, line: int, words: str
) -> None:
    write(tmp_path, {"AGENTS.md": data, "CLAUDE.md": b"\xef\xbb\xbf- Serve tea.\n"})
    found = [each for each in WorkspaceSource(tmp_path).findings(LENS) if each.rule == "RAW004"]
    assert [(Path(each.origin.file).name, each.origin.line) for each in found] == [("AGENTS.md", line)]
    assert words in found[0].message


def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("- The secret of the other folder.\n")
    home = write(tmp_path / "home", sound_home())
    for name in ("workspace/SOUL.md", "workspace/CONTEXT-cli.md"):
        (home / name).unlink()
        (home / name).symlink_to(tmp_path / "secret.md")
    reading = WorkspaceSource(home).reading(0, LENS)
    assert "secret of the other" not in repr(reading)
    assert "RAW002" in rules_of(reading.findings)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "config.json",
            "sessions",
            "workspace/memory",
            "workspace/memory/audit",
            "workspace/memory/sessions",
        ),
        *("workspace/memory/audit/cli_default.jsonl", "workspace/memory/MEMORY.md", "workspace/skills"),
    ],
)
def test_a_part_that_cannot_be_read_is_one_error_and_nothing_in_it_is_called_absent(name: str) -> None:
    with TemporaryDirectory() as folder:
        files = {**sound_home(), "config.json": "{}", "workspace/skills/tides.md": "- Read the tables.\n"}
        files["workspace/SOUL.md"] += "- What lasts is in `memory/MEMORY.md`.\n"
        home = write(Path(folder), files)
        before = {(each.rule, each.message) for each in findings(home)}
        for path in [home, *home.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        (home / name).chmod(0)
        with as_ordinary_user():
            found = findings(home)
        (home / name).chmod(0o755)
    new = [each for each in found if (each.rule, each.message) not in before and each.rule != "WSP015"]
    assert [(each.rule, each.origin.file) for each in new] == [("RAW002", str(home / name))]


def test_a_fifo_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    home = write(tmp_path, {name: text for name, text in sound_home().items() if "/audit/" not in name})
    os.mkfifo(home / "workspace" / "memory" / "audit")
    found = [(each.origin.file, each.message) for each in findings(home) if each.rule == "RAW002"]
    audit = str(home / "workspace" / "memory" / "audit")
    assert found == [(audit, "cannot be read: this is neither a file nor a folder")]


RULE_FILES = {"AGENTS.md": "- Be brief.\n", "shared/rules/tea.md": "- Serve tea.\n"}


@pytest.mark.parametrize(
    ("target", "rule", "words"),
    [
        ("../shared/rules", "RAW003", "the files in shared/rules were not read"),
        ("rules", "RAW002", "symbolic link"),
        ("../gone", "RAW002", "symbolic link"),
    ],
)
def test_a_folder_of_rules_that_is_a_link_is_named(
    tmp_path: Path, target: str, rule: str, words: str
) -> None:
    repository = write(tmp_path, {**RULE_FILES, ".cursor/keep": ""})
    (repository / ".cursor" / "rules").symlink_to(target)
    found = [each for each in findings(repository) if each.rule.startswith("RAW")]
    assert [(each.rule, each.origin.file) for each in found] == [
        (rule, str(repository / ".cursor" / "rules"))
    ]
    assert words in found[0].message


def test_a_pipe_or_file_in_the_place_of_a_folder_of_rules_is_an_error(tmp_path: Path) -> None:
    repository = write(tmp_path, {**RULE_FILES, ".claude/rules": "- Serve tea.\n"})
    os.mkfifo(repository / ".claude" / "skills")
    found = {each.origin.file for each in findings(repository) if each.rule == "RAW002"}
    assert found == {str(repository / ".claude" / name) for name in ("rules", "skills")}


def test_rules_in_folders_that_are_too_deep_are_counted(tmp_path: Path) -> None:
    deep = ".claude/rules/a/b/c/d"
    repository = write(tmp_path, {**RULE_FILES, f"{deep}/tea.md": "- Serve tea.\n"})
    (found,) = (each for each in findings(repository) if each.rule == "RAW003")
    assert found.origin.file == str(repository / deep)


def test_files_that_vanish_while_they_are_read_are_no_error(tmp_path: Path) -> None:
    write(tmp_path, sound_home())
    source = WorkspaceSource(tmp_path)
    source.reading(0, LENS)
    for name in ("workspace/SOUL.md", HISTORY, "workspace/memory/MEMORY.md"):
        (tmp_path / name).unlink()
    later = source.again()
    assert "memory" not in [tier.name for tier in later.reading(0, LENS).state.tiers]
    later.findings(LENS)


def test_appended_compactions_are_revisions_with_the_document_as_it_was(tmp_path: Path) -> None:
    bodies = ["- One boat.\n", "- Two boats.\n", "- Three boats.\n"]
    summaries = [
        f"## Compaction Summary (2026-02-1{day}T10:00:00Z)\n{body}\n" for day, body in enumerate(bodies)
    ]
    files = {"SOUL.md": "- Calm.\n", "memory/sessions/SESSION_41308070.md": session_file("".join(summaries))}
    source = WorkspaceSource(write(tmp_path, files))

    labels = [(each.label, each.time) for each in source.revisions]
    assert labels == [
        ("compaction 1", "2026-02-10T10:00:00Z"),
        ("compaction 2", "2026-02-11T10:00:00Z"),
        ("now", None),
    ]
    states = [source.reading(number, LENS).state for number in range(3)]
    assert [state.revision for state in states] == ["compaction 1", "compaction 2", "now"]
    shown = [[block.text for block in state.blocks() if "boat" in block.text] for state in states]
    assert shown == [["One boat."], ["One boat.", "Two boats."], ["One boat.", "Two boats.", "Three boats."]]
    prompts = [source.prompt(number, LENS).text for number in range(3)]
    assert ["Three" in text for text in prompts] == [False, False, True]
    events = [event.revision for event in states[2].timeline if event.label.startswith("compaction appended")]
    assert events == [0, 1, 2]


def test_one_compaction_is_no_history(tmp_path: Path) -> None:
    body = "## Compaction Summary (2026-02-10T10:00:00Z)\n- One boat.\n"
    files = {"SOUL.md": "- Calm.\n", "memory/sessions/SESSION_41308070.md": session_file(body)}
    assert [each.label for each in WorkspaceSource(write(tmp_path, files)).revisions] == ["now"]
