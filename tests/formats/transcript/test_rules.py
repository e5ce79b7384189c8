"""The rules about transcripts: every example is true, and near misses give no finding."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxview.core.findings import REGISTRY, Finding, Severity
from ctxview.formats.registry import open_source
from ctxview.formats.transcript.source import TranscriptSource
from tests.formats.transcript.builders import LENS, findings_of, packed, state_of, write
from tests.formats.transcript.opencode_builders import write_export
from tests.rule_examples import assert_examples_are_true, rules_of


@pytest.mark.parametrize("name", rules_of("TRF", "TRC", "TRW", "TRM", "TRA"))
def test_the_examples_of_a_rule_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxview.formats.transcript.unpacking._zstd", lambda: None)
    numbers = iter(range(9))

    def of(example: str) -> list[Finding]:
        folder = tmp_path / str(next(numbers))
        if example.startswith("opencode\n"):
            return list(open_source(write_export(folder, example.removeprefix("opencode\n"))).findings(LENS))
        if example.startswith("packed "):
            packing, _, example = example.partition("\n")
            return findings_of(packed(write(folder, example), packing.removeprefix("packed ")))
        if "\nlater\n" in example:
            first, _, later = example.partition("\nlater\n")
            source = TranscriptSource(write(folder, first))
            source.findings(LENS)
            write(folder, later)
            return list(source.again().findings(LENS))
        return findings_of(write(folder, example))

    assert_examples_are_true(REGISTRY[name], of)


def test_every_copy_of_a_file_counts_and_not_only_those_up_to_the_limit(tmp_path: Path) -> None:
    reads = "\n".join(
        f"""a{at} call id=t{at} tool=Read sent={9000 + at * 1000} out=30 : {{"file_path": "a.py"}}
r{at} result id=t{at} : row*300"""
        for at in range(5)
    )
    text = f"u1 user : Read it\n{reads}\na9 assistant sent=14000 out=30 : Done"
    (found,) = (each for each in findings_of(write(tmp_path, text)) if each.rule == "TRW004")
    assert found.message == "a.py was read 5 times: 3,880 tokens are copies"


UNANSWERED = """
u1 user : Go
a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
"""
BACKGROUND = f"""{UNANSWERED}
r1 result id=t1 agentId=x1 status=async_launched : started
a2 assistant sent=950 out=5 : I go on
"""


@pytest.mark.parametrize(
    ("rows", "minutes", "wanted"),
    [
        (BACKGROUND, 0, "the sub-agent x1 has not come back yet; it may be running"),
        (BACKGROUND, 60, "the sub-agent x1 never came back"),
        (f"{BACKGROUND}\nu2 user : <task-notification><task-id>x1</task-id>done", 60, None),
        (f'{BACKGROUND}\na3 call id=t2 tool=TaskOutput sent=960 out=5 : {{"task_id": "x1"}}', 60, None),
        (f"{BACKGROUND}\nq1 queue : <task-notification><task-id>x1</task-id>done", 60, None),
        (UNANSWERED, 0, "the sub-agent has not come back yet; it may be running"),
        (UNANSWERED, 60, "the sub-agent never came back"),
    ],
)
def test_a_sub_agent_that_may_be_running_is_not_lost(
    tmp_path: Path, rows: str, minutes: int, wanted: str | None
) -> None:
    path = write(tmp_path, rows)
    before = path.stat().st_mtime - 60 * minutes
    os.utime(path, (before, before))
    found = [each for each in findings_of(path) if each.rule == "TRA001"]
    assert [each.message for each in found] == ([wanted] if wanted else [])
    assert all((each.severity is Severity.WARNING) == (minutes > 0) for each in found)


def test_a_compaction_that_names_rows_which_are_not_there_is_found(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=9000 out=30 : Done
b1 < {parent} boundary kept={kept}
s1 < b1 summary : We fixed it
a2 assistant sent=8000 out=30 : Going on
"""

    def found(parent: str, kept: str) -> list[str]:
        path = write(tmp_path, text.format(parent=parent, kept=kept))
        return [each.message for each in findings_of(path) if each.rule == "TRM023"]

    assert found("a1", "u1") == []
    assert found("gone", "u1,lost") == [
        "logicalParentUuid gone is not in this session before it",
        "preserved message lost is not in this session before it",
    ]


@pytest.mark.parametrize(("end", "after"), [("user: Three", "700"), ("user: Three\nrollback 2", None)])
def test_a_compaction_that_was_rolled_back_has_no_size_after_it(
    end: str, after: str | None, tmp_path: Path
) -> None:
    text = f"""
meta
user: One
assistant: First
tokens sent=900 out=5
user: Two
compacted: Summary
{end}
user: Four
assistant: Second
tokens sent=700 out=5
"""

    (found,) = (each.message for each in findings_of(write(tmp_path, text)) if each.rule == "TRM001")

    assert f"to {after or 'a size that is not known: no call follows'}" in found


def test_a_compaction_on_a_branch_that_was_left_has_no_size_of_another_branch(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant sent=9000 out=30 : Done
u2 user : Go on
b1 boundary pre=9100
s1 < b1 summary : We fixed it
u3 < a1 user : Something else
a3 assistant sent=9400 out=30 : Going on
b2 boundary pre=9500
s2 < b2 summary : We went on
a4 assistant sent=5000 out=30 : Going on
"""

    found = [each.message for each in findings_of(write(tmp_path, text)) if each.rule == "TRM001"]

    assert found == [
        "compaction (auto) from 9,100 to a size that is not known: no call follows; 3 rows replaced",
        "compaction (auto) from 9,500 to 5,000; 2 rows replaced",
    ]


FAILED_CALLS = "\n".join(f"e{at} assistant error=1 : API Error: 529" for at in range(5))
TO_TASK = 'a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}'
LEFT = """
u1 user : Fix it
a1 assistant sent=900 out=5 : Done
u2 user : Now the docs
u3 < a1 user : Now the changelog
a3 assistant sent=950 out=5 : Done
"""
ROLLED_BACK = """
meta
user: One
assistant: First
tokens sent=900 out=5
user: Delete it
assistant: Deleted
tokens sent=950 out=5
rollback 1
"""
CUT = """
u1 user : Fix it
a1 assistant sent=900 out=5 : Done
u2 user : Again
b1 boundary pre=1000 kept=u2
s1 < b1 summary : We fixed it
a2 assistant sent=800 out=5 : Going on
"""


@pytest.mark.parametrize(
    ("rule", "rows", "wanted"),
    [
        (
            "TRC016",
            f"u1 user : Go\n{FAILED_CALLS}\na1 assistant sent=9 out=5 : Done",
            "5 errors in a row: API Error: 529",
        ),
        ("TRC016", f"u1 user : Go\n{FAILED_CALLS[:-40]}\na1 assistant sent=9 out=5 : Done", None),
        (
            "TRA006",
            f"u1 user : Go\n{TO_TASK}\nr1 result id=t1 error=1 : The user doesn't want to proceed",
            None,
        ),
        (
            "TRC003",
            LEFT,
            "1 row (about 5 tokens) from u2 on are on a branch that was left; u3 took its place",
        ),
        (
            "TRC003",
            "u1 user : Go\na1 assistant sent=9 out=5 : Done\nt1 attachment type=todo_reminder : []",
            None,
        ),
        ("TRC018", ROLLED_BACK, "2 rows of 1 call (about 5 tokens) were rolled back: Delete it"),
        ("TRM001", CUT, "compaction (auto) from 1,000 to 800; 2 rows replaced, 1 kept"),
        (
            "TRM007",
            "u1 user : Go\nb1 boundary\ns1 < b1 summary : One\nb2 boundary\ns2 < b2 summary : Two",
            "two compactions in one turn",
        ),
        ("TRM018", "u1 user : Go\nmemory/MEMORY.md = line*200", None),
        (
            "TRF001",
            "u1 user : Go\n~{'type'\na1 assistant sent=9 out=5 : Done",
            "the line is not JSON: column 2: a key needs double quotes, not single ones; "
            "nothing could be recovered from it",
        ),
    ],
)
def test_what_a_rule_says(rule: str, rows: str, wanted: str | None, tmp_path: Path) -> None:
    found = [each.message for each in findings_of(write(tmp_path, rows)) if each.rule == rule]
    assert found == ([wanted] if wanted else [])


def test_line_ends_of_another_system_are_one_finding(tmp_path: Path) -> None:
    path = write(tmp_path, LEFT)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    found = [each for each in findings_of(path) if each.rule == "TRF004"]
    assert [(each.origin.line, each.message) for each in found] == [
        (1, "a carriage return skipped in 5 lines, first here")
    ]


def test_a_sub_agent_whose_session_is_not_there_says_so(tmp_path: Path) -> None:
    agent = write(
        tmp_path / "s1/subagents",
        "u1 user side=1 : Go\na1 assistant side=1 sent=9 out=5 : Done",
        "agent-x1.jsonl",
    )

    def found() -> list[str]:
        return [each.message for each in findings_of(agent) if each.rule == "TRA003"]

    assert found() == ["the session of this sub-agent, s1.jsonl, is not there"]
    (tmp_path / "s1.jsonl").write_bytes(b"")
    assert found() == []


@pytest.mark.parametrize(
    ("content", "why", "shown"),
    [
        (b'"caf\xff"', "the byte 0xFF does not belong to any UTF-8 character", "caf\udcff"),
        (b'"text", "n": NaN', "NaN is not JSON", "text"),
        (b'"tab\there"', "the control character U+0009", "tab\there"),
        (b'"half \\ud83d"', None, "half \ud83d"),
    ],
)
def test_a_row_that_is_not_strict_json_is_shown_and_reported(
    content: bytes, why: str | None, shown: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "u1 user : PLACE")
    path.write_bytes(path.read_bytes().replace(b'"PLACE"', content))
    (block,) = (block for tier in state_of(path).tiers for block in tier.blocks if block.id == "u1")
    assert block.text == shown
    found = [each for each in findings_of(path) if each.rule == "TRF001"]
    assert [each.origin.line for each in found] == ([1] if why else [])
    assert all(why in each.message and "1 record could be recovered" in each.message for each in found if why)


def test_sizes_below_zero_are_no_sizes(tmp_path: Path) -> None:
    text = """
u1 user : Fix it
a1 assistant fresh=-9000 sent=-9000 out=5 : Done
a2 assistant sent=900 out=5 : Done
"""
    source = TranscriptSource(write(tmp_path, text))
    assert [source.reading(at, LENS).state.budgets[0].used >= 0 for at in range(3)] == [True] * 3


PAUSES = """
u1 user : Fix it
a1 assistant sent=60000 out=5 : Done
u2 user wait=600 : More
a2 assistant sent=60100 written=59000 out=5 : Done
u3 user wait=600 : More
a3 assistant sent=90200 written=60000 out=5 : Done
u4 user wait=600 : More
a4 assistant sent=90300 written=89000 out=5 : Done
u5 user : More
a5 assistant sent=90400 written=90000 out=5 : Done
"""


def test_pauses_are_one_note_about_the_cache(tmp_path: Path) -> None:
    found = [each for each in findings_of(write(tmp_path, PAUSES)) if each.rule == "TRW007"]
    assert [(each.severity, each.origin.line, each.message) for each in found] == [
        (Severity.WARNING, 10, "call 5 wrote 89,903 cached tokens again"),
        (
            Severity.INFO,
            8,
            "3 calls after a pause wrote 177,709 cached tokens again, this one the most: 88,903",
        ),
    ]


@pytest.mark.parametrize(
    ("tool", "copies", "wanted"),
    [
        ("Bash", 2, [("TRW005", "this result is the same as that of r0: 997 tokens are sent twice")]),
        ("Bash", 4, [("TRW005", "3 results are the same as that of r0: 2,991 tokens are sent again")]),
        ("Read", 4, [("TRW004", "a.py was read 4 times: 2,991 tokens are copies")]),
    ],
)
def test_copies_of_a_result_are_one_finding(
    tool: str, copies: int, wanted: list[tuple[str, str]], tmp_path: Path
) -> None:
    calls = "\n".join(
        f"""a{at} call id=t{at} tool={tool} sent={9000 + at * 1000} out=3 : {{"file_path": "a.py"}}
r{at} result id=t{at} : row*900"""
        for at in range(copies)
    )
    text = f"u1 user : Look\n{calls}\nz assistant sent={9000 + copies * 1000} out=30 : Done"
    found = [each for each in findings_of(write(tmp_path, text)) if each.rule in ("TRW004", "TRW005")]
    assert [(each.rule, each.message) for each in found] == wanted


INNER = (
    '"data": {"type": "agent_progress", '
    '"message": {"type": "user", "uuid": "inner", "message": {}}, "prompt": "se'
)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (f'{{"type": "progress", "uuid": "p1", "sessionId": "s1", {INNER}\\', "TRF002"),
        (f'{{"type": "progress", "uuid": "p1", "sessionId": "s1", {INNER}', "TRF001"),
    ],
)
def test_a_row_inside_a_cut_row_is_not_a_row_of_the_session(line: str, rule: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"u1 user : Go\na1 assistant sent=9 out=5 : Done\n~{line}")
    log = state_of(path).log
    assert log is not None
    assert (log.live_rows, log.dead_rows) == (("u1", "a1"), ())
    assert rule in {each.rule for each in findings_of(path)}
