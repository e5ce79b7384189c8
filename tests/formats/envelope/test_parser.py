"""Records are found in every layout with their origins; other parts are reported, and the rest is read."""

from __future__ import annotations

import json

import pytest

from ctxview.formats.envelope.parser import RecordFile, RecordLayout, parse_record_file
from ctxview.formats.envelope.vocabulary import RecordKind
from tests.formats.envelope import builders as b


def names(file: RecordFile) -> list[str | None]:
    return [record.id for record in file.records]


def one(value: object, name: str = "x.json") -> RecordFile:
    return parse_record_file(name, json.dumps(value).encode())


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"event_id": "e", "context_id": "c"}, RecordKind.EVENT),
        ({"injection_id": "i", "assembly_id": "a"}, RecordKind.INJECTION),
        ({"selection_id": "s", "surface_id": "f"}, RecordKind.SELECTION),
        ({"surface_id": "f", "context_id": "c"}, RecordKind.SURFACE),
        ({"context_id": "c", "lifecycle": "draft"}, RecordKind.ENVELOPE),
        ({"context_id": "c", "surface_refs": []}, RecordKind.ENVELOPE),
        ({"window_id": "w"}, RecordKind.WINDOW),
    ],
)
def test_the_first_id_field_decides_the_kind(value: b.Members, kind: RecordKind) -> None:
    assert [record.kind for record in one(value).records] == [kind]


def test_a_record_has_its_origin_in_every_layout() -> None:
    for layout, pointer in (("array", "/4"), ("lines", "/4"), ("folder", "")):
        files = b.read_all(b.LAYOUTS[layout](b.turn()))
        talk = next(each for file in files for each in file.records if each.id == "talk")
        assert talk.pointer == pointer
        origin = talk.origin("content")
        assert talk.document.data[origin.start : origin.end] == b'"Who has the key?"'
        assert origin.pointer == f"{pointer}/content"


def test_json_lines_are_read_from_a_file_of_any_name() -> None:
    data = b"".join(b.as_lines([b.item("a"), b.item("b")]).values())
    assert parse_record_file("x.json", data).layout is RecordLayout.LINES
    assert one(b.item("a"), "x.jsonl").layout is RecordLayout.LINES
    assert one(b.item("a"), "x.json").layout is RecordLayout.OBJECT
    pretty = json.dumps(b.item("a"), indent=2).encode()
    assert parse_record_file("x.jsonl", pretty).layout is RecordLayout.OBJECT


def test_blank_lines_are_not_a_problem() -> None:
    file = parse_record_file("x.jsonl", b'\n{"item_id": "a"}\r\n\r\n  \n{"item_id": "b"}\n')
    assert names(file) == ["a", "b"]
    assert not file.problems
    assert [record.pointer for record in file.records] == ["/1", "/4"]


def test_a_bad_line_is_reported_with_its_origin_and_the_others_are_read() -> None:
    file = parse_record_file("x.jsonl", b'{"item_id": "a"}\n{"item_id": b}\n[1]\n{"item_id": "c"}\n{"item_')
    assert names(file) == ["a", "c"]
    assert [(problem.origin.line, problem.origin.column) for problem in file.problems] == [(2, 13), (5, 2)]
    assert [stray.origin.pointer for stray in file.strays] == ["/2"]


def test_the_elements_of_a_truncated_list_before_the_break_are_read() -> None:
    data = next(iter(b.as_array(b.turn()).values()))
    file = parse_record_file("x.json", data[: data.index(b'"sel-1"', 2000)])
    assert file.layout is RecordLayout.ARRAY
    assert names(file)[:3] == ["ctx-1", "surf-1", "old-1"]
    assert len(file.problems) == 1
    assert len(names(file)) > 10


def test_brackets_and_quotes_inside_texts_do_not_confuse_a_broken_list() -> None:
    data = json.dumps([b.item("a", 'a "quoted" ]}{[ \\ text'), b.item("b")])[:-1].encode()
    assert names(parse_record_file("x.json", data)) == ["a", "b"]


def test_nul_bytes_at_the_end_are_reported_and_a_byte_order_mark_is_skipped() -> None:
    file = parse_record_file("x.json", b'\xef\xbb\xbf{"item_id": "a"}' + b"\0" * 512)
    assert names(file) == ["a"]
    assert [problem.reason for problem in file.problems] == ["the file ends in 512 NUL bytes"]


@pytest.mark.parametrize("data", ["[]".encode("utf-16"), b"\xff\xfe\x00", b"", b"null", b"{", b"\0\0", b"7"])
def test_data_without_records_gives_none_and_does_not_fail(data: bytes) -> None:
    assert parse_record_file("x.json", data).records == ()


def test_the_cut_end_of_a_partly_read_file_is_not_a_problem() -> None:
    data = b'{"item_id": "a"}\n{"item_id"'
    assert parse_record_file("x.jsonl", data, whole=False).problems == ()
    assert len(parse_record_file("x.jsonl", data).problems) == 1


def test_a_value_without_an_id_field_is_a_stray() -> None:
    file = one([b.item("a"), {"title": "?"}, 5, None])
    assert names(file) == ["a"]
    assert [stray.value for stray in file.strays] == [{"title": "?"}, 5, None]


# -- records inside records --------------------------------------------------------------------------------


def test_records_inside_references_are_found_with_their_holders() -> None:
    inner = b.item("a", source_refs=[b.source("s")])
    file = one(b.envelope(item_refs=["b", inner]))
    assert names(file) == ["ctx-1", "a", "s"]
    _, item, source = file.records
    assert item.inside is file.records[0]
    assert item.pointer == "/item_refs/1"
    assert source.inside is item
    assert source.pointer == "/item_refs/1/source_refs/0"


@pytest.mark.parametrize(
    "reference",
    [
        "a",
        {"id": "a", "kind": "item"},
        {"item_id": "a"},
        {"item_id": "a", "reason": "budget_limit", "token_estimate": 400},
        {"item_id": "a", "title": "a thing", "metadata": {"why": "x"}},
        {"item_ref": "a", "reason": "stale"},
        5,
        None,
        [],
    ],
)
def test_a_plain_reference_is_not_a_record(reference: object) -> None:
    assert names(one({"selection_id": "s", "omitted_item_refs": [reference]})) == ["s"]


def test_an_omission_may_wrap_the_record_it_leaves_out() -> None:
    file = one({"selection_id": "s", "omitted_item_refs": [{"item_ref": b.item("a"), "reason": "stale"}]})
    assert names(file) == ["s", "a"]
    assert file.records[1].pointer == "/omitted_item_refs/0/item_ref"
    assert file.records[0].refs("omitted_item_refs")[0].id == "a"


def test_an_object_of_another_standard_is_not_a_record() -> None:
    foreign = {"item_id": "a", "context_kind": "tool_result", "content_mode": "inline"}
    assert names(one(b.envelope(evidence_refs=[foreign], metadata={"item": foreign}))) == ["ctx-1"]


def test_blocks_and_segments_may_hold_records_too() -> None:
    block = {"block_id": "x", "item_refs": [b.item("a")]}
    segment = {"segment_id": "y", "item_refs": [{"summary_id": "t", "content": "short"}]}
    assert names(one(b.assembly([]) | {"ordered_blocks": [7, block]})) == ["asm-1", "a"]
    assert names(one(b.budget(window_segments=[segment]))) == ["bud-1", "t"]
