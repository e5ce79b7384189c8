"""Which rows are live, and what they cost: parallel calls, hook rows, rewinds, compactions, rollbacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.core.state import ContextState
from ctxview.formats.registry import detect
from ctxview.formats.transcript import loading
from ctxview.formats.transcript.accounting import shared_out
from ctxview.formats.transcript.source import TranscriptSource
from tests.formats.transcript.builders import LENS, claude_lines, findings_of, state_of, write

PARALLEL = """
u1 user : Read three files
a1 call msg=m1 id=t1 sent=9000 out=20 : one
a2 call msg=m1 id=t2 sent=9000 out=40 : two
a3 call msg=m1 id=t3 sent=9000 out=60 : three
r2 < a2 result id=t2 : two
r3 < a3 result id=t3 : three
r1 < a1 result id=t1 : one
a4 < r1 assistant msg=m2 sent=9200 out=9 : Done
"""


def live(state: ContextState) -> list[str]:
    assert state.log is not None
    return list(state.log.live_rows)


def tier(state: ContextState, name: str) -> list[str]:
    return [block.id for each in state.tiers if each.name == name for block in each.blocks]


def used_by_segments(state: ContextState) -> int:
    return sum(segment.used for segment in state.budgets[0].segments)


def test_results_of_parallel_calls_are_live_although_the_walk_misses_them(tmp_path: Path) -> None:
    state = state_of(write(tmp_path, PARALLEL))
    assert set(live(state)) == {"u1", "a1", "a2", "a3", "r1", "r2", "r3", "a4"}
    assert state.log is not None
    assert state.log.calls == 2
    assert state.log.calls_without_result == ()


def test_a_turn_that_hook_rows_passed_by_is_live(tmp_path: Path) -> None:
    rail = "\n".join(f"p{at} < {'u1' if not at else f'p{at - 1}'} progress" for at in range(60))
    text = f"""
u1 user : Fix it
{rail}
a1 < u1 call msg=m1 id=t1 sent=9000 out=20 : one
r1 result id=t1 : ok
a2 assistant sent=9100 out=9 : Done
u2 < p59 user : More
a3 assistant sent=9200 out=9 : Done
"""
    assert live(state_of(write(tmp_path, text))) == ["u1", "a1", "r1", "a2", "u2", "a3"]


def test_a_rewound_prompt_is_on_a_dead_branch(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=900 out=5 : Done
u2 user : Docs
a2 assistant sent=950 out=5 : Docs done
u3 < a1 user : Changelog
a3 assistant sent=960 out=5 : Changelog done
"""
    source = TranscriptSource(write(tmp_path, text))
    state = source.reading(3, LENS).state
    assert live(state) == ["u1", "a1", "u3", "a3"]
    assert tier(state, "dead branches") == ["u2", "a2"]
    assert source.revisions[2].follows == "call 1"


def test_a_branch_that_was_left_before_a_compaction_is_dead_and_no_copy(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=900 out=5 : Done
u2 user : Docs
a2 assistant sent=950 out=5 : Docs done
u3 < a1 user : Changelog
a3 assistant sent=960 out=5 : Changelog done
b1 boundary
s1 < b1 summary : We fixed it
a4 assistant sent=700 out=5 : Going on
"""
    state = state_of(write(tmp_path, text))
    assert tier(state, "dead branches") == ["u2", "a2"]
    assert tier(state, "superseded") == []


def test_what_a_compaction_on_a_branch_that_was_left_replaced_is_compacted_away(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=900 out=5 : Done
u2 user : Never touch the production database
a2 assistant sent=950 out=5 : Understood
b1 boundary
s1 < b1 summary : We fixed it
u3 user : Docs
u4 < a1 user : Changelog
a4 assistant sent=960 out=5 : Changelog done
"""
    state = state_of(write(tmp_path, text))
    assert live(state) == ["u1", "a1", "u4", "a4"]
    assert tier(state, "compacted away") == ["u2", "a2"]
    assert tier(state, "dead branches") == ["s1", "u3"]
    assert state.compactions == ()
    assert not any(gap.id.startswith("said") for gap in state.missing)


def test_a_compaction_keeps_the_named_messages_and_nothing_else(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=160000 out=5 : Done
u2 user : Remember the port 8080
b1 boundary kept=u2
s1 < b1 summary : We fixed it
a2 assistant sent=30000 out=5 : Going on
"""
    state = state_of(write(tmp_path, text))
    assert live(state) == ["u2", "s1", "a2"]
    assert tier(state, "compacted away") == ["u1", "a1"]
    assert state.log is not None
    assert state.log.compactions[0].after == 30000


COMPACTED_IN_A_TURN = """
u1 user : Fix it
a1 call id=t1 sent=9000 out=20 : one
r1 result id=t1 : ok
{"type": "last-prompt", "leafUuid": "r1", "sessionId": "s1"}
b1 boundary pre=9100
s1 summary : This session is being continued
"""


def test_the_last_prompt_may_name_a_row_before_a_compaction(tmp_path: Path) -> None:
    state = state_of(write(tmp_path, COMPACTED_IN_A_TURN + "a2 assistant sent=8800 out=9 : Done"))
    assert live(state) == ["s1", "a2"]
    assert tier(state, "dead branches") == []
    thrown_away = COMPACTED_IN_A_TURN + "a2 assistant sent=8800 out=9 : Done\nu9 < u1 user : Thrown away"
    assert live(state_of(write(tmp_path, thrown_away))) == ["s1", "a2"]


def test_the_baseline_is_still_sent_when_no_call_follows_a_compaction(tmp_path: Path) -> None:
    state = state_of(write(tmp_path, COMPACTED_IN_A_TURN))
    baseline, summary = state.budgets[0].segments
    assert (baseline.name, summary.name) == ("baseline", "summary")
    assert 8900 < baseline.used < 9000
    assert state.budgets[0].used == baseline.used + summary.used


LISTED = (
    "30k/200k tokens System prompt: 2.5k tokens System tools: 17.7k tokens Memory files: 4.1k tokens",
    "\x1b[1mContext Usage\x1b[22m\n\x1b[38;2;136m⛁ \x1b[39m \x1b[2mclaude · 30k/200k tokens (15%)\x1b[22m\n"
    "⛁ System prompt: \x1b[38;2;153;153;153m2.5k tokens (1.3%)\x1b[39m\n"
    "⛁ System tools: \x1b[38;2;153;153;153m17.7k tokens (8.9%)\x1b[39m\n"
    "⛁ Memory files: \x1b[38;2;153;153;153m4.1k tokens (2.1%)\x1b[39m",
    "## Context Usage\n\n**Tokens:** 30k / 200k (15%)\n\n| Category | Tokens | Percentage |\n|---|---|---|\n"
    "| System prompt | 2.5k | 1.3% |\n| System tools | 17.7k | 8.9% |\n"
    "| System tools (deferred) | 7.3k | 3.7% |\n| Memory files | 4.1k | 2.1% |",
)


@pytest.mark.parametrize("printed", LISTED)
def test_the_parts_that_the_program_listed_have_the_sizes_that_it_printed(
    printed: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "u1 user : PRINTED\na1 assistant sent=30000 out=5 : Done")
    row = json.dumps(f"<local-command-stdout>{printed}</local-command-stdout>").encode()
    path.write_bytes(path.read_bytes().replace(b'"PRINTED"', row))
    state = state_of(path)
    used = {segment.name: segment.used for segment in state.budgets[0].segments}
    assert (used["system"], used["tools"], used["memory"]) == (2500, 17700, 4100)
    assert used["baseline"] > 0
    assert used_by_segments(state) == 30005
    assert state.log is not None
    assert (state.log.window, state.log.window_from) == (200_000, "/context")


def test_the_reserve_is_the_one_that_the_program_printed(tmp_path: Path) -> None:
    printed = "<local-command-stdout>30k/200k tokens{}</local-command-stdout>"
    text = "u1 user : {}\na1 assistant sent=9000 out=5 : Done"
    plain, larger = (
        state_of(write(tmp_path, text.format(printed.format(end))))
        for end in ("", " Autocompact buffer: 45.0k tokens (22.5%)")
    )
    assert (plain.budgets[0].reserved, larger.budgets[0].reserved) == (33_000, 45_000)


def test_a_person_who_writes_of_tokens_does_not_state_the_window(tmp_path: Path) -> None:
    text = "u1 user : Keep the pack at 5k/16k tokens, please\na1 assistant sent=9000 out=5 : Done"
    log = state_of(write(tmp_path, text)).log
    assert log is not None
    assert (log.window, log.window_from) == (200_000, "inferred from the model claude-sonnet-4-5")


def test_the_baseline_is_still_sent_after_a_rewind_to_the_first_prompt(tmp_path: Path) -> None:
    text = "u1 user : Look\na1 assistant sent=9000 out=20 : One\nu2 < - user : Look again"
    state = state_of(write(tmp_path, text))
    assert live(state) == ["u2"]
    assert 8900 < state.budgets[0].used < 9010


def test_an_inline_sub_agent_with_the_message_id_of_the_main_line_is_another_call(tmp_path: Path) -> None:
    text = """
u1 user : Look
a1 call msg=m1 id=t1 tool=Task sent=9000 out=20 : {"prompt": "Find"}
x1 < - user side=1 : Find
x2 assistant side=1 msg=m1 sent=4000 out=700 : Found
r1 < a1 result id=t1 : Found
a2 assistant sent=9200 out=9 : Done
"""
    log = state_of(write(tmp_path, text)).log
    assert log is not None
    assert (log.calls, log.output_tokens) == (2, 29)
    assert state_of(write(tmp_path, text), 0).budgets[0].used == 9000


def test_calls_without_ids_are_told_apart_by_their_rows(tmp_path: Path) -> None:
    lines = claude_lines("""
u1 user : Look
a1 assistant sent=9000 out=20 : One
u2 user : More
a2 assistant sent=9200 out=30 : Two
""")
    rows = [json.loads(line) for line in lines]
    for row in rows:
        row["message"].pop("id", None)
    state = state_of(write(tmp_path, "\n".join(map(json.dumps, rows))))
    used = {segment.name: segment.used for segment in state.budgets[0].segments}
    assert used["assistant"] == 50
    assert "not accounted for" not in used
    assert state.budgets[0].used == 9230


def test_of_many_rows_below_one_call_those_that_belong_to_it_are_live(tmp_path: Path) -> None:
    others = "\n".join(f"x{at} < a1 attachment type=edited_text_file file=/a : text" for at in range(50))
    text = f"""
u1 user : Look
a1 call msg=m1 id=t1 sent=9000 out=20 : one
{others}
r2 < a1 result id=t2 : two
a2 < a1 call msg=m1 id=t2 sent=9000 out=40 : two
r1 < a1 result id=t1 : one
a3 assistant sent=9200 out=9 : Done
"""
    assert set(live(state_of(write(tmp_path, text)))) == {"u1", "a1", "a2", "r1", "r2", "a3"}


def test_a_row_that_is_nested_deeply_does_not_stop_the_reading(tmp_path: Path) -> None:
    deep = "[" * 3000 + "]" * 3000
    row = '{"type": "user", "uuid": "d1", "parentUuid": "a1", "sessionId": "s1", "message": {"content": %s}}'
    text = f"u1 user : Look\na1 assistant sent=9000 out=20 : One\n{row % deep}\nu2 < d1 user : More"
    assert live(state_of(write(tmp_path, text))) == ["u1", "a1", "d1", "u2"]


def test_a_replayed_conversation_counts_once(tmp_path: Path) -> None:
    text = """
u1 < - user : Fix it
a1 assistant msg=m1 sent=900 out=5 : Done
u2 < - user : Fix it
a2 assistant msg=m1 sent=900 out=5 : Done
u3 user : More
a3 assistant msg=m2 sent=950 out=5 : Done
"""
    state = state_of(write(tmp_path, text))
    assert live(state) == ["u2", "a2", "u3", "a3"]
    assert tier(state, "superseded") == ["u1", "a1"]


def test_a_file_without_parents_is_in_file_order(tmp_path: Path) -> None:
    text = "u1 < - user : Fix it\na1 < - assistant sent=900 out=5 : Done\nu2 < - user : More\n"
    assert live(state_of(write(tmp_path, text))) == ["u1", "a1", "u2"]


def test_the_sidechain_is_the_main_line_of_a_sub_agents_own_file(tmp_path: Path) -> None:
    text = "u1 < gone user side=1 : Search\na1 assistant side=1 sent=900 out=5 : Found\n"
    state = state_of(write(tmp_path, text))
    assert live(state) == ["u1", "a1"]
    assert state.log is not None
    assert state.log.last_sent == 900


def test_a_rollback_never_cuts_before_the_first_turn(tmp_path: Path) -> None:
    text = """
meta
user: <environment_context>here
user: One
assistant: First
tokens sent=900 out=5
user: Two
assistant: Second
tokens sent=950 out=5
rollback 9
"""
    state = state_of(write(tmp_path, text))
    assert tier(state, "rolled back") == ["line 3", "line 4", "line 6", "line 7"]
    assert live(state) == ["line 1", "line 2"]


@pytest.mark.parametrize(("turns", "uncertain"), [(1, False), (2, True)])
def test_a_rollback_over_a_compaction_says_that_the_context_is_uncertain(
    turns: int, uncertain: bool, tmp_path: Path
) -> None:
    text = f"""
meta
user: One
{{"type": "compacted", "payload": {{"message": "", "replacement_history": [{{"type": "compaction"}}]}}}}
assistant: First
tokens sent=900 out=5
user: Two
assistant: Second
tokens sent=950 out=5
rollback {turns}
"""
    state = state_of(write(tmp_path, text))
    assert ("uncertain" in dict(state.extra)) is uncertain


MID_TURN = """
meta
user: One
assistant: First
tokens sent=900 out=5
user: Two
assistant: Second
tokens sent=950 out=5
compacted: Summary
assistant: Third
tokens sent=500 out=5
user: Three
assistant: Fourth
tokens sent=600 out=5
"""


@pytest.mark.parametrize(
    ("more", "shown", "rolled", "compacted"),
    [
        (
            "rollback 1",
            ["line 1", "line 8", "line 9"],
            ["line 11", "line 12"],
            ["line 2", "line 3", "line 5", "line 6"],
        ),
        (
            "rollback 2",
            ["line 1", "line 2", "line 3"],
            ["line 8", "line 9", "line 11", "line 12", "line 5", "line 6"],
            [],
        ),
        (
            "rollback 1\nrollback 1",
            ["line 1", "line 2", "line 3"],
            ["line 11", "line 12", "line 8", "line 9", "line 5", "line 6"],
            [],
        ),
    ],
)
def test_a_compaction_is_undone_with_the_turn_that_contains_it(
    more: str, shown: list[str], rolled: list[str], compacted: list[str], tmp_path: Path
) -> None:
    path = write(tmp_path, f"{MID_TURN}{more}")
    state = state_of(path)
    assert live(state) == shown
    assert tier(state, "rolled back") == rolled
    assert tier(state, "compacted away") == compacted
    assert bool(state.compactions) is bool(compacted)
    assert state.log is not None
    assert state.log.dead_rows == ()
    (finding,) = (each for each in findings_of(path) if each.rule == "TRC018")
    assert finding.message.startswith(f"{len(rolled)} rows")


def test_repeated_token_counts_are_one_call(tmp_path: Path) -> None:
    text = "meta\nuser: One\nassistant: First\ntokens sent=900 out=5\ntokens sent=900 out=5 again=1\n"
    state = state_of(write(tmp_path, text))
    assert state.log is not None
    assert state.log.calls == 1


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_segments_sum_to_the_reported_size(at: int, tmp_path: Path) -> None:
    state = state_of(write(tmp_path, PARALLEL), at)
    assert state.budgets[0].used == (9000, 9200, 9209)[at] == used_by_segments(state)


def test_a_shrunk_context_still_sums_to_the_reported_size(tmp_path: Path) -> None:
    text = """
u1 user : Read it
a1 call id=t1 sent=9000 out=20 : one
r1 result id=t1 : row*3000
a2 assistant sent=12000 out=9 : Done
u2 user : More
a3 assistant sent=9500 out=9 : Done
"""
    state = state_of(write(tmp_path, text))
    assert state.budgets[0].used == 9509 == used_by_segments(state)


def test_a_single_new_result_gets_exactly_the_growth(tmp_path: Path) -> None:
    text = """
u1 user : Read it
a1 call id=t1 sent=9000 out=20 : one
r1 result id=t1 : row*3000
a2 assistant sent=12000 out=9 : Done
"""
    state = state_of(write(tmp_path, text))
    assert next(block.tokens for block in state.blocks() if block.id == "r1") == 2980


@given(st.integers(0, 10**6), st.lists(st.integers(0, 10**5), min_size=1, max_size=40))
def test_shares_sum_to_the_amount(amount: int, weights: list[int]) -> None:
    assert sum(shared_out(amount, weights)) == amount


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=30))
def test_any_graph_of_rows_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, bool]]
) -> None:
    lines = [
        f"n{at} < n{to} {'user' if asks else 'assistant'} sent=900 out=5 : text"
        for at, (to, asks) in enumerate(rows)
    ]
    path = write(tmp_path_factory.mktemp("graph"), "\n".join(lines) or "t1 title : x")
    source = TranscriptSource(path)
    for revision in range(len(source.revisions)):
        state = source.reading(revision, LENS).state
        assert state.budgets[0].used == used_by_segments(state)


def test_new_rows_are_read_without_the_old_ones(tmp_path: Path) -> None:
    path = write(tmp_path, PARALLEL)
    source = TranscriptSource(path)
    assert len(source.revisions) == 3
    more = claude_lines("u9 < a4 user : More\na9 assistant msg=m9 sent=9300 out=5 : Done")
    with path.open("a") as file:
        file.write("\n".join(more) + "\n")
    grown = source.again()
    assert [each.label for each in grown.revisions] == ["call 1", "call 2", "call 3", "now"]
    assert live(grown.reading(3, LENS).state)[-2:] == ["u9", "a9"]


def test_the_end_of_a_large_file_is_shown_before_all_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=160000 out=5 : Done
b1 boundary
s1 < b1 summary : We fixed it
a2 assistant sent=30000 out=5 : Going on
"""
    monkeypatch.setattr("ctxview.formats.transcript.source.SMALL", 100)
    source = TranscriptSource(write(tmp_path, text))
    assert live(source.reading(0, LENS).state) == ["s1", "a2"]
    assert [each.label for each in source.revisions] == ["now"]
    source.findings(LENS)
    assert len(source.revisions) == 3
    assert tier(source.reading(2, LENS).state, "compacted away") == ["u1", "a1"]
    assert loading.SMALL > 100


def test_recognised_by_content_and_not_by_name(tmp_path: Path) -> None:
    found = detect(write(tmp_path, PARALLEL, "notes.txt"))
    assert [match.format for match in found] == ["transcript"]
    other = tmp_path / "session.jsonl"
    other.write_text('{"type": "init", "session_id": "x"}\n{"level": "info"}\n')
    assert not [match for match in detect(other) if match.format == "transcript"]


def test_the_prompt_has_the_live_texts_and_names_what_is_in_no_file(tmp_path: Path) -> None:
    prompt = TranscriptSource(write(tmp_path, PARALLEL)).prompt(2, LENS)
    assert "Read three files" in prompt.text
    assert not prompt.complete


def test_a_large_file_that_grew_shows_the_new_call_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n".join(f"u{at} user : Go\na{at} assistant sent={9000 + at} out=5 : Done" for at in range(60))
    path = write(tmp_path, text)
    monkeypatch.setattr("ctxview.formats.transcript.source.SMALL", 1000)
    source = TranscriptSource(path)
    assert [each.label for each in source.revisions] == ["now"]
    source._pass.advance(lambda: False)
    assert [each.label for each in source.revisions] == ["now"], "a revision must not change its number"
    source.findings(LENS)
    assert len(source.revisions) == 61
    added = claude_lines("x1 < a59 user : More\nx2 assistant sent=12345 out=7 : Done")
    with path.open("a") as file:
        file.write("\n".join(added) + "\n")
    grown = source.again()
    assert [each.label for each in grown.revisions][-2:] == ["call 61", "now"]
    assert grown.reading(61, LENS).state.budgets[0].used == 12352
