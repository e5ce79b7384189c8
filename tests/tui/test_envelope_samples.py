"""The bundled envelopes in the inspector: what blocks is on top, what was masked is nowhere."""

from __future__ import annotations

from ctxview.formats import open_source
from ctxview.samples import folder
from ctxview.tui.layout import Pane
from ctxview.tui.screens.raw import RawScreen
from ctxview.tui.things import Kind, Thing
from tests.tui.driving import Driver, driving

HANDOFF = folder() / "envelope" / "handoff"
PLANTED = folder() / "envelope" / "planted"
HIDDEN = ("Hedwig", "Solvang", "2026-0417", "0555 0141 882")


def leaked(text: str) -> list[str]:
    return [each for each in HIDDEN if each in text]


async def to_report(drive: Driver) -> None:
    drive.inspector.go_to(Thing(Kind.BLOCK, "item-report", "injected"))
    await drive.settle()


async def test_the_blocking_gap_is_on_top_with_whom_to_ask_and_what_waits() -> None:
    async with driving(open_source(HANDOFF)) as drive:
        await drive.press("6")
        rows = drive.text(Pane.MISSING)
        assert rows.index("gap-senders") < rows.index("item-ci-runs")
        told = " ".join(drive.text(Pane.DETAIL).split())
        assert "✖ blocking · requested" in told
        assert "asked of ines.duarte" in told
        assert "file (deploy/scheduler.toml in the repository of operations, which neither agent can" in told
        assert "⊘ say that the patch is good ⊘ merge it into main" in told


async def test_the_way_of_the_handoff_tells_how_many_passed_each_step() -> None:
    async with driving(open_source(HANDOFF), size=(200, 60)) as drive:
        await drive.press("L")
        assert "5 of 8" in drive.screen_text()
        assert "3 of 5" in drive.screen_text()


async def test_what_was_masked_is_in_no_pane() -> None:
    async with driving(open_source(PLANTED), size=(200, 60)) as drive:
        await to_report(drive)
        told = {pane: drive.text(pane) for pane in drive.inspector.panes}
        assert "[withheld" in told[Pane.DETAIL]
        assert {pane: found for pane, text in told.items() if (found := leaked(text))} == {}


async def test_what_was_masked_is_neither_read_found_nor_copied_in_the_file() -> None:
    async with driving(open_source(PLANTED)) as drive:
        await to_report(drive)
        await drive.press("y")
        assert not leaked(drive.app.clipboard)
        await drive.press("o")
        assert isinstance(drive.app.screen, RawScreen)
        assert "withheld" in drive.screen_text()
        assert not leaked(drive.screen_text())
        await drive.press("y")
        assert "item-report" in drive.app.clipboard
        assert not leaked(drive.app.clipboard)
        await drive.press("slash")
        await drive.type("Hedwig")
        assert "nowhere in this file" in drive.screen_text()
