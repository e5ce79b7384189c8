"""The overview of one revision, in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.log import log_numbers, log_row, log_sentence, next_finding
from ctxview.analysis.revisions.overview import (
    Overview,
    hidden_since,
    missing_sentences,
    refs_sentence,
    summarise,
)
from ctxview.analysis.revisions.skyline import series_of
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Cursor, Gap, Ref, RefStatus, Todo, TodoItem
from ctxview.formats import Lens, open_source
from ctxview.samples import samples_folder
from tests.analysis.revisions.builders import finding, known, memory, state, window
from tests.analysis.revisions.test_why import lighthouse as lighthouse
from tests.analysis.revisions.test_why import read

PLACE = Origin("notes.json")


def overview(facts: KnownRevisions, path: Path, number: int) -> Overview:
    reading = open_source(path).reading(number, Lens(ESTIMATES["bytes/3"]))
    return summarise(reading.state, facts, number)


def test_the_first_answer_of_the_flagship_sample(lighthouse: KnownRevisions) -> None:
    found = overview(lighthouse, samples_folder() / "snapshot" / "lighthouse", 14)

    assert found.window.budget is not None
    assert (found.window.budget.used, found.window.grown, found.window.since) == (24_655, 9_415, "round 8")
    assert found.window.growth[0].name == "not in this file"
    assert found.window.later == ("round 10", 21_890)
    assert (found.blocks.shown, found.blocks.hidden) == (23, 5)
    assert found.blocks.in_part == ("lt-dunning-calendar",)
    assert [(each.reason, len(each.ids)) for each in found.blocks.reasons] == [
        ("confidence below 0.55", 2),
        ("decay above 0.65", 1),
        ("status is done", 1),
        ("older than 3 rounds", 1),
    ]
    assert found.todo[:2] == ("Step 5 of 6, 4 done", "Verifying; next: complete item 6")
    assert found.missing[-1] == "No action waits"
    assert found.changes is not None
    assert (found.changes.since, found.changes.hidden_before) == ("round 8", 6)


def test_a_reply_keeps_the_window_of_the_prompt_it_answers(lighthouse: KnownRevisions) -> None:
    found = overview(lighthouse, samples_folder() / "snapshot" / "lighthouse", 15)

    assert found.window.of == "round 9"
    assert found.window.budget is not None
    assert found.window.budget.used == 24_655
    assert found.reply == "+ 1, − 12 erased"
    assert found.blocks.shown == 16


def test_a_session_counts_tokens_first_and_words_beside() -> None:
    coder = samples_folder() / "session" / "coder/home/1000/agent/coder/session/default"
    facts = read(coder)

    found = overview(facts, coder, len(facts.names) - 1)

    assert found.window.second is not None
    assert found.window.second.unit == "words"
    assert found.todo[0] == "4 of 11 done, 1 dropped"
    assert found.refs.startswith("42 references: 40 resolve, 1 dangle, 1 outside; 5 swapped out, 3 shared")


def test_tiers_are_counted_in_tokens_when_the_window_is_not() -> None:
    exhibition = samples_folder() / "memory" / "exhibition"
    source = open_source(exhibition)
    now = len(source.revisions) - 1
    shown = source.reading(now, Lens(ESTIMATES["bytes/4"])).state
    sizes = {each.name: each.tokens for each in summarise(shown, read(exhibition), now).blocks.tiers}
    for tier in shown.tiers:
        assert sizes[tier.name] == sum(block.tokens or 0 for block in tier.blocks if block.visible)


def test_before_the_other_revisions_are_read_nothing_is_invented() -> None:
    one = state(memory("a"), budgets=[window(10)])
    names = known(one, one).names

    found = summarise(one, KnownRevisions(names), 1)

    assert (found.changes, found.window.grown, found.window.stage) == (None, None, None)
    assert found.window.budget is not None


def test_hidden_since_stops_where_the_block_was_shown() -> None:
    hidden = memory("a", visible=False, reason="done status")
    facts = known(state(hidden), state(memory("a")), state(hidden), state(hidden))

    assert hidden_since(facts, 3, ("working", "a")) == 2


@pytest.mark.parametrize(
    ("todo", "lines"),
    [
        (None, ()),
        (Todo("working", 3, 2, None), ("Step 2 of 3",)),
        (Todo("4/6", 6, 5, None), ("Step 5 of 6, 4 done",)),
        (Todo("4/7", 6, 5, None), ("Step 5 of 6",)),
        (Todo("idle", None, None, None), ("idle",)),
        (
            Todo(None, None, None, Cursor("blocked", None, None, "ask Bram", PLACE)),
            ("Blocked", "ask Bram"),
        ),
        (
            Todo(None, 2, None, None, (TodoItem(1, "a", "done"), TodoItem(2, "b", "open", current=True))),
            ("1 of 2 done", "Now: b"),
        ),
    ],
)
def test_the_todo_in_words(todo: Todo | None, lines: tuple[str, ...]) -> None:
    facts = known(state())

    assert summarise(state(todo=todo), facts, 0).todo == lines


def gap(name: str, **fields: Any) -> Gap:
    values = {"question": "what", "severity": "error", "status": "open", "blocks": (), "why": name, **fields}
    return Gap(id=name, origin=Origin(name), **values)


def test_equal_gaps_are_one_sentence_and_actions_that_wait_are_counted() -> None:
    shared = [gap(name, question="a recalled text", why="no store", blocks=("a",)) for name in ("one", "two")]
    assert [*missing_sentences(state(memory("a"), missing=tuple(shared)))] == [
        "2 recalled texts: no store",
        "No action waits",
    ]
    others = [gap(name, question=name, why="not read again") for name in ("a.py", "b.py", "c.py")]
    sentences = [*missing_sentences(state(missing=tuple(others)))]
    assert sentences == ["a.py, b.py and 1 more: not read again", "No action waits"]
    blocking = gap("senders", question="how many?", severity="blocking", blocks=("merge", "deploy"))
    steps = Todo(
        None,
        None,
        None,
        None,
        items=(TodoItem(None, "merge (senders)", "open"), TodoItem(None, "deploy", "open")),
    )
    assert [*missing_sentences(state(missing=(blocking,), todo=steps))] == [
        "senders blocks 2 actions: how many?"
    ]
    needed = gap("r6", question="the target of a reference", why="x.csv cannot be found", blocks=("refs",))
    assert [*missing_sentences(state(missing=(needed,)))] == [
        "r6: the target of a reference (x.csv cannot be found)",
        "No action waits",
    ]


def test_settled_gaps_and_hidden_blocks_are_not_missing() -> None:
    block = memory("a", visible=False)
    hidden = Gap("a", "working", "info", "hidden", ("a",), "done", block.origin)

    assert [*missing_sentences(state(block, missing=(hidden, gap("b", status="resolved"))))] == []


def test_references_by_what_became_of_them() -> None:
    def ref(name: str, kind: str, status: RefStatus, used_by: tuple[str, ...] = ("a",)) -> Ref:
        return Ref(name, kind, name, status, None, None, used_by, PLACE)

    refs = [
        ref("1", "swap chunk", RefStatus.RESOLVED),
        ref("2", "refs", RefStatus.DANGLING, ("a", "b")),
        ref("3", "refs", RefStatus.UNKNOWN),
    ]

    assert refs_sentence(refs) == (
        "3 references: 1 resolve, 1 dangle, 1 cannot be checked; 1 swapped out, 1 shared"
    )
    assert refs_sentence([]) == ""


def test_the_log_is_newest_first_and_knows_names_before_it_knows_counts(lighthouse: KnownRevisions) -> None:
    assert [lighthouse.names[each].short for each in log_numbers(lighthouse)[:3]] == [
        "reply to 15",
        "round 15",
        "reply to 14",
    ]
    row = log_row(lighthouse, 14, series_of(lighthouse))
    assert (row.used, row.pressure, row.errors, row.warnings) == (24_655, "full", 0, 6)
    assert row.event is not None
    assert row.event.kind == "stage"
    unread = log_row(KnownRevisions(lighthouse.names), 14, None)
    assert (unread.name, unread.counts, unread.errors) == ("round 9", None, None)


def test_the_log_says_where_the_errors_are(lighthouse: KnownRevisions) -> None:
    assert log_sentence(lighthouse) == (
        "4 errors, all in the reply to round 9. 65 warnings in 17 of 29 revisions"
    )
    assert log_sentence(known(state(), state())) == "No errors. No warnings"
    partly = KnownRevisions(lighthouse.names, {0: lighthouse.facts[0]})
    assert log_sentence(partly) == "0 errors, 0 warnings so far; 1 of 29 revisions are checked"


def test_a_finding_that_all_revisions_share_is_counted_once() -> None:
    same = finding("ABI026")

    assert known(state(), state(), findings={0: [same], 1: [same]}).severities[Severity.ERROR] == (1, 2)


def test_the_next_finding_is_an_error_before_it_is_a_warning() -> None:
    warning = finding("A", Severity.WARNING)
    facts = known(*[state()] * 4, findings={1: [warning], 3: [finding("B")]})

    assert next_finding(facts, 0) == 3
    assert next_finding(facts, 3, back=True) == 1
    assert next_finding(facts, 3) is None
