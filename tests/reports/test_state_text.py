"""The printed state is complete, fits the terminal and is safe to print."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.flow import Flow, FlowLink, FlowNode, FlowStage
from ctxview.core.state import ContextState, Counts, Reach, Tier
from ctxview.reports.console import Console
from ctxview.reports.state_text import state_lines
from ctxview.reports.table import cell_width
from tests.reports.states import PLACE, block, state


def printed(printed_state: ContextState, columns: int = 80, findings: tuple[Finding, ...] = ()) -> str:
    return "\n".join(state_lines(printed_state, findings, Console(columns, colour=False)))


def test_every_part_of_the_state_is_printed() -> None:
    text = printed(state())

    for word in (
        "round.json",
        "snapshot",
        "5 tokens (o200k_base)",
        "core-001",
        "▁ 0.05",
        "█ 0.95",
        "working  empty",
        "step 2 of 2",
        "doing → todo_complete 2",
        "1,020 of 1,000 tokens (102%)",
        "20 too many",
        "≈ bytes/3",
        "dangling",
        "its payload is gone",
        "findings  none",
    ):
        assert word in text, word


def test_a_hidden_block_has_its_reason() -> None:
    hidden = block("work-7", visible=False, reason="decay 0.70 is over 0.65")

    text = printed(state(tiers=(Tier("working", (hidden,)),)))

    assert "○  work-7" in text
    assert "└ not shown: decay 0.70 is over 0.65" in text


def test_findings_are_counted_with_the_command_that_lists_them() -> None:
    finding = Finding("SNP016", Severity.ERROR, Effect.DROPPED, "decay is 1.7", PLACE)

    assert "1 error; details: ctxview check round.json" in printed(state(), findings=(finding,))


def test_an_estimate_is_marked() -> None:
    estimated = state(counts=Counts(1, 1, 0, 7, False, "bytes/4"))

    assert "≈ 7 tokens (bytes/4)" in printed(estimated)


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("text", ["灯台" * 200, "long " * 200, "a" * 999], ids=["wide", "words", "one word"])
def test_no_line_of_a_table_is_wider_than_the_terminal(columns: int, text: str) -> None:
    wide = block("id-" + text[:90], text=text, type=text[:60])

    lines = printed(state(tiers=(Tier("core", (wide,)),)), columns).splitlines()

    table = [line for line in lines if line.startswith("  ")]
    assert max(cell_width(line) for line in table) <= columns


def test_nothing_in_a_block_can_act_on_the_terminal() -> None:
    hostile = block(
        "\x1b[2J", text="a\x1b]52;c;AAAA\x07\u202eb\nc\x9bd", type="\x00", reason="\x1b[0m", visible=False
    )

    text = printed(state(tiers=(Tier("t\x1b", (hostile,)),), title="\x1b]0;x\x07"), 200)

    assert all(line.isprintable() for line in text.split("\n"))
    assert "<U+202E>" in text


def flow() -> Flow:
    def stage(name: str, *names: str, branch_of: str | None = None) -> FlowStage:
        return FlowStage(name, tuple(FlowNode(each, each, "", PLACE) for each in names), branch_of)

    item = FlowNode("item", "item", "", PLACE, block="item")
    return Flow(
        (
            stage("sources", "source"),
            FlowStage("surface", (*stage("surface", "surf-1").nodes, item)),
            stage("selection", "sel-1"),
            stage("missing", "gap-1", branch_of="selection"),
            stage("budget"),
        ),
        (FlowLink("source", "item", 1), FlowLink("surf-1", "sel-1", 11), FlowLink("sel-1", "gap-1", 1)),
    )


def test_the_lifecycle_is_a_line_with_counts_and_its_branches_below() -> None:
    lines = printed(state(flow=flow())).splitlines()

    assert "  sources 1 ─1→ surface 1 (1 block) ─11→ selection 1 → budget 0" in lines
    assert "  └ selection ─1→ missing 1" in lines


def test_a_lifecycle_that_is_too_long_is_wrapped() -> None:
    lines = printed(state(flow=flow()), columns=40).splitlines()

    assert "  sources 1 ─1→ surface 1 (1 block)" in lines
    assert "    ─11→ selection 1 → budget 0" in lines


def test_visibility_is_a_table_of_blocks_and_targets() -> None:
    seen = block("a", reach={"model": Reach.INJECTED, "tool": Reach.ASSEMBLED, "ui": Reach.DENIED})
    other = block("b", reach={"model": Reach.ALLOWED, "tool": Reach.UNKNOWN, "ui": Reach.DENIED})
    two_blocks = state(tiers=(Tier("injected", (seen, other)),))

    lines = printed(two_blocks).splitlines()
    assert "  id  model  tool" in lines
    assert "  a   ●      ◐" in lines
    assert "  b   ○      ?" in lines
    assert "  id  model  tool  ui" in printed(two_blocks, columns=120).splitlines()


def test_facts_that_do_not_fit_on_a_line_are_wrapped() -> None:
    facts = {f"fact {number}": "x" * 20 for number in range(5)}

    assert printed(state(extra=facts), columns=80).count("fact ") == 5
