"""Nothing is written or removed on the word of a session that cannot be read whole."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.formats.session.builders import Build, sound
from tests.formats.session.open_sessions import (
    in_columnar_store,
    locked_session,
    make_fifo,
    make_old,
    open_session,
    tree,
)
from tests.formats.session.store.gc_plans import old_plan, plan_at
from tests.formats.session.test_pack import plan_of
from tests.running import Run

PACKED = [
    "messages.jsonl",
    "context/budget",
    "context/pinned",
    "context/child",
    "context/child/rev-1",
    "context",
]


def with_fifo(build: Build, name: str) -> Path:
    root = build.write()
    if (root / name).is_dir():
        shutil.rmtree(root / name)
    else:
        (root / name).unlink()
    make_fifo(root / name)
    return root


@pytest.mark.parametrize("name", PACKED)
def test_no_pack_is_planned_from_a_source_that_the_user_may_not_read(name: str) -> None:
    with TemporaryDirectory() as folder, locked_session(sound(Path(folder)), name) as root:
        why = plan_of(open_session(root)).unreadable

    assert why is not None
    assert why.startswith(f"{name}: ")


@pytest.mark.parametrize("name", PACKED[:5])
def test_a_good_pack_is_not_overwritten_when_a_source_is_a_fifo(
    ctxview: Run, tmp_path: Path, name: str
) -> None:
    root = with_fifo(sound(tmp_path), name)
    before = tree(root)

    ran = ctxview("pack", root, "--write", "--anyway")

    assert ran.code == 2
    assert f"nothing was written: {name}: this is neither a file nor a folder" in ran.err
    assert tree(root) == before


@pytest.mark.parametrize("name", ["manifest.json", "wal.jsonl"])
def test_a_good_pack_is_not_overwritten_when_the_store_cannot_be_read(
    ctxview: Run, tmp_path: Path, name: str
) -> None:
    root = with_fifo(in_columnar_store(sound(tmp_path)), f".store/{name}")
    before = tree(root)

    assert ctxview("pack", root, "--write").code == 2
    assert tree(root) == before


def test_a_child_that_cannot_be_used_by_the_pack_does_not_stop_it(tmp_path: Path) -> None:
    root = with_fifo(sound(tmp_path), "context/child/rev-1/artifact")

    assert plan_of(open_session(root)).unreadable is None


NAMING = [
    "context/refs.jsonl",
    "context/facts.jsonl",
    "context/decisions.jsonl",
    "context/summary.md",
    "context/todo.md",
    "context/pack.json",
    "context/plan.json",
    "context/swap/index.jsonl",
    "context/dedup/index.jsonl",
    "context/child/rev-1/refs.jsonl",
    "context/child/rev-1",
    "context/child",
]
ORPHAN = f"context/dedup/blob/sha256-{'0' * 64}"


def collectable(base: Path) -> Build:
    """A session of which everything that can be removed may be removed at once."""
    policy = "pack_ttl=0s\nswap_ttl=0s\ndedup_min_refs=1\n"
    return sound(base).set(ORPHAN, "orphan").swap(3, 5).set("context/gc.policy", policy)


def test_all_kinds_are_collected_when_everything_can_be_read(tmp_path: Path) -> None:
    kinds = {item.kind for item in old_plan(collectable(tmp_path)).removals}

    assert kinds == {"pack", "chunk", "blob"}


@pytest.mark.parametrize("name", NAMING)
def test_nothing_is_collected_when_the_user_may_not_read_what_names_content(name: str) -> None:
    with TemporaryDirectory() as folder, locked_session(collectable(Path(folder)), name) as root:
        plan = plan_at(root)

    assert plan.removals == ()
    assert f"{name} was not read whole (" in plan.notes[-1]
    assert plan.notes[-1].endswith("so nothing is collected")


@pytest.mark.parametrize("name", NAMING)
def test_nothing_is_collected_when_a_fifo_is_in_the_place_of_what_names_content(
    ctxview: Run, tmp_path: Path, name: str
) -> None:
    root = with_fifo(collectable(tmp_path), name)
    make_old(root, 60)
    before = tree(root)

    assert ctxview("gc", root, "--apply").code == 0
    assert tree(root) == before
