"""The records of each envelope, and the order of envelopes."""

from __future__ import annotations

import json

from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.model import EnvelopeRecords
from ctxview.formats.envelope.state.timeline import envelope_revisions
from ctxview.formats.envelope.vocabulary import RecordKind
from tests.formats.envelope import builders as b


def bundle(**files: list[b.Members]) -> Bundle:
    return Bundle(
        b.read_all({f"{name}.json": json.dumps(records).encode() for name, records in files.items()})
    )


def names(records: EnvelopeRecords) -> list[str | None]:
    return sorted(record.id or "?" for record in records.records)


def revision(name: str, of: str, **more: object) -> b.Members:
    return b.envelope(name, metadata={"ctxview": {"revision_of": of}}) | more  # type: ignore[operator]


def test_one_envelope_owns_all_records() -> None:
    (records,) = bundle(one=[b.envelope()], two=[b.item("a"), b.missing()]).groups
    assert names(records) == ["a", "ctx-1", "gap-1"]


def test_records_without_an_envelope_are_one_group() -> None:
    (records,) = bundle(one=[b.item("a")], two=[b.item("b")]).groups
    assert records.envelope is None
    assert names(records) == ["a", "b"]


def test_several_envelopes_divide_the_records_by_references() -> None:
    found = bundle(
        all=[
            b.envelope("ctx-1", selection_refs=["sel-1"], assembly_refs=["asm-1"]),
            b.envelope("ctx-2", item_refs=["b"], created_at=b.at(9)),
            b.selection(["a"], {}),
            b.assembly([["a"]]),
            b.injection(),
            b.item("a"),
            b.item("b"),
            b.item("loose"),
            b.event("ev-1", "context.exported", 1, context_id="ctx-2"),
            b.event("ev-2", "context.selection.completed", 1, subject="sel-1"),
        ]
    )
    first, second = found.groups
    assert names(first) == ["a", "asm-1", "ctx-1", "ev-2", "inj-1", "loose", "sel-1"]
    assert names(second) == ["b", "ctx-2", "ev-1", "loose"]
    assert [each.id for each in first.others] == ["ctx-2"]


def test_an_unreferenced_record_belongs_to_the_envelope_of_its_file() -> None:
    found = bundle(
        one=[b.envelope("ctx-1"), b.item("mine")],
        two=[b.envelope("ctx-2"), b.item("yours")],
        three=[b.item("ours")],
    )
    first, second = found.groups
    assert names(first) == ["ctx-1", "mine", "ours"]
    assert names(second) == ["ctx-2", "ours", "yours"]


def test_an_unreferenced_record_belongs_to_the_envelope_that_it_refers_to() -> None:
    window = {"window_id": "win", "window_segments": [{"segment_id": "s", "item_refs": ["a", "b"]}]}
    found = bundle(
        one=[
            b.envelope("ctx-1", item_refs=["a", "b"]),
            b.envelope("ctx-2", item_refs=["a"], created_at=b.at(9)),
            b.item("a"),
            b.item("b"),
            window,
        ]
    )
    first, second = found.groups
    assert names(first) == ["a", "b", "ctx-1", "win"]
    assert names(second) == ["a", "ctx-2"]


def test_records_of_the_same_file_win_over_others_with_the_same_id() -> None:
    found = bundle(
        one=[b.envelope("ctx-1", item_refs=["a"]), b.item("a", "old")],
        two=[b.envelope("ctx-2", item_refs=["a"], created_at=b.at(9)), b.item("a", "new")],
    )
    contents = [[each.text("content") for each in records.of(RecordKind.ITEM)] for records in found.groups]
    assert contents == [["old"], ["new"]]


def test_a_revision_takes_unchanged_records_from_those_before_it() -> None:
    found = bundle(
        base=[b.envelope("ctx-1", item_refs=["a", "c"]), b.item("a", "a1"), b.item("c", "c1")],
        next=[revision("ctx-2", "ctx-1", item_refs=["a", "c"]), b.item("a", "a2")],
        last=[revision("ctx-3", "ctx-2", item_refs=["a", "c"])],
    )
    contents = [[each.text("content") for each in records.of(RecordKind.ITEM)] for records in found.groups]
    assert contents == [["a1", "c1"], ["a2", "c1"], ["a2", "c1"]]


def test_a_revision_comes_after_the_one_it_revises_at_any_time() -> None:
    found = bundle(
        all=[
            revision("ctx-2", "ctx-1", created_at=b.at(1)),
            b.envelope("ctx-1", created_at=b.at(5)),
            b.envelope("ctx-0", created_at="2026-05-11T11:02:00+01:00"),
            revision("ctx-7", "ctx-7", created_at=b.at(8)),
        ]
    )
    assert [each.id for each in found.envelopes] == ["ctx-0", "ctx-1", "ctx-2", "ctx-7"]
    assert [each.kind for each in envelope_revisions(found)] == [
        "envelope",
        "envelope",
        "revision",
        "revision",
    ]


def test_revisions_in_a_cycle_are_all_kept() -> None:
    found = bundle(all=[revision("a", "b"), revision("b", "a")])
    assert {each.id for each in found.envelopes} == {"a", "b"}


def test_each_attempt_is_a_revision_before_the_envelope() -> None:
    attempt = {"task_id": "t", "run_id": "r"}
    found = bundle(
        all=[
            b.envelope(selection_refs=["sel-1", "sel-2"]),
            b.item("a"),
            b.selection(["a"], {}, "sel-1", attempt_id="try 1", created_at=b.at(2), **attempt),
            b.assembly([["a"]], created_at=b.at(3)),
            b.selection([], {"a": "stale"}, "sel-2", attempt_id="try 2", created_at=b.at(4), **attempt),
            b.assembly([["a"]], "asm-2", created_at=b.at(5)),
        ]
    )
    revisions = envelope_revisions(found)
    assert [(each.label, each.kind) for each in revisions] == [
        ("try 1 of ctx-1", "attempt"),
        ("try 2 of ctx-1", "attempt"),
        ("ctx-1", "envelope"),
    ]
    assert names(revisions[0].records) == ["a", "asm-1", "ctx-1", "sel-1"]
    assert revisions[2].records is found.groups[0]


def test_a_single_attempt_is_not_a_separate_revision() -> None:
    found = bundle(all=[b.envelope(), b.selection([], {}, attempt_id="try 1")])
    assert [each.kind for each in envelope_revisions(found)] == ["envelope"]
