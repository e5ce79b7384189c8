"""A bound that is reached is a row of what is missing and a finding; it hides nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import main
from ctxview.core.state import ContextState
from ctxview.formats import Lens
from ctxview.formats.kit import folder
from ctxview.formats.session import caps, parser
from ctxview.formats.session.caps import MOST_SHOWN
from ctxview.formats.session.rules import dedup_gc
from ctxview.formats.session.source import SessionSource
from ctxview.formats.session.state import timeline
from ctxview.formats.session.store.gc import GcOutcome
from tests.formats.session.builders import Build, plan, sound, tool
from tests.formats.session.store.gc_plans import old_plan

LENS = Lens(ESTIMATES["words"])


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def shown(build: Build) -> tuple[ContextState, dict[str, str], set[tuple[str, str]]]:
    """The state, its gaps about what was left out, and the findings about that."""
    root = build.write()
    reading = SessionSource(root).reading(-1, LENS)
    gaps = {gap.id: gap.why for gap in reading.state.missing if gap.status == "left out"}
    found = {
        (str(Path(each.origin.file).relative_to(root)), each.message)
        for each in reading.findings
        if each.rule == "RAW003"
    }
    return reading.state, gaps, found


def facts(count: int) -> list[dict[str, str]]:
    return [{"id": f"x{number}", "text": "a fact", "source": "messages:1"} for number in range(count)]


def test_many_facts_hide_no_other_reference_and_the_rest_is_named(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/facts.jsonl", "").pack()
    few = {ref.kind for ref in shown(build)[0].refs}
    build.add("context/facts.jsonl", *facts(MOST_SHOWN + 7))

    state, gaps, found = shown(build)

    assert {ref.kind for ref in state.refs} == few
    why = f"only the first {MOST_SHOWN:,} of {MOST_SHOWN + 7:,} entries are shown"
    assert gaps == {"context/facts.jsonl": why}
    assert found == {("context/facts.jsonl", why)}


def test_as_many_facts_as_are_shown_leave_nothing_out(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/facts.jsonl", "").add("context/facts.jsonl", *facts(MOST_SHOWN))
    assert shown(build)[1:] == ({}, set())


def with_children(build: Build, *names: str) -> Build:
    for name in names:
        for file in ("agent", "session", "status", "handoff.md", "result.md", "refs.jsonl"):
            build.set(f"context/child/{name}/{file}", build.text(f"context/child/rev-1/{file}"))
    return build


def test_a_child_that_is_not_read_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser, "MOST_CHILDREN", 1)
    ref = {"id": "r9", "path": "context/child/z/result.md", "kind": "child_result", "summary": "s"}
    build = with_children(sound(tmp_path), "z").add("context/refs.jsonl", ref)

    _, gaps, found = shown(build)

    why = "only the first 1 of 2 were read"
    assert gaps == {"context/child": why}
    assert found == {("context/child", why)}
    rules = {each.rule for each in SessionSource(build.write()).findings(LENS)}
    assert not rules & {"ABI027", "ABI044", "ABI049"}


def test_exactly_as_many_children_as_are_read_leave_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser, "MOST_CHILDREN", 2)
    assert shown(with_children(sound(tmp_path), "z"))[1:] == ({}, set())


@pytest.mark.parametrize(("bound", "place"), [("MOST_CHILDREN", "child"), ("MOST_PINNED", "pinned")])
def test_a_pack_without_all_its_sources_is_not_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    bound: str,
    place: str,
) -> None:
    monkeypatch.setattr(parser, bound, 1)
    build = with_children(sound(tmp_path), "z").set("context/pinned/z.md", "also\n")
    root = build.remove("context/pack.json").remove("context/pack.md").write()

    assert main(["pack", str(root), "--write"]) == 2
    assert f"nothing was written: context/{place}: only the first 1 of 2 were read" in capsys.readouterr().err
    assert not (root / "context/pack.json").exists()


def test_nothing_that_an_unread_child_may_name_is_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphan = f"context/dedup/blob/sha256-{'0' * 64}"
    build = with_children(sound(tmp_path), "z").set(orphan, "x")
    assert orphan in {item.name for item in old_plan(build).removals}

    monkeypatch.setattr(parser, "MOST_CHILDREN", 1)
    chunks = [item for item in old_plan(build).items if item.kind in ("chunk", "blob")]
    assert {item.outcome for item in chunks} == {GcOutcome.PROTECTED}
    assert all("it may be referred to from context/child" in item.reason for item in chunks)


def test_a_folder_with_too_many_entries_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = sound(tmp_path)
    for number in range(40):
        build.set(f"context/pinned/p{number:02}.md", "pinned\n")
    monkeypatch.setattr(folder, "MOST_ENTRIES", 30)

    assert shown(build)[1] == {"context/pinned": "11 more entries were not read"}


def boxes(count: int) -> str:
    return "".join(f"- [x] item {number}\n" for number in range(count))


def test_many_todo_items_hide_no_plan_and_the_rest_is_named(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/todo.md", boxes(MOST_SHOWN + 3)).set("context/plan.json", plan())

    state, gaps, found = shown(build)

    assert state.todo is not None
    assert [item.kept_in for item in state.todo.items][-3:] == ["todo.md", "plan", "plan"]
    assert state.todo.summary.endswith("of those shown")
    why = f"only the first {MOST_SHOWN:,} of {MOST_SHOWN + 3:,} entries are shown"
    assert gaps == {"context/todo.md": why}
    assert found == {("context/todo.md", why)}


def test_as_many_todo_items_as_are_shown_leave_nothing_out(tmp_path: Path) -> None:
    state, *left_out = shown(sound(tmp_path).set("context/todo.md", boxes(MOST_SHOWN)))
    assert left_out == [{}, set()]
    assert state.todo is not None
    assert "shown" not in state.todo.summary


def test_folders_that_were_not_searched_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = sound(tmp_path)
    assert shown(build)[1:] == ({}, set())
    monkeypatch.setattr(parser, "MOST_WALKED", 1)

    _, gaps, found = shown(build)

    ((name, why),) = gaps.items()
    assert name == "context"
    assert why.endswith("not searched for links and open permissions")
    assert found == {(name, why)}


def test_a_folder_that_is_too_deep_to_be_searched_is_named(tmp_path: Path) -> None:
    deep = "/".join(["notes", *"abcdefgh"])
    build = sound(tmp_path).set(f"{deep}/x", "x\n")
    why = "this folder was not searched for links and open permissions"
    assert shown(build)[1] == {"notes/a/b/c/d/e/f": why}


def test_contents_beyond_the_most_reported_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dedup_gc, "MOST_REPORTED", 1)
    logs = [f"{letter} line of a long log\n" * 800 for letter in "abc"]
    build = sound(tmp_path).add("messages.jsonl", *(tool(log, "call-1") for log in logs + logs))
    found = [each.message for each in SessionSource(build.write()).findings(LENS) if each.rule == "ABI045"]
    assert len(found) == 2
    assert any(message.startswith("2 more contents are in several messages") for message in found)


def test_runs_that_are_no_revisions_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = sound(tmp_path)
    source = SessionSource(build.write())
    points = len(source.revisions) - 1
    assert points > 0
    for most in (points, points - 1):
        for module in (caps, timeline):
            monkeypatch.setattr(module, "MOST_POINTS", most)
        _, gaps, found = shown(build)
        why = f"only the last {most} of {points} runs and compactions are revisions"
        assert gaps == ({"events.jsonl": why} if most < points else {})
        assert found == ({("events.jsonl", why)} if most < points else set())


def test_every_shown_fact_is_quoted(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/facts.jsonl", "")
    build.add("context/facts.jsonl", *facts(600))
    sources = [ref for ref in shown(build)[0].refs if ref.kind == "source" and ref.id.startswith("x")]
    assert len(sources) == 600
    assert all(ref.text for ref in sources)
