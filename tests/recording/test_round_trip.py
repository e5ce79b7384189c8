"""Every recorded moment is read back byte for byte."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxview.recording.frames import DamagedRecordingError
from ctxview.recording.reader import open_recording
from tests.recording.builders import Recorded, files_at, put, record

NAMES = st.sampled_from(["a", "b.json", "deep/c", "deep/er/d", "ünï", "e e"])
CONTENTS = st.one_of(
    st.binary(max_size=60),
    st.integers(1, 40).map(lambda number: b'{"role": "user", "content": "hi there"}\n' * number * 30),
)
TREES = st.dictionaries(NAMES, CONTENTS, max_size=5)
HISTORIES = st.lists(TREES, min_size=1, max_size=6)
SHARES = st.integers(0, 10_000)
"""Offsets in a file of unknown size, as shares of its length."""
QUICK = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def places(tmp_path: Path):
    numbers = iter(range(10**6))
    return lambda: tmp_path / str(next(numbers))


@QUICK
@given(HISTORIES)
def test_any_history_of_trees_is_read_back_at_every_moment(places, history) -> None:
    made = Recorded(places())
    moments = [tree for tree in history if made.keep(tree) is not None]
    recording = made.close()

    assert [files_at(recording, number) for number in range(len(recording))] == moments
    assert recording.torn is None
    assert recording.verify() == ()


@QUICK
@given(HISTORIES, SHARES)
def test_truncation_loses_only_the_bytes_behind_it(places, history, share) -> None:
    base = places()
    recording = record(base, history)
    whole = [files_at(recording, number) for number in range(len(recording))]
    content = recording.path.read_bytes()
    cut = 16 + (len(content) - 16) * share // 10_000
    recording.path.write_bytes(content[:cut])

    left = open_recording(recording.path)

    assert [files_at(left, number) for number in range(len(left))] == whole[: len(left)]
    ends = [place for place in recording._contents.places if place < left.end]
    assert len(left) == len(ends)
    assert (left.torn is not None) == (left.end < cut)


@QUICK
@given(HISTORIES, SHARES)
def test_a_truncated_recording_can_be_continued(places, history, share) -> None:
    base = places()
    recording = record(base, history)
    content = recording.path.read_bytes()
    recording.path.write_bytes(content[: len(content) * share // 10_000])
    try:
        before = [
            files_at(old, number) for old in [open_recording(recording.path)] for number in range(len(old))
        ]
    except DamagedRecordingError:
        before = []

    made = Recorded(base)
    made.keep({"a": b"and so it went on"})
    after = made.close()

    assert [files_at(after, number) for number in range(len(after))] == [*before, {"a": b"and so it went on"}]
    assert after.torn is None
    assert after.verify() == ()


@settings(QUICK, max_examples=15)
@given(SHARES, st.integers(0, 7))
def test_a_flipped_bit_anywhere_is_noticed(places, share, bit) -> None:
    base = places()
    recording = record(base, [{"a": b"one" * 40}, {"a": b"two", "b": os.urandom(50)}, {"b": b""}])
    whole = [files_at(recording, number) for number in range(3)]
    content = bytearray(recording.path.read_bytes())
    content[(len(content) - 1) * share // 10_000] ^= 1 << bit
    recording.path.write_bytes(content)

    try:
        found = open_recording(recording.path)
    except DamagedRecordingError:
        return

    assert found.verify() or found.torn
    # The remaining moments are correct.
    for number in range(len(found)):
        with suppress(DamagedRecordingError):
            assert files_at(found, number) in whole


@pytest.mark.parametrize("cut", [0, 1, 5, 12, 200])
def test_damage_in_the_middle_leaves_the_moments_around_it(tmp_path: Path, cut: int) -> None:
    recording = record(tmp_path, [{"a": bytes([number]) * 3000} for number in range(5)])
    place = recording._contents.places[2] + cut
    content = bytearray(recording.path.read_bytes())
    content[place : place + 4] = b"\xff\xff\xff\xff"
    recording.path.write_bytes(content)

    found = open_recording(recording.path)

    assert len(found) in (4, 5)
    assert files_at(found, 0) == {"a": b"\0" * 3000}
    assert found.verify()


def test_a_recording_inside_a_recording_is_never_taken_for_a_part_of_it(tmp_path: Path) -> None:
    inner = record(tmp_path / "inner", [{"x": os.urandom(900)}, {"x": os.urandom(900)}]).path.read_bytes()
    recording = record(tmp_path / "outer", [{"inner.ctxrec": inner}, {"a": b"later"}])
    content = bytearray(recording.path.read_bytes())
    place = content.index(inner[:40])
    content[place - 45 : place - 30] = bytes(15)
    recording.path.write_bytes(content)

    found = open_recording(recording.path)

    assert len(found) == 2
    assert found.faults


def test_a_small_edit_in_a_large_file_stores_little(tmp_path: Path) -> None:
    lines = [b'{"role": "user", "content": "line %d of many"}\n' % number for number in range(60_000)]
    made = Recorded(tmp_path)
    made.keep({"messages.jsonl": b"".join(lines)})
    before = made.opened.writer.end
    lines[30_000] = b'{"role": "user", "content": "somebody changed this"}\n'
    made.keep({"messages.jsonl": b"".join(lines)})
    recording = made.close()

    assert files_at(recording, 1)["messages.jsonl"] == b"".join(lines)
    assert recording.end - before < 60_000


def test_the_same_content_under_two_names_is_stored_once(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(200_000)
    recording = record(tmp_path, [{"a": noise}, {"a": noise, "b": noise}, {"c": noise}])

    assert [sorted(files_at(recording, number)) for number in range(3)] == [["a"], ["a", "b"], ["c"]]
    assert recording.end < 205_000


@pytest.mark.parametrize("size", [20, 200, 3000])
def test_the_size_for_many_appends_grows_with_the_appended_bytes(tmp_path: Path, size: int) -> None:
    """Twice the appends need twice the bytes, and not more for a longer file."""
    noise = random.Random(2)
    made = Recorded(tmp_path)
    made.keep({"messages.jsonl": b""})
    ends = [made.opened.writer.end]
    content = b""
    for _ in range(4):
        for _ in range(400):
            with (made.root / "messages.jsonl").open("ab") as out:
                line = noise.randbytes(size // 2).hex().encode() + b"\n"
                content += line
                out.write(line)
            assert made.keep() is not None
        ends.append(made.opened.writer.end)
    recording = made.close()

    grown = [after - before for before, after in pairwise(ends)]
    assert max(grown) < 1.5 * min(grown)
    assert recording.end < 4 * len(content) + 1600 * 250
    assert files_at(recording, len(recording) - 1)["messages.jsonl"] == content
    last = recording.at(len(recording) - 1).manifest["messages.jsonl"]
    assert len(last.refs) < 80 + len(content) // 2000  # type: ignore[union-attr]


def test_names_that_are_not_text_are_read_back(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    name = os.fsdecode(b"caf\xe9.json")
    recording_tree = {name: b"1"}
    put(made.root, recording_tree)
    made.keep()

    assert files_at(made.close(), 0) == recording_tree


def test_reading_again_adds_only_new_moments(tmp_path: Path) -> None:
    made = Recorded(tmp_path)
    made.keep({"a": b"1"})
    first = open_recording(made.file)
    made.keep({"a": b"2"})
    second = first.again()

    assert (len(first), len(second)) == (1, 2)
    assert files_at(second, 1) == {"a": b"2"}
    assert files_at(first, 0) == files_at(second, 0) == {"a": b"1"}
