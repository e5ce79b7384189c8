"""The points of a review: which there are, their order, their ids, and that no secret is in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.core.origin import Origin
from ctxview.formats import discover
from ctxview.review.review import VerdictWord, build_review
from ctxview.samples import sample_paths
from tests.review.building import LENS, review_of, sample

SECRET = "ghp_" + "Ab3dEf6hIj9kLmN2pQ5rSt8vWx1yZa4cBe7f"


def test_the_healthy_handoff_has_one_point_of_each_kind_the_blocking_gap_first(tmp_path: Path) -> None:
    review = review_of(sample("handoff", tmp_path))

    kinds = [(point.kind.value, point.severity.value, point.blocks) for point in review.points]
    assert kinds == [
        ("gap", "warning", True),
        ("omission", "warning", False),
        ("reference", "info", False),
        ("cut", "info", False),
        ("compaction", "info", False),
        ("redaction", "info", False),
    ]
    assert review.points[0].rule == "ENV075"
    assert "How many senders" in review.points[0].detail
    assert (review.verdict.word, review.verdict.tone) == (VerdictWord.NOT_READY, "warn")
    assert review.verdict.sentence == "blocked by 1 gap; 1 warning to look at; no leak found"


def test_a_leak_comes_before_every_other_error(tmp_path: Path) -> None:
    review = review_of(sample("planted", tmp_path))

    assert [point.rule for point in review.points[:3]] == ["ENV078", "ENV056", "ENV080"]
    assert [review.status(point) for point in review.points[:2]] == ["leak", "open"]
    assert review.verdict.word is VerdictWord.DO_NOT_APPROVE
    assert review.verdict.sentence.startswith("blocked by 1 gap and 3 errors; 12 warnings")


@pytest.mark.parametrize(
    ("severity", "status", "blocks"),
    [
        ("blocking", "Resolved", True),
        ("blocking", "closed", True),
        ("severe", "open", True),
        ("Critical", "open", True),
        ("high", "open", False),
        ("blocking", "resolved", False),
    ],
)
def test_a_gap_with_an_unknown_severity_or_status_blocks(
    tmp_path: Path, severity: str, status: str, blocks: bool
) -> None:
    path = sample("handoff", tmp_path)
    (file,) = path.rglob("handoff.json")
    text = file.read_text()
    for old, new in (("blocking", severity), ("requested", status)):
        assert f'": "{old}",\n' in text
        text = text.replace(f'": "{old}",\n', f'": "{new}",\n')
    file.write_text(text)

    points = [point for point in review_of(path).points if "gap-senders" in point.title and point.blocks]
    assert bool(points) is blocks


def test_who_gets_what_names_the_violation_and_only_it(tmp_path: Path) -> None:
    (planted,), (sound,) = (review_of(sample(name, tmp_path)).sources for name in ("planted", "handoff"))

    assert {each.target: each.violations for each in planted.shares if each.violations} == {
        "model": ("item-patch",)
    }
    assert not any(each.violations for each in sound.shares)
    model, tool, reviewer, *_ = sound.shares
    assert (model.target, len(model.items), model.tokens, model.masked) == ("model", 3, 497, 1)
    assert (tool.given, reviewer.given, len(reviewer.items)) == (True, False, 7)
    assert model.preview is not None
    assert "[name masked]" in model.preview.text


def test_ids_do_not_depend_on_the_place_of_the_files_nor_on_other_points(tmp_path: Path) -> None:
    first = review_of(sample("planted", tmp_path / "a"))
    moved = sample("planted", tmp_path / "b" / "deeper")
    records = json.loads((moved / "planted.json").read_text("utf-8"))
    records.append(records.pop(3))
    (moved / "planted.json").write_text(json.dumps(records, indent=1), "utf-8")
    second = review_of(moved)

    assert {point.id for point in first.points} == {point.id for point in second.points}
    assert len({point.id for point in first.points}) == len(first.points)


def test_a_raw_file_has_points_and_a_secret_in_it_is_masked(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(f"the token is {SECRET}\nturn \u202e around\n", "utf-8")
    review = review_of(path)

    assert {"SEC", "TXT"} <= {(point.rule or "")[:3] for point in review.points}
    assert SECRET not in repr((review.points, review.sources[0].parts, review.verdict))
    assert "\u202e" not in repr([point.title + point.detail for point in review.points])


def test_a_secret_is_one_point_however_the_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.txt").write_text(f"token = {SECRET}\n")
    (tmp_path / "link.txt").symlink_to("notes.txt")
    monkeypatch.chdir(tmp_path)

    for name in (Path("notes.txt"), Path("link.txt"), tmp_path / "notes.txt"):
        assert [point.rule for point in review_of(name).points] == ["SEC002", "RAW001"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_a_secret_in_a_file_that_no_format_reads_is_a_masked_point(tmp_path: Path, encoding: str) -> None:
    handoff = sample("handoff", tmp_path)
    before = review_of(handoff)
    assert not [point for point in before.points if (point.rule or "").startswith("SEC")]
    (handoff / "notes.txt").write_text(f"to do\nkey: {SECRET}\n", encoding)
    (point,) = (each for each in review_of(handoff).points if (each.rule or "").startswith("SEC"))
    assert point.origin == Origin(str(handoff / "notes.txt"), line=2)
    assert SECRET not in point.title


def test_a_secret_in_a_file_name_is_a_masked_point_without_a_place(tmp_path: Path) -> None:
    handoff = sample("handoff", tmp_path)
    (handoff / f"key-{SECRET}").mkdir()
    for name in ("a.txt", "b.txt"):
        (handoff / f"key-{SECRET}" / name).write_text("nothing\n", "utf-8")
    review = review_of(handoff)
    (point,) = (each for each in review.points if (each.rule or "").startswith("SEC"))
    assert (point.leak, point.blocks, point.origin) == (True, True, None)
    assert "in the name key-ghp_…" in point.title
    assert SECRET not in repr(review.points)


@pytest.mark.parametrize("path", sample_paths(), ids=lambda path: path.name)
def test_every_sample_has_a_review_with_a_verdict_and_unique_ids(path: Path) -> None:
    for found in discover(path).found:
        review = build_review([found.open()], LENS)

        assert review.verdict.sentence
        assert len({point.id for point in review.points}) == len(review.points)
        assert all(source.handed_over.receivers for source in review.sources)
        ranks = [point.severity.rank for point in review.points if not point.leak]
        assert ranks == sorted(ranks)
