"""The history of the bundled session as people see it. A change is looked at before it is accepted."""

from __future__ import annotations

from ctxview.formats import open_source
from ctxview.samples import folder
from ctxview.tui.app import CtxviewApp
from ctxview.tui.loading import Manner
from tests.tui.test_pictures import Compare, keys

STORY = folder() / "session/coder/home/1000/agent/coder/session/default"


def test_the_history_of_the_coder(snap_compare: Compare) -> None:
    source = open_source(STORY)
    app = CtxviewApp(lambda: [source], Manner("bytes/3"), watching=False)
    assert snap_compare(app, terminal_size=(120, 36), run_before=keys("0", *["j"] * 8))
