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
    open_session,
    tree,
)
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
