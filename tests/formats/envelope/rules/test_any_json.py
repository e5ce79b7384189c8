"""No JSON in any position makes a rule about envelopes fail: bad input gets a finding, not a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxview.files.visible_text import is_safe
from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.field_specs import BLOCK, FIELDS, SEGMENT
from ctxview.formats.envelope.parser import kind_of, parse_record_file
from ctxview.formats.envelope.vocabulary import KNOWN, OWN_ID, RecordKind
from tests.formats.envelope.bundles import good, read
from tests.formats.envelope.rules.examples import findings_in

NAMES = [
    "",
    "a",
    "ctx-1",
    "item-goal",
    "item-note",
    "summary-1",
    "assembly-model",
    "source-plan",
    "\x1b[2J",
    "…",
]
WORDS = sorted(
    {word for words in KNOWN.values() for word in words} | {*NAMES, "sha256:ab", "2026-05-11T09:00:01Z"}
)
KEYS = [
    "id",
    "item_ref",
    "uri",
    "reason",
    "content",
    "kind",
    "type",
    "raw",
    "status",
    "item_id",
    "target",
    "metadata",
]
scalars = st.sampled_from([None, True, False, 0, 1, -1, 2.0, 0.5, 1e308, 10**400]) | st.sampled_from(WORDS)
anything = st.recursive(
    scalars | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
unhurried = settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))


def records(kind: RecordKind) -> st.SearchStrategy[Any]:
    """A strategy for records of `kind` with any values in their fields."""
    members: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(FIELDS[kind], anything)
    for name, parts in (("ordered_blocks", BLOCK), ("window_segments", SEGMENT)):
        if name in members:
            part = st.fixed_dictionaries({}, optional=dict.fromkeys(parts, anything))
            members[name] = anything | st.lists(part, max_size=3)
    own = st.sampled_from(NAMES) | anything
    rest = {name: each for name, each in members.items() if name != OWN_ID[kind]}
    return st.fixed_dictionaries({OWN_ID[kind]: own}, optional=rest)


def harmless(*files: list[Any]) -> None:
    check_messages(read(*files))


def check_messages(bundle: Bundle) -> None:
    for finding in findings_in(bundle):
        assert finding.message
        assert is_safe(finding.message)
        assert finding.origin.file


@unhurried
@given(st.lists(st.sampled_from(RecordKind).flatmap(records), max_size=8), st.booleans())
def test_any_records_can_be_checked(values: list[Any], beside_good_ones: bool):
    harmless([*good(), *values] if beside_good_ones else values)


@unhurried
@given(st.data())
def test_any_value_in_a_field_of_the_good_bundle_can_be_checked(data: st.DataObject):
    values = good()
    record = data.draw(st.sampled_from(values))
    name = data.draw(st.sampled_from(sorted(record)))
    record[name] = data.draw(anything)
    harmless(values)


@unhurried
@given(st.sampled_from(RecordKind).flatmap(records), st.sampled_from(RecordKind).flatmap(records))
def test_any_two_files_can_be_checked_together(one: Any, other: Any):
    harmless([*good(), one], [*good(), other])


@pytest.mark.parametrize("name", ["metadata", "evidence_refs", "ordered_blocks"])
def test_deep_nesting_does_not_fail(name: str):
    values = json.dumps([{**each, name: "(deep)"} for each in good()])
    for opening, closing in (("[", "]"), ('{"raw":', "}")):
        deep = f"{opening * 1500}1{closing * 1500}"
        file = parse_record_file("deep.json", values.replace('"(deep)"', deep).encode())
        check_messages(Bundle((file, file)))


OPEN_WORDS = [
    (kind, name) for kind, fields in FIELDS.items() for name, spec in fields.items() if spec.words is not None
]


@pytest.mark.parametrize(("kind", "name"), OPEN_WORDS)
def test_no_word_of_a_file_acts_on_the_terminal(kind: RecordKind, name: str):
    """Vocabularies are open, so a word may be any text, also after a prefix that a rule knows."""
    for word in ("\x1b[2J", "summarize_\x1b[2J", "\u202eapproved"):
        values = good()
        for value in (each for each in values if kind_of(each) is kind):
            value[name] = [word] if isinstance(value.get(name), list) else word
        harmless(values)


def test_huge_figures_can_be_summed():
    values = good()
    for budget in (each for each in values if kind_of(each) is RecordKind.BUDGET):
        budget["actual_tokens"] = 1
        for segment in budget["window_segments"]:
            segment |= {"actual_tokens": 1e308, "reserved_tokens": 1e308, "order": 1e308}
    for item in (each for each in values if kind_of(each) is RecordKind.ITEM):
        item["token_estimate"] = 1.7e308
    harmless(values)
