"""The printed state tells the same as the inspector, fits the terminal, and cannot act."""

from __future__ import annotations

import pytest

from ctxview.findings import Effect, Finding, Severity
from ctxview.flow import Flow, Link, Node, Stage
from ctxview.reports.cells import width
from ctxview.reports.console import Console
from ctxview.reports.state_text import state_lines
from ctxview.state import ContextState, Counts, Sight, Tier
from tests.reports.states import PLACE, block, state


def printed(shown: ContextState, columns: int = 80, findings: tuple[Finding, ...] = ()) -> str:
    return "\n".join(state_lines(shown, findings, Console(columns, colour=False)))


def test_every_part_of_the_state_is_there() -> None:
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


def test_a_hidden_block_says_why() -> None:
    hidden = block("work-7", visible=False, reason="decay 0.70 is over 0.65")

    text = printed(state(tiers=(Tier("working", (hidden,)),)))

    assert "✗  work-7" in text
    assert "└ not shown: decay 0.70 is over 0.65" in text


def test_findings_are_counted_and_the_way_to_them_is_named() -> None:
    finding = Finding("SNP016", Severity.ERROR, Effect.DROPPED, "decay is 1.7", PLACE)

    assert "1 error; details: ctxview check round.json" in printed(state(), findings=(finding,))


def test_an_estimate_is_marked_as_one() -> None:
    guessed = state(counts=Counts(1, 1, 0, 7, False, "bytes/4"))

    assert "≈ 7 tokens (bytes/4)" in printed(guessed)


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("text", ["灯台" * 200, "long " * 200, "a" * 999], ids=["wide", "words", "one word"])
def test_no_line_of_a_table_is_wider_than_the_terminal(columns: int, text: str) -> None:
    wide = block("id-" + text[:90], text=text, type=text[:60])

    lines = printed(state(tiers=(Tier("core", (wide,)),)), columns).splitlines()

    table = [line for line in lines if line.startswith("  ")]
    assert max(width(line) for line in table) <= columns


def test_nothing_in_a_block_can_act_on_the_terminal() -> None:
    hostile = block(
        "\x1b[2J", text="a\x1b]52;c;AAAA\x07\u202eb\nc\x9bd", type="\x00", reason="\x1b[0m", visible=False
    )

    text = printed(state(tiers=(Tier("t\x1b", (hostile,)),), title="\x1b]0;x\x07"), 200)

    assert all(line.isprintable() for line in text.split("\n"))
    assert "<U+202E>" in text


def way() -> Flow:
    def stage(name: str, *names: str, branch_of: str | None = None) -> Stage:
        return Stage(name, tuple(Node(each, each, "", PLACE) for each in names), branch_of)

    item = Node("item", "item", "", PLACE, block="item")
    return Flow(
        (
            stage("sources", "source"),
            Stage("surface", (*stage("surface", "surf-1").nodes, item)),
            stage("selection", "sel-1"),
            stage("missing", "gap-1", branch_of="selection"),
            stage("budget"),
        ),
        (Link("source", "item", 1), Link("surf-1", "sel-1", 11), Link("sel-1", "gap-1", 1)),
    )


def test_the_lifecycle_is_a_line_with_counts_and_its_branches_below() -> None:
    lines = printed(state(flow=way())).splitlines()

    assert "  sources 1 ─1→ surface 1 (1 block) ─11→ selection 1 → budget 0" in lines
    assert "  └ selection ─1→ missing 1" in lines


def test_a_lifecycle_that_is_too_long_is_wrapped() -> None:
    lines = printed(state(flow=way()), columns=40).splitlines()

    assert "  sources 1 ─1→ surface 1 (1 block)" in lines
    assert "    ─11→ selection 1 → budget 0" in lines


def test_who_sees_what_is_a_table_of_the_targets_that_occur() -> None:
    seen = block("a", sights={"model": Sight.INJECTED, "tool": Sight.ASSEMBLED, "ui": Sight.DENIED})
    other = block("b", sights={"model": Sight.ALLOWED, "tool": Sight.UNKNOWN, "ui": Sight.DENIED})
    shown = state(tiers=(Tier("injected", (seen, other)),))

    lines = printed(shown).splitlines()
    assert "  id  model  tool" in lines
    assert "  a   ✓      ◐" in lines
    assert "  b   ○      ?" in lines
    assert "  id  model  tool  ui" in printed(shown, columns=120).splitlines()


def test_facts_that_need_more_than_a_line_get_more() -> None:
    facts = {f"fact {number}": "x" * 20 for number in range(5)}

    assert printed(state(extra=facts), columns=80).count("fact ") == 5
