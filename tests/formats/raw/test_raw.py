"""A file that no format recognises is shown with the findings that need no format."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.analysis.json_rules import MOST_BAD_LINES, check_document
from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import main
from ctxview.core.findings import Severity
from ctxview.files.visible_text import is_safe
from ctxview.formats import Lens, OpenError, Reading, Source, open_source
from ctxview.formats.masked_bytes import showable_bytes
from ctxview.formats.raw import parser
from ctxview.formats.raw.parser import RawKind, read_raw
from tests.formats.watching import Time, write

LENS = Lens(ESTIMATES["bytes/4"])


def reading(tmp_path: Path, data: bytes, name: str = "file.bin") -> Reading:
    file = tmp_path / name
    file.write_bytes(data)
    return open_source(file, "raw").reading(0, LENS)


def blocks(found: Reading) -> list[tuple[str, str, str | None]]:
    return [(block.tier, block.id, block.type) for block in found.state.blocks()]


def held_back(source: Source) -> Sequence[Path]:
    partial_writes = source.abilities.partial_writes
    assert partial_writes is not None
    return partial_writes.held_back


def rules(found: Reading) -> set[str]:
    return {finding.rule for finding in found.findings}


def test_a_reload_opens_an_unrecognised_file_in_the_format_that_fits_now(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(b'{"a": 1}')
    unknown, asked_for = open_source(file), open_source(file, "raw")
    file.write_bytes(b'{"version": 3, "memory": {"core": []}}')

    assert (unknown.format, unknown.again().format, asked_for.again().format) == ("raw", "snapshot", "raw")


def test_an_object_shows_its_members_and_its_lists(tmp_path: Path) -> None:
    found = reading(tmp_path, b'{"name": "x", "n": 3, "items": [{"id": "i1"}, 7], "none": null}')
    assert blocks(found) == [
        ("members", "name", "string"),
        ("members", "n", "number"),
        ("members", "none", "null"),
        ("items", "i1", "object"),
        ("items", "[1]", "number"),
    ]
    assert found.state.blocks().__next__().origin.pointer == "/name"
    assert rules(found) == {"RAW001"}


def test_a_list_shows_its_elements(tmp_path: Path) -> None:
    assert blocks(reading(tmp_path, b'[1, "two", [3], true]')) == [
        ("elements", "[0]", "number"),
        ("elements", "[1]", "string"),
        ("elements", "[2]", "array"),
        ("elements", "[3]", "boolean"),
    ]


def test_a_bad_json_line_does_not_end_the_rows(tmp_path: Path) -> None:
    found = reading(tmp_path, '{"a": "\u2028"}\n{broken\n\n{"b": 2}\n'.encode())
    assert found.state.extra["kind"] == "JSON lines"
    assert [(block.id, block.reason is None) for block in found.state.blocks()] == [
        ("line 1", True),
        ("line 2", False),
        ("line 4", True),
    ]
    assert [gap.id for gap in found.state.missing] == ["line 2"]


def test_text_is_shown_by_paragraphs_with_their_lines(tmp_path: Path) -> None:
    found = reading(tmp_path, b"# Title\n\none\ntwo\n\n\nthree")
    assert [(block.origin.line, block.text) for block in found.state.blocks()] == [
        (1, "# Title"),
        (3, "one\ntwo"),
        (7, "three"),
    ]
    assert found.state.text == "# Title\n\none\ntwo\n\n\nthree"


def test_a_long_paragraph_is_cut_into_chunks(tmp_path: Path) -> None:
    found = reading(tmp_path, b"\n".join(b"line" for _ in range(100)))
    assert [block.origin.line for block in found.state.blocks()] == [1, 41, 81]


def test_a_binary_file_is_shown_as_bytes(tmp_path: Path) -> None:
    found = reading(tmp_path, b"\x00\x1b[2J" + bytes(range(256)))
    assert found.state.extra["kind"] == "bytes"
    assert found.state.text is None
    assert next(found.state.blocks()).text.startswith("00000000  00 1b 5b 32 4a")
    assert rules(found) == {"RAW001"}


def test_broken_json_is_text_with_a_finding(tmp_path: Path) -> None:
    found = reading(tmp_path, b'{"a": 1,}')
    assert {"RAW001", "JSN001"} <= rules(found)
    assert "JSN001" not in rules(reading(tmp_path, b"[section]\nkey = 1\n"))


NOT_JSON = {
    "single quotes": (b"{'a': 1}", "JSN001", "double quotes"),
    "a word of Python": (b"None", "JSN001", "write null"),
    "a Markdown fence": (b"```json\n{}\n```\n", "JSN001", "there is a Markdown fence around the JSON"),
    "an empty file": (b"", "JSN001", "the text is empty"),
    "only spaces": (b" \n", "JSN001", "the text is empty"),
    "one NUL byte": (b"{}\0", "JSN001", "it ends in 1 NUL byte: probably a crash while writing"),
    "many NUL bytes": (b"{}" + b"\0" * 4096, "JSN001", "it ends in 4,096 NUL bytes"),
    "only NUL bytes": (b"\0" * 4096, "JSN001", "it holds only 4,096 NUL bytes"),
    "another encoding": (b'{"a": "\xe9"}', "JSN004", "the byte 0xE9 is not UTF-8"),
    "UTF-16": ("{}".encode("utf-16"), "JSN004", "byte order mark of UTF-16"),
    "UTF-16LE": ('{"a": 1}'.encode("utf-16-le"), "JSN004", "looks like UTF-16LE"),
    "UTF-16BE": ('{"a": 1}'.encode("utf-16-be"), "JSN004", "looks like UTF-16BE"),
    "UTF-32": ("{}".encode("utf-32"), "JSN004", "byte order mark of UTF-32"),
    "UTF-32LE": ('{"a": 1}'.encode("utf-32-le"), "JSN004", "looks like UTF-32LE"),
    "UTF-32BE": ('{"a": 1}'.encode("utf-32-be"), "JSN004", "looks like UTF-32BE"),
    "gzip": (b"\x1f\x8b\x08\0\0", "JSN001", "this is a gzip archive"),
    "SQLite": (b"SQLite format 3\0\x10", "JSN001", "this is an SQLite database"),
    "a program": (b"\x7fELF\x02\x01\0\0", "JSN001", "this is a program"),
    "two values": (b'{"a": 1}{"b": 2}', "JSN001", "after the end of the JSON value"),
    "two lines": (b'{"a": 1}\n{"b": 2}\n', "JSN001", "such a file is named .jsonl"),
}


@pytest.mark.parametrize("case", NOT_JSON)
def test_a_file_that_is_called_json_and_is_not_is_an_error_with_its_likely_cause(
    tmp_path: Path, case: str
) -> None:
    data, rule, cause = NOT_JSON[case]
    found = reading(tmp_path, data, "a.json").findings
    (error,) = (finding for finding in found if finding.rule.startswith("JSN"))
    assert (error.rule, error.severity, error.origin.line) == (
        rule,
        Severity.ERROR,
        1 + (case == "two lines"),
    )
    assert cause in error.message
    assert is_safe(error.message)


@pytest.mark.parametrize("data", [b"3", b'"x"', b"null", b' {"a": "```"}\n'])
def test_any_json_value_is_json(tmp_path: Path, data: bytes) -> None:
    assert rules(reading(tmp_path, data, "a.json")) == {"RAW001"}


@pytest.mark.parametrize(("name", "line"), [("calls.har", 1), ("calls.HAR", 1), ("rows.ldjson", 2)])
def test_files_whose_ending_says_json_are_json(tmp_path: Path, name: str, line: int) -> None:
    data = b"{'log': {}}\n" if line == 1 else b"{}\n{'log': {}}\n"
    found = [each for each in reading(tmp_path, data, name).findings if each.rule == "JSN001"]
    assert [each.origin.line for each in found] == [line]


def test_every_line_of_json_lines_is_checked(tmp_path: Path) -> None:
    data = b'{"a": 1}\n\n{bad}\n{"b": 1, "b": 2}\n{"c'
    found = [each for each in reading(tmp_path, data, "a.jsonl").findings if each.rule != "RAW001"]
    assert [(each.rule, each.origin.line) for each in found] == [("JSN001", 3), ("JSN001", 5), ("JSN002", 4)]
    assert rules(reading(tmp_path, b"", "empty.jsonl")) == {"RAW001"}


def test_many_bad_lines_are_counted(tmp_path: Path) -> None:
    found = reading(tmp_path, b"x\n" * 1234, "a.jsonl").findings
    errors = [finding for finding in found if finding.rule == "JSN001"]
    assert len(errors) == MOST_BAD_LINES
    assert errors[-1].message.endswith("1,134 more lines are not JSON")


def test_one_value_over_several_lines_is_not_json_lines(tmp_path: Path) -> None:
    found = reading(tmp_path, b'{\n  "a": 1\n}\n', "a.jsonl").findings
    (error,) = (finding for finding in found if finding.rule == "JSN001")
    assert "one value fills several lines" in error.message
    assert rules(reading(tmp_path, b'{"a": 1}\n', "b.jsonl")) == {"RAW001"}


def test_the_ends_of_a_large_file_are_not_judged_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser, "LIMIT", 2000)
    assert rules(reading(tmp_path, b"[" + b"1," * 5000 + b"1]", "a.json")) == {"RAW001", "RAW003"}


def test_text_before_nul_bytes_is_still_shown(tmp_path: Path) -> None:
    found = reading(tmp_path, b'{"plan": "go"}' + b"\0" * 4096, "a.json")
    assert "plan" in next(found.state.blocks()).text


def test_deceiving_text_is_found_with_its_position(tmp_path: Path) -> None:
    found = reading(tmp_path, "first\nrun \u202egnp.exe".encode())
    finding = next(finding for finding in found.findings if finding.rule == "TXT002")
    assert (finding.origin.line, finding.origin.column) == (2, 5)


def test_both_ends_of_a_very_large_file_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser, "LIMIT", 100)
    found = reading(tmp_path, b"begin\n" + b"x" * 1000 + b"\nend")
    assert "RAW003" in rules(found)
    assert found.state.text is not None
    assert (found.state.text[:5], found.state.text[-3:]) == ("begin", "end")
    assert found.state.missing[0].status == "left out"


def test_the_number_of_pieces_is_bounded_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser, "MOST_PIECES", 10)
    found = reading(tmp_path, b"[" + b",".join(b"1" for _ in range(50)) + b"]")
    assert found.state.counts.blocks == 10
    assert "RAW003" in rules(found)


def test_a_raw_file_is_read_only(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    source = open_source(tmp_path / "a.txt")
    assert source.policy(str(source.path)) is None
    assert source.profiles == ()
    assert [revision.label for revision in source.revisions] == ["a.txt"]


def test_a_folder_is_not_raw(tmp_path: Path) -> None:
    with pytest.raises(OpenError, match="name one of its files"):
        open_source(tmp_path, "raw")


def test_a_draft_is_read_instead_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    file = tmp_path / "a.txt"
    assert open_source(file).reading(0, LENS, {str(file): b"[1]"}).state.extra["kind"] == "a JSON tree"


@pytest.mark.parametrize(
    "data", [b"[" * 3000 + b"]" * 3000, b'{"a": "\\ud800"}', b" " * 1_000_000, b"\n" * 10_000]
)
def test_odd_files_can_be_read(tmp_path: Path, data: bytes) -> None:
    reading(tmp_path, data)


@settings(deadline=None, max_examples=15)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8"))))
def test_every_non_blank_byte_is_in_a_piece(data: bytes) -> None:
    raw = read_raw("file", data)
    if raw.kind is not RawKind.TEXT:
        return
    covered = bytearray(data)
    for piece in raw.pieces:
        start, end = piece.origin.start or 0, piece.origin.end or 0
        covered[start:end] = b" " * (end - start)
    assert not bytes(covered).strip()


def test_a_reload_shows_the_current_content_and_waits_for_half_written_json(
    tmp_path: Path, time: Time
) -> None:
    file = tmp_path / "notes.json"
    file.write_bytes(b'{"a": 1}')
    first = open_source(file)
    assert first.again() is first
    time.stands_still()
    write(file, b'{"a": 2')
    second = first.again()
    assert (held_back(second), second.bytes_of(str(file))) == ((file,), b'{"a": 1}')
    write(file, b'{"a": 2}')
    third = second.again()
    assert (held_back(third), third.bytes_of(str(file))) == ((), b'{"a": 2}')
    write(file, b'{"a"')
    time.passes()
    assert third.again().bytes_of(str(file)) == b'{"a"'
    assert first.bytes_of(str(file)) == b'{"a": 1}'
    file.unlink()
    with pytest.raises(OpenError):
        third.again()


def test_a_line_of_json_lines_has_one_finding_of_a_rule_with_a_count(tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text('{"a": 1}\n{"b": "é\u202ex\u202ey\u202e \u200bz"}\n{"c": "\u202e"}\n', encoding="utf-8")

    found = [each for each in open_source(file, "raw").findings(LENS) if each.rule.startswith("TXT")]

    assert sorted(
        (each.rule, each.origin.line, "and 2 more in this line" in each.message) for each in found
    ) == [
        ("TXT002", 2, True),
        ("TXT002", 3, False),
        ("TXT003", 2, False),
    ]
    data = file.read_bytes()
    assert {data[each.origin.start : each.origin.end].decode() for each in found} == {"\u202e", "\u200b"}


def test_many_equal_keys_are_counted_and_not_listed(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text("{" + ",".join(f'"a":{each}' for each in range(2000)) + "}")

    found = [each.message for each in open_source(file, "raw").findings(LENS) if each.rule == "JSN002"]

    assert len(found) == 101
    assert any("1,899 more keys" in message for message in found)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt"])
def test_a_line_full_of_invisible_characters_is_one_finding_with_a_true_count(
    tmp_path: Path, name: str
) -> None:
    data = ('{"c": "' + "\u200bx" * 50 + '"}\n').encode()
    (found,) = (each for each in reading(tmp_path, data, name).findings if each.rule == "TXT003")
    assert found.message.endswith("(and at least 19 more in this line)")


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b",".join(b"%d" % (number % 1000) for number in range(600_000)) + b"]",
        b'{"a": [' + b",".join(b"%d" % (number % 1000) for number in range(600_000)) + b"]}",
        b'{"a": [[' + b",".join(b"%d" % (number % 1000) for number in range(600_000)) + b"]]}",
        b"[" + b",\n".join(b"0.%016d" % number for number in range(100_000)) + b"]",
        b"{" + b",".join(b'"k":%d' % (number % 10) for number in range(400_000)) + b"}",
    ],
    ids=["numbers", "numbers of a member", "numbers below", "long fractions", "equal keys"],
)
def test_the_memory_for_a_large_file_is_bounded_by_its_size(data: bytes) -> None:
    tracemalloc.start()
    try:
        raw = read_raw("x.json", data)
        found = list(check_document("x.json", raw.document)) if raw.document is not None else []
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert raw.kind is RawKind.JSON
    assert 1 <= len(raw.pieces) <= parser.MOST_PIECES
    assert {each.rule for each in found} == ({"JSN002"} if b'"k"' in data else set())
    assert peak < 3 * len(data) + 8 * 1024 * 1024


def test_a_key_that_is_there_twice_is_two_parts_with_their_places(tmp_path: Path) -> None:
    data = b'{"a": 1, "b": [2], "a": [3], "c": [], "a": "4"}'
    found = reading(tmp_path, data)
    assert [(block.tier, block.id, block.text) for block in found.state.blocks()] == [
        ("members", "a", "1"),
        ("members", "c", "[]"),
        ("members", "a", "4"),
        ("b", "[0]", "2"),
        ("a", "[0]", "3"),
    ]
    spans = [(block.origin.start, block.origin.end) for block in found.state.blocks()]
    assert [data[start:end] for start, end in spans] == [b"1", b"[]", b'"4"', b"2", b"3"]
    repeated = [each.origin for each in found.findings if each.rule == "JSN002"]
    assert sorted(data[each.start : each.end] for each in repeated) == [b'"4"', b"[3]"]


def test_members_are_shown_before_the_elements_of_many_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser, "MOST_PIECES", 5)
    found = reading(tmp_path, b'{"long": [1, 2, 3, 4, 5, 6], "name": "x"}')
    assert [block.id for block in found.state.blocks()] == ["name", "[0]", "[1]", "[2]", "[3]"]
    many = reading(tmp_path, b"{" + b",".join(b'"k%d": [%d]' % (each, each) for each in range(9)) + b"}")
    assert [block.tier for block in many.state.blocks()] == [f"k{each}" for each in range(5)]
    assert "RAW003" in rules(found) & rules(many)


def test_a_part_that_is_shown_in_part_says_how_much_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser, "LONGEST_TEXT", 10)
    assert (
        next(reading(tmp_path, b'["0123456789abc"]').state.blocks()).text == "0123456789… (3 more characters)"
    )
    assert next(reading(tmp_path, b'["0123456789"]').state.blocks()).text == "0123456789"
    monkeypatch.setattr(parser, "LARGEST_VALUE", 20)
    large = next(reading(tmp_path, b'[{"id": "x", "list": [1, 2, 3]}]').state.blocks())
    assert (large.id, large.type, large.text) == ("[0]", "object", '{"id": "x"… (20 more bytes)')


def test_many_great_numbers_are_counted_and_not_listed(tmp_path: Path) -> None:
    data = b"[" + b",".join(b"%d" % (2**53 + number) for number in range(300)) + b"]"
    found = [each.message for each in reading(tmp_path, data, "x.json").findings if each.rule == "JSN003"]
    assert len(found) == 101
    assert any("200 more numbers are beyond" in message for message in found)


SECRET = "Zebra Quartz 4417 sleeps under the third flowerpot"
GONE = {"redaction_state": "removed", "content": SECRET}
ENVELOPE = {"schema_version": "0.1.1", "context_id": "c", "scope": "turn", "item_refs": ["i1"]}
ITEM = {"schema_version": "0.1.1", "item_id": "i1", "context_kind": "manual_note", **GONE}
COPY = {"note": f"they said: {SECRET}"}
REDACTED = {
    "an object": GONE,
    "a list": [GONE, {"a": 1}],
    "lines": f"{json.dumps(GONE)}\n{json.dumps({'a': 1})}\n",
    "lines after a broken one": f"garbage\n{json.dumps(GONE)}\n",
    "an object in a text": f"note:\n{json.dumps(GONE, indent=1)}\nmore text\n",
    "broken lines": f"{json.dumps({'a': 1})}\n{json.dumps(GONE)[:-3]}\n{json.dumps({'a': 1})}\n",
    "an object around": {"data": GONE},
    "records": {"records": [ENVELOPE, ITEM]},
    "a bundle": {"bundle": {**ENVELOPE, "items": [ITEM]}},
    "a list of lists": [[ENVELOPE, ITEM]],
    "a key": {"data": {"redaction_state": "removed", "content": {SECRET: SECRET}}},
    "a name": [{"redaction_state": "removed", "name": SECRET, "content": SECRET}],
    "broken JSON": json.dumps({"data": GONE})[:-1],
    "a copy": [GONE, COPY],
    "the same member twice": json.dumps({"data": GONE}).replace('"content"', '"content": 1, "content"'),
}


@pytest.mark.parametrize("place", REDACTED)
@pytest.mark.parametrize("format_name", [None, "raw"])
def test_a_redaction_holds_in_a_file_of_no_format(
    place: str, format_name: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ("file.jsonl" if "lines" in place else "file.json")
    value = REDACTED[place]
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    chosen = ["--as", format_name] if format_name else []
    for command in (["show"], ["show", "--json"], ["check"], ["check", "--format", "json"]):
        main([*command, str(file), *chosen])
        captured = capsys.readouterr()
        assert SECRET[:24] not in captured.out + captured.err
    source = open_source(file, format_name)
    assert SECRET[:24] not in str(showable_bytes(source, str(file), file.read_bytes()).data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"redact": ["password"], "note": "all of it"}',
        b'{"redaction_state": "none", "note": "all of it"}',
        b"# How to redact\n\nThis is all of it.\n",
    ],
)
def test_a_file_that_redacts_nothing_is_shown_whole(data: bytes, tmp_path: Path) -> None:
    found = reading(tmp_path, data, "file.json")
    assert "all of it" in " ".join(block.text or "" for block in found.state.blocks())


def test_a_file_of_blank_lines_is_called_that(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("\n \n")
    (finding,) = open_source(path).findings(LENS)
    assert finding.message == "no format was recognised; shown as blank lines"


def test_a_file_beside_sessions_is_no_part_of_a_transcript(tmp_path: Path) -> None:
    for at in range(2):
        (tmp_path / f"{at:08x}-1111-4222-8333-9a0b1c2d3e4f.jsonl").touch()
    (tmp_path / "notes.txt").write_text("hello\n")
    (finding,) = open_source(tmp_path / "notes.txt").findings(LENS)
    assert finding.message == "no format was recognised; shown as plain text"
