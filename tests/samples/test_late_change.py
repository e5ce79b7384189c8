"""The bundled story of an approval that one late change ends."""

from __future__ import annotations

import shutil
from pathlib import Path

from ctxview.formats import open_source
from ctxview.review.reports.revision_captions import review_captions
from ctxview.samples import samples_folder
from tests.review.building import LENS
from tests.running import Run

SAMPLE = samples_folder() / "envelope" / "late-change"


def test_the_approval_holds_until_the_sentence_is_added(tmp_path: Path, ctxview: Run) -> None:
    path = shutil.copytree(SAMPLE, tmp_path / SAMPLE.name)
    shutil.copy(SAMPLE.with_name("late-change.ctxreview.json"), tmp_path)
    late = (path / "handoff.r2.json").rename(tmp_path / "late.json")

    assert ctxview("review", "--verify", path).code == 0
    late.rename(path / "handoff.r2.json")
    done = ctxview("review", "--verify", path)
    assert done.code == 4
    assert "changed since ines.duarte approved it: changed block summary-hunt" in done.out
    assert "item-patch" not in done.out


def test_the_player_says_who_approved_and_where_the_approval_ends() -> None:
    source = open_source(SAMPLE)
    said = {
        source.revisions[number].label: caption
        for number in range(len(source.revisions))
        for caption in review_captions(source, number, LENS)
    }

    assert [*said] == ["ctx-handoff", "ctx-handoff.r2"]
    assert said["ctx-handoff"].text == "ines.duarte approved this on 2026-06-09."
    assert said["ctx-handoff.r2"].text.startswith(
        "The approval by ines.duarte no longer holds: changed block summary-hunt"
    )
    assert all(caption.matters for caption in said.values())


def test_a_source_without_records_has_no_such_captions() -> None:
    source = open_source(SAMPLE.with_name("handoff"))

    assert [review_captions(source, number, LENS) for number in range(len(source.revisions))] == [()] * 3
