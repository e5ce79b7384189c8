"""Redacted content is withheld everywhere, and nothing else is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.formats.envelope.parser import parse_record_file
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.formats.envelope.withheld import WithheldContent, documents_of
from ctxview.formats.envelope.withheld_bytes import withheld_spans
from ctxview.formats.masked_bytes import mask_bytes
from tests.formats.envelope import builders as b
from tests.formats.envelope.bundles import changed, named

SECRET = "the third flowerpot"


def withheld(*records: b.Members) -> WithheldContent:
    return WithheldContent(documents_of(b.bundle(records).files))


@pytest.mark.parametrize(
    ("state", "label"),
    [
        ("removed", "[withheld: removed by policy-7]"),
        ("policy_blocked", "[withheld: blocked by policy: policy-7]"),
        ("encrypted_ref", "[withheld: encrypted by policy-7]"),
    ],
)
def test_removed_content_is_replaced_by_a_label(state: str, label: str) -> None:
    found = withheld(b.item("a", SECRET, redaction_state=state, policy_refs=["policy-7"]))
    assert found.mask(f"look under {SECRET}!") == f"look under {label}!"


def test_masked_content_is_the_mask_and_is_shown() -> None:
    record = b.item("a", "look under ███", redaction_state="masked", redacted_fields=["content"])
    assert not withheld(record)


@pytest.mark.parametrize("state", ["none", "unknown"])
def test_content_that_is_not_redacted_is_not_withheld(state: str) -> None:
    assert not withheld(b.item("a", SECRET, redaction_state=state, redacted_fields=[], raw=SECRET))


@pytest.mark.parametrize("state", ["none", "unknown", ""])
def test_a_named_field_is_withheld_also_where_the_state_says_none(state: str) -> None:
    found = withheld(b.item("a", SECRET, redaction_state=state, redacted_fields=["content"]))
    assert SECRET not in found.mask(SECRET)


@pytest.mark.parametrize("field", ["metadata.place", "metadata/place", "/metadata/place", "metadata"])
def test_redacted_fields_are_withheld_however_they_are_named(field: str) -> None:
    record = b.item("a", "█", redaction_state="masked", redacted_fields=[field], metadata={"place": SECRET})
    assert SECRET not in withheld(record).mask(SECRET)


@pytest.mark.parametrize(
    "fields",
    [
        [["metadata", "place"]],
        [["metadata", "rooms", 0]],
        [{"paths": ["metadata.place", "metadata.rooms"]}],
        {"fields": {"metadata.*": "private"}},
        ["metadata.**"],
        ["metadata.pl*"],
        ["$.metadata.rooms[?(@.size > 1)]"],
        ["$.metadata.rooms[?(@.size > 1)].name"],
    ],
    ids=str,
)
@pytest.mark.parametrize("state", ["none", "masked"])
def test_redacted_fields_are_withheld_in_lists_of_steps_and_as_patterns(state: str, fields: object) -> None:
    hidden = {"place": SECRET, "rooms": [{"name": SECRET}]}
    record = b.item("a", "█", redaction_state=state, redacted_fields=fields, metadata=hidden)
    assert SECRET not in withheld(record).mask(SECRET)


@pytest.mark.parametrize(
    "key", ["raw", "raw_content", "original", "original_text", "unredacted", "content_plaintext"]
)
def test_values_under_keys_such_as_raw_are_withheld(key: str) -> None:
    record = b.item("a", "█", redaction_state="summarized", metadata={"deep": [{key: {"x": SECRET}}]})
    assert SECRET not in withheld(record).mask(SECRET)


def test_links_to_the_original_are_not_withheld() -> None:
    record = b.item(
        "a", "█", redaction_state="masked", original_ref="vault://flowerpots", original_digest="sha256:0"
    )
    assert not withheld(record)


def test_a_block_may_be_redacted_by_itself() -> None:
    made = b.assembly([["a"]])
    made["ordered_blocks"] = [{"block_id": "x", "redaction_state": "removed", "content": SECRET}]
    assert SECRET not in withheld(made).mask(SECRET)


def test_a_note_of_redaction_in_the_metadata_counts() -> None:
    note = {"redaction_state": "removed", "redacted_fields": ["title"]}
    assert SECRET not in withheld(b.item("a", None, title=SECRET, metadata={"redaction": note})).mask(SECRET)


def test_a_quote_that_was_cut_off_is_withheld_too() -> None:
    found = withheld(b.item("a", SECRET * 3, redaction_state="removed"))
    assert found.mask(f'it says "{(SECRET * 3)[:40]}…" there') == 'it says "[withheld: removed]…" there'
    assert found.mask("the third …") == "[withheld: removed]…"
    assert found.mask("the end …") == "the end …"


def test_short_texts_are_withheld_as_whole_words() -> None:
    found = withheld(record := b.item("a", "1234", redaction_state="removed"))
    item = b.bundle([record]).records[0]
    assert found.mask("call 1234!") == "call [withheld: removed]!"
    assert found.mask("call 12345 on 1234-05-06") == "call 12345 on 1234-05-06"
    assert found.masked_value(item.file, "/0/content", "1234") == "[withheld: removed]"


def test_words_of_the_draft_are_never_withheld() -> None:
    found = withheld(b.item("a", "available", redaction_state="removed"))
    assert found.mask("available") == "available"


def test_a_label_never_contains_the_withheld_text() -> None:
    found = withheld(b.item("a", SECRET, redaction_state="removed", policy_refs=[SECRET]))
    assert found.mask(SECRET) == "[withheld]"


def test_the_bytes_are_withheld_at_their_origin_and_where_they_are_repeated() -> None:
    secret = 'über "die" Treppe\nlinks'
    records = [
        b.item("a", secret, redaction_state="removed"),
        b.item("b", f"es ist {secret}!"),
        b.item("c", json.dumps({"inner": secret})),
    ]
    for ascii_only in (True, False):
        data = json.dumps(records, ensure_ascii=ascii_only).encode()
        file = parse_record_file("x.json", data)
        spans = withheld_spans(WithheldContent(documents_of([file])), file)
        left = b"".join(
            data[end:start]
            for end, start in zip(
                (0, *(end for _, end in spans)), (*(start for start, _ in spans), len(data)), strict=True
            )
        )
        assert b"Treppe" not in left
        assert b'"item_id": "b"' in left
        assert [*spans] == sorted(spans)


def test_a_string_with_another_spelling_of_a_secret_is_withheld_whole() -> None:
    odd = r'"the \u0074hird flowerpot"'
    data = (
        json.dumps([b.item("a", SECRET, redaction_state="removed"), b.item("b", "ODD")])
        .replace('"ODD"', odd)
        .encode()
    )
    file = parse_record_file("x.json", data)
    found = withheld_spans(WithheldContent(documents_of([file])), file)
    assert odd.encode() in {data[start:end] for start, end in found}


def test_an_earlier_member_of_the_same_name_is_withheld_too() -> None:
    redacted = b'"item_id": "a", "redaction_state": "removed"'
    data = b'{"content": "the first one", ' + redacted + b', "content": "the last one"}'
    file = parse_record_file("x.json", data)
    spans = withheld_spans(WithheldContent(documents_of([file])), file)
    assert [data[start:end] for start, end in spans] == [b'"the first one"', b'"the last one"']


def leaks(values: list[dict[str, Any]], secret: str, tmp_path: Path) -> list[str]:
    """The names of outputs of a source that still hold `secret`."""
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(values))
    source = open_source(path)
    assert isinstance(source, EnvelopeSource)
    reading = source.reading(0, Lens(ESTIMATES["bytes/4"]))
    outputs = {
        "state": repr(reading.state),
        "findings": repr(reading.findings),
        "bytes": mask_bytes(path.read_bytes(), source.withheld(str(path))).data.decode(),
    }
    return [name for name, text in outputs.items() if secret.casefold() in " ".join(text.casefold().split())]


MOVING = "the client is moving to Lisbon in May"


def test_a_text_repeated_in_capitals_or_with_other_spaces_is_withheld(tmp_path: Path) -> None:
    values = changed("item-plan", redaction_state="removed", content=MOVING)
    named(values, "summary-1")["content"] = (
        "We heard: THE CLIENT  is moving\nto Lisbon in May. Then they agreed."
    )
    assert leaks(values, MOVING, tmp_path) == []


def test_a_text_known_only_by_its_digest_is_withheld(tmp_path: Path) -> None:
    digest = "sha256:" + hashlib.sha256(MOVING.encode()).hexdigest()
    values = changed("item-plan", redaction_state="removed", content=..., digest=digest)
    named(values, "item-goal")["content"] = MOVING
    assert leaks(values, MOVING, tmp_path) == []


def test_the_original_that_a_redacted_item_leads_to_is_withheld(tmp_path: Path) -> None:
    values = changed("item-note", original_ref="item-goal")
    named(values, "item-goal")["content"] = MOVING
    assert leaks(values, MOVING, tmp_path) == []


def test_the_mask_of_an_item_is_shown_though_its_digest_is_there(tmp_path: Path) -> None:
    mask = "the client (name masked) is moving"
    digest = "sha256:" + hashlib.sha256(mask.encode()).hexdigest()
    values = changed("item-note", content=mask, digest=digest)
    assert "state" in leaks(values, mask, tmp_path)
