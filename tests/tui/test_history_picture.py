"""A picture of the history of the bundled session. Look at a changed picture before accepting it."""

from __future__ import annotations

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from tests.tui.pictures import Compare, app, keys

STORY = samples_folder() / "session/coder/home/1000/agent/coder/session/default"


def test_the_history_of_the_coder(snap_compare: Compare) -> None:
    assert snap_compare(app(open_source(STORY)), terminal_size=(120, 36), run_before=keys("0", *["j"] * 8))
