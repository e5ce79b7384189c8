"""The captions of the revisions of a replay."""

from __future__ import annotations

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.jobs.captions import captions_of
from ctxview.tui.model.view_state import ReadingKey


def test_a_wiped_tier_is_reported_once() -> None:
    source = open_source(samples_folder() / "snapshot" / "lighthouse")
    saying = [
        source.revisions[number].label
        for number in range(len(source.revisions))
        for each in captions_of(source, number, ReadingKey(0, number))
        if each.text.startswith("The working tier is empty")
    ]
    assert saying == ["round 9 reply"]
