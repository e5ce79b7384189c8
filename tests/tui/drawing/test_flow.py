from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.core.flow import Flow, FlowIndex, FlowLink, FlowNode, FlowStage
from ctxview.core.origin import Origin
from ctxview.files.visible_text import is_safe
from ctxview.tui.drawing.flow import BOXES, flow_picture
from ctxview.tui.drawing.text import plain, width
from tests.tui.handoff_story import Handoff, flow

INDEX = FlowIndex(flow(Handoff().bytes_of("")))
NAMES = [stage.name for stage in INDEX.flow.stages]


def drawn(cells: int, height: int, chosen: str = "selection") -> list[str]:
    return [plain(line).rstrip() for line in flow_picture(INDEX, chosen, cells, height)]


def test_a_wide_screen_has_boxes_with_the_branches_below() -> None:
    lines = drawn(120, 20)
    assert len(lines) == BOXES
    assert lines[1].startswith("│sources│  11   │surface│  11   │selection│  7 of 11  │budget│  6 of 7  │")
    assert lines[2].startswith("│   5   │ ────▶ │  12   │ ────▶ │    1    │ ────────▶ │  1   │ ───────▶ │")
    assert lines[4].split() == ["│", "1", "│", "1"]
    assert lines[6].split() == ["│", "missing", "1", "│", "│", "compaction", "1", "│"]


@pytest.mark.parametrize("cells", [36, 60, 72, 78, 100, 137, 200])
def test_every_stage_and_every_count_can_be_read(cells: int) -> None:
    text = "\n".join(drawn(cells, 30))
    assert all(name in text for name in NAMES)
    assert "7 of 11" in text
    assert "6 of 7" in text
    assert "…" not in text


def test_a_usual_screen_has_names_with_arrows_on_one_line() -> None:
    lines = drawn(78, 20)
    assert lines[1] == "sources ─▶ surface ─▶ selection ─▶ budget ─▶ assembly ─▶ injection ─▶ evidence"
    assert "7 of 11" in lines[0]
    assert lines[3].endswith("╰─1▶ compaction 1")
    assert lines[4].endswith("╰─1▶ missing 1")


def test_a_narrow_screen_has_one_line_for_each_stage() -> None:
    lines = drawn(40, 20)
    assert len(lines) == len(NAMES)
    assert lines[2].split() == ["▼", "selection", "1", "←", "11"]
    assert lines[3].split() == ["╰▶", "missing", "1", "←", "1"]


def test_a_low_screen_shows_the_chosen_stage_and_its_neighbours() -> None:
    assert drawn(60, 2, "budget") == ["‹ missing 1 ─7 of 11▶ budget 1 ─1▶ compaction 1 ›"]


@given(st.integers(1, 220), st.integers(1, 30), st.sampled_from(NAMES))
def test_no_picture_is_larger_than_its_room(cells: int, height: int, chosen: str) -> None:
    lines = flow_picture(INDEX, chosen, cells, height)
    assert len(lines) <= height
    assert all(width(line) <= cells for line in lines)


@given(st.lists(st.tuples(st.text(max_size=12), st.booleans()), min_size=1, max_size=9), st.integers(8, 200))
def test_any_names_are_drawn_as_safe_text(names: list[tuple[str, bool]], cells: int) -> None:
    here = Origin("x")
    stages = tuple(
        FlowStage(
            f"{at}{name}", (FlowNode(str(at), name, name, here),), f"0{names[0][0]}" if branch else None
        )
        for at, (name, branch) in enumerate(names)
    )
    links = tuple(FlowLink(str(at), str(at + 1), 3) for at in range(len(names)))
    for line in flow_picture(FlowIndex(Flow(stages, links)), stages[0].name, cells, 12):
        assert width(line) <= cells
        assert all(is_safe(span.text) for span in line)


def test_the_chosen_stage_is_highlighted() -> None:
    for cells in (40, 78, 140):
        spans = [span for line in flow_picture(INDEX, "assembly", cells, 20) for span in line]
        assert [span.text for span in spans if span.style == "stage.chosen"] == ["assembly"]
