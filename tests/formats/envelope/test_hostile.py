"""No file content makes reading, checking or showing it fail, and no withheld content gets out."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import Origin
from ctxview.formats import Lens
from ctxview.formats.envelope.field_specs import BLOCK, FIELDS, SEGMENT
from ctxview.formats.envelope.format import recognise
from ctxview.formats.envelope.source import open_envelopes
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, KNOWN, TARGETS
from ctxview.formats.interface import Reading
from ctxview.formats.peek import Peek
from ctxview.reports.json_output import state_as_json
from tests.formats.envelope import builders as b

LENS = Lens(ESTIMATES["bytes/4"])
QUICK = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

NAMES = st.sampled_from(["a", "b", "c", "", "sel-1", "asm-1", "inj-1", "x/y~z"])
FIELD_NAMES = sorted({*KIND_OF_ID, *(name for each in FIELDS.values() for name in each), *BLOCK, *SEGMENT})
WORDS = st.sampled_from(sorted({word for words in KNOWN.values() for word in words}))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    NAMES,
    WORDS,
    st.just("2026-05-11T10:00:00Z"),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(FIELD_NAMES), st.text(max_size=4)), inner, max_size=5),
    ),
    max_leaves=25,
)
RECORDS = st.builds(
    lambda own, name, more: {own: name, **more},
    st.sampled_from([*KIND_OF_ID]),
    st.one_of(NAMES, SCALARS),
    st.dictionaries(st.sampled_from(FIELD_NAMES), VALUES, max_size=8),
)


def readings(path: Path) -> list[Reading]:
    source = open_envelopes(Peek(path))
    found = [source.reading(each, LENS) for each in range(len(source.revisions))]
    source.findings(LENS)
    for each in found:
        json.dumps(state_as_json(each.state))
    return found


def strings(value: object) -> list[str]:
    """All texts of a state, except origins."""
    if isinstance(value, Enum | Origin):
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for each in pair for text in strings(each)]
    if isinstance(value, list | tuple):
        return [text for each in value for text in strings(each)]
    if isinstance(value, Struct):
        skipped = ("source", "file", "pointer", "edit")
        names = (name for name in value.__struct_fields__ if name not in skipped)
        return [text for name in names for text in strings(getattr(value, name))]
    return []


@QUICK
@given(VALUES)
def test_any_json_can_be_read_checked_and_shown(tmp_path: Path, value: object) -> None:
    file = tmp_path / "any.json"
    file.write_text(json.dumps(value))
    recognise(Peek(file))
    assert readings(file)


@QUICK
@given(st.lists(RECORDS, max_size=7), st.booleans())
def test_any_records_can_be_read_checked_and_shown(
    tmp_path: Path, records: list[b.Members], lines: bool
) -> None:
    file = tmp_path / ("any.jsonl" if lines else "any.json")
    file.write_bytes(next(iter((b.as_lines if lines else b.as_array)(records).values())))
    assert readings(file)


@QUICK
@given(st.integers(0, 6000), st.binary(max_size=6))
def test_a_file_cut_or_broken_anywhere_still_opens(tmp_path: Path, place: int, junk: bytes) -> None:
    for name, data in (*b.as_lines(b.turn()).items(), *b.as_array(b.turn()).items()):
        file = tmp_path / name
        file.write_bytes(data[:place] + junk)
        readings(file)
        file.write_bytes(data[:place] + junk + data[place + len(junk) :])
        readings(file)


SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=8, max_size=60).filter(
    lambda text: len(text.strip()) >= 8 and any(char not in text.strip() for char in "e ")
)
HIDDEN = st.sampled_from(["removed", "policy_blocked", "encrypted_ref"])


@QUICK
@given(SECRETS, HIDDEN, st.sampled_from([*b.LAYOUTS]))
def test_withheld_content_is_in_no_text_of_the_state_and_in_no_finding(
    tmp_path_factory: pytest.TempPathFactory, secret: str, state: str, layout: str
) -> None:
    secret = f"q{secret.strip()}z"
    records = b.turn()
    records[4] = b.item("talk", secret, redaction_state=state, policy_refs=["policy-9"])
    records[5] = b.item(
        "key", f"as was said: {secret}!", title=secret, metadata={"note": [secret, {secret: 1}]}
    )
    records += [
        b.missing("gap-2", question=f"what is {secret} for?", blocked_actions=[secret], needed_for=secret),
        b.event("ev-9", secret, 9, subject=secret),
        b.item("masked", "(masked)", redaction_state="masked", original_text=secret, policy_refs=[secret]),
        b.item(
            "shape", secret, context_kind=secret, content_mode=secret, visibility=[secret], created_at=secret
        ),
    ]
    path = b.write(tmp_path_factory.mktemp("withheld"), b.LAYOUTS[layout](records))
    source = open_envelopes(Peek(path))
    for reading in readings(path):
        assert [text for text in strings(reading.state) if secret in text] == []
        assert [each.message for each in reading.findings if secret in each.message] == []
        assert [text for text in strings(reading.state) if secret[:8] in text and "…" in text] == []
    for file in {record.file for record in source.bundle.records}:
        data = source.bytes_of(file)
        open_bytes, at = b"", 0
        for start, end in source.withheld(file):
            open_bytes, at = open_bytes + data[at:start] + b"#", end
        open_bytes += data[at:]
        assert secret.encode() not in open_bytes
        assert json.dumps(secret).encode()[1:-1] not in open_bytes


def test_very_deep_nesting_is_cut_and_does_not_fail(tmp_path: Path) -> None:
    depth = 3000
    data = '{"summary_id": "s", "content": "x", "source_item_refs": [' * depth + "]}" * depth
    file = tmp_path / "deep.json"
    file.write_text(data)
    (reading,) = readings(file)
    assert "RAW003" in {each.rule for each in reading.findings}


@pytest.mark.parametrize("target", TARGETS)
def test_records_that_embed_each_other_by_name_are_followed_once(tmp_path: Path, target: str) -> None:
    one = {"summary_id": "a", "content": "x", "source_item_refs": ["b"], "visibility": [target]}
    two = {"summary_id": "b", "content": "y", "source_item_refs": [one, "a"]}
    path = b.write(tmp_path, b.as_array([b.envelope(item_refs=["a", two]), one, two]))
    (reading,) = readings(path)
    assert {block.id for block in reading.state.blocks()} == {"a", "b"}
