"""Decisions about points: which are refused, what settles a point, and that progress is found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.review.decisions import DecisionKind, DecisionRefused, keep, recall
from ctxview.review.review import Review, VerdictWord
from tests.review.building import review_of, sample


def decided(review: Review, *, but: str = "") -> Review:
    """Decide every point with a reason."""
    for point in review.points:
        if point.id != but:
            review = review.with_decision(point, DecisionKind.ACCEPTED, "known", "ines")
    return review


def test_a_blocking_point_needs_a_written_reason_and_other_points_may_be_looked_at(tmp_path: Path) -> None:
    review = review_of(sample("handoff", tmp_path))
    gap, omission, *_ = review.points
    for kind, text in (
        (DecisionKind.LOOKED_AT, ""),
        (DecisionKind.ACCEPTED, "  "),
        (DecisionKind.WAIVED, ""),
    ):
        with pytest.raises(DecisionRefused):
            review.with_decision(gap, kind, text, "ines")
    with pytest.raises(DecisionRefused, match="is not a gap"):
        review.with_decision(omission, DecisionKind.WAIVED, "why", "ines")

    review = review.with_decision(omission, DecisionKind.LOOKED_AT, "", "ines")
    assert [point.id for point in review.undecided] == [gap.id]
    asked = review.with_decision(gap, DecisionKind.ASKED, "How many?", "ines")
    assert asked.why_not_approved == f"1 point must be answered or accepted with a reason: {gap.id}"
    waived = review.with_decision(gap, DecisionKind.WAIVED, "one sender, says Bram", "ines")
    assert waived.why_not_approved is None
    assert waived.verdict.word is VerdictWord.READY
    assert waived.status(gap) == "waived: one sender, says Bram"


def test_notes_need_no_decision(tmp_path: Path) -> None:
    review = review_of(sample("handoff", tmp_path))

    assert {point.severity.value for point in review.undecided} == {"warning"}


def test_progress_is_found_again(tmp_path: Path) -> None:
    path = sample("handoff", tmp_path)
    review = decided(review_of(path))
    keep(review.paths, review.subject.digest, review.decisions, review.points)

    again = review_of(path).with_progress(recall([path]))
    assert again.decisions == review.decisions
    assert again.fixed == {}
    assert recall([tmp_path / "other"]) is None


def test_a_decision_holds_for_points_that_did_not_change_and_fixed_ones_are_named(tmp_path: Path) -> None:
    path = sample("planted", tmp_path)
    review = decided(review_of(path))
    keep(review.paths, review.subject.digest, review.decisions, review.points)
    file = path / "planted.json"
    text = file.read_text("utf-8").replace("source-handbok", "source-handbook")
    file.write_text(text.replace("How many senders run", "How many queues run"), "utf-8")

    again = review_of(path).with_progress(recall([path]))
    assert [point.rule for point in again.undecided] == ["ENV075"]
    assert any("source-handbok" in title for title in again.fixed.values())


def test_another_secret_in_the_same_place_is_a_new_point_to_decide(tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    keys = ["ghp_" + "Ab3dEf6hIj9kLmN2pQ5rSt8vWx1yZa4cBe7f", "ghp_" + "Zb3dEf6hIj9kLmN2pQ5rSt8vWx1yZa4cBe7f"]
    path.write_text(json.dumps({"key": keys[0]}), "utf-8")
    review = decided(review_of(path))
    keep(review.paths, review.subject.digest, review.decisions, review.points)
    assert review_of(path).with_progress(recall([path])).undecided == ()
    path.write_text(json.dumps({"key": keys[1]}), "utf-8")

    again = review_of(path)
    assert {point.id for point in again.points} == {point.id for point in review.points}
    assert again.with_progress(recall([path])).undecided != ()


def test_a_damaged_progress_file_is_no_progress(tmp_path: Path) -> None:
    path = sample("handoff", tmp_path)
    review = decided(review_of(path))
    keep(review.paths, review.subject.digest, review.decisions, review.points)
    from ctxview.files.user_folders import state_folder

    for file in (state_folder() / "reviews").glob("*.json"):
        file.write_bytes(b'{"paths": 3')
    assert recall([path]) is None


def test_a_reason_is_stored_without_characters_that_act(tmp_path: Path) -> None:
    review = review_of(sample("handoff", tmp_path))
    made = review.with_decision(review.points[0], DecisionKind.ACCEPTED, "fine\x1b[2J\u202e", "i\x07nes")

    assert made.decisions[review.points[0].id].text == "fine^[[2J<U+202E>"
    assert made.decisions[review.points[0].id].by == "i^Gnes"
