"""The state of a workspace: advice, turns, gaps, other sessions and the timeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.revisions.overview import refs_sentence
from ctxview.analysis.revisions.skyline import build_skyline, logged_revisions
from ctxview.core.state import RefStatus
from ctxview.formats.interface import Lens
from ctxview.formats.workspace.source import WorkspaceSource
from ctxview.formats.workspace.state import sparkline
from tests.formats.workspace.builders import LENS, changed_home, session_file, write


def test_the_advice_names_the_file_that_repeats_most_and_what_removing_saves(tmp_path: Path) -> None:
    example = "memory/MEMORY.md += - Assumptions are forbidden.\nSOUL.md += - Jokes are welcome."
    state = WorkspaceSource(write(tmp_path, changed_home(example))).reading(0, LENS).state
    assert state.advice == (
        "Removing 1 statement of workspace/memory/MEMORY.md (line 2) saves 7 tokens a turn"
    )
    after = next(each for each in state.budgets if each.id == "after clean-up")
    assert state.budgets[0].used is not None
    assert after.used == state.budgets[0].used - 7


def test_the_savings_table_is_the_prompt_without_what_can_go(tmp_path: Path) -> None:
    example = (
        "AGENTS.md += ## Verification Protocol\nAGENTS.md += - Check each claim against a tool result.\n"
        "TOOLS.md += - Semantic retrieval finds old notes.\n"
        "memory/MEMORY.md += - Currently working on the clock.\n"
        "memory/MEMORY.md += - Assumptions are forbidden."
    )
    dirty = WorkspaceSource(write(tmp_path / "dirty", changed_home(example))).reading(0, LENS).state
    clean = WorkspaceSource(write(tmp_path / "clean", changed_home(""))).reading(0, LENS).state
    before, after = dirty.budgets[:2]

    assert (after.id, after.used) == ("after clean-up", clean.budgets[0].used)
    assert {each.key: each.used for each in after.segments} == {
        each.name: each.used for each in clean.budgets[0].segments
    }
    assert [each.name for each in after.segments if each.id] == [
        f"{each.name} (was {each.used})"
        for each in before.segments
        if each.name in ("AGENTS.md", "TOOLS.md", "memory")
    ]
    assert before.used is not None
    assert after.used is not None
    assert f"−{before.used - after.used} (" in after.target


def test_a_statement_stays_while_one_of_its_sentences_is_said_only_there(tmp_path: Path) -> None:
    half = "SOUL.md += - Assumptions are forbidden. The moon is made of green cheese tonight."
    assert WorkspaceSource(write(tmp_path, changed_home(half))).reading(0, LENS).state.advice is None


def test_a_clean_workspace_has_no_advice(tmp_path: Path) -> None:
    assert WorkspaceSource(write(tmp_path, changed_home(""))).reading(0, LENS).state.advice is None


def test_contradictions_come_first_and_neither_they_nor_duplicates_resolve(tmp_path: Path) -> None:
    example = "SOUL.md += - Assumptions are forbidden.\nSOUL.md += - The database listens on port 5433."
    refs = WorkspaceSource(write(tmp_path, changed_home(example))).reading(0, LENS).state.refs
    assert [(ref.kind, ref.status) for ref in refs] == [
        ("contradiction", RefStatus.CONTRADICTION),
        ("exact", RefStatus.DUPLICATE),
    ]
    assert refs_sentence(refs) == "2 references: 1 contradictory, 1 said twice"
    assert refs[0].text is not None
    assert "differs in: 5433 and 5432" in refs[0].text


def test_what_does_not_fit_and_stale_paths_are_gaps(tmp_path: Path) -> None:
    kind = "SOUL.md += - Be kind to all clocks, however late they may be today. @800"
    example = f"{kind}\nUSER.md += - See `src/x.rs`."
    source = WorkspaceSource(write(tmp_path, changed_home(example)))
    gaps = source.reading(0, Lens(LENS.counter, None, {"window": 16384})).state.missing
    assert [(gap.id, gap.status) for gap in gaps] == [
        ("SOUL.md", "dropped"),
        ("workspace/USER.md:4", "stale"),
    ]


def test_turns_are_bars_and_events(tmp_path: Path) -> None:
    state = WorkspaceSource(write(tmp_path, changed_home(""))).reading(0, LENS).state
    assert state.extra["per turn"].endswith(" 2,001 to 2,002 tokens")
    assert [event.kind for event in state.timeline] == ["compaction", "turn", "turn"]


def test_a_turn_without_a_size_is_reported_and_not_counted(tmp_path: Path) -> None:
    log = "memory/audit/cli_default.turns.jsonl"
    odd = ['{"turn": 3, "context_tokens": -5}', '{"turn": 4}', '{"turn": true, "context_tokens": 7}']
    example = "\n".join(f"{log} += {each}" for each in odd)
    source = WorkspaceSource(write(tmp_path, changed_home(example)))
    assert source.reading(0, LENS).state.extra["per turn"].endswith(" 2,001 to 2,002 tokens")
    assert [each.message for each in source.findings(LENS) if each.rule == "WSP018"] == (
        ["the turn has no number, or no size of its context"] * 3
    )


def test_a_file_of_one_huge_line_is_over_its_limit_and_not_cut(tmp_path: Path) -> None:
    source = WorkspaceSource(write(tmp_path, {"AGENTS.md": "word " * 9000, "SOUL.md": "- Calm.\n"}))
    messages = [each.message for each in source.findings(LENS) if each.rule == "WSP015"]
    assert messages == [
        "9,006 tokens, the limit is 3,000: a single line is never cut",
        "SOUL.md is cut at every window: 9 tokens",
    ]


def test_a_file_of_one_huge_line_is_dropped_where_files_are_taken_whole(tmp_path: Path) -> None:
    files = changed_home("") | {"workspace/AGENTS.md": "word " * 90_000}
    assembly = WorkspaceSource(write(tmp_path, files)).reading(0, LENS).state.assembly
    assert assembly is not None
    states = {each.name: each.state for each in assembly.components}
    assert (states["AGENTS.md"], states["SOUL.md"]) == ("dropped", "whole")


def test_the_turn_log_is_the_window_over_time(tmp_path: Path) -> None:
    log = "memory/audit/cli_default.turns.jsonl"
    later = (
        '{"turn": 3, "timestamp": "2026-02-17T11:59:00Z", "context_tokens": 900, "working_memory_tokens": 90}'
    )
    windows = (
        WorkspaceSource(write(tmp_path, changed_home(f"{log} += {later}"))).reading(0, LENS).state.windows
    )

    assert [(each.name, each.budget.used) for each in windows] == [
        ("turn 1", 2001),
        ("turn 2", 2002),
        ("turn 3", 900),
    ]
    assert [(each.name, each.used) for each in windows[-1].budget.segments] == [
        ("working memory", 90),
        ("not in this file", 810),
    ]
    assert windows[-1].event
    skyline = build_skyline(logged_revisions(windows), 60)
    assert [column.used for column in skyline.columns] == [2001, 2002, 900]
    assert [event.kind for event in skyline.columns[-1].events] == ["cut"]


def test_bars_grow_with_the_figures() -> None:
    assert sparkline([0, 50, 100]) == "▁▅█ 0 to 100 tokens"


def test_completed_sessions_are_shown_and_not_in_the_prompt(tmp_path: Path) -> None:
    other = {
        "workspace/memory/sessions/SESSION_0.md": session_file(
            "## Task\nOld.\n", session_key="x:1", status="completed"
        )
    }
    state = WorkspaceSource(write(tmp_path, {**changed_home(""), **other})).reading(0, LENS).state
    (tier,) = [each for each in state.tiers if each.name == "other sessions"]
    assert [(block.id, block.visible, block.why) for block in tier.blocks] == [
        ("x:1", False, "the session is completed")
    ]


@pytest.mark.parametrize(("statements", "said"), [(1990, False), (2010, True)])
def test_statements_that_are_not_shown_are_a_row_and_a_finding(
    tmp_path: Path, statements: int, *, said: bool
) -> None:
    files = changed_home("")
    name = next(each for each in files if each.endswith("MEMORY.md"))
    files[name] = "# Memory\n" + "".join(f"- Lamp {number} is bright.\n" for number in range(statements))
    source = WorkspaceSource(write(tmp_path, files))
    rows = [gap.why for gap in source.reading(0, LENS).state.missing if gap.status == "left out"]
    cut = "only the first 2,000 of 2,010 statements are shown"
    assert (cut in rows) is said
    assert (cut in " ".join(each.message for each in source.findings(LENS) if each.rule == "RAW003")) is said
