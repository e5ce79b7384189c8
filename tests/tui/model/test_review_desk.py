"""The review on the screen: a refused sign-off shows what is there now."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.review.decisions import DecisionKind
from ctxview.review.record import read_record
from ctxview.review.words import SignOff
from ctxview.samples import samples_folder
from ctxview.tui.model.review_desk import open_desk
from tests.review.building import LENS, sample


def test_after_a_late_change_the_review_is_read_again_and_can_be_decided(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = sample("handoff", tmp_path)
    desk = open_desk(open_source(path), LENS)
    assert desk.review is not None
    for point in desk.review.undecided:
        desk, _ = desk.decided(point, DecisionKind.ACCEPTED, "known")
    with (path / "content" / "hunt-1.md").open("a", encoding="utf-8") as file:
        file.write("one more line\n")

    after, notice = desk.signed(SignOff.APPROVED, "")
    assert notice.startswith("The files changed since they were read")
    assert "ENV030" not in {point.group for point in desk.points}
    assert "ENV030" in {point.group for point in after.points}
    assert after.signed(SignOff.REJECTED, "a late change")[1].startswith("Rejected: handoff.ctxreview.json")


def test_a_question_after_an_approval_is_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "round.json"
    path.write_bytes((samples_folder() / "snapshot" / "broken" / "bad-blocks.json").read_bytes())
    desk = open_desk(open_source(path), LENS)
    assert desk.review is not None
    for point in desk.review.undecided:
        desk, _ = desk.decided(point, DecisionKind.ACCEPTED, "known")
    desk, _ = desk.signed(SignOff.APPROVED, "")
    assert desk.review is not None
    assert desk.review.verdict.word == "SIGNED"

    desk, notice = desk.decided(desk.points[0], DecisionKind.ASKED, "who wrote this?")
    assert notice.startswith("Asked: round.json.2.ctxreview.json")
    assert desk.review is not None
    assert desk.review.verdict.word != "SIGNED"
    assert "context asked for by" in desk.review.verdict.sentence
    asked = read_record(tmp_path / "round.json.2.ctxreview.json").statement
    assert asked is not None
    assert asked.predicate.follows == read_record(tmp_path / "round.json.ctxreview.json").digest
