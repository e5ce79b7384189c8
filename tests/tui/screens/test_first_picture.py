"""The first picture waits a moment for the first reading; styles are parsed for one theme only."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest
from textual.css.stylesheet import Stylesheet

from ctxview.formats import Source
from ctxview.samples import samples_folder
from ctxview.tui.app import CtxviewApp
from ctxview.tui.drawing.page import Page
from ctxview.tui.model.jobs.load import PathOpener
from ctxview.tui.model.start_entries import recent_paths
from ctxview.tui.model.view_state import OpenProblem, ReadOptions
from ctxview.tui.panes.overview import OverviewPane
from ctxview.tui.screens import inspector
from tests.running import LIMIT
from tests.tui.driver import Driver

SNAPSHOT = samples_folder() / "snapshot" / "lighthouse" / "round-09.received.json"
OPTIONS = ReadOptions("bytes/4")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each page that the overview makes for the screen shows a reading."""
    pages: list[bool] = []
    make_page = OverviewPane.make_page

    def note(pane: OverviewPane, width: int) -> Page:
        if width:
            pages.append(pane.view is not None)
        return make_page(pane, width)

    monkeypatch.setattr(OverviewPane, "make_page", note)
    return pages


async def test_the_first_picture_shows_the_reading(
    drawn: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspector, "FIRST_PICTURE", LIMIT)
    app = CtxviewApp(PathOpener([SNAPSHOT], remembers=True), OPTIONS, watching=False)
    async with app.run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.settle()
        assert "round 9" in drive.screen_text()
        await drive.wait_until(lambda: SNAPSHOT in recent_paths(), "the path is remembered")

    assert drawn
    assert all(drawn)


async def test_a_source_that_takes_long_is_announced(
    drawn: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspector, "FIRST_PICTURE", 0.0)
    may_open = Event()

    def opener() -> Iterator[Source | OpenProblem]:
        may_open.wait(LIMIT)
        yield from PathOpener([SNAPSHOT])()

    async with CtxviewApp(opener, OPTIONS, watching=False).run_test(size=(120, 36)) as pilot:
        drive = Driver(pilot)
        await drive.wait_until(lambda: "Opening…" in drive.screen_text(), "it says that it opens the source")
        may_open.set()
        await drive.wait_until(lambda: drive.inspector.view is not None, "the source is shown")
        await drive.settle()
        assert "round 9" in drive.screen_text()

    assert drawn[0] is False


async def test_styles_are_not_parsed_again_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed_again: list[Stylesheet] = []
    monkeypatch.setattr(Stylesheet, "reparse", parsed_again.append)

    async with CtxviewApp(PathOpener([SNAPSHOT]), OPTIONS, watching=False).run_test() as pilot:
        await Driver(pilot).settle()
        assert pilot.app.theme == "ctxview-dark"
        assert pilot.app.current_theme.dark

    assert parsed_again == []
