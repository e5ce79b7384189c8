"""A session opens with any part missing, broken or in disguise, and nothing outside it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.files import reading
from ctxview.files.reading import Unreadable
from ctxview.formats.session.folder import EntryKind, SessionFolder
from ctxview.formats.session.history import EmptyStream, open_history
from ctxview.formats.session.read import LARGEST_PART, agent_of, read_session
from tests.formats.session.builders import Build, sound
from tests.formats.session.looking import look_at

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
    return read_session(SessionFolder(root))


@pytest.mark.parametrize("part", EVERY_PART)
def test_any_one_part_may_be_missing(part: str, tmp_path: Path):
    look = look_at(sound(tmp_path).remove(part).write())
    assert look.session.title == "coder/default"
    assert look.survey is not None


def test_an_empty_folder_can_be_read(tmp_path: Path):
    session = read(tmp_path)
    assert session.state is None
    assert session.budget is None
    assert session.children == ()
    assert list(session.problems()) == []


@pytest.mark.parametrize("content", [b"\0", b"\xff\xfe", b"[", b'"', b"\n\n", b"{}\n{}\n", b"x" * 5000])
@pytest.mark.parametrize("part", [each for each in EVERY_PART if "." in each])
def test_any_file_may_hold_anything(part: str, content: bytes, tmp_path: Path):
    assert look_at(sound(tmp_path).set(part, content).write()).survey is not None


def test_folders_stand_where_files_should(tmp_path: Path):
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
    folder = SessionFolder(root)
    assert folder.entry("context/child/linked/secret.md").kind is EntryKind.LINK
    assert folder.read("context/child/linked/secret.md").data is None


@pytest.mark.parametrize("name", ["../state", "/etc/passwd", "context/../../x", "a\0b", ""])
def test_a_name_that_leads_out_is_never_opened(name: str, tmp_path: Path):
    folder = SessionFolder(sound(tmp_path).write())
    assert folder.entry(name).kind is EntryKind.ABSENT
    assert folder.read(name).data is None


def test_a_pipe_does_not_hang(tmp_path: Path):
    root = sound(tmp_path).remove("state", "events.jsonl").write()
    os.mkfifo(root / "state")
    os.mkfifo(root / "events.jsonl")
    session = read(root)
    assert session.part("state").problem == "this is neither a file nor a folder"
    assert isinstance(open_history(session).events, EmptyStream)


def test_a_part_that_may_not_be_read_is_a_part_with_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = reading.open_beneath

    def refuse(root: Path, relative: str) -> int:
        if relative.endswith(("summary.md", "messages.jsonl")):
            raise Unreadable(root / relative, "reading it is not permitted")
        return real(root, relative)

    root = sound(tmp_path).write()
    monkeypatch.setattr("ctxview.files.held_file.open_beneath", refuse)
    monkeypatch.setattr(
        "ctxview.formats.session.folder.read_beneath",
        lambda base, name, limit: os.close(refuse(base, name)) or reading.read_beneath(base, name, limit),
    )
    session = read(root)
    assert [(part.name, part.problem) for part in session.problems()] == [
        ("context/summary.md", "reading it is not permitted")
    ]
    messages = open_history(session).messages
    assert isinstance(messages, EmptyStream)
    assert messages.problem == "reading it is not permitted"


def test_a_derived_file_that_is_far_too_large_is_not_loaded(tmp_path: Path):
    root = sound(tmp_path).write()
    with (root / "context" / "summary.md").open("wb") as file:
        file.truncate(LARGEST_PART + 1)
    (part,) = read(root).problems()
    assert "more than the limit" in (part.problem or "")


def test_drafts_stand_in_for_their_files(tmp_path: Path):
    root = sound(tmp_path).write()
    file = str(root / "context" / "budget")
    assert read_session(SessionFolder(root, {file: b"77\n"})).budget == 77
    assert read(root).budget == 0


def test_the_agent_is_told_by_the_place(tmp_path: Path):
    assert agent_of(tmp_path / "agent" / "coder" / "session" / "default") == "coder"
    assert agent_of(tmp_path / "sessions" / "default") is None


@pytest.mark.parametrize(
    ("written", "budget"),
    [("0\n", 0), ("32000", 32000), ("", None), ("\n", None), (" 5\n", None), ("5\n6\n", None)],
)
def test_the_budget_is_read_as_the_builder_reads_it(written: str, budget: int | None, tmp_path: Path):
    assert read(sound(tmp_path).set("context/budget", written).write()).budget == budget
