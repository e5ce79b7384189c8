"""The rules about swapped and repeated content: ABI039 to ABI046."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.formats.session import rules
from ctxview.formats.session.store.swap import rebuilds
from tests.formats.session.builders import Build, compact, event, lines, sha256, sound, tool, tool_call, words
from tests.formats.session.open_sessions import open_session
from tests.formats.session.rules.derived_records import DEDUP, SWAP, messages_of, swapped
from tests.formats.session.sources import read_facts


def chunk_of(build: Build) -> str:
    return next(each for each in build.files if each.startswith("context/swap/chunk/"))


def test_a_chunk_with_another_content_is_an_error(tmp_path: Path):
    build = sound(tmp_path)
    name = next(each for each in build.files if each.startswith("context/swap/chunk/"))
    assert "not that of its name" in messages_of(build.set(name, "something else\n").write(), 39)[0]


def test_a_placeholder_cannot_be_verified(tmp_path: Path):
    root = sound(tmp_path).set("context/dedup/blob/sha256-abc", "x").write()
    assert "has no whole SHA-256" in messages_of(root, 39)[0]


def test_a_chunk_may_refer_instead_of_copying(tmp_path: Path):
    build = sound(tmp_path)
    kept = build.text("messages.jsonl").splitlines(keepends=True)
    digest = sha256("".join(kept[2:4]))
    reference = {"source": "messages.jsonl", "range": "3-4", "hash": f"sha256:{digest}"}
    build.set(f"context/swap/chunk/sha256-{digest}", reference)
    build.add(SWAP, swapped(id=f"sha256-{digest}", range="3-4", tokens=words("".join(kept[2:4]))))
    root = build.write()
    assert [messages_of(root, rule) for rule in (39, 40, 42, 43, 46)] == [[], [], [], [], []]


def test_a_chunk_that_refers_by_message_ids_is_a_warning(tmp_path: Path):
    reference = {"source": "messages.jsonl", "start_event": "m1", "end_event": "m2", "hash": "sha256:x"}
    root = sound(tmp_path).set("context/swap/chunk/sha256-abc", reference).write()
    (found,) = (each for each in rules.check_session(read_facts(root)) if each.rule == "ABI042")
    assert found.severity.value == "warning"
    assert "messages have none" in found.message


def test_a_chunk_that_refers_by_message_ids_is_followed_through_its_entry_if_the_hash_agrees(tmp_path: Path):
    build = sound(tmp_path)
    kept = "".join(build.text("messages.jsonl").splitlines(keepends=True)[2:4])
    reference = {"source": "messages.jsonl", "start_event": "m3", "end_event": "m4"}
    build.add(SWAP, swapped(id="sha256-abc", range="3-4", tokens=words(kept)))
    for digest, count in ((sha256(kept), 0), (sha256("other"), 1)):
        root = build.set("context/swap/chunk/sha256-abc", {**reference, "hash": f"sha256:{digest}"}).write()
        assert len(messages_of(root, 42)) == count


def test_the_tokens_of_a_referring_chunk_are_those_of_what_it_refers_to(tmp_path: Path):
    build = sound(tmp_path)
    true = words(build.text("messages.jsonl").splitlines()[3])
    reference = {"source": "messages.jsonl", "range": "4-4"}
    for tokens, expected in (
        (true, []),
        (words(compact(reference)), [f"what the chunk refers to has {true} words"]),
    ):
        build.set("context/swap/chunk/sha256-abc", reference)
        root = build.set(SWAP, lines([swapped(id="sha256-abc", range="4-4", tokens=tokens)])).write()
        assert [each.partition(",")[0] for each in messages_of(root, 43)] == expected


def test_a_blob_that_looks_like_a_reference_is_content(tmp_path: Path):
    build = sound(tmp_path).blob(compact({"source": "messages.jsonl", "range": "1-2"}), "messages:1")
    assert [messages_of(build.write(), rule) for rule in (39, 42, 43)] == [[], [], []]


def test_a_referring_chunk_with_the_wrong_hash_is_an_error(tmp_path: Path):
    reference = {
        "source": "events.jsonl",
        "start_event": "call-1",
        "end_event": "call-1",
        "hash": "sha256:" + "0" * 64,
    }
    root = sound(tmp_path).set("context/swap/chunk/sha256-abc", reference).write()
    assert "another hash" in messages_of(root, 42)[0]


def test_a_tool_output_is_rebuilt_from_the_result_of_its_call(tmp_path: Path):
    build = sound(tmp_path)
    output = "1 failed: test_blank_lines"
    record = swapped(id=f"sha256-{sha256(output)}", kind="tool_output", source="events.jsonl", event="call-1")
    value = json.loads(record)
    del value["range"]
    assert "the result of the call call-1" in messages_of(build.add(SWAP, value).write(), 40)[0]


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"event": "call-1"}, "can be rebuilt from the result of the call call-1"),
        ({"event": "ap-2"}, "cannot be rebuilt: ap-2 has no output yet"),
        ({"event": "call-2"}, "cannot be rebuilt: call-2 has 2 different outputs"),
        ({"event": "call-3"}, "can be rebuilt from the result of the call call-3"),
        ({"event": "call-4"}, 'cannot be rebuilt: no event has the id "call-4"'),
        ({"range": "1-2"}, "what it came from has another hash: lines 1-2 of events.jsonl"),
    ],
)
def test_a_chunk_is_rebuildable_if_the_swap_command_can_write_it(members: dict, words: str, tmp_path: Path):
    build = sound(tmp_path)
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    build.add("events.jsonl", event("approval_request", id="ap-2", name="n", args=[]))
    build.add("events.jsonl", *(tool_call(name) for name in ("call-2", "call-3")))
    build.add("messages.jsonl", tool("one", "call-2"), tool("two", "call-2"), tool("one", "call-2"))
    build.add("messages.jsonl", tool(parts, "call-3"))
    content = "one\ntwo" if members.get("event") == "call-3" else "1 failed: test_blank_lines"
    line = {"id": f"sha256-{sha256(content)}", "kind": "tool_output", "source": "events.jsonl", **members}
    root = build.set(SWAP, lines([{**line, "summary": "s", "tokens": 3}])).write()
    (message,) = messages_of(root, 40)
    assert words in message
    work = open_session(root)
    (rebuild,) = rebuilds(work.session, work.raw)
    assert rebuild.possible == ("can be rebuilt from" in message)


@pytest.mark.parametrize(("tokens", "severity"), [(0, None), (1, "warning"), (2, "info")])
def test_token_figures_of_other_counters_are_named(tokens: int, severity: str | None, tmp_path: Path):
    build = sound(tmp_path)
    record = json.loads(build.text(SWAP))
    chunk = build.text(f"context/swap/chunk/{record['id']}")
    record["tokens"] = (words(chunk), 99999, len(chunk.encode()) // 4)[tokens]
    root = build.set(SWAP, lines([record])).write()
    found = [each for each in rules.check_session(read_facts(root)) if each.rule == "ABI043"]
    assert [each.severity.value for each in found] == ([] if severity is None else [severity])


def test_a_wrong_size_in_the_dedup_index_is_a_warning(tmp_path: Path):
    build = sound(tmp_path)
    record = {**json.loads(build.text(DEDUP)), "bytes": 1}
    assert messages_of(build.set(DEDUP, lines([record])).write(), 43) == ["bytes is 1, but the file has 6800"]


def test_repeated_content_in_a_blob_is_not_reported(tmp_path: Path):
    text = "a long tool output\n" * 400
    message = {"role": "user", "content": text}
    build = sound(tmp_path).add("messages.jsonl", message, message)
    assert len(messages_of(build.write(), 45)) == 1
    assert messages_of(build.blob(text, "messages:7", "messages:8").write(), 45) == []


@pytest.mark.parametrize("separator", ["-", "_", "."])
def test_repeated_content_in_a_chunk_is_not_reported(separator: str, tmp_path: Path):
    text = "a long tool output\n" * 400
    build = sound(tmp_path).add("messages.jsonl", *[{"role": "user", "content": text}] * 2)
    chunk = f"context/swap/chunk/sha256{separator}{sha256(text)}"
    assert messages_of(build.set(chunk, text).write(), 45) == []


def test_repeated_content_whose_chunk_was_altered_is_reported(tmp_path: Path):
    text = "a long tool output\n" * 400
    build = sound(tmp_path).add("messages.jsonl", *[{"role": "user", "content": text}] * 2)
    assert len(messages_of(build.set(f"context/swap/chunk/sha256-{sha256(text)}", "less").write(), 45)) == 1


def test_two_blobs_with_the_same_content_are_reported(tmp_path: Path):
    text = "x" * 5000
    build = sound(tmp_path).blob(text, "messages:1")
    build.set("context/swap/chunk/sha256-copy", text)
    assert "the same content" in messages_of(build.write(), 45)[0]


def test_a_chunk_whose_lines_changed_is_the_only_copy(tmp_path: Path):
    build = sound(tmp_path)
    first, *others = build.text("messages.jsonl").splitlines()
    root = build.set("messages.jsonl", lines([first.replace("please", "PLEASE"), *others])).write()
    assert "no other copy is known" in messages_of(root, 46)[0]


def test_an_altered_chunk_whose_lines_are_unchanged_can_be_made_again(tmp_path: Path):
    build = sound(tmp_path)
    root = build.set(chunk_of(build), "something else\n").write()
    assert messages_of(root, 46) == []
    assert "it can be rebuilt from lines 1-2 of messages.jsonl" in messages_of(root, 39)[0]


def test_an_altered_chunk_whose_lines_changed_too_is_lost(tmp_path: Path):
    build = sound(tmp_path)
    text = build.text("messages.jsonl").replace("please", "PLEASE")
    root = build.set(chunk_of(build), "something else\n").set("messages.jsonl", text).write()
    assert "nor the altered chunk hold what was swapped out: it is lost" in messages_of(root, 46)[0]
    assert "rebuilt" not in messages_of(root, 39)[0]
