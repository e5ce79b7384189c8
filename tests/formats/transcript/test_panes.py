"""What the panes show of a transcript: tasks, sizes and their origin, growth, references, gaps, losses."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.diff import diff
from ctxview.analysis.revisions.events import find_events
from ctxview.core.state import RefStatus
from ctxview.formats.recording.observed_source import with_history
from ctxview.formats.transcript.source import TranscriptSource
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex
from tests.formats.transcript.builders import LENS, state_of, write

TASK = """
u1 user : Go
a1 call id=t1 tool=TaskCreate sent=9000 out=30 : {"subject": "deploy", "activeForm": "Deploying"}
r1 result id=t1 task=1 : Task #1 created
a2 call id=t2 tool=TaskUpdate sent=9100 out=30 : {"taskId": "1", "status": "in_progress"}
r2 result id=t2 : Updated task #1
"""


@pytest.mark.parametrize(
    ("more", "phase"),
    [
        ("", "doing"),
        ("a3 call id=t3 sent=9200 out=9 : make\nr3 result id=t3 error=1 : no rule", "blocked"),
        (
            "a3 call id=t3 sent=9200 out=9 : make\nr3 result id=t3 : The user doesn't want to do this",
            "blocked",
        ),
        ("a3 call id=t3 sent=9200 out=9 : make\nr3 result id=t3 : ok", "doing"),
        ('{"type":"permission-mode","permissionMode":"plan","sessionId":"s1"}', "planning"),
    ],
)
def test_the_cursor_says_what_the_agent_does(tmp_path: Path, more: str, phase: str) -> None:
    todo = state_of(write(tmp_path, f"{TASK}\n{more}")).todo
    assert todo is not None
    assert todo.cursor is not None
    assert (todo.cursor.phase, todo.cursor.next) == (phase, "Deploying")


def test_each_segment_says_whether_it_is_derived_estimated_or_inferred(tmp_path: Path) -> None:
    text = """
u1 user : Read it
a1 call id=t1 tool=Read sent=9000 out=30 : {"file_path": "a.py"}
r1 result id=t1 : row*900
a2 thinking msg=m2 sent=9900 out=300 : word*40
a3 assistant msg=m2 sent=9900 out=300 : word*40
u2 user : More
a4 assistant sent=10300 out=5 : Done
"""
    (budget,) = state_of(write(tmp_path, text)).budgets
    ways = {segment.name: (segment.exact, segment.estimator or "") for segment in budget.segments}
    assert ways["tool results"] == (True, "")
    assert ways["baseline"][1].endswith("(inferred)")
    assert ways["thinking"][1].endswith("(estimated)")
    assert sum(segment.used for segment in budget.segments) == budget.used
    assert "; turn 2 added 400" in (budget.note or "")


def test_the_growth_of_a_turn_names_its_causes(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=9000 out=5 : Done
u2 user : Read
a2 call id=t1 tool=Read sent=9100 out=30 : {"file_path": "big.sql"}
r1 result id=t1 : row*3000
a3 assistant sent=12500 out=5 : Done
"""
    events = [event.label for event in state_of(write(tmp_path, text)).timeline if event.kind == "turn"]
    assert events[0].startswith("turn 1: +0 tokens")
    assert events[1].startswith("turn 2: +3,500 tokens: Read big.sql 3,")


def test_memory_files_tracked_files_and_plans_are_references(tmp_path: Path) -> None:
    text = """
u1 user : Go
a1 call id=t1 tool=ExitPlanMode sent=900 out=30 : {"plan": "x"}
{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"s1","toolUseResult":{"filePath":"/p/plan.md"},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}
{"type":"file-history-snapshot","messageId":"u1","snapshot":{"trackedFileBackups":{"src/a.py":{}}}}
memory/MEMORY.md = notes
memory/topic.md = more
"""
    refs = {(ref.kind, ref.target): ref.status for ref in state_of(write(tmp_path, text)).refs}
    assert refs["memory file", "memory/MEMORY.md"] is RefStatus.RESOLVED
    assert refs["memory file", "memory/topic.md"] is RefStatus.RESOLVED
    assert refs["tracked", "src/a.py"] is RefStatus.EXTERNAL
    assert refs["plan", "/p/plan.md"] is RefStatus.EXTERNAL


def test_missing_has_named_files_and_outputs_that_codex_cut(tmp_path: Path) -> None:
    named = state_of(write(tmp_path / "a", "u1 user : See docs/plan.md\na1 assistant sent=900 out=5 : Done"))
    assert [(gap.question, gap.status) for gap in named.missing] == [("docs/plan.md", "not read")]
    cut = """
meta
user: Test it
call id=c1
tokens sent=900 out=30
output id=c1: row*40000
tokens sent=13100 out=30
"""
    (gap,) = state_of(write(tmp_path / "b", cut)).missing
    assert gap.status == "cut"
    assert "72,000 of 120,000 characters" in gap.why


def test_a_compaction_says_which_tasks_files_and_instructions_it_lost(tmp_path: Path) -> None:
    text = f"""
{TASK}
u2 user : Never touch the production database.
a3 call id=t3 tool=Edit sent=9300 out=30 : {{"file_path": "a.py"}}
r3 result id=t3 : ok
b1 boundary
s1 < b1 summary : We went on
a4 assistant sent=9000 out=5 : Going on
"""
    (record,) = state_of(write(tmp_path, text)).compactions
    assert record.lost == (
        "task: deploy",
        "file edited before: a.py",
        "said by a person: Never touch the production database",
    )


def test_a_branch_that_was_left_is_an_event(tmp_path: Path) -> None:
    text = """
u1 user : Go
a1 assistant sent=900 out=5 : Done
u2 user : Do it this way
a2 assistant sent=950 out=5 : Done
u3 < a1 user : Do it that way
a3 assistant sent=960 out=5 : Done
"""
    events = [event.label for event in state_of(write(tmp_path, text)).timeline if event.kind == "branch"]
    assert events == ["branch left: Do it this way"]


def test_a_sub_agent_whose_file_is_next_to_the_session_is_found(tmp_path: Path) -> None:
    text = """
u1 user : Go
a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
r1 result id=t1 agentId=x1 status=completed : found
"""
    path = write(tmp_path, text)
    usage = '{"message": {"model": "claude-sonnet-4-5", "usage": {"input_tokens": 1234}}}'
    (tmp_path / "agent-x1.jsonl").write_text(usage)
    state = state_of(path)
    (ref,) = (each for each in state.refs if each.kind == "sub-agent")
    assert (ref.target, ref.status) == ("agent-x1.jsonl", RefStatus.RESOLVED)
    assert [budget.used for budget in state.budgets[1:]] == [1234]


RUNNING = """
u1 user : Go
a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
"""
FIRST = '{"type": "user", "sessionId": "s1", "message": {"role": "user", "content": "search"}}'
USAGE = '{"message": {"model": "claude-sonnet-4-5", "usage": {"input_tokens": 1234}}}'


@pytest.mark.parametrize("name", ["s1/subagents/agent-x1.jsonl", "agent-x1.jsonl"])
def test_the_file_of_a_running_sub_agent_is_found_by_its_prompt(tmp_path: Path, name: str) -> None:
    source = TranscriptSource(write(tmp_path, RUNNING))
    before = source.reading(1, LENS).state
    assert source.again() is source
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(f"{FIRST}\n{USAGE}\n")
    state = source.again().reading(1, LENS).state
    (ref,) = (each for each in state.refs if each.kind == "sub-agent")
    assert [each.target for each in before.refs] == ["agent-t1.jsonl"]
    assert (ref.id, ref.target, ref.status) == ("x1", name.removeprefix("s1/"), RefStatus.RESOLVED)
    assert [budget.used for budget in state.budgets[1:]] == [1234]


def test_a_sub_agent_that_grows_moves_its_budget(tmp_path: Path) -> None:
    source = TranscriptSource(write(tmp_path, f"{RUNNING}\ns1/subagents/agent-x1.jsonl = {FIRST}"))
    assert len(source.reading(1, LENS).state.budgets) == 1
    with (tmp_path / "s1/subagents/agent-x1.jsonl").open("a") as file:
        file.write(f"\n{USAGE}\n")
    again = source.again()
    assert [budget.used for budget in again.reading(1, LENS).state.budgets[1:]] == [1234]
    assert again.again() is again


def test_a_sub_agent_that_no_row_names_is_a_reference(tmp_path: Path) -> None:
    path = write(
        tmp_path, "u1 user : Go\ns1/subagents/agent-x1.jsonl = {}\ns1/subagents/agent-acompact-2.jsonl = {}"
    )
    (ref,) = state_of(path).refs
    assert (ref.id, ref.text) == ("x1", "no row of the session names it yet")


def test_the_places_where_sub_agents_appear_are_watched(tmp_path: Path) -> None:
    path = write(tmp_path, f"{RUNNING}\ns1/subagents/deep/agent-x1.jsonl = {FIRST}")
    own = tmp_path / "s1"
    folders = {tmp_path, own, own / "subagents", own / "subagents/deep"}
    assert folders | {path, own / "subagents/deep/agent-x1.jsonl"} == set(TranscriptSource(path).watched)


def test_a_transcript_is_called_by_its_project_and_title_as_soon_as_they_are_read(tmp_path: Path) -> None:
    rows = (
        '{"type":"user","uuid":"u1","cwd":"/srv/shop","message":{"role":"user","content":"Move the refunds"}}'
    )
    source = TranscriptSource(write(tmp_path, rows, "5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f.jsonl"))
    assert source.title == "5f0c2a7e-1111-4222-8333-9a0b1c2d3e4f"

    source.reading(0, LENS)

    assert source.title == "shop: Move the refunds"


def test_a_finding_about_the_first_row_is_not_about_the_baseline(tmp_path: Path) -> None:
    text = "u1 user : \\u001b[31mred\na1 assistant sent=9000 out=5 : Done"
    path = write(tmp_path, text)
    path.write_text(path.read_text().replace("\\\\u001b", "\\u001b"))
    source = TranscriptSource(path)
    index = ReadingIndex(source.reading(len(source.revisions) - 1, LENS))
    (finding,) = (each for each in index.of(ItemKind.FINDING) if index.finding(each).rule == "TXT001")
    assert index.subject(finding) == ItemId(ItemKind.BLOCK, "u1", "conversation")


@pytest.mark.parametrize("side", ["", " side=1"])
def test_each_call_says_how_much_it_grew_and_by_which_part(side: str, tmp_path: Path) -> None:
    text = f"""
u1 user{side} : Read it
a1 call{side} id=t1 tool=Read sent=9000 out=30 : {{"file_path": "a.py"}}
r1 result{side} id=t1 : row*900
a2 assistant{side} sent=9900 out=30 : Done
"""
    labels = [event.label for event in state_of(write(tmp_path, text)).timeline if event.kind == "call"]
    assert labels == ["call 1: 9,000 tokens sent", "call 2: 9,900 tokens sent, +900: Read a.py 900"]


def test_a_segment_that_the_program_listed_says_so(tmp_path: Path) -> None:
    text = """
u1 user : Read it
a1 assistant sent=29000 out=30 : Done
u2 user : <local-command-stdout>29k/200k tokens, System prompt: 2.5k tokens</local-command-stdout>
"""
    ways = {each.name: each.estimator for each in state_of(write(tmp_path, text)).budgets[0].segments}
    assert ways["system"] == "as /context lists it (reported by the program)"
    assert ways["baseline"] == "what the first call was sent beyond its rows (inferred)"


def test_a_session_that_grows_has_no_earlier_states_beside_its_calls(tmp_path: Path) -> None:
    first = "u1 user : Go\na1 assistant sent=900 out=5 : Done"
    later = f"{first}\nu2 user : More\na2 assistant sent=950 out=5 : Done"
    source = with_history(TranscriptSource(write(tmp_path, first)))
    path = write(tmp_path, later)
    grown = source.again()
    assert [each.label for each in grown.revisions] == ["call 1", "call 2", "now"]
    path.write_bytes(path.read_bytes().replace(b"More", b"Less of it"))
    changed = grown.again()
    assert [each.kind for each in changed.revisions].count("seen") == 1


def _noted(path: Path, at: int) -> list[str]:
    """What the revisions say of the log at a revision, in words."""
    before, state = state_of(path, at - 1), state_of(path, at)
    events = find_events(diff(before, state), before, state, False, ())
    return [each.text for each in events if each.kind == "noted"]


def test_a_branch_another_model_a_new_version_and_a_sub_agent_are_events_of_a_revision(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path,
        """
u1 user : Go
a0 assistant sent=800 out=5 : I search
a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search", "subagent_type": "explorer"}
r1 result id=t1 agentId=x1 status=completed tokens=70 : found
a2 assistant sent=1000 out=30 : Found
u2 < a2 user : The wrong way
a3 assistant sent=1100 out=30 : As you say
u3 < a2 user : The right way
a4 assistant sent=1100 out=30 model=claude-opus-4-5 version=2.1.101 : Done
""",
    )
    assert _noted(path, 1) == ["sub-agent explorer x1 completed"]
    assert _noted(path, 2) == []
    assert _noted(path, 4) == [
        "branch left: The wrong way",
        "model claude-opus-4-5",
        "resumed with version 2.1.101",
    ]


def test_rolled_back_turns_are_an_event_of_a_revision(tmp_path: Path) -> None:
    rows = "meta\nuser: Fix it\nassistant: Done\ntokens sent=900 out=5\nuser: And this\nassistant: No"
    rows += "\ntokens sent=950 out=5\nrollback 1\nuser: Stop\nassistant: Stopped\ntokens sent=960 out=5"
    assert _noted(write(tmp_path, rows), 2) == ["1 turn rolled back"]
