"""What is left out of a long transcript is said in the state, and in findings where they are concerned."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.revisions.log import log_row, log_sentence
from ctxview.analysis.revisions.overview import summarise
from ctxview.analysis.revisions.search import hit_ending, search_revisions
from ctxview.analysis.revisions.skyline import build_skyline
from ctxview.analysis.revisions.why import explain
from ctxview.commands.why import Unobserved
from ctxview.formats import open_source
from ctxview.formats.revisions import read_known
from tests.formats.transcript.builders import LENS, findings_of, packed, state_of, write


def _left_out(path: Path) -> list[str]:
    gaps = [gap for gap in state_of(path).missing if gap.status == "left out"]
    assert len({gap.id for gap in gaps}) == len(gaps)
    return [gap.why for gap in gaps]


def _partly_read(path: Path) -> list[str]:
    return [each.message for each in findings_of(path) if each.rule == "RAW003"]


def test_rows_and_events_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    turns = "".join(f"u{at} user : Go\na{at} assistant sent=900 out=5 : Done\n" for at in range(260))
    path = write(tmp_path, f"{turns}b1 boundary\ns1 < b1 summary : We went on")
    assert _left_out(path) == [
        "only the last 400 of 520 rows are blocks of compacted away",
        "only the last 500 of 521 events are on the timeline",
    ]
    assert _partly_read(path) == []


def test_a_short_session_leaves_nothing_out(tmp_path: Path) -> None:
    path = write(tmp_path, "u1 user : Go\na1 assistant sent=900 out=5 : Done")
    assert (_left_out(path), _partly_read(path)) == ([], [])


def test_all_files_gaps_and_sub_agents_are_in_the_state(tmp_path: Path) -> None:
    rows = "".join(
        f'a{at} call id=t{at} tool=Read sent=900 out=5 : {{"file_path": "f{at}.py"}}\n'
        f"r{at} result id=t{at} lines=3 of=9 : text\n"
        for at in range(600)
    )
    children = "".join(
        f'c{at} call id=k{at} tool=Task sent=900 out=5 : {{"prompt": "p{at}"}}\n'
        f"k{at} result id=k{at} agentId=x{at} status=completed : found\n"
        f's1/subagents/agent-x{at}.jsonl = {{"message": {{"usage": {{"input_tokens": 9}}}}}}\n'
        for at in range(30)
    )
    state = state_of(write(tmp_path, f"u1 user : Go\n{rows}{children}"))
    assert sum(ref.kind == "read" for ref in state.refs) == 600
    assert sum(gap.status == "cut" for gap in state.missing) == 600
    assert len(state.budgets) == 31


def test_prompts_that_were_not_searched_are_a_finding(tmp_path: Path) -> None:
    path = write(tmp_path, "u user times=450 : Go\na1 assistant sent=900 out=5 : Done")
    text = "only the last 400 of 450 live prompts were searched for names of files"
    assert _left_out(path) == _partly_read(path) == [text]


def test_every_line_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    good = "\n".join(f"u{at} user : Go" for at in range(300))
    path = write(tmp_path, good + "\n" + "\n".join(["~{broken"] * 350))
    counted = [each.message for each in findings_of(path) if "more like the ones before" in each.message]
    assert any("250 more" in each for each in counted)


def test_a_folder_with_the_name_of_the_session_is_not_searched(tmp_path: Path) -> None:
    text = "u1 user : Go\ns1/subagents/agent-acompact-1.jsonl = x\ns1/src/agent-acompact-2.jsonl = x"
    (finding,) = (each for each in findings_of(write(tmp_path, text)) if each.rule == "TRA008")
    assert "1 " in finding.message


def test_a_damaged_compressed_file_says_how_much_was_read(tmp_path: Path) -> None:
    path = packed(write(tmp_path, "meta\nuser: Fix it\nuser: word*400000"), "gzip")
    path.write_bytes(path.read_bytes()[:-200])
    assert _left_out(path) == _partly_read(path)
    assert "could be unpacked" in _left_out(path)[0]


def test_a_list_of_too_many_files_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(4):
        name = f"{at:08x}-1111-4222-8333-9a0b1c2d3e4f.jsonl"
        write(tmp_path / "p", "u1 user : Go", name)
    monkeypatch.setattr("ctxview.formats.transcript.list_source.MOST_FILES", 3)
    source = open_source(tmp_path / "p")
    (gap,) = source.reading(0, LENS).state.missing
    assert gap.why == "only the first 3 files and folders were looked at"
    assert [each.rule for each in source.findings(LENS)] == ["RAW003"]


def test_of_very_many_calls_some_are_read_for_the_views_over_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxview.formats.transcript.source.MOST_PAST", 8)
    turns = "".join(f"u{at} user : Go\na{at} assistant sent={900 + at} out=5 : Done\n" for at in range(20))
    end = "b1 boundary\ns1 < b1 summary : We went on\nz1 assistant sent=99 out=5 : Done"
    source = open_source(write(tmp_path, f"{turns}{end}"))
    known = read_known(source, LENS, Unobserved())

    assert [*sorted(known.facts)] == [0, 5, 10, 15, 19, 20, 21]
    assert (known.is_read, known.is_complete) == (True, False)
    assert log_sentence(known).endswith("7 of 22 revisions are checked")
    assert build_skyline(known, 80).pending == 15
    hits = search_revisions(known, "Done")
    assert hits.searched == 7
    for hit in hits.found:
        assert hit_ending(known, hit)
        assert explain(known, hit.name)
    for number in range(22):
        assert log_row(known, number, None).number == number
        assert summarise(source.reading(number, LENS).state, known, number).number == number
