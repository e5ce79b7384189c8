"""Measure an edit of a large snapshot until the saved file is checked again, and the save alone.

The save is compared with the minimum of an atomic one: write, fsync, rename, fsync the folder.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure, against, at_most, run
from benchmarks.snapshots import small_snapshot
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.edits import SetValue
from ctxview.core.findings import Finding
from ctxview.editing.draft import Draft
from ctxview.files.save import save
from ctxview.formats import Lens, open_source

WHOLE_GOAL = 0.150
SAVE_GOAL = 3.0
SIZE = 2_000_000


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--repeat", type=int, default=15)


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_STATE_HOME"] = name
        file = Path(name) / "snapshot.json"
        file.write_text(_large_snapshot())
        wholes = [_seconds(_edit_and_save(file, number)) for number in range(arguments.repeat)]
        pairs = [(_seconds(_bare_save(file)), _seconds(_own_save(file))) for _ in range(arguments.repeat)]
    bare, ours = (median(times) for times in zip(*pairs, strict=True))
    yield at_most("a 2 MB snapshot: edit, check, save, check again", median(wholes), WHOLE_GOAL, "ms")
    yield against("  the save by itself", ours, "write, fsync, rename", bare, SAVE_GOAL)


def _large_snapshot() -> str:
    """As many blocks as a runtime stores, each with a long text."""
    snapshot = json.loads(small_snapshot(1))
    blocks = [block for tier in snapshot["memory"].values() for block in tier]
    each = SIZE // len(blocks)
    for block in blocks:
        block["content"] = f"{block['content']} " * (each // len(block["content"]))
    return json.dumps(snapshot, indent=2)


def _edit_and_save(file: Path, number: int) -> Callable[[], object]:
    """The work of the inspector, which has the file open and its findings."""
    source = open_source(file)
    lens = Lens(ESTIMATES["bytes/4"])
    revision = len(source.revisions) - 1
    source.reading(revision, lens)
    policy = source.policy(str(file))
    assert policy is not None, "a snapshot can be edited"

    def review(data: bytes) -> Sequence[Finding]:
        return source.reading(revision, lens, {str(file): data}).findings

    draft = Draft(file, file.read_bytes(), policy, review)
    draft.preview()

    def work() -> None:
        draft.apply(SetValue("/memory/core/0/content", f"changed for the time {number}"))
        draft.save()
        again = source.again()
        again.reading(revision, lens)

    return work


def _own_save(file: Path) -> Callable[[], object]:
    old = file.read_bytes()
    return lambda: save(file, old + b" ", old)


def _bare_save(file: Path) -> Callable[[], object]:
    new = file.read_bytes() + b" "

    def work() -> None:
        beside = file.with_suffix(".new")
        with beside.open("wb") as out:
            out.write(new)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(file)
        folder = os.open(file.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    return work


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
