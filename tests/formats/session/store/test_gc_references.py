"""Collecting chunks that only refer: they are removed by the policy if their reference is true."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats.session.store.gc import GcOutcome
from tests.formats.session.builders import Build, lines, sha256, sound
from tests.formats.session.store.gc_plans import CHUNKS, item, old_plan


def referring(build: Build, **members: object) -> tuple[str, Build]:
    """A chunk that only refers to messages 3-4, under a name that is the hash of the reference itself."""
    kept = "".join(build.text("messages.jsonl").splitlines(keepends=True)[2:4])
    reference = {"source": "messages.jsonl", "range": "3-4", "hash": f"sha256:{sha256(kept)}", **members}
    name = f"{CHUNKS}/sha256-{sha256(lines([reference]))}"
    return name, build.set(name, reference)


def listed(build: Build, name: str, **members: object) -> Build:
    line = {
        "id": name.rpartition("/")[2],
        "kind": "message_range",
        "source": "messages.jsonl",
        "range": "3-4",
    }
    return build.add("context/swap/index.jsonl", {**line, "summary": "s", "tokens": 12, **members})


@pytest.mark.parametrize("in_index", [True, False])
def test_an_old_chunk_that_only_refers_is_removed_and_its_content_stays(
    tmp_path: Path, in_index: bool
) -> None:
    name, build = referring(sound(tmp_path))

    plan = old_plan(listed(build, name) if in_index else build)

    assert item(plan, name).outcome is GcOutcome.REMOVE
    assert item(plan, name).reason == (
        "only refers to messages 3-4, which stay in the history; 60d old, swap_ttl=30d"
    )
    assert item(old_plan(build, 20), name).reason == "20d old, swap_ttl=30d"


def test_a_chunk_that_refers_by_message_ids_is_removed_if_its_index_line_has_the_hash(tmp_path: Path) -> None:
    name, build = referring(sound(tmp_path), range=None, start_event="m3", end_event="m4")

    assert item(old_plan(build), name).reason.endswith("it names messages by id, but messages have none")
    assert item(old_plan(listed(build, name)), name).outcome is GcOutcome.REMOVE


@pytest.mark.parametrize(
    ("members", "line", "reason"),
    [
        ({"hash": f"sha256:{'0' * 64}"}, {}, "another hash than the chunk says"),
        ({"range": "3-99"}, {}, "only 6 records"),
        ({"source": "/etc/passwd"}, {}, "its source is"),
        ({}, {"range": "3-99"}, "only 6 records"),
    ],
)
def test_a_chunk_with_a_broken_reference_is_protected(
    tmp_path: Path, members: dict, line: dict, reason: str
) -> None:
    name, build = referring(sound(tmp_path), **members)

    found = item(old_plan(listed(build, name, **line)), name)

    assert found.outcome is GcOutcome.PROTECTED
    assert found.reason.startswith("only refers, and cannot be made again: ")
    assert reason in found.reason


def test_a_referring_chunk_that_a_file_names_is_protected(tmp_path: Path) -> None:
    name, build = referring(sound(tmp_path))
    ref = {"id": "r9", "path": name, "kind": "swap", "summary": "s"}

    found = item(old_plan(listed(build, name).add("context/refs.jsonl", ref)), name)

    assert found.reason == "refs.jsonl would refer to a missing file"
