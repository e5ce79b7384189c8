"""Collecting chunks that only refer: they are removed by the policy if their reference is true."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session.history import open_history
from ctxview.formats.session.parser import read_session
from ctxview.formats.session.store.content import RawContent
from ctxview.formats.session.store.gc import GcOutcome, apply_gc
from ctxview.formats.session.store.swap import ChunkStatus, rebuilds
from ctxview.samples import samples_folder
from tests.formats.session.builders import PLACE, Build, sha256, sound
from tests.formats.session.open_sessions import make_old
from tests.formats.session.store.gc_plans import CHUNKS, item, old_plan, plan_at

SAMPLE = samples_folder() / "session/coder/home/1000/agent/coder/session/default"


def referring(build: Build, **members: object) -> tuple[str, Build]:
    """A chunk that only refers to messages 3-4, under a name that is the hash of these messages."""
    kept = "".join(build.text("messages.jsonl").splitlines(keepends=True)[2:4])
    reference = {"source": "messages.jsonl", "range": "3-4", "hash": f"sha256:{sha256(kept)}", **members}
    name = f"{CHUNKS}/sha256-{sha256(kept)}"
    return name, build.set(name, reference)


def listed(build: Build, name: str, **members: object) -> Build:
    line = {
        "id": name.rpartition("/")[2],
        "kind": "message_range",
        "source": "messages.jsonl",
        "range": "3-4",
    }
    return build.add("context/swap/index.jsonl", {**line, "summary": "s", "tokens": 12, **members})


@pytest.mark.parametrize(
    ("in_index", "reason"),
    [
        (True, "rebuildable: the history holds it, hash verified; 60d old, swap_ttl=30d"),
        (False, "only refers to messages 3-4, which stay in the history; 60d old, swap_ttl=30d"),
    ],
)
def test_an_old_chunk_that_only_refers_is_removed_and_its_content_stays(
    tmp_path: Path, in_index: bool, reason: str
) -> None:
    name, build = referring(sound(tmp_path))

    plan = old_plan(listed(build, name) if in_index else build)

    assert item(plan, name).outcome is GcOutcome.REMOVE
    assert item(plan, name).reason == reason
    assert item(old_plan(build, 20), name).reason == "20d old, swap_ttl=30d"


def test_a_chunk_that_refers_by_message_ids_is_removed_if_its_index_line_has_the_hash(tmp_path: Path) -> None:
    name, build = referring(sound(tmp_path), range=None, start_event="m3", end_event="m4")

    assert item(old_plan(build), name).reason.endswith("it names messages by id, but messages have none")
    assert item(old_plan(listed(build, name)), name).outcome is GcOutcome.REMOVE


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"hash": f"sha256:{'0' * 64}"}, "another hash than the chunk says"),
        ({"range": "3-99"}, "only 6 records"),
        ({"range": "3-3", "hash": None}, "messages 3-3 have another hash"),
        ({"source": "/etc/passwd"}, "its source is"),
    ],
)
def test_a_chunk_with_a_broken_reference_is_protected(tmp_path: Path, members: dict, reason: str) -> None:
    name, build = referring(sound(tmp_path), **members)

    found = item(old_plan(build), name)

    assert found.outcome is GcOutcome.PROTECTED
    assert found.reason.startswith("only refers, and cannot be rebuilt: ")
    assert reason in found.reason


@pytest.mark.parametrize(("line", "reason"), [("3-3", "another hash"), ("3-99", "only 6 records")])
def test_a_referring_chunk_whose_index_line_names_something_else_is_protected(
    tmp_path: Path, line: str, reason: str
) -> None:
    name, build = referring(sound(tmp_path))

    found = item(old_plan(listed(build, name, range=line)), name)

    assert found.outcome is GcOutcome.PROTECTED
    assert found.reason.startswith("only refers, and cannot be rebuilt: ")
    assert reason in found.reason


def test_a_chunk_named_after_its_own_reference_is_protected(tmp_path: Path) -> None:
    name, build = referring(sound(tmp_path))
    own = f"{CHUNKS}/sha256-{sha256(build.text(name))}"
    build.set(own, build.text(name)).remove(name)

    assert item(old_plan(build), own).outcome is GcOutcome.PROTECTED
    assert item(old_plan(listed(build, own)), own).outcome is GcOutcome.PROTECTED


def test_each_chunk_that_is_removed_from_the_sample_can_be_rebuilt(tmp_path: Path) -> None:
    root = tmp_path / PLACE
    shutil.copytree(SAMPLE, root)
    make_old(root, 90)

    assert apply_gc(root, plan_at(root), lambda: plan_at(root)).removed

    session = read_session(SourceFolder(root))
    raw = RawContent(session.folder, open_history(session))
    assert all(each.possible or each.chunk is ChunkStatus.VERIFIED for each in rebuilds(session, raw))


def test_a_referring_chunk_that_a_file_names_is_protected(tmp_path: Path) -> None:
    name, build = referring(sound(tmp_path))
    ref = {"id": "r9", "path": name, "kind": "swap", "summary": "s"}

    found = item(old_plan(listed(build, name).add("context/refs.jsonl", ref)), name)

    assert found.reason == "refs.jsonl would refer to a missing file"
