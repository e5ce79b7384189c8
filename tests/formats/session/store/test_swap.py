"""Swap: chunks have the hash of their names, index lines pass the rules, histories are unchanged."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens
from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session.source import SessionSource
from ctxview.formats.session.store.content import ContentMissing
from ctxview.formats.session.store.derived_files import WriteAction, WriteFailed, write_derived
from ctxview.formats.session.store.swap import (
    CHUNKS,
    INDEX,
    ChunkStatus,
    apply_rebuild,
    apply_swap,
    plan_event,
    plan_range,
    rebuilds,
)
from tests.formats.session.builders import assistant, compact, event, sound, tool, tool_call, user
from tests.formats.session.open_sessions import broken_rules, in_columnar_store, open_session, tree

LOG = "FAILED tests/test_parser.py::test_blank_lines\n" * 200


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return sound(tmp_path).write()


def swap_range(root: Path, first: int, last: int, summary: str | None = None):
    work = open_session(root)
    plan = plan_range(work.session, work.raw, work.profile, first, last, summary)
    return plan, apply_swap(work.session, plan)


def swap_event(root: Path, event_id: str):
    work = open_session(root)
    plan = plan_event(work.session, work.raw, work.profile, event_id)
    return plan, apply_swap(work.session, plan)


def index_lines(root: Path) -> list[dict]:
    return [json.loads(line) for line in (root / INDEX).read_text().splitlines()]


# -- messages --------------------------------------------------------------------------------------------


def test_a_range_becomes_a_chunk_of_its_lines_named_by_their_hash(root: Path) -> None:
    plan, wrote = swap_range(root, 3, 5)

    lines = (root / "messages.jsonl").read_bytes().splitlines(keepends=True)[2:5]
    chunk = (root / plan.name).read_bytes()
    assert chunk == b"".join(lines)
    assert plan.id == f"sha256-{sha256(chunk).hexdigest()}"
    assert [each.action for each in wrote] == [WriteAction.CREATED, WriteAction.REPLACED]
    assert (root / plan.name).stat().st_mode & 0o777 == 0o600


def test_the_index_line_has_the_documented_members_in_their_order(root: Path) -> None:
    plan, _ = swap_range(root, 3, 5, "how the bug was found")

    assert (root / INDEX).read_text().splitlines()[-1] == compact(
        {
            "id": plan.id,
            "kind": "message_range",
            "source": "messages.jsonl",
            "range": "3-5",
            "summary": "how the bug was found",
            "tokens": len((root / plan.name).read_text().split()),
        }
    )


def test_swapping_breaks_no_rule_and_touches_nothing_else(root: Path) -> None:
    before = tree(root)

    swap_range(root, 3, 5)

    after = tree(root)
    changed = {name for name in after if before.get(name) != after[name]}
    assert {name for name in changed if not name.startswith(CHUNKS)} == {INDEX}
    assert len(changed) == 2
    assert broken_rules(root) == set()


def test_swapping_again_does_nothing(root: Path) -> None:
    swap_range(root, 3, 5)
    before = tree(root)

    plan, wrote = swap_range(root, 3, 5, "another summary")

    assert plan.done
    assert wrote == []
    assert tree(root) == before


def test_the_same_content_elsewhere_is_already_swapped_out(tmp_path: Path) -> None:
    root = sound(tmp_path).add("messages.jsonl", user("again"), user("again")).write()
    swap_range(root, 7, 7)

    plan, wrote = swap_range(root, 8, 8)

    assert wrote == []
    assert plan.indexed is not None
    assert plan.indexed.text("range") == "7-7"
    assert "ABI023" not in broken_rules(root)


def test_blank_lines_and_carriage_returns_are_not_part_of_a_chunk(tmp_path: Path) -> None:
    lines = [compact(user("one")), "", compact(user("two")), "   ", compact(user("three"))]
    root = sound(tmp_path).set("messages.jsonl", "\r\n".join(lines) + "\r\n").write()

    plan, _ = swap_range(root, 2, 3)

    assert (root / plan.name).read_text() == f"{lines[2]}\n{lines[4]}\n"


def test_the_summary_is_by_default_the_beginning_of_the_first_message(tmp_path: Path) -> None:
    long = "\n\n  The first line\twith a tab and " + "many words " * 20 + "\nsecond line"
    root = sound(tmp_path).add("messages.jsonl", user(long)).write()

    plan, _ = swap_range(root, 7, 7)

    assert plan.summary.startswith("The first line with a tab and many words")
    assert plan.summary.endswith("…")
    assert len(plan.summary) <= 100
    assert "ABI024" not in broken_rules(root)


@pytest.mark.parametrize(
    ("first", "last", "reason"),
    [(0, 2, "not a range"), (3, 2, "not a range"), (5, 9, "has only 6 records")],
)
def test_a_range_that_does_not_exist_is_refused(root: Path, first: int, last: int, reason: str) -> None:
    with pytest.raises(ContentMissing, match=reason):
        swap_range(root, first, last)


def test_a_summary_that_would_break_the_line_is_refused(root: Path) -> None:
    with pytest.raises(ContentMissing, match="control characters"):
        swap_range(root, 1, 2, "two\nlines")


def test_a_torn_last_message_is_refused(tmp_path: Path) -> None:
    root = sound(tmp_path).write()
    with (root / "messages.jsonl").open("ab") as messages:
        messages.write(b'{"role":"user","content":"not yet')

    with pytest.raises(ContentMissing, match="no end yet"):
        swap_range(root, 6, 7)


def test_an_index_with_a_torn_line_is_left_alone(root: Path) -> None:
    (root / INDEX).write_bytes((root / INDEX).read_bytes() + b'{"id":"sha')

    with pytest.raises(WriteFailed, match="no end"):
        swap_range(root, 3, 4)

    assert (root / INDEX).read_bytes().endswith(b'{"id":"sha')


def test_an_index_that_changed_meanwhile_is_not_overwritten(root: Path) -> None:
    work = open_session(root)
    plan = plan_range(work.session, work.raw, work.profile, 3, 4)
    (root / INDEX).write_bytes(b"")

    with pytest.raises(WriteFailed, match="changed it meanwhile"):
        apply_swap(work.session, plan)

    assert (root / INDEX).read_bytes() == b""


def test_a_session_without_any_swap_folder_gets_one(tmp_path: Path) -> None:
    root = sound(tmp_path).remove("context/swap").write()

    _, wrote = swap_range(root, 1, 2)

    assert [each.action for each in wrote] == [WriteAction.CREATED, WriteAction.CREATED]
    assert len(index_lines(root)) == 1


def test_nothing_is_written_through_a_linked_folder(tmp_path: Path) -> None:
    root = sound(tmp_path).remove("context/swap").write()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / "context/swap").symlink_to(elsewhere)

    with pytest.raises(WriteFailed):
        swap_range(root, 1, 2)

    assert list(elsewhere.iterdir()) == []


def test_a_history_in_a_columnar_store_can_be_swapped_too(tmp_path: Path) -> None:
    plain = sound(tmp_path / "plain").write()
    stored = in_columnar_store(sound(tmp_path / "stored")).write()

    assert swap_range(stored, 3, 5)[0].id == swap_range(plain, 3, 5)[0].id
    assert swap_event(stored, "call-1")[0].id == swap_event(plain, "call-1")[0].id
    assert (stored / "messages.jsonl").read_bytes() == b""


# -- tool outputs ----------------------------------------------------------------------------------------


def with_call(tmp_path: Path, *records: dict, messages: tuple[dict, ...] = ()) -> Path:
    build = sound(tmp_path).add("events.jsonl", tool_call("call-9"), *records)
    return build.add("messages.jsonl", *messages).write()


def output(text: str, call: str = "call-9") -> dict:
    return event("message", role="tool", name="shell", content=tool(text, call)["content"])


def test_a_tools_output_becomes_a_chunk_of_its_text(tmp_path: Path) -> None:
    root = with_call(tmp_path, output(LOG))

    plan, _ = swap_event(root, "call-9")

    assert (root / plan.name).read_text() == LOG
    line = index_lines(root)[-1]
    assert (line["kind"], line["source"], line["event"]) == ("tool_output", "events.jsonl", "call-9")
    assert line["summary"] == "FAILED tests/test_parser.py::test_blank_lines"
    assert not broken_rules(root) & {"ABI039", "ABI040", "ABI041", "ABI042", "ABI043", "ABI046"}


def test_an_output_that_only_the_messages_hold_is_found_there(tmp_path: Path) -> None:
    root = with_call(tmp_path, messages=(tool(LOG, "call-9"), assistant("I see.")))

    plan, _ = swap_event(root, "call-9")

    assert (root / plan.name).read_text() == LOG


def test_an_output_in_parts_is_joined_line_by_line(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    content = [{"type": "tool_result", "tool_call_id": "call-9", "content": parts}]
    root = with_call(tmp_path, event("message", role="tool", name="shell", content=content))

    plan, _ = swap_event(root, "call-9")

    assert plan.content == b"one\ntwo"


def test_an_event_with_an_id_and_a_text_can_be_swapped(tmp_path: Path) -> None:
    root = sound(tmp_path).add("events.jsonl", event("tool_result", id="ev-991", output=LOG)).write()

    assert swap_event(root, "ev-991")[0].content == LOG.encode()


@pytest.mark.parametrize(
    ("records", "asked", "reason"),
    [
        ([], "call-99", "no event has the id"),
        ([], "call-9", "call-9 has no output yet"),
        ([output("one"), output("two")], "call-9", "2 different outputs"),
    ],
)
def test_a_missing_or_ambiguous_output_is_refused(
    tmp_path: Path, records: list[dict], asked: str, reason: str
) -> None:
    with pytest.raises(ContentMissing, match=reason):
        swap_event(with_call(tmp_path, *records), asked)


# -- rebuilding ------------------------------------------------------------------------------------------


def test_lost_and_damaged_chunks_are_rebuilt_to_the_byte(tmp_path: Path) -> None:
    root = with_call(tmp_path, output(LOG))
    swap_range(root, 3, 5)
    damaged = swap_event(root, "call-9")[0]
    whole = tree(root)
    (root / swap_range(root, 3, 5)[0].name).unlink()
    (root / damaged.name).write_bytes(b"garbage")
    work = open_session(root)

    found = list(rebuilds(work.session, work.raw))
    wrote = [apply_rebuild(work.session, each) for each in found]

    assert [each.chunk for each in found] == [ChunkStatus.VERIFIED, ChunkStatus.MISSING, ChunkStatus.DAMAGED]
    assert [each.action if each else None for each in wrote] == [
        None,
        WriteAction.CREATED,
        WriteAction.REPLACED,
    ]
    assert tree(root) == whole


def test_content_that_the_history_does_not_hold_is_not_rebuilt(tmp_path: Path) -> None:
    build = sound(tmp_path)
    line = {"kind": "message_range", "source": "messages.jsonl", "summary": "?", "tokens": 1}
    build.lines(
        INDEX,
        {"id": "sha256-abc", **line, "range": "1-2"},
        {"id": f"sha256-{'0' * 64}", **line, "range": "1-2"},
        {"id": f"sha256-{'1' * 64}", **line, "range": "1-99"},
        {"id": f"sha256-{'2' * 64}", **line},
        {"id": f"sha256-{'3' * 64}", **line, "kind": "file", "source": "../../outside"},
    )
    work = open_session(build.write())

    found = list(rebuilds(work.session, work.raw))

    assert not any(each.possible for each in found)
    assert all(apply_rebuild(work.session, each) is None for each in found)
    expected = ["placeholder", "another hash", "only 6 records", "neither a range", r"\.\."]
    for each, reason in zip(found, expected, strict=True):
        assert reason.replace("\\", "") in each.reason


def test_a_swapped_file_is_rebuilt_from_the_file(tmp_path: Path) -> None:
    build = sound(tmp_path)
    text = build.files["context/child/rev-1/artifact/report.md"]
    name = f"sha256-{sha256(text).hexdigest()}"
    record = {"id": name, "kind": "file", "source": "context/child/rev-1/artifact/report.md"}
    root = build.lines(INDEX, {**record, "summary": "report", "tokens": 4}).write()
    work = open_session(root)

    (found,) = rebuilds(work.session, work.raw)
    apply_rebuild(work.session, found)

    assert (root / CHUNKS / name).read_bytes() == text


@pytest.mark.parametrize(
    "name",
    [
        "messages.jsonl",
        "events.jsonl",
        "context/summary.md",
        "context/swap/chunk/sha256-abc",
        "context/swap/chunk/../../../messages.jsonl",
        "context/../messages.jsonl",
        "state",
    ],
)
def test_only_packs_chunks_blobs_and_indexes_are_ever_written(root: Path, name: str) -> None:
    before = tree(root)

    with pytest.raises(WriteFailed, match="only packs"):
        write_derived(SourceFolder(root), name, b"x", None)

    assert tree(root) == before


def test_check_state_and_rebuild_agree_on_a_missing_chunk_without_a_hash(tmp_path: Path) -> None:
    line = {"id": "sha256-abc", "kind": "message_range", "source": "messages.jsonl", "range": "1-2"}
    build = sound(tmp_path).add("context/swap/index.jsonl", {**line, "summary": "s", "tokens": 1})
    reading = SessionSource(build.write()).reading(-1, Lens(ESTIMATES["words"]))
    opened = open_session(build.root)

    (gap,) = (each for each in reading.state.missing if each.id == "sha256-abc")
    assert (gap.status, gap.severity) == ("placeholder", "warning")
    assert not any(each.possible for each in rebuilds(opened.session, opened.raw) if each.id == "sha256-abc")
    assert not any("can be rebuilt" in each.message for each in reading.findings)
