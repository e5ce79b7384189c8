"""Bundles in any spelling, in parts, broken, and traces in four spellings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.formats.memory.document import parse_document
from ctxview.formats.memory.files import BundleFiles
from ctxview.formats.memory.model import MemoryBundle
from ctxview.formats.memory.parser import DraftLines, read_bundle
from ctxview.formats.memory.records import FILES, PLACEHOLDER
from ctxview.formats.memory.source import MemorySource
from ctxview.formats.memory.trace import tool_name
from ctxview.formats.memory.words import kept_details, pronouns_in, words_in
from tests.formats.memory.bundles import lens

GAP = 30


def bundle_of(**files: bytes | str) -> MemoryBundle:
    """Read a bundle from the contents of its files by their names without suffix."""
    streams = {}
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        streams[f"{name}.jsonl"] = DraftLines(f"{name}.jsonl", f"/b/{name}.jsonl", data)
    return read_bundle(streams, {name: f"/b/{name}" for name in streams}, GAP, whole=True)


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


ARGUMENTS = {"memory_id": "m", "raw_entry": "Hello", "summary": "Ada said hello."}
TRACES = {
    "json-rpc": lines(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "add_entry", "arguments": ARGUMENTS},
        },
        {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "enqueued"}]}},
    ),
    "blocks": lines(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "mcp__mem__add_entry", "input": ARGUMENTS}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "enqueued"}]},
    ),
    "tool_calls": lines(
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c", "function": {"name": "add_entry", "arguments": json.dumps(ARGUMENTS)}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "enqueued"},
    ),
}


@pytest.mark.parametrize("spelling", TRACES)
def test_a_call_is_the_same_in_every_spelling(spelling: str) -> None:
    (session,) = bundle_of(trace=TRACES[spelling]).sessions
    (call,) = session.calls
    assert (call.tool, dict(call.arguments), call.result, call.failed) == (
        "add_entry",
        ARGUMENTS,
        "enqueued",
        False,
    )
    assert call.place.origin().line == 1


def test_a_debug_line_of_a_server_is_a_call_with_some_arguments() -> None:
    debug = {"level": "debug", "time": "2026-05-11T09:00:00Z", "message": "handling add_entry request"}
    (session,) = bundle_of(
        trace=lines({**debug, "memory_id": "m", "raw_entry_len": 5, "summary": "s"})
    ).sessions
    (call,) = session.calls
    assert (call.tool, call.partial, call.memory, call.time) == (
        "add_entry",
        True,
        "m",
        "2026-05-11T09:00:00Z",
    )


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("mcp__mycelian__put_context", "put_context"),
        ("mcp_memory_add_entry", "add_entry"),
        ("memory.get_context", "get_context"),
        ("get_user", "get_user"),
        ("Bash", None),
        ("add_entry_later", None),
    ],
)
def test_prefixes_of_clients_are_dropped(name: str, tool: str | None) -> None:
    assert tool_name(name) == tool


def test_sessions_end_at_initialize_at_a_gap_and_after_the_end_message() -> None:
    call = {
        "jsonrpc": "2.0",
        "method": "tools/call",
        "params": {"name": "get_context", "arguments": {"memory_id": "m"}},
    }
    trace = lines(
        {**call, "id": 1, "timestamp": "2026-05-11T09:00:00Z"},
        {"jsonrpc": "2.0", "id": 0, "method": "initialize"},
        {**call, "id": 2, "timestamp": "2026-05-11T09:01:00Z"},
        {**call, "id": 3, "timestamp": "2026-05-11T09:31:01Z"},
        {"role": "user", "content": "<END_SESSION>", "timestamp": "2026-05-11T09:32:00Z"},
        {**call, "id": 4, "timestamp": "2026-05-11T09:32:01Z"},
        {"role": "user", "content": "Hello again", "timestamp": "2026-05-11T09:33:00Z"},
        {**call, "id": 5, "timestamp": "2026-05-11T09:33:01Z"},
    )
    sessions = bundle_of(trace=trace).sessions
    assert [(len(each.calls), each.ended) for each in sessions] == [
        (1, "initialize"),
        (1, "gap"),
        (2, "END_SESSION"),
        (1, "end of file"),
    ]


def test_clients_and_memories_are_told_apart() -> None:
    def call(session: str, memory: str) -> dict[str, object]:
        params = {"name": "get_context", "arguments": {"memory_id": memory}}
        return {"session": session, "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    trace = lines(call("a", "m"), call("b", "m"), call("a", "n"), call("b", "m"))
    assert [(each.memory, len(each.calls)) for each in bundle_of(trace=trace).sessions] == [
        ("m", 1),
        ("n", 1),
        ("m", 2),
    ]


def test_both_spellings_of_names_and_wrapped_contexts() -> None:
    bundle = bundle_of(
        entries=lines(
            {
                "entryId": "a",
                "memoryId": "m",
                "rawEntry": "x",
                "summary": "s",
                "creationTime": "2026-05-11T09:00:00Z",
            },
            {
                "entry_id": "b",
                "memory_id": "m",
                "raw_entry": "y",
                "summary": "t",
                "creation_time": "2026-05-11T09:00:01Z",
            },
        ),
        contexts=lines(
            {"contextId": "c", "memoryId": "m", "context": json.dumps({"activeContext": PLACEHOLDER})},
            {"context_id": "d", "memory_id": "m", "context": {"activeContext": "Sam leads"}},
            {"activeContext": "Ada leads"},
            {"contextId": "e", "memoryId": "m", "context": "plain"},
        ),
    )
    assert [(entry.id, entry.raw, entry.summary) for entry in bundle.entries] == [
        ("a", "x", "s"),
        ("b", "y", "t"),
    ]
    assert [each.text for each in bundle.snapshots] == [PLACEHOLDER, "Sam leads", "Ada leads", "plain"]
    assert bundle.snapshots[0].is_placeholder
    assert bundle.entries[1].place.origin("rawEntry").pointer == "/1/raw_entry"


def test_a_line_of_tags_changes_the_entry_and_a_repeated_line_counts_once() -> None:
    entry = {"entryId": "a", "memoryId": "m", "rawEntry": "x", "summary": "s", "creationTime": "t"}
    update = {"entryId": "a", "memoryId": "m", "tags": {"role": "user"}, "updateTime": "u"}
    (found,) = bundle_of(entries=lines(entry, entry, update)).entries
    assert found.tags == {"role": "user"}


def test_broken_lines_are_named_and_the_rest_is_read() -> None:
    good = json.dumps({"entryId": "a", "rawEntry": "x"}).encode()
    bundle = bundle_of(
        entries=b"\xff\xfe\n" + good + b"\n[1]\n\n" + good.replace(b'"a"', b'"b"') + b'\n{"entryId": "c", "ra'
    )
    assert [entry.id for entry in bundle.entries] == ["a", "b"]
    assert [(each.line.number, each.file) for each in bundle.broken] == [
        (0, "entries.jsonl"),
        (2, "entries.jsonl"),
        (5, "entries.jsonl"),
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "entryId",
                    "raw_entry",
                    "rawEntry",
                    "summary",
                    "tags",
                    "context",
                    "activeContext",
                    "memoryId",
                    "role",
                    "content",
                    "tool_calls",
                    "function",
                    "arguments",
                    "name",
                    "jsonrpc",
                    "method",
                    "params",
                    "id",
                    "result",
                    "message",
                    "type",
                    "updateTime",
                    "creationTime",
                    "attempt_count",
                    "title",
                ]
            ),
            inner
            | st.sampled_from(
                ["tools/call", "add_entry", "initialize", "tool_use", "handling add_entry request"]
            ),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from([name.removesuffix(".jsonl") for name in FILES]), st.lists(json_values, max_size=4)
    )
)
def test_any_json_lines_can_be_read_and_checked(contents: dict[str, list[object]]) -> None:
    from ctxview.formats.memory.profile import load_profile
    from ctxview.formats.memory.rules import check_entry, check_together
    from ctxview.formats.memory.survey import MemorySurvey

    bundle = bundle_of(**{name: lines(*values) for name, values in contents.items()})
    for profile in (load_profile("v1"), load_profile("v2")):
        list(check_together(MemorySurvey(bundle), profile))
        for entry in bundle.entries:
            list(check_entry(entry, profile))


@given(st.text())
def test_any_text_is_a_document_that_keeps_its_lines(text: str) -> None:
    document = parse_document(text)
    written = text.split("\n")
    assert all(line.text in written[line.number - 1] for line in document.lines())
    assert [section.number for section in document.sections] == sorted(
        section.number for section in document.sections
    )


@pytest.mark.parametrize(
    ("diagram", "nodes"),
    [
        ("a --> b --> c", 3),
        ("a[Label --> x] -->|text| b{Ask?}", 2),
        ("Store?{Store this?} -- Yes --> Add[add_entry()]", 2),
        ("a & b --> c:::big", 3),
        ("a -.-> b ==> c", 3),
        ("subgraph one\na --> b\nend\nstyle a fill:#fff\n%% c --> d", 2),
    ],
)
def test_the_nodes_of_a_flowchart_are_counted(diagram: str, nodes: int) -> None:
    (found,) = parse_document(f"```mermaid\nflowchart TD\n{diagram}\n```").diagrams
    assert len(found.nodes) == nodes


@given(st.text())
def test_words_and_pronouns_of_any_text(text: str) -> None:
    assert len(pronouns_in(text)) <= len(words_in(text)) + text.count("-")


def test_a_missing_file_and_one_that_appears_later(tmp_path: Path) -> None:
    (tmp_path / "entries.jsonl").write_text(lines({"entryId": "a", "rawEntry": "x"}))
    files = BundleFiles.at(tmp_path)
    assert files.again() is files
    (tmp_path / "contexts.jsonl").write_text(lines({"contextId": "c", "context": "x"}))
    assert set(files.again().streams) == {"entries.jsonl", "contexts.jsonl"}


def test_debug_lines_are_judged_by_what_they_hold(tmp_path: Path) -> None:
    stored = {"entryId": "e1", "memoryId": "m", "rawEntry": "The launch moved", "summary": "It moved."}
    lost = {"summary": "Ada moved the launch.", "raw_entry_len": 16}
    calls = ({"summary": "It moved.", "raw_entry_len": 16}, lost)
    lines = [{"message": "handling get_context request", "memory_id": "m"}]
    lines += [{"message": "handling add_entry request", "memory_id": "m", **each} for each in calls]
    (tmp_path / "entries.jsonl").write_text(json.dumps(stored | {"tags": {"role": "user"}}) + "\n")
    (tmp_path / "trace.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    source = MemorySource(tmp_path)

    found = source.findings(lens())
    assert [each.message for each in found if each.rule == "MEN013"] == [
        'this add_entry has no entry: "Ada moved the launch."'
    ]
    assert [each.origin.file[-13:] for each in found if each.rule == "MEN005"] == ["entries.jsonl"]
    assert "MEN012" not in {each.rule for each in found}
    assert "MTR001" not in {each.rule for each in source.findings(lens("v2"))}


def test_only_a_mark_at_the_beginning_of_a_line_is_a_bullet() -> None:
    document = parse_document("# Facts\n  - Sam leads\n2. Ada follows\nSam - and Ada - meet at 3. Bring tea")
    assert [line.text for line in document.lines()] == [
        "Sam leads",
        "Ada follows",
        "Sam - and Ada - meet at 3. Bring tea",
    ]


def test_very_many_equal_lines_have_names_of_their_own() -> None:
    names = parse_document("# Facts\n" + "Keep the lamp\n" * 50_000).names()
    assert len(set(names.values())) == 50_000


@pytest.mark.parametrize("unit", ["/", "#", "@", ":", "a/"])
def test_a_long_hostile_text_has_no_details_to_keep(unit: str) -> None:
    """With a pattern that starts anew at each place this would take many minutes."""
    assert kept_details(unit * 200_000) == []
