"""A session opens with any part missing, broken or of another kind, and no file outside it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.files import reading
from ctxview.files.reading import ReadError
from ctxview.formats.kit.folder import EntryKind, SourceFolder
from ctxview.formats.kit.history import EmptyHistoryStream
from ctxview.formats.session.history import open_history
from ctxview.formats.session.parser import LARGEST_PART, agent_of, read_session
from tests.formats.session.builders import Build, sound
from tests.formats.session.sources import read_facts

EVERY_PART = sorted(
    {
        "messages.jsonl",
        "events.jsonl",
        "latest.md",
        "state",
        "cwd",
        "created_at",
        "updated_at",
        "meta.json",
        "state.json",
        "context",
        *(
            f"context/{name}"
            for name in (
                "budget",
                "pack.json",
                "pack.md",
                "summary.md",
                "facts.jsonl",
                "decisions.jsonl",
                "todo.md",
                "refs.jsonl",
                "pinned",
                "swap",
                "dedup",
                "child",
                "plan.json",
                "gc.policy",
                "swap/index.jsonl",
                "swap/chunk",
                "child/rev-1/result.md",
            )
        ),
    }
)


def read(root: Path):
    return read_session(SourceFolder(root))


@pytest.mark.parametrize("part", EVERY_PART)
def test_any_one_part_may_be_missing(part: str, tmp_path: Path):
    facts = read_facts(sound(tmp_path).remove(part).write())
    assert facts.session.title == "coder/default"
    assert facts.survey is not None


def test_an_empty_folder_can_be_read(tmp_path: Path):
    session = read(tmp_path)
    assert session.state is None
    assert session.budget is None
    assert session.children == ()
    assert list(session.problems()) == []


@pytest.mark.parametrize("content", [b"\0", b"\xff\xfe", b"[", b'"', b"\n\n", b"{}\n{}\n", b"x" * 5000])
@pytest.mark.parametrize("part", [each for each in EVERY_PART if "." in each])
def test_any_file_may_hold_any_bytes(part: str, content: bytes, tmp_path: Path):
    assert read_facts(sound(tmp_path).set(part, content).write()).survey is not None


def test_folders_in_place_of_files_are_problems(tmp_path: Path):
    root = Build(tmp_path, "s").write()
    for part in EVERY_PART:
        (root / part).mkdir(parents=True, exist_ok=True)
    session = read(root)
    assert {part.kind for part in session.problems()} == {EntryKind.FOLDER}


def test_a_link_is_not_followed_anywhere_on_the_way(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    root = sound(tmp_path).write()
    (root / "context" / "pinned" / "link.md").symlink_to(outside / "secret.md")
    (root / "context" / "child" / "linked").symlink_to(outside)
    session = read(root)
    assert {part.text for part in session.pinned} == {"You are a careful coder.\n", ""}
    assert [child.name for child in session.children] == ["rev-1"]
    assert session.links == ("context/child/linked", "context/pinned/link.md")
    folder = SourceFolder(root)
    assert folder.entry("context/child/linked/secret.md").kind is EntryKind.LINK
    assert folder.read("context/child/linked/secret.md").data is None


@pytest.mark.parametrize("name", ["../state", "/etc/passwd", "context/../../x", "a\0b", ""])
def test_a_name_that_leads_out_is_never_opened(name: str, tmp_path: Path):
    folder = SourceFolder(sound(tmp_path).write())
    assert folder.entry(name).kind is EntryKind.ABSENT
    assert folder.read(name).data is None


def test_a_pipe_does_not_hang(tmp_path: Path):
    root = sound(tmp_path).remove("state", "events.jsonl").write()
    os.mkfifo(root / "state")
    os.mkfifo(root / "events.jsonl")
    session = read(root)
    assert session.part("state").problem == "this is neither a file nor a folder"
    assert isinstance(open_history(session).events, EmptyHistoryStream)


def test_a_part_without_read_permission_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = reading.open_beneath

    def refuse(root: Path, relative: str) -> int:
        if relative.endswith(("summary.md", "messages.jsonl")):
            raise ReadError(root / relative, "reading it is not permitted")
        return real(root, relative)

    root = sound(tmp_path).write()
    monkeypatch.setattr("ctxview.files.open_file.open_beneath", refuse)
    monkeypatch.setattr(
        "ctxview.formats.kit.folder.read_beneath",
        lambda base, name, limit: os.close(refuse(base, name)) or reading.read_beneath(base, name, limit),
    )
    session = read(root)
    assert [(part.name, part.problem) for part in session.problems()] == [
        ("context/summary.md", "reading it is not permitted")
    ]
    messages = open_history(session).messages
    assert isinstance(messages, EmptyHistoryStream)
    assert messages.problem == "reading it is not permitted"


def test_a_derived_file_that_is_far_too_large_is_not_loaded(tmp_path: Path):
    root = sound(tmp_path).write()
    with (root / "context" / "summary.md").open("wb") as file:
        file.truncate(LARGEST_PART + 1)
    (part,) = read(root).problems()
    assert "more than the limit" in (part.problem or "")


def test_drafts_are_read_in_place_of_their_files(tmp_path: Path):
    root = sound(tmp_path).write()
    file = str(root / "context" / "budget")
    assert read_session(SourceFolder(root, {file: b"77\n"})).budget == 77
    assert read(root).budget == 0


def test_the_agent_follows_from_the_path(tmp_path: Path):
    assert agent_of(tmp_path / "agent" / "coder" / "session" / "default") == "coder"
    assert agent_of(tmp_path / "sessions" / "default") is None


@pytest.mark.parametrize(
    ("written", "budget"),
    [("0\n", 0), ("32000", 32000), ("", None), ("\n", None), (" 5\n", None), ("5\n6\n", None)],
)
def test_the_budget_is_read_as_the_builder_reads_it(written: str, budget: int | None, tmp_path: Path):
    assert read(sound(tmp_path).set("context/budget", written).write()).budget == budget
