"""A reply is compared by what the runtime makes of it: absent parts stay, forged fields are put back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.captions import captions
from ctxview.analysis.diff import ChangeGroup, ChangeKind, StateDiff, diff
from ctxview.analysis.diff.report import lines_of
from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import main
from ctxview.core.state import ContextState
from ctxview.formats import Lens, open_source
from ctxview.samples import samples_folder
from tests.formats.snapshot.builders import Json, at, block, labels, reply_bytes, to_bytes

LENS = Lens(ESTIMATES["bytes/4"])
NIGHT = samples_folder() / "snapshot" / "lighthouse"
BUDGET = {"estimated_input_tokens": 900, "input_budget": 113295, "degrade_stage": "none"}


def received() -> Json:
    hidden = block("h", decay=0.9, content="hidden from the model")
    value = at(9, core=[block("a"), block("b")], working=[block("w", status="open"), hidden])
    value["runtime"]["budget"] = BUDGET
    value["todo"] |= {"cursor": {"v": 1, "phase": "doing", "next": "none", "targetId": None}}
    return value


def states(tmp_path: Path, reply: Json, **later: Json) -> list[ContextState]:
    """The states of a received snapshot, the reply to it, and later files."""
    (tmp_path / "r09.received.json").write_bytes(to_bytes(received()))
    (tmp_path / "r09.reply.txt").write_bytes(reply_bytes(reply))
    for name, value in later.items():
        (tmp_path / f"{name}.received.json").write_bytes(to_bytes(value))
    source = open_source(tmp_path)
    return [source.reading(place, LENS).state for place in range(len(source.revisions))]


def kinds(found: StateDiff) -> list[tuple[str, str, str]]:
    return [
        (each.group.value, each.kind.value, each.subject)
        for each in found.changes
        if each.group is not ChangeGroup.BUDGET and each.subject != "text"
    ]


def test_what_a_reply_leaves_out_is_not_removed(tmp_path: Path) -> None:
    old, new = states(tmp_path, {"memory": {"core": [block("a", content="reworded by the reply")]}})
    found = diff(old, new)
    assert kinds(found) == [("blocks", "changed", "a")]
    assert ChangeKind.REMOVED not in found.counts()


def test_a_reply_is_compared_the_same_way_when_both_files_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states(tmp_path, {"memory": {"core": [block("a", content="reworded by the reply")]}})
    main(["diff", str(tmp_path / "r09.received.json"), str(tmp_path / "r09.reply.txt")])
    output = capsys.readouterr().out
    assert "core/a" in output
    assert "removed" not in output
    assert "closed" not in output


def test_a_wiped_tier_is_removed_and_its_gaps_are_not_closed(tmp_path: Path) -> None:
    old, new = states(tmp_path, {"memory": {"working": []}})
    found = diff(old, new)
    assert kinds(found) == [
        ("blocks", "removed", "h"),
        ("blocks", "removed", "w"),
        ("missing", "removed", "h"),
    ]
    assert found.of(ChangeGroup.MISSING)[0].why == "its block is gone"


def test_a_gap_that_closes_says_what_it_was(tmp_path: Path) -> None:
    old, new = states(tmp_path, {"memory": {"working": [block("h", decay=0.1, content="seen again")]}})
    (gap,) = diff(old, new).of(ChangeGroup.MISSING)
    assert (gap.kind, gap.why) == (ChangeKind.CLOSED, "was decay 0.90 > 0.65")


def test_forged_fields_are_tampered_with_and_change_nothing_else(tmp_path: Path) -> None:
    forged: dict[str, Any] = {"runtime": {"round": 90}, "todo": {"step": 6, "total": 6}, "memory": {}}
    old, new = states(tmp_path, forged)
    found = diff(old, new)
    tampered = {each.name for change in found.changes for each in change.tampered}
    assert tampered == {"runtime.round", "step", "total"}
    assert kinds(found) == [("todo", "changed", "progress"), ("fields", "changed", "runtime.round")]
    assert not [each.text for each in captions(found, new) if "is at step" in each.text]


def test_the_next_snapshot_does_not_continue_what_a_reply_forged(tmp_path: Path) -> None:
    following = received()
    following["runtime"] |= {"round": 10, "datetime": "2026-02-25T10:10:00.000Z"}
    _, reply, log = states(tmp_path, {"todo": {"step": 6, "total": 6}, "memory": {}}, r10=following)
    assert not diff(reply, log).of(ChangeGroup.TODO)


def test_a_reply_that_the_runtime_refuses_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "r09.received.json").write_bytes(to_bytes(received()))
    (tmp_path / "r09.reply.txt").write_bytes(reply_bytes(at(9), after="and more text"))
    source = open_source(tmp_path)
    old, new = (source.reading(place, LENS).state for place in (0, 1))
    assert kinds(diff(old, new)) == [("missing", "opened", "json")]


def test_an_invalid_cursor_of_a_reply_is_not_an_event(tmp_path: Path) -> None:
    old, new = states(tmp_path, {"todo": {"cursor": {"phase": "nowhere"}}, "memory": {}})
    assert not diff(old, new).of(ChangeGroup.CURSOR)
    assert [event.label for event in new.timeline][1] == "round 9 reply"


def test_a_forged_start_is_not_a_restart(tmp_path: Path) -> None:
    *_, new = states(tmp_path, {"runtime": {"startup_at": 5, "round": 2}, "memory": {}})
    assert [(event.kind, event.label) for event in new.timeline][1] == ("reply", "round 9 reply")


def test_the_model_copy_is_compared_with_the_shown_blocks_of_the_snapshot_before(tmp_path: Path) -> None:
    (tmp_path / "r09.received.json").write_bytes(to_bytes(received()))
    copy = at(10, core=[block("a"), block("b")], working=[block("w", status="open")])
    copy["todo"] = received()["todo"]
    (tmp_path / "r10.lite.json").write_bytes(to_bytes({"modelContext": copy, "meta": {}}))
    source = open_source(tmp_path)
    old, new = (source.reading(place, LENS).state for place in (0, 1))
    assert not diff(old, new).of(ChangeGroup.BLOCKS)
    assert not diff(old, new).of(ChangeGroup.MISSING)


def test_a_draft_of_a_reply_is_compared_with_the_reply(tmp_path: Path) -> None:
    reply = {"runtime": {"round": 90}, "memory": {"core": [block("a"), block("n")]}}
    states(tmp_path, reply)
    source, file = open_source(tmp_path), str(tmp_path / "r09.reply.txt")
    edited = {**reply, "memory": {"core": [block("a", content="reworded in the draft")]}}
    old = source.reading(1, LENS).state
    new = source.reading(1, LENS, {file: reply_bytes(edited)}).state
    assert kinds(diff(old, new)) == [("blocks", "changed", "a"), ("blocks", "removed", "n")]


# -- the night -----------------------------------------------------------------------------------------------


def night_captions(number: int) -> list[str]:
    from ctxview.formats.revisions import previous_revision

    source = open_source(NIGHT)
    earlier = previous_revision(source.revisions, number - 1)
    assert earlier is not None
    old, new = (source.reading(place, LENS).state for place in (earlier, number - 1))
    return [each.text for each in captions(diff(old, new), new)]


def test_the_log_after_the_careless_reply_tells_the_truth() -> None:
    texts = night_captions(17)
    assert not [text for text in texts if "step" in text]
    assert texts[0].startswith("The working tier is empty")


def test_the_reply_to_round_ten_closes_nothing() -> None:
    assert not [text for text in night_captions(19) if "no longer missing" in text or "leaves out" in text]


def test_the_careless_reply_is_called_by_the_round_it_answers() -> None:
    names = labels(open_source(NIGHT))
    assert names[15:19] == ["round 9 reply", "round 10 lite log", "round 10", "round 10 reply"]


@pytest.mark.parametrize("stated", [77, 3])
def test_a_forged_round_decides_no_age_no_visibility_and_no_finding(tmp_path: Path, stated: int) -> None:
    blocks = {"ephemeral": [block("young", round=8)], "working": [block("w", round=9)]}
    (tmp_path / "r09.received.json").write_bytes(to_bytes(at(9, **blocks)))
    (tmp_path / "r09.reply.txt").write_bytes(reply_bytes(at(stated, **blocks)))
    source = open_source(tmp_path)
    reading = source.reading(1, LENS)
    found = {each.id: (each.age, each.visible) for each in reading.state.blocks()}
    assert found == {"young": (1, True), "w": (0, True)}
    rules = {each.rule for each in reading.findings}
    assert "SNP042" in rules
    assert not rules & {"SNP017", "SNP022"}
    draft = reply_bytes(at(stated + 1, **blocks))
    drafted = source.reading(1, LENS, {str(tmp_path / "r09.reply.txt"): draft})
    assert {each.age for each in drafted.state.blocks()} == {0, 1}
    assert not {each.rule for each in drafted.findings} & {"SNP017", "SNP022"}


@pytest.mark.parametrize("name", ["r09.reply.txt", "elsewhere.txt"])
def test_a_text_without_a_separator_changes_no_block(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    given, sent = tmp_path / "r09.received.json", tmp_path / name
    given.write_bytes(to_bytes(received()))
    sent.write_text("I forgot everything.")
    assert main(["diff", str(given), str(sent)]) == 1
    assert capsys.readouterr().out.splitlines() == ["Fields: 1 added", '  + text  "I forgot everything."']


def test_other_json_after_a_snapshot_is_not_a_reply(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, other = tmp_path / "r09.received.json", tmp_path / "list.json"
    given.write_bytes(to_bytes(received()))
    other.write_text('["I", "am", "data"]')
    assert main(["diff", str(given), str(other)]) == 1
    assert "removed" in capsys.readouterr().out


def test_no_figure_of_the_runtime_changes_by_a_reply(tmp_path: Path) -> None:
    later = at(10, core=[block("a")])
    later["runtime"]["budget"] = {**BUDGET, "estimated_input_tokens": 950}
    longer = {"memory": {"core": [block("a", content="much longer than before " * 9)]}}
    old, new, following = states(tmp_path, longer, r10=later)
    recorded = "whole input, recorded by the runtime"
    assert recorded in {each.target for each in old.budgets}
    assert recorded not in {each.target for state in (new.stated, new.kept) for each in state.budgets}
    budgets = {each.subject: each.kind for each in diff(old, new).of(ChangeGroup.BUDGET)}
    assert budgets == {"snapshot in the prompt": ChangeKind.CHANGED}
    assert recorded in {each.subject for each in diff(old, following).of(ChangeGroup.BUDGET)}


def test_the_difference_of_estimates_is_marked(tmp_path: Path) -> None:
    old, new = states(tmp_path, {"memory": {"core": [block("a", content="much longer " * 9)]}})
    lines = [line.strip() for line in lines_of(diff(old, new))]
    figures = [line for line in lines if line.startswith(("used ", "core "))]
    assert figures
    assert all(re.fullmatch(r"\w+  ≈\d+ → ≈\d+ \(raised\)", line) for line in figures)
