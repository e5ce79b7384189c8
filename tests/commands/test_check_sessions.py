"""Repeated checks of a session: a loss is reported until it is accepted with --forget."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ctxview.cli import main
from ctxview.core.findings import REGISTRY
from ctxview.formats.session.survey import analysis as knowledge
from ctxview.formats.session.survey.last_look import compare_looks
from tests.formats.session.builders import Build, sound, user
from tests.formats.session.open_sessions import file_states

LOST = {"ABI057", "ABI058", "ABI059"}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]):
    """Run a check and return its findings of the rules that compare two checks: rule and severity."""

    def run(*arguments: str | Path) -> set[tuple[str, str]]:
        main(["check", *map(str, arguments), "--format", "json"])
        found = json.loads(capsys.readouterr().out)
        return {(each["rule"], each["severity"]) for each in found if "ABI057" <= each["rule"] <= "ABI061"}

    return run


def rewritten(build: Build, name: str = "messages.jsonl", old: str = "please", new: str = "PLEASE") -> Path:
    return build.set(name, build.text(name).replace(old, new)).write()


def test_a_history_that_only_grew_is_not_a_finding(check, tmp_path: Path) -> None:
    build = sound(tmp_path / "s")
    for _ in range(3):
        assert check(build.write()) == set()
        build.add("messages.jsonl", user("and more"))


def test_a_rewritten_history_is_reported_until_it_is_accepted(check, tmp_path: Path) -> None:
    build = sound(tmp_path / "s")
    assert check(build.write()) == set()

    root = rewritten(build)

    assert [check(root) for _ in range(2)] == [{("ABI057", "error")}] * 2
    assert check("--forget", root) == set()
    assert check(root) == set()
    rewritten(build, old="PLEASE", new="please")
    assert check(root) == {("ABI057", "error")}


def test_rewritten_events_are_a_warning_until_they_are_accepted(check, tmp_path: Path) -> None:
    build = sound(tmp_path / "s")
    check(build.write())
    root = rewritten(build, "events.jsonl", "asked for", "wanted")

    assert [check(root) for _ in range(2)] == [{("ABI057", "warning")}] * 2


def test_a_changed_fact_is_reported_once(check, tmp_path: Path) -> None:
    build = sound(tmp_path / "s")
    check(build.write())
    root = rewritten(build, "context/facts.jsonl", "is run with", "runs with")

    assert [check(root) for _ in range(2)] == [{("ABI060", "warning")}, set()]


def test_a_session_that_moved_to_another_agent_is_reported_once(check, tmp_path: Path) -> None:
    root = sound(tmp_path / "s").write()
    check(root)
    moved = root.parent.parent.parent / "keeper" / "session" / "default"
    moved.parent.mkdir(parents=True)
    root.rename(moved)

    assert [("ABI061", "warning") in check(moved) for _ in range(2)] == [True, False]


def test_a_copy_for_another_agent_is_another_session(check, tmp_path: Path) -> None:
    root = sound(tmp_path / "s").write()
    check(root)
    copied = root.parent.parent.parent / "keeper" / "session" / "default"
    shutil.copytree(root, copied)

    assert ("ABI061", "warning") not in check(copied)


def test_a_history_that_came_back_is_compared_with_its_former_state(check, tmp_path: Path) -> None:
    build = sound(tmp_path / "s")
    history = build.text("messages.jsonl")
    check(build.write())
    check(build.remove("messages.jsonl").write())

    assert check(build.set("messages.jsonl", history).write()) == set()
    assert check(rewritten(build)) == {("ABI057", "error")}


def test_forget_accepts_only_the_named_session(check, tmp_path: Path) -> None:
    builds = [sound(tmp_path / name) for name in ("one", "two")]
    roots = [build.write() for build in builds]
    check(*roots)
    for build in builds:
        rewritten(build)

    assert check("--forget", roots[0]) == set()
    assert [check(root) for root in roots] == [set(), {("ABI057", "error")}]


def test_each_session_of_a_folder_is_remembered(check, tmp_path: Path) -> None:
    build = sound(tmp_path / "s")
    build.write()
    check(tmp_path / "s")
    rewritten(build)

    assert check(tmp_path / "s") == {("ABI057", "error")}


def test_a_check_writes_nothing_into_the_session(check, state: Path, tmp_path: Path) -> None:
    root = sound(tmp_path / "s").write()
    before = file_states(root)

    check(root)
    check("--forget", root)

    assert file_states(root) == before
    assert len(list((state / "ctxview" / "observations").iterdir())) == 1


def test_a_check_compares_only_once(check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    monkeypatch.setattr(knowledge, "compare_looks", lambda *given: looks.append(1) or compare_looks(*given))

    check(sound(tmp_path / "s").write())

    assert looks == [1]


def test_a_state_folder_that_cannot_be_written_is_one_note(
    tmp_path: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roots = [sound(tmp_path / name).write() for name in ("one", "two")]
    state.write_text("a file in place of the folder")

    code = main(["check", *map(str, roots)])

    output = capsys.readouterr()
    assert (code, output.out) == (0, "")
    notes = [line for line in output.err.splitlines() if "note:" in line]
    assert len(notes) == 1
    assert "the next check cannot compare with this one" in notes[0]


def test_a_failed_forget_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = sound(tmp_path / "s").write()

    def refuse(_path: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(Path, "unlink", refuse)

    assert main(["check", "--forget", str(root)]) == 2
    assert "cannot forget the last check" in capsys.readouterr().err


def test_the_fix_of_every_loss_names_forget(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])

    assert "--forget" in capsys.readouterr().out
    assert all("ctxview check --forget SESSION" in REGISTRY[each].explanation.fix for each in LOST)
