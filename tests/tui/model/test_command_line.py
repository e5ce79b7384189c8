"""Commands of the `:` line are found by parts of their names, best match first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.formats.interface import Revision
from ctxview.tui.model.command_line import (
    Command,
    CommandKind,
    goto_command,
    matching,
    path_commands,
    path_typed,
    revision_commands,
    theme_commands,
    why_commands,
)

ACTIONS = [
    Command(CommandKind.ACTION, name, about, name, key)
    for name, about, key in (
        ("next finding", "Go to the next finding", "F8"),
        ("next pane", "Next pane", "Tab"),
        ("sort", "Next order", "s"),
        ("save", "Show the difference, then save", "w"),
        ("redo", "Redo the last undone change", "Ctrl-r"),
        ("theme", "Next theme", "t"),
    )
]
ROUNDS = revision_commands([Revision(f"round {number}", "received", Path("x")) for number in range(1, 31)])
THEMES = theme_commands(["ctxview-dark", "ctxview-light"])
ALL = [*ACTIONS, *THEMES, *ROUNDS]


def best(typed: str) -> str:
    return matching(typed, ALL)[0].name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("nxt", "next finding"),
        ("n f", "next finding"),
        ("finding", "next finding"),
        ("so", "sort"),
        ("ctrl-r", "redo"),
        ("round 9", "round 9"),
        ("rou 12", "round 12"),
        ("theme light", "theme light"),
        ("light", "theme light"),
        ("theme", "theme"),
        ("nexf finding", "next finding"),
        ("undone", "redo"),
    ],
)
def test_the_best_match_comes_first(typed: str, name: str) -> None:
    assert best(typed) == name


@pytest.mark.parametrize("typed", ["qqqq", "round 99", "round x", "round 37", "theme pink", "goto abc"])
def test_no_match_is_no_command(typed: str) -> None:
    others = [Command(CommandKind.ACTION, "go to budget", "Go to Budget", "go_to_budget", "4")]
    timed = revision_commands(
        [Revision("round 4", "received", Path("x"), time="2026-03-11T22:48:37.408Z")],
    )
    assert matching(typed, [*ALL, *others, *timed]) == []


def test_a_time_finds_a_revision() -> None:
    timed = revision_commands([Revision("round 4", "received", Path("x"), time="2026-03-11T22:48:37.408Z")])
    assert matching("22:48", timed) == timed


@pytest.mark.parametrize("typed", ["goto abc", "goto -1", "goto 0"])
def test_goto_asks_for_a_number_when_it_gets_none(typed: str) -> None:
    command = goto_command(typed)
    assert command is not None
    assert command.value == ""
    assert command.about.endswith("is not a number from 1")


def test_everything_is_offered_before_anything_is_typed() -> None:
    assert matching("  ", ALL) == ALL


@given(st.text(max_size=20))
def test_any_text_can_be_typed(typed: str) -> None:
    assert set(matching(typed, ALL)) <= set(ALL)


@given(st.sampled_from(ALL))
def test_a_whole_name_finds_its_command(command: Command) -> None:
    assert matching(command.name, ALL)[0] == command


@pytest.mark.parametrize(("typed", "value"), [("goto 5000", "5000"), ("42", "42"), ("goto 1,234", "1234")])
def test_a_number_goes_to_a_row(typed: str, value: str) -> None:
    found = goto_command(typed)
    assert found is not None
    assert (found.kind, found.value) == (CommandKind.ROW, value)


@pytest.mark.parametrize("typed", ["", "goto", "round 9", "²", "-3"])
def test_anything_else_is_not_a_row(typed: str) -> None:
    assert goto_command(typed) is None


def test_why_takes_any_name_and_offers_those_of_blocks() -> None:
    names = ["h1-time-zone", "h2-page-tie", "note-H1"]
    known = [*ALL, *(Command(CommandKind.BLOCK, name) for name in names)]
    assert [each.value for each in why_commands("why  h1", known)] == ["h1", "h1-time-zone", "note-H1"]
    assert [each.value for each in why_commands("why h2-page-tie", known)] == ["h2-page-tie"]
    assert why_commands("why", known) == why_commands("whys h1", known) == []


def test_the_path_follows_the_word_open() -> None:
    assert path_typed("open a b/c") == "a b/c"
    assert path_typed("open ") == ""
    assert path_typed("open") is None
    assert path_typed("openly x") is None


def test_paths_are_completed_folders_first(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "read.json").write_text("{}")
    (tmp_path / ".hidden").write_text("")
    (tmp_path / "other").write_text("")
    assert [each.name for each in path_commands("r", tmp_path)] == ["open runs/", "open read.json"]
    assert [each.name for each in path_commands("", tmp_path)] == [
        "open runs/",
        "open other",
        "open read.json",
    ]
    assert path_commands(".h", tmp_path)[0].value == str(tmp_path / ".hidden")


def test_a_whole_path_comes_first(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run2").mkdir()
    found = path_commands("run", tmp_path)
    assert [each.name for each in found] == ["open run", "open run2/"]
    assert found[0].value == str(tmp_path / "run")


def test_a_missing_path_says_so_and_opens_nothing(tmp_path: Path) -> None:
    for typed in ("no such", "no/such", "\0"):
        (only,) = path_commands(typed, tmp_path)
        assert only.value == ""
        assert only.about
