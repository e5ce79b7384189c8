"""Walking through the lifecycle pane with keys and mouse."""

from __future__ import annotations

from ctxview.core.flow import Flow, FlowStage
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.screens.form import FormScreen
from ctxview.tui.screens.raw import RawScreen
from tests.tui.driver import Driver, driving
from tests.tui.handoff_story import Handoff
from tests.tui.snapshot_stories import night


def record(name: str, stage: str) -> ItemId:
    return ItemId(ItemKind.NODE, name, stage)


async def go_to_injection(drive: Driver) -> None:
    """Go to the injection stage with the stage keys only, so that the way back is empty."""
    await drive.press("L", *["l"] * 7)
    assert drive.selected == record("inj-model", "injection")


async def test_a_source_without_a_flow_has_no_lifecycle_pane() -> None:
    async with driving(night()) as drive:
        await drive.press("L")
        assert drive.front is Pane.MEMORY
        assert drive.notices == ["This source does not record the flow from its sources to the model."]
        await drive.press("V")
        assert drive.notices[-1] == "This source does not distinguish targets."


async def test_sideways_keys_walk_the_stages_and_stop_at_the_ends() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("L")
        assert drive.selected == record("src-desk", "sources")
        await drive.press("right", "l")
        assert drive.selected == record("sel-2", "selection")
        await drive.press("h", "left", "h", "h")
        assert drive.selected == record("src-desk", "sources")
        assert drive.front is Pane.LIFECYCLE
        await drive.press(*["l"] * 20)
        assert drive.selected == record("evd-9", "evidence")


async def test_up_and_down_walk_the_records_of_a_stage() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("L", "j", "j")
        assert drive.selected == record("src-ais", "sources")
        await drive.press("G", "k")
        assert drive.selected == record("src-plan", "sources")


async def test_from_an_injected_block_two_presses_reach_its_item_and_its_source() -> None:
    async with driving(Handoff()) as drive:
        await go_to_injection(drive)
        await drive.press("backspace")
        assert drive.selected == record("itm-brief", "surface")
        assert "The night desk hands the ferry case to" in drive.text(Pane.DETAIL)
        await drive.press("backspace")
        assert drive.selected == record("src-desk", "sources")


async def test_escape_goes_back_step_by_step() -> None:
    async with driving(Handoff()) as drive:
        await go_to_injection(drive)
        await drive.press("backspace", "backspace", "escape", "escape")
        assert drive.selected == record("inj-model", "injection")
        assert drive.front is Pane.LIFECYCLE


async def test_from_a_block_of_the_memory_one_press_reaches_its_source() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("j", "backspace")
        assert drive.selected == record("src-policy", "sources")
        await drive.press("escape")
        assert drive.selected == ItemId(ItemKind.BLOCK, "itm-rules", "injected")
        assert drive.front is Pane.MEMORY


async def test_enter_walks_through_the_stages_to_the_end() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("L", "l")
        steps = []
        for _ in range(5):
            await drive.press("enter")
            steps.append(drive.selected.name if drive.selected else None)
        assert steps == ["sel-2", "bud-model", "asm-model", "inj-model", "evd-9"]
        await drive.press("enter")
        assert drive.front is Pane.DETAIL
        await drive.press("escape", "backspace", "backspace")
        assert drive.selected == record("asm-model", "assembly")


async def test_enter_on_an_item_that_went_no_further_shows_the_item() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("L", "l", "G", "enter")
        assert drive.selected == ItemId(ItemKind.BLOCK, "itm-old", "compacted")
        assert drive.front is Pane.MEMORY


async def test_other_linked_records_are_marked() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("L", "enter")
        marked = [line for line in drive.text(Pane.LIFECYCLE).splitlines() if line.startswith("↳")]
        assert [line.split()[1] for line in marked] == ["itm-brief", "itm-log", "itm-sum", "itm-old"]


async def test_all_items_of_an_injection_are_marked_on_the_way_back() -> None:
    async with driving(Handoff()) as drive:
        await go_to_injection(drive)
        await drive.press("backspace")
        marked = [line for line in drive.text(Pane.LIFECYCLE).splitlines() if line.startswith("↳")]
        assert len(marked) == 6


async def test_fast_keys_walk_from_the_cursor() -> None:
    async with driving(Handoff()) as drive:
        await go_to_injection(drive)
        await drive.press_quickly("j", "backspace")
        assert drive.selected == record("itm-chart", "surface")
        await drive.press("escape")
        assert drive.selected == record("inj-tool", "injection")


async def test_the_detail_shows_all_of_a_record_with_its_links() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("L", "l", "l")
        text = drive.text(Pane.DETAIL)
        assert "selection · 7 of 11 chosen, 4 left out" in text
        assert "from srf-night ×11" in text
        assert "bud-model ×7 4 left out" in text
        assert "itm-kin: policy_blocked" in text


async def test_a_record_with_a_form_can_be_edited_and_any_record_opens_its_origin() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("E", "r", "L", "l", "l", "l")
        assert drive.selected == record("mis-manifest", "missing")
        await drive.press("e")
        assert isinstance(drive.app.screen, FormScreen)
        await drive.press("escape", "h", "h", "j", "o")
        assert isinstance(drive.app.screen, RawScreen)
        assert '"item_id": "itm-brief"' in drive.app.screen.copied_text()


async def test_a_stage_is_chosen_with_the_mouse() -> None:
    async with driving(Handoff(), size=(80, 24)) as drive:
        await drive.press("L")
        row = next(at for at, line in enumerate(drive.screen_text().splitlines()) if "assembly" in line)
        column = drive.screen_text().splitlines()[row].index("assembly")
        await drive.pilot.click(offset=(column + 2, row))
        await drive.settle()
        assert drive.selected == record("asm-model", "assembly")


async def test_a_search_finds_records_and_goes_to_their_stage() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("slash")
        await drive.type("chart_lookup")
        await drive.press("enter")
        assert drive.selected == record("inj-tool", "injection")
        assert drive.front is Pane.LIFECYCLE


async def test_a_finding_about_a_record_leads_to_it() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("7", "enter")
        assert drive.selected == ItemId(ItemKind.GAP, "mis-manifest")


async def test_an_empty_stage_says_so() -> None:
    flow = Flow((FlowStage("sources", ()), FlowStage("surface", Handoff().records("surface"))), ())
    async with driving(Handoff(flow=flow)) as drive:
        await drive.press("L")
        assert "No records in this stage." in drive.text(Pane.LIFECYCLE)
        await drive.press("enter", "j", "l")
        assert drive.selected == record("srf-night", "surface")


async def test_every_size_has_room_for_the_picture_and_some_records() -> None:
    for size in ((40, 12), (80, 24), (120, 36), (120, 20), (200, 60)):
        async with driving(Handoff(), size=size) as drive:
            await drive.press("L", "l")
            text = drive.screen_text()
            assert "surface" in text
            assert "srf-night" in text
