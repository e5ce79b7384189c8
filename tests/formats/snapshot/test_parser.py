"""The parser recognises every kind of file and never raises."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.formats.snapshot.model import SnapshotRole
from ctxview.formats.snapshot.parser import SnapshotFile, SnapshotFileKind, parse_file
from ctxview.formats.snapshot.state import may_be_written
from tests.formats.snapshot.builders import block, full_log_value, reply_bytes, snapshot_value, to_bytes

VALUE = snapshot_value(core=[block("a")], working=[block("b")])


def read_bytes(data: bytes) -> SnapshotFile:
    return parse_file("file", data)


def test_a_reply_is_cut_at_the_separator() -> None:
    found = read_bytes(reply_bytes(VALUE, "Hello."))
    assert found.kind is SnapshotFileKind.REPLY
    assert found.prose == "Hello.\n"
    assert found.snapshot is not None
    assert found.snapshot.role is SnapshotRole.EMITTED
    assert found.snapshot.tier("core")[0].id == "a"


def test_the_first_separator_cuts_even_when_the_payload_starts_at_the_second() -> None:
    data = b"I write <<<CONTEXT>>> below.\n" + reply_bytes(VALUE)
    found = read_bytes(data)
    assert found.reply is not None
    assert found.reply.payload_start == len(b"I write <<<CONTEXT>>>")
    assert found.reply.snapshot is None
    assert found.snapshot is not None
    assert found.salvaged == "it parses from the last separator, but the runtime cuts at the first"


@pytest.mark.parametrize("around", [("```json\n", "\n```"), ("", "\nThat is all."), ("Here: ", "")])
def test_a_snapshot_with_text_around_it_is_shown_but_not_accepted(around: tuple[str, str]) -> None:
    before, after = around
    data = b"Done.<<<CONTEXT>>>" + before.encode() + to_bytes(VALUE) + after.encode()
    found = read_bytes(data)
    assert found.error is not None
    assert found.reply is not None
    assert found.reply.snapshot is None
    assert found.snapshot is not None
    assert not may_be_written(found)


def test_a_reply_without_a_separator_is_only_prose() -> None:
    found = read_bytes(b"Nur Text, ohne alles.")
    assert (found.kind, found.prose, found.snapshot) == (
        SnapshotFileKind.REPLY,
        "Nur Text, ohne alles.",
        None,
    )


def test_a_separator_inside_a_bare_snapshot_is_only_text() -> None:
    found = read_bytes(to_bytes(snapshot_value(core=[block("a", content="use <<<CONTEXT>>> once")])))
    assert found.kind is SnapshotFileKind.SNAPSHOT
    assert found.reply is None


def test_a_bare_snapshot_has_the_stored_role() -> None:
    found = read_bytes(to_bytes(VALUE))
    assert found.snapshot is not None
    assert (found.kind, found.snapshot.role, found.snapshot.pointer) == (
        SnapshotFileKind.SNAPSHOT,
        SnapshotRole.STORED,
        "",
    )


def test_a_full_log_holds_both_views() -> None:
    found = read_bytes(to_bytes(full_log_value(VALUE), indent=2))
    assert found.kind is SnapshotFileKind.FULL_LOG
    assert found.log is not None
    assert found.snapshot is found.log.stored
    assert found.log.injected is not None
    assert (found.log.injected.pointer, found.log.injected.role) == (
        "/injectedContext",
        SnapshotRole.INJECTED,
    )
    assert found.log.debug["round"] == 1
    assert [each.role for each in found.snapshots()] == [SnapshotRole.STORED, SnapshotRole.INJECTED]


def test_a_lite_log_holds_what_the_model_saw() -> None:
    debug = {"round": 1}
    found = read_bytes(to_bytes({"saved_at": "", "modelContext": VALUE, "meta": {"projectionDebug": debug}}))
    assert found.kind is SnapshotFileKind.LITE_LOG
    assert found.log is not None
    assert (found.log.debug, found.log.debug_path) == (debug, ("meta", "projectionDebug"))
    assert found.snapshot is not None
    assert found.snapshot.role is SnapshotRole.INJECTED


@pytest.mark.parametrize("inner", [VALUE, full_log_value(VALUE), {"modelContext": VALUE, "meta": {}}])
def test_the_data_of_an_api_response_is_read(inner: dict[str, object]) -> None:
    found = read_bytes(to_bytes({"ok": True, "data": inner}))
    assert found.snapshot is not None
    assert found.snapshot.pointer.startswith("/data")
    assert found.snapshot.tier("core")[0].id == "a"


def test_an_api_error_has_code_and_message() -> None:
    found = read_bytes(to_bytes({"ok": False, "error": {"code": "NO_SESSION", "message": "not started"}}))
    assert (found.kind, found.api_error) == (SnapshotFileKind.API_ERROR, "NO_SESSION: not started")


@pytest.mark.parametrize("at_top", [True, False])
def test_version_1_2_wraps_its_snapshot_in_a_tag(at_top: bool) -> None:
    old = b'<context>\n{"version": "1.2", "round": 5, "memory": {"core": []}, "task": "x"}\n</context>'
    found = read_bytes(old + b"\nHi." if at_top else b"Hi.\n" + old)
    assert found.kind is SnapshotFileKind.REPLY
    assert found.snapshot is not None
    assert found.snapshot.round == 5
    assert (found.prose or "").strip() == "Hi."


def test_broken_json_is_a_snapshot_that_cannot_be_read() -> None:
    found = read_bytes(b'{"version": 3, "memory": {')
    assert found.kind is SnapshotFileKind.SNAPSHOT
    assert found.snapshot is None
    assert found.error is not None


def test_a_snapshot_after_a_byte_order_mark_is_shown_but_not_writable() -> None:
    found = read_bytes(b"\xef\xbb\xbf" + to_bytes(VALUE))
    assert found.snapshot is not None
    assert found.error is not None
    assert not may_be_written(found)


@pytest.mark.parametrize(
    "data", [b"", b"null", b"[]", b"3", b'{"a": 1}', b'{"ok": true}', b'{"ok": true, "data": 3}']
)
def test_other_json_has_no_snapshot(data: bytes) -> None:
    assert read_bytes(data).snapshot is None


def test_twenty_thousand_levels_are_parsed() -> None:
    deep = b'{"version": 3, "memory": {"core": []}, "x": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    found = read_bytes(deep)
    assert found.snapshot is not None
    assert found.snapshot.origin("version").line == 1


PIECES = [
    b"<<<CONTEXT>>>",
    b"<context>",
    b"</context>",
    b'{"memory": {"core": [{"id": "a"}]}}',
    b'{"ok": true, "data": ',
    b'"context": {',
    b"}",
    b"]",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\n  - id: x\n",
    b"a[3]{b,c}:\n 1,2\n",
    to_bytes(VALUE),
]


@settings(deadline=None, max_examples=15)
@given(st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=12)), max_size=12).map(b"".join))
def test_no_bytes_make_the_parser_raise(data: bytes) -> None:
    found = read_bytes(data)
    assert found.data == data
    for snapshot in found.snapshots():
        assert all(snapshot.origin_of(each.pointer).file == "file" for each in snapshot.blocks)


@settings(deadline=None, max_examples=15)
@given(st.data())
def test_no_damage_to_a_reply_makes_the_parser_raise(data: st.DataObject) -> None:
    whole = bytearray(reply_bytes(VALUE))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(whole)))
        end = data.draw(st.integers(start, min(len(whole), start + 20)))
        whole[start:end] = data.draw(st.binary(max_size=4))
    read_bytes(bytes(whole))


@pytest.mark.parametrize(
    "separator",
    [
        "&lt;&lt;&lt;CONTEXT&gt;&gt;&gt;",
        "&#60;&#60;&#60;CONTEXT&#62;&#62;&#62;",
        "＜＜＜CONTEXT＞＞＞",
        "<<<ＣＯＮＴＥＸＴ>>>",
        r"\<\<\<CONTEXT\>\>\>",
        r"\<\<`<CONTEXT>`{=html}\>\>",
        "<<CONTEXT>>",
        "<<< context >>>",
    ],
)
def test_a_reply_with_a_misspelled_separator_is_recognised(tmp_path: Path, separator: str) -> None:
    file = tmp_path / "answer.txt"
    file.write_text(f'Done.\n{separator}\n{{"version": 3, "memory": {{}}}}', "utf-8")
    source = open_source(file)
    assert source.format == "snapshot"
    found = {each.rule: each.origin for each in source.findings(Lens(ESTIMATES["bytes/4"]))}
    assert (found["SNP007"].line, found["SNP007"].column) == (2, 1)


@pytest.mark.parametrize(
    "text",
    ["See [context] {x}", "The <<<CONTEXT>> separator", "<context> is a tag", "A {{context}} is filled in"],
)
def test_other_texts_about_contexts_are_not_replies(tmp_path: Path, text: str) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(text)
    assert open_source(file).format == "raw"
