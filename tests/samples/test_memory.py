"""The bundled memories: a good one without findings, and the same with planted faults."""

from __future__ import annotations

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.samples import samples_folder

SAMPLES = samples_folder() / "memory"
LENS = Lens(ESTIMATES["bytes/4"])
FAULTS = (
    ("a line that comes from a summary", "MCX014", "contexts.jsonl", 10),
    ("a decision that the context lost", "MCX015", "contexts.jsonl", 10),
    ("a context over its cap", "MCX001", "contexts.jsonl", 11),
    ("pronouns that nobody resolves", "MEN005", "entries.jsonl", 35),
    ("a message that was stored twice", "MEN011", "entries.jsonl", 38),
    ("a relative date", "MEN008", "entries.jsonl", 39),
    ("another limit at the start", "MTR003", "trace.jsonl", 156),
    ("a write that was lost", "MEN013", "trace.jsonl", 173),
    ("a missed barrier", "MTR006", "trace.jsonl", 175),
    ("a context after 13 entries", "MTR005", "trace.jsonl", 218),
    ("no context at the end", "MTR007", "trace.jsonl", 222),
)


def test_the_good_memory_has_no_finding() -> None:
    source = open_source(SAMPLES / "exhibition")
    assert list(source.findings(LENS)) == []
    assert len(source.revisions) == 10


@pytest.mark.parametrize(("what", "rule", "file", "line"), FAULTS)
def test_each_planted_fault_is_found_at_its_place(what: str, rule: str, file: str, line: int) -> None:
    found = open_source(SAMPLES / "exhibition-faults").findings(LENS)
    assert (rule, file, line) in {
        (each.rule, each.origin.file.rpartition("/")[2], each.origin.line) for each in found
    }, what


def test_the_trace_says_which_profiles_it_passes() -> None:
    source = open_source(SAMPLES / "exhibition")
    state = source.reading(len(source.revisions) - 1, LENS).state
    assert state.extra["trace"] == "passes v1, fails v2 (MTR001)"
