"""The bundled envelopes in the inspector: blocking gaps come first, masked content is not shown."""

from __future__ import annotations

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.screens.raw import RawScreen
from tests.tui.driver import Driver, driving

HANDOFF = samples_folder() / "envelope" / "handoff"
PLANTED = samples_folder() / "envelope" / "planted"
HIDDEN = ("Hedwig", "Solvang", "2026-0417", "0555 0141 882")


def leaked(text: str) -> list[str]:
    return [each for each in HIDDEN if each in text]


async def to_report(drive: Driver) -> None:
    drive.inspector.go_to(ItemId(ItemKind.BLOCK, "item-report", "injected"))
    await drive.settle()


async def test_the_blocking_gap_comes_first_with_its_contact_and_blocked_items() -> None:
    async with driving(open_source(HANDOFF)) as drive:
        await drive.press("6")
        rows = drive.text(Pane.MISSING)
        assert rows.index("gap-senders") < rows.index("item-ci-runs")
        detail = " ".join(drive.text(Pane.DETAIL).split())
        assert "✖ blocking · requested" in detail
        assert "asked of ines.duarte" in detail
        assert (
            "file (deploy/scheduler.toml in the repository of operations, which neither agent can" in detail
        )
        assert "⊘ say that the patch is good ⊘ merge it into main" in detail


async def test_the_lifecycle_shows_how_many_items_passed_each_stage() -> None:
    async with driving(open_source(HANDOFF), size=(200, 60)) as drive:
        await drive.press("L")
        assert "5 of 8" in drive.screen_text()
        assert "3 of 5" in drive.screen_text()


async def test_masked_content_is_not_in_any_pane() -> None:
    async with driving(open_source(PLANTED), size=(200, 60)) as drive:
        await to_report(drive)
        texts = {pane: drive.text(pane) for pane in drive.inspector.panes}
        assert "[withheld" in texts[Pane.DETAIL]
        assert {pane: found for pane, text in texts.items() if (found := leaked(text))} == {}


async def test_masked_content_is_not_shown_found_or_copied_in_the_raw_view() -> None:
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
        assert "not found in this file" in drive.screen_text()


async def test_every_event_is_a_row_with_detail_and_the_way_to_its_record() -> None:
    async with driving(open_source(HANDOFF)) as drive:
        drive.inspector.go_to(ItemId(ItemKind.NODE, "context_event:event-11", "events"))
        await drive.settle()
        rows = drive.text(Pane.LIFECYCLE)
        assert [f"event-{number:02}" in rows for number in range(1, 21)] == [True] * 20
        assert "redaction.applied · item-report" in " ".join(rows.split())
        detail = " ".join(drive.text(Pane.DETAIL).split())
        assert "event_type: context.redaction.applied" in detail
        await drive.press("enter")
        assert drive.selected == ItemId(ItemKind.NODE, "context_item:item-report", "surface")


async def test_an_event_is_found_by_its_type() -> None:
    async with driving(open_source(HANDOFF)) as drive:
        drive.inspector.search_for("context.redaction.applied")
        drive.inspector.step_hit(back=False)
        await drive.settle()
        assert drive.selected == ItemId(ItemKind.NODE, "context_event:event-11", "events")
        assert drive.front is Pane.LIFECYCLE
