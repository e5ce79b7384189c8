"""Damage in a recording is reported, and a recording that was made to do harm does none."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import REGISTRY, Finding
from ctxview.files.user_folders import cache_folder
from ctxview.formats import Lens, open_source, with_history
from ctxview.formats.recording import checkout
from ctxview.recording.chunks import LONGEST, ChunkRef, ChunkRefs, chunk_digest, pack_chunk
from ctxview.recording.frames import MOST_PAYLOAD, FrameKind, frame_bytes
from ctxview.recording.manifest import BorrowedFile, RecordedFile, RecordedFolder, SkippedFile, pack_moment
from ctxview.recording.reader import MOST_FAULTS, open_recording
from tests.recording.builders import START, Recorded, forged, record
from tests.rule_examples import assert_examples_are_true, rules_of

LENS = Lens(ESTIMATES["bytes/4"])
CONTENT = b"hello" * 10
HISTORY = [{"a": b"one" * 50}, {"a": b"two" * 50}, {"a": b"three" * 50}]


def sound(base: Path) -> Path:
    return record(base, HISTORY).path


def torn(base: Path) -> Path:
    file = sound(base)
    file.write_bytes(file.read_bytes()[:-5])
    return file


def flipped_moment(base: Path) -> Path:
    recording = record(base, HISTORY)
    return flipped(recording.path, recording._contents.places[1] + 20)


def flipped_chunk(base: Path) -> Path:
    recording = record(base, HISTORY)
    entry = recording.at(2).manifest["a"]
    assert isinstance(entry, RecordedFile)
    return flipped(recording.path, entry.refs[0].place + 40)


def with_a_link(base: Path) -> Path:
    made = Recorded(base)
    (made.root / "link").symlink_to("/etc/passwd")
    made.keep()
    made.close()
    return made.file


def with_a_way_out(base: Path) -> Path:
    base.mkdir()
    forge(base / "x.ctxrec", {"../../.bashrc": file_of(CONTENT)})
    return base / "x.ctxrec"


def bomb(base: Path, files: int = 1, chunks: int = 8000) -> Path:
    """A small recording with large files: they consist of one chunk, again and again."""
    base.mkdir(exist_ok=True)
    file, content = base / "x.ctxrec", b"a" * LONGEST
    writer = forged(file)
    ref = writer.put(content, {})
    entry = RecordedFile(LONGEST * chunks, START, 0o644, ChunkRefs.of([ref] * chunks))
    writer._append(
        FrameKind.MOMENT, pack_moment(START, 0, "", {f"f{each}": entry for each in range(files)}, {})
    )
    writer.close()
    return file


MADE: dict[str, Callable[[Path], Path]] = {
    "A recording of 3 moments": sound,
    "A recording of 3 moments, of which the last 5 bytes are missing": torn,
    "A recording with a flipped bit in a moment": flipped_moment,
    "A recording with a flipped bit in a chunk": flipped_chunk,
    "A recording of a folder with a symbolic link": with_a_link,
    "A recording with a file called ../../.bashrc": with_a_way_out,
    "A recording of 300 KB with a file of 2 GB": bomb,
}


def flipped(file: Path, place: int) -> Path:
    content = bytearray(file.read_bytes())
    content[place] ^= 4
    file.write_bytes(content)
    return file


def file_of(content: bytes, size: int | None = None, times: int = 1) -> RecordedFile:
    """A file that consists of the first chunk of a forged recording, `times` times."""
    ref = ChunkRef(FIRST, len(content), chunk_digest(content))
    length = len(content) * times if size is None else size
    return RecordedFile(length, 0, 0o644, ChunkRefs.of([ref] * times))


FIRST = 16 + 16 + 9 + len("work")
"""The offset of the first chunk of a forged recording: after the head and the frame with its description."""


def forge(file: Path, *moments: dict, contents: tuple[bytes, ...] = (CONTENT,)) -> None:
    forged(file, *moments, contents=contents).close()


def found_in(file: Path) -> list[Finding]:
    source = open_source(file)
    found = [*source.findings(LENS)]
    for number in range(len(source.revisions)):
        found += source.reading(number, LENS).findings
    return [each for each in found if each.rule.startswith("REC")]


def rules_in(file: Path) -> set[str]:
    return {each.rule for each in found_in(file)}


# -- the rules explain themselves --------------------------------------------------------------------------


@pytest.mark.parametrize("rule", rules_of("REC"))
def test_the_examples_are_true(tmp_path: Path, rule: str) -> None:
    assert_examples_are_true(
        REGISTRY[rule], lambda example: found_in(MADE[example](Path(mkdtemp(dir=tmp_path)) / "made"))
    )


def test_a_torn_end_names_the_missing_bytes_and_the_readable_moments(tmp_path: Path) -> None:
    (finding,) = {each for each in found_in(torn(tmp_path)) if each.rule == "REC001"}

    assert re.fullmatch(
        r"\d+ bytes at the end are not complete; 2 moments before them can be read", finding.message
    )
    assert finding.origin.start is not None


def test_damage_is_reported_with_its_position(tmp_path: Path) -> None:
    file = flipped_chunk(tmp_path)
    found = found_in(file)

    assert {each.rule for each in found} == {"REC002", "REC003"}
    assert any("the checksum of the frame at byte" in each.message for each in found)
    assert any(each.message.startswith("moment 3: a is missing: ") for each in found)


# -- recordings that were made to do harm --------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../out", "/tmp/ctxview-out", "a/../../out", "a//b", "./a", "a/./b", "a/", "", "x\0y", "n" * 9000],
)
def test_a_name_outside_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "x.ctxrec"
    forge(file, {name: file_of(CONTENT), "good": file_of(CONTENT)})

    assert "REC005" in rules_in(file)
    source = open_source(file)
    assert source.bytes_of(f"{file}/good") == CONTENT
    assert not Path("/tmp/ctxview-out").exists()


def test_a_duplicate_name_is_refused_the_second_time(tmp_path: Path) -> None:
    class Twice(dict):
        def items(self):  # type: ignore[override]
            return [("a", file_of(CONTENT)), ("a", SkippedFile("the other one"))]

        def __len__(self) -> int:
            return 2

    file = tmp_path / "x.ctxrec"
    forge(file, Twice())

    assert rules_in(file) == {"REC005"}
    assert open_source(file).bytes_of(f"{file}/a") == CONTENT


def test_a_name_below_a_file_is_reported_and_the_file_is_restored(tmp_path: Path) -> None:
    file = tmp_path / "x.ctxrec"
    forge(file, {"a": file_of(CONTENT), "a/b": file_of(CONTENT), "a/c": RecordedFolder()})

    assert rules_in(file) == {"REC003"}
    assert open_source(file).bytes_of(f"{file}/a") == CONTENT


def test_a_name_that_is_not_utf_8_is_restored(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    file = tmp_path / "x.ctxrec"
    forge(file, {name: file_of(CONTENT)})

    assert rules_in(file) == set()
    assert open_source(file).bytes_of(f"{file}/{name}") == CONTENT


def test_a_file_that_claims_another_size_is_not_restored(tmp_path: Path) -> None:
    file = tmp_path / "x.ctxrec"
    forge(file, {"a": file_of(CONTENT, size=7)})

    (finding,) = set(found_in(file))
    assert "its size is not that of its content" in finding.message


def test_a_moment_that_would_fill_the_disk_is_not_checked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "MOST_BYTES", 10_000)
    file = tmp_path / "x.ctxrec"
    forge(file, {"a": file_of(CONTENT, times=1000)}, {"a": file_of(CONTENT)})
    source = open_source(file)

    assert "1 files, over 10,000 bytes" in source.reading(0, LENS).state.missing[0].why
    assert source.bytes_of(f"{file}/a") == CONTENT


def test_a_chunk_that_expands_beyond_its_stated_length_is_stopped_there(tmp_path: Path) -> None:
    bomb = pack_chunk(bytes(20_000_000), b"x" * 16)
    small = pack_chunk(CONTENT, chunk_digest(CONTENT))
    file = tmp_path / "x.ctxrec"
    writer = forged(file)
    # Its content claims to be as long as that of the sound chunk.
    place = writer._append(FrameKind.CHUNK, small[:1].replace(b"\0", b"\1") + small[1:21] + bomb[21:])
    writer.close()
    content = file.read_bytes()
    assert place == FIRST
    forge_behind(file, content, {"a": file_of(CONTENT)})

    (finding,) = set(found_in(file))
    assert finding.rule == "REC003"
    assert "does not match its hash" in finding.message


def forge_behind(file: Path, content: bytes, moment: dict) -> None:
    from ctxview.recording.frames import salt_of
    from ctxview.recording.manifest import pack_moment

    frame = frame_bytes(FrameKind.MOMENT, pack_moment(0, 0, "", moment, {}), salt_of(content[:16]))
    file.write_bytes(content + frame)


def test_a_frame_that_claims_a_huge_length_is_skipped(tmp_path: Path) -> None:
    from ctxview.recording import frames

    file = tmp_path / "x.ctxrec"
    forge(file, {"a": file_of(CONTENT)})
    content = file.read_bytes()
    salt = frames.salt_of(content[:16])
    huge = frames._header(FrameKind.CHUNK, MOST_PAYLOAD + 1, salt)
    file.write_bytes(content[:FIRST] + huge + content[FIRST:])

    assert "REC002" in rules_in(file)
    assert len(open_source(file).revisions) == 1


@pytest.mark.parametrize("base", [1, 10**6, 2**64 - 1, FIRST])
def test_a_moment_with_a_missing_base_is_unreadable(tmp_path: Path, base: int) -> None:
    from ctxview.recording.frames import salt_of
    from ctxview.recording.manifest import pack_moment

    file = tmp_path / "x.ctxrec"
    forge(file, {"a": file_of(CONTENT)})
    content = file.read_bytes()
    payload = pack_moment(2**62, base, "", {}, {})
    file.write_bytes(content + frame_bytes(FrameKind.MOMENT, payload, salt_of(content[:16])))
    source = open_source(file)

    assert source.revisions[1].time is not None
    assert "this moment cannot be read" in source.reading(1, LENS).state.missing[0].why
    assert "REC003" in rules_in(file)


def test_a_borrowed_file_of_a_foreign_recording_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(CONTENT)
    file = tmp_path / "x.ctxrec"
    forge(file, {"secret": BorrowedFile(len(CONTENT), 0, 0o644, b"f" * 16)})

    (finding,) = set(found_in(file))
    assert "its content is not in the recording" in finding.message


@pytest.mark.parametrize("time", [-(2**63), -1, 0, 2**63 - 1])
def test_any_time_can_be_shown(tmp_path: Path, time: int) -> None:
    from ctxview.recording.frames import salt_of
    from ctxview.recording.manifest import moment_clock_text, pack_moment

    file = tmp_path / "x.ctxrec"
    forge(file)
    content = file.read_bytes()
    frame = frame_bytes(FrameKind.MOMENT, pack_moment(time, 0, "", {}, {}), salt_of(content[:16]))
    file.write_bytes(content + frame)

    assert len(open_source(file).revisions[0].label) > 0
    assert moment_clock_text(time)


@pytest.mark.parametrize("place", ["..", "/etc", "a/../../b", "", "x" * 5000])
def test_the_recorded_path_in_a_recording_cannot_lead_outside(tmp_path: Path, place: str) -> None:
    import struct

    from ctxview.recording.frames import new_head, salt_of

    head = new_head()
    payload = struct.pack("<qB", 0, 1) + place.encode()
    file = tmp_path / "x.ctxrec"
    file.write_bytes(head + frame_bytes(FrameKind.ABOUT, payload, salt_of(head)))

    assert open_source(file).title == "recorded"


def findings_of(file: Path, rule: str) -> list[str]:
    return [each.message for each in open_source(file).findings(LENS) if each.rule == rule]


def test_a_small_recording_does_not_fill_the_disk(tmp_path: Path) -> None:
    recording = open_recording(bomb(tmp_path, files=300, chunks=8))

    done = checkout.check_out(recording, 0)

    assert done.size <= checkout.LEAST_BYTES
    assert sum(path.stat().st_size for path in done.folder.iterdir()) == done.size
    (limit,) = done.limits
    assert limit.startswith(f"{300 - len(done.written)} files, over {checkout.LEAST_BYTES:,} bytes")


def test_the_files_that_fit_are_still_read(tmp_path: Path) -> None:
    writer = forged(tmp_path / "x.ctxrec")
    small, large = writer.put(b'{"a": 1}', {}), writer.put(b"a" * LONGEST, {})
    files = {
        "a-large": RecordedFile(LONGEST * 8000, START, 0o644, ChunkRefs.of([large] * 8000)),
        "small.json": RecordedFile(8, START, 0o644, ChunkRefs.of([small])),
    }
    writer._append(FrameKind.MOMENT, pack_moment(START, 0, "", files, {}))
    writer.close()

    source = open_source(tmp_path / "x.ctxrec")

    assert source.bytes_of(f"{tmp_path}/x.ctxrec/small.json") == b'{"a": 1}'
    assert len(findings_of(tmp_path / "x.ctxrec", "REC006")) == 1
    assert any("1 files, over" in gap.why for gap in source.reading(0, LENS).state.missing)


def test_restoring_ends_when_it_takes_too_long(tmp_path: Path) -> None:
    forged(tmp_path / "x.ctxrec", {f"d{each}": RecordedFolder() for each in range(10)}).close()
    times = iter(range(0, 1000, 10))

    done = checkout.check_out(open_recording(tmp_path / "x.ctxrec"), 0, clock=lambda: next(times))

    assert done.limits == ["7 files and folders, after 30 seconds"]
    assert len(list(done.folder.iterdir())) == 3


def test_more_folders_than_a_recorder_writes_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "MOST_SECONDS", 600.0)
    monkeypatch.setattr(checkout, "MOST_ENTRIES", 1_200)
    forged(tmp_path / "x.ctxrec", {f"d{each}": RecordedFolder() for each in range(1_205)}).close()

    (limit,) = findings_of(tmp_path / "x.ctxrec", "REC006")

    assert "5 files and folders, more than 1,200" in limit


def test_a_deep_tree_is_refused_and_a_deep_left_over_one_is_removed(tmp_path: Path) -> None:
    forged(tmp_path / "x.ctxrec", {"a/" * 1900 + "x": RecordedFolder()}).close()

    assert "the path is too deep" in findings_of(tmp_path / "x.ctxrec", "REC005")[0]

    deep = tmp_path / "deep"
    for length in range(0, 1500, 100):
        path = deep.joinpath(*["d"] * length)
        for _ in range(100):
            path.mkdir(exist_ok=True)
            path /= "d"
    checkout.remove_temp_folder(deep)
    assert not deep.exists()


def test_many_damaged_places_are_summed_up(tmp_path: Path) -> None:
    writer = forged(tmp_path / "x.ctxrec", {"a": RecordedFolder()})
    frame = bytearray(frame_bytes(FrameKind.CHUNK, b"x" * 20, writer.salt))
    frame[-1] ^= 1
    writer.close()
    with (tmp_path / "x.ctxrec").open("ab") as file:
        file.write(bytes(frame) * 5000)

    found = findings_of(tmp_path / "x.ctxrec", "REC002")

    assert len(found) == MOST_FAULTS + 1
    assert "not listed" in found[-1]


def test_many_entries_that_were_not_recorded_are_summed_up(tmp_path: Path) -> None:
    forged(tmp_path / "x.ctxrec", {f"d{each}": SkippedFile("a pipe") for each in range(5000)}).close()

    found = findings_of(tmp_path / "x.ctxrec", "REC004")

    assert len(found) == 101
    assert any("4,900 more" in each for each in found)


def test_the_next_inspector_removes_what_a_killed_one_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    moments = cache_folder() / "moments"
    for name in ("1-ended", "2-running", "3-without-lock", "4-new"):
        (moments / name / "1" / "files").mkdir(parents=True)
        (moments / name / "1" / "files" / "x").write_bytes(b"x")
    for name in ("1-ended", "2-running"):
        (moments / name / "lock").touch()
    os.utime(moments / "3-without-lock", (0, 0))
    (tmp_path / "x.json").write_text("{}")
    with (moments / "2-running" / "lock").open() as running:
        fcntl.flock(running, fcntl.LOCK_EX)

        with_history(open_source(tmp_path / "x.json", "raw"))

    assert sorted(each.name for each in moments.iterdir()) == ["2-running", "4-new"]
