"""A file of lines gives the same lines, spans and matches as in memory, also while the file changes."""

from __future__ import annotations

import errno
import gc
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files import byte_search, change_detector, line_file, newline_index, open_file, system_calls
from ctxview.files.byte_search import needle_variants
from ctxview.files.line_file import FileLine, LineFile, LineGrowth
from ctxview.files.reading import ReadError
from tests.running import LIMIT

SMALL = st.sampled_from([b"", b"a", b"\r", b"\n", b"\r\n", b"\n\n", b" \n", b" ", b"\0", "é本".encode()])
PIECES = st.lists(SMALL | st.binary(max_size=40) | st.integers(1, 90).map(lambda n: b"x" * n), max_size=20)
LETTERS = st.text("abAB\n", max_size=120).map(str.encode)


class Model:
    """The expected answers, computed from a file in memory."""

    def __init__(self, content: bytes) -> None:
        self.spans: list[tuple[int, int]] = []
        self.endings: list[bytes] = []
        start = 0
        while start < len(content):
            newline = content.find(b"\n", start)
            end = len(content) if newline < 0 else newline
            ending = b"" if newline < 0 else b"\n"
            if ending and content[start:end].endswith(b"\r"):
                end, ending = end - 1, b"\r\n"
            self.spans.append((start, end))
            self.endings.append(ending)
            start = end + max(len(ending), 1)
        self.lines = [content[start:end] for start, end in self.spans]
        ended = zip(self.lines, self.endings, strict=True)
        self.blanks = [number for number, (line, end) in enumerate(ended) if end and not line.strip()]


@contextmanager
def small_slices() -> Iterator[None]:
    """Make blocks, slices and samples so small that a few bytes cross their borders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newline_index, "BLOCK", 16)
        patch.setattr(newline_index, "_MANY", 3)
        patch.setattr(open_file, "SLICE", 32)
        patch.setattr(line_file, "_RUN", 32)
        patch.setattr(byte_search, "SLICE", 16)
        patch.setattr(byte_search, "_SAMPLE", 4)
        patch.setattr(byte_search, "_FALSE_STARTS", 8)
        patch.setattr(byte_search, "_PLAIN_SLICES", 2)
        yield


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "messages.jsonl"
    path.write_bytes(b"one\ntwo\nthree\n")
    return path


@pytest.fixture
def lines(file: Path) -> LineFile:
    opened = opening(file)
    opened.index()
    return opened


def opening(file: Path) -> LineFile:
    return LineFile(file.parent, file.name)


def indexed(file: Path, content: bytes) -> LineFile:
    file.write_bytes(content)
    opened = opening(file)
    opened.index()
    return opened


def append(file: Path, content: bytes) -> None:
    with file.open("ab") as stream:
        stream.write(content)


def all_of(lines: LineFile) -> list[bytes]:
    return [lines.line(number) for number in range(len(lines))]


@pytest.fixture(autouse=True)
def _nothing_is_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_detector, "SETTLES_AFTER", 0)


# -- lines -------------------------------------------------------------------------------------------------


@given(st.lists(PIECES.map(b"".join), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_lines_are_those_of_the_bytes_however_the_file_grows(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder, small_slices():
        path = Path(folder) / "file"
        path.touch()
        lines = opening(path)
        written = b""
        for content in contents:
            append(path, content)
            written += content
            lines, growth = lines.again()
            assert growth is (LineGrowth.GROWN if content else LineGrowth.SAME)
            lines.index()
            agree(lines, written)


@given(st.lists(PIECES.map(b"".join), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None)
def test_an_old_view_does_not_change_when_the_file_grows(contents: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder, small_slices():
        path = Path(folder) / "file"
        path.touch()
        looks = [(opening(path), b"")]
        for content in contents:
            append(path, content)
            looks.append((looks[-1][0].again()[0], looks[-1][1] + content))
        for lines, written in reversed(looks):
            lines.index()
            agree(lines, written)


def agree(lines: LineFile, content: bytes) -> None:
    model = Model(content)
    numbers = range(len(model.lines))
    assert lines.complete
    assert lines.size == len(content)
    assert lines.unterminated == (bool(content) and not content.endswith(b"\n"))
    assert all_of(lines) == model.lines
    assert [lines.span(number) for number in numbers] == model.spans
    assert [lines.ending(number) for number in numbers] == model.endings
    assert list(lines.lines()) == [
        FileLine(number, *model.spans[number], model.lines[number]) for number in numbers
    ]
    assert [lines.tail(count) for count in range(4)] == [
        model.spans[max(len(model.spans) - count, 0) :] for count in range(4)
    ]
    assert [lines.number_at(at) for at in range(len(content))] == [
        content[:at].count(b"\n") for at in range(len(content))
    ]
    assert list(lines.blanks) == model.blanks


def test_an_empty_file_has_no_lines(file: Path) -> None:
    lines = indexed(file, b"")

    assert (len(lines), lines.complete, lines.unterminated) == (0, True, False)
    assert lines.tail(5) == []
    assert lines.number_at(0) == 0
    assert list(lines.lines()) == []
    with pytest.raises(IndexError):
        lines.line(0)


def test_only_newline_bytes_end_a_line(file: Path) -> None:
    content = "a\u2028b\u0085c\x0b\x1c\rd\ne".encode()

    assert all_of(indexed(file, content)) == content.split(b"\n")


def test_a_torn_last_line_counts_and_is_marked(file: Path) -> None:
    lines = indexed(file, b'{"a":1}\n{"b"')

    assert all_of(lines) == [b'{"a":1}', b'{"b"']
    assert lines.unterminated
    assert (lines.ending(0), lines.ending(1)) == (b"\n", b"")


def test_a_carriage_return_belongs_to_the_ending_only_before_a_newline(file: Path) -> None:
    lines = indexed(file, b"a\r\n\r\nb\rc\nd\r")

    assert all_of(lines) == [b"a", b"", b"b\rc", b"d\r"]
    assert [lines.ending(number) for number in range(4)] == [b"\r\n", b"\r\n", b"\n", b""]


def test_a_tail_ends_where_its_reach_does_but_has_the_last_line(file: Path) -> None:
    file.write_bytes(b"one\ntwo\n" + b"3" * 50 + b"\n")
    lines = LineFile(file.parent, file.name)
    assert lines.tail(9, 0) == lines.tail(9, 51) == [(8, 58)]
    assert lines.tail(9, 55) == [(4, 7), (8, 58)]
    assert lines.tail(9, 100) == [(0, 3), (4, 7), (8, 58)]


def test_a_tail_of_nuls_is_a_torn_line(file: Path) -> None:
    lines = indexed(file, b"{}\n" + b"\0" * 5000)

    assert len(lines) == 2
    assert lines.line(1, limit=3) == b"\0\0\0"
    assert lines.unterminated


def test_blank_lines_are_recognised_across_blocks(file: Path) -> None:
    block = newline_index.BLOCK
    spaces = b" " * (block + 10)
    lines = indexed(file, b"x" * (block - 1) + b"\n\n" + spaces + b"\n{}\n" + spaces + b".\n\t\n")

    assert list(lines.blanks) == [1, 2, 5]


def test_the_head_of_a_giant_line_can_be_read_alone(file: Path) -> None:
    with file.open("wb") as stream:
        stream.write(b"{}\n")
        stream.truncate(100_000_000)
        stream.seek(0, os.SEEK_END)
        stream.write(b"\r\nend\n")
    lines = opening(file)
    lines.index()

    assert len(lines) == 3
    assert lines.span(1) == (3, 100_000_000)
    assert lines.line(1, limit=10) == b"\0" * 10
    heads = list(lines.lines(limit=4))
    assert [(line.content, line.cut) for line in heads] == [
        (b"{}", False),
        (b"\0" * 4, True),
        (b"end", False),
    ]
    assert lines.tail(2) == [(3, 100_000_000), (100_000_002, 100_000_005)]


def test_a_million_tiny_lines_take_little_memory(file: Path) -> None:
    lines = indexed(file, b"{}\n" * 1_000_000)

    assert len(lines) == 1_000_000
    assert lines.span(999_999) == (2_999_997, 2_999_999)
    assert lines.number_at(1_500_000) == 500_000
    assert len(lines.tail(3)) == 3


def test_lines_can_be_read_from_any_to_any_number(file: Path) -> None:
    lines = indexed(file, b"a\nb\nc\nd\n")

    assert [line.content for line in lines.lines(1, 3)] == [b"b", b"c"]
    assert [line.number for line in lines.lines(3)] == [3]
    assert list(lines.lines(4)) == []
    assert list(lines.lines(2, 2)) == []


# -- indexing ----------------------------------------------------------------------------------------------


def test_an_index_continues_where_it_was_cancelled(file: Path) -> None:
    content = b"line\n" * 300_000
    file.write_bytes(content)
    lines = opening(file)
    looks = iter([False, False, True])
    reports: list[tuple[int, int]] = []

    assert (len(lines), lines.complete) == (0, False)
    lines.index(lambda: next(looks))
    assert 0 < len(lines) < 300_000
    assert not lines.complete
    assert lines.line(len(lines) - 1) == b"line"
    with pytest.raises(IndexError):
        lines.line(len(lines))
    lines.index(report=lambda done, total: reports.append((done, total)))

    assert (len(lines), lines.complete) == (300_000, True)
    assert reports[-1] == (len(content), len(content))


def test_the_line_of_an_offset_is_found_before_the_file_is_indexed(file: Path) -> None:
    file.write_bytes(b"line\n" * 300_000)

    assert opening(file).number_at(5 * 200_000) == 200_000


def test_lines_can_be_read_while_another_thread_indexes(file: Path) -> None:
    file.write_bytes(b"".join(b'{"n":%d}\n' % number for number in range(200_000)))
    lines = opening(file)
    workers = [Thread(target=lines.index) for _ in range(2)]
    for worker in workers:
        worker.start()
    while not lines.complete:
        if known := len(lines):
            assert lines.line(known - 1) == b'{"n":%d}' % (known - 1)
    for worker in workers:
        worker.join(LIMIT)

    assert len(lines) == 200_000


# -- searching ---------------------------------------------------------------------------------------------


@given(
    LETTERS,
    st.lists(st.text("abAB\n", min_size=1, max_size=40).map(str.encode), min_size=1, max_size=3),
    st.integers(0, 130),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=15, deadline=None)
def test_the_nearest_of_the_needles_is_found(
    content: bytes, wanted: list[bytes], start: int, backwards: bool, ignore_case: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, small_slices():
        path = Path(folder) / "file"
        path.write_bytes(content)
        text = content.lower() if ignore_case else content
        places = [
            at
            for at in range(len(text))
            for needle in wanted
            if text.startswith(needle.lower() if ignore_case else needle, at)
        ]
        before, after = [at for at in places if at < start], [at for at in places if at >= start]
        nearest = max(before, default=None) if backwards else min(after, default=None)

        found = opening(path).find(wanted, start, backwards=backwards, ignore_case=ignore_case)

        assert found == nearest


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_needle_across_slices_is_found_in_plain_and_in_busy_text(
    file: Path, backwards: bool, ignore_case: bool
) -> None:
    needle = b"aNEEDLEb"
    for filler in (b"x", b"needl", b"ABCDELN"):
        for border in (open_file.SLICE - 3, 2 * open_file.SLICE - 1, 4 * open_file.SLICE):
            size = 5 * open_file.SLICE
            content = (filler * (size // len(filler) + 1))[:size]
            content = content[:border] + needle + content[border + len(needle) :]
            file.write_bytes(content)
            start = len(content) if backwards else 0

            assert opening(file).find(needle, start, backwards=backwards, ignore_case=ignore_case) == border


def test_a_search_ends_when_cancelled_and_an_empty_needle_is_not_found(file: Path, lines: LineFile) -> None:
    looks = iter([False, True])

    assert lines.find(b"three", 0) == 8
    assert lines.find(b"THREE", 0, ignore_case=True) == 8
    assert lines.find(b"", 0) is None
    assert lines.find([], 0) is None
    assert lines.find(b"three", 0, cancelled=lambda: True) is None
    assert indexed(file, b"x" * 1_000_000 + b"y").find(b"y", 0, cancelled=lambda: next(looks)) is None


def test_a_needle_longer_than_a_slice_is_found(file: Path) -> None:
    needle = b"n" * 300_000

    assert indexed(file, b"x" * 500_000 + needle + b"x").find(needle, 0) == 500_000
    assert indexed(file, b"x" * 500_000 + needle + b"x").find(needle, 10**9, backwards=True) == 500_000


@pytest.mark.parametrize(
    ("typed", "spelled"),
    [
        ('say "hi"', rb"say \"hi\""),
        ("a\\b", rb"a\\b"),
        ("two\nlines", rb"two\nlines"),
        ("上下文", rb"\u4e0a\u4e0b\u6587"),
        ("上下文", "上下文".encode()),
        ("é", rb"\u00E9"),
        ("😀 é", rb"\ud83d\ude00 \u00e9"),
        ("\\u00e9", rb"\u00e9"),
    ],
)
def test_typed_text_is_found_as_json_spells_it(file: Path, typed: str, spelled: bytes) -> None:
    lines = indexed(file, b'{"content":"' + spelled + b'"}\n')

    assert lines.find(needle_variants(typed), 0) == 12
    assert len(needle_variants("plain")) == 1


def test_case_is_ignored_beyond_ascii_for_the_usual_ways_to_write_a_word(file: Path) -> None:
    for spelled in ("ПРИВЕТ", "привет", "Привет", r"\u041f\u0440\u0438\u0432\u0435\u0442"):
        lines = indexed(file, b"--" + spelled.encode())
        assert lines.find(needle_variants("пРивет", ignore_case=True), 0, ignore_case=True) == 2
        assert lines.find(needle_variants("пРивет"), 0) is None


# -- changes of a file --------------------------------------------------------------------------------------


def test_an_unchanged_file_is_the_same(lines: LineFile, file: Path) -> None:
    lines, growth = lines.again()
    assert growth is LineGrowth.SAME
    os.utime(file, ns=(1, 1))
    lines, growth = lines.again()
    assert growth is LineGrowth.SAME


def test_a_grown_file_shows_its_new_lines_and_finishes_torn_ones(lines: LineFile, file: Path) -> None:
    append(file, b"fo")
    lines, growth = lines.again()
    assert (growth, lines.line(3), lines.unterminated) == (LineGrowth.GROWN, b"fo", True)
    append(file, b"ur\nfive")
    lines, growth = lines.again()
    assert growth is LineGrowth.GROWN
    assert all_of(lines) == [b"one", b"two", b"three", b"four", b"five"]


def test_a_line_that_is_being_written_is_held_back(
    lines: LineFile, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_detector, "SETTLES_AFTER", float("inf"))
    append(file, b"four\nfi")
    lines, growth = lines.again()
    assert (growth, all_of(lines)[3:], lines.unterminated, lines.held_back) == (
        LineGrowth.GROWN,
        [b"four"],
        False,
        True,
    )
    append(file, b"ve")
    lines, growth = lines.again()
    assert (growth, len(lines), lines.held_back) == (LineGrowth.SAME, 4, True)
    append(file, b"\nsix")
    lines, growth = lines.again()
    assert (growth, all_of(lines)[4:], lines.held_back) == (LineGrowth.GROWN, [b"five"], True)
    monkeypatch.setattr(change_detector, "SETTLES_AFTER", 0)
    lines, growth = lines.again()
    assert (growth, all_of(lines)[5:], lines.unterminated, lines.held_back) == (
        LineGrowth.GROWN,
        [b"six"],
        True,
        False,
    )
    monkeypatch.setattr(change_detector, "SETTLES_AFTER", float("inf"))
    append(file, b"!")
    lines, growth = lines.again()
    assert (growth, len(lines), lines.held_back) == (LineGrowth.GROWN, 5, True)


def test_much_growth_waits_for_the_index(lines: LineFile, file: Path) -> None:
    append(file, b"x\n" * 5_000_000)

    lines, growth = lines.again()
    assert growth is LineGrowth.GROWN
    assert (len(lines), lines.complete) == (3, False)
    lines.index()
    assert len(lines) == 5_000_003


def test_a_truncated_file_is_reported_and_read_again(lines: LineFile, file: Path) -> None:
    os.truncate(file, 5)
    lines, growth = lines.again()
    assert growth is LineGrowth.TRUNCATED
    lines.index()
    assert all_of(lines) == [b"one", b"t"]


def test_a_replaced_file_is_reported_and_read_again(lines: LineFile, file: Path) -> None:
    (file.parent / "new").write_bytes(b"one\ntwo\nthree\nfour\n")
    (file.parent / "new").replace(file)

    lines, growth = lines.again()
    assert growth is LineGrowth.REPLACED
    lines.index()
    assert len(lines) == 4
    lines, growth = lines.again()
    assert growth is LineGrowth.SAME


@pytest.mark.parametrize("content", [b"ONE\ntwo\nthree\n", b"ONE\ntwo\nthree\nfour\n"])
def test_a_change_of_known_bytes_is_reported(lines: LineFile, file: Path, content: bytes) -> None:
    with file.open("r+b") as stream:
        stream.write(content)
    os.utime(file, ns=(1, 1))

    lines, growth = lines.again()
    assert growth is LineGrowth.REWRITTEN
    lines.index()
    assert lines.line(0) == b"ONE"


@pytest.mark.parametrize("instead", ["nothing", "a link", "a pipe", "a folder"])
def test_a_deleted_file_stays_readable_until_another_has_its_name(
    lines: LineFile, file: Path, instead: str
) -> None:
    kept = file.rename(file.parent / "kept")
    match instead:
        case "a link":
            file.symlink_to(kept)
        case "a pipe":
            os.mkfifo(file)
        case "a folder":
            file.mkdir()

    lines, growth = lines.again()
    assert growth is LineGrowth.GONE
    assert lines.line(0) == b"one"
    if instead == "a folder":
        file.rmdir()
    kept.replace(file)
    lines, growth = lines.again()
    assert growth is LineGrowth.SAME


def test_a_file_truncated_meanwhile_gives_fewer_bytes_and_no_crash(file: Path) -> None:
    lines = indexed(file, b"line\n" * 500_000)
    os.truncate(file, 7)

    asked: list[Callable[[], object]] = [
        lambda: lines.line(1),
        lambda: lines.line(499_999),
        lambda: lines.span(400_000),
        lambda: lines.number_at(2_000_000),
        lambda: lines.find(b"nothing", 0),
        lambda: lines.find(b"nothing", 10**9, backwards=True),
        lambda: lines.tail(3),
        lambda: list(lines.lines()),
        lambda: lines.digest(),
    ]
    for ask in asked:
        with suppress(ReadError):
            ask()
    with pytest.raises(ReadError, match="the file was changed while it was read"):
        lines.line(499_999)
    assert lines.line(0) == b"line"
    assert lines.find(b"nothing", 0) is None
    assert lines.digest() is None
    lines, growth = lines.again()
    assert growth is LineGrowth.TRUNCATED


def test_the_index_of_a_truncated_file_ends(file: Path) -> None:
    file.write_bytes(b"line\n" * 500_000)
    lines = opening(file)
    os.truncate(file, 1_000_000)
    lines.index()

    assert (len(lines), lines.complete) == (200_000, True)
    lines, growth = lines.again()
    assert growth is LineGrowth.TRUNCATED
    assert (len(lines), lines.complete) == (0, False)
    lines.index()
    assert (len(lines), lines.complete) == (200_000, True)


def test_short_reads_of_the_file_system_lose_no_bytes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pread, preadv = os.pread, os.preadv
    monkeypatch.setattr(os, "pread", lambda fd, count, at: pread(fd, min(count, 1000), at))
    monkeypatch.setattr(os, "preadv", lambda fd, buffers, at: preadv(fd, [buffers[0][:1000]], at))
    content = b"".join(b"line %d\n" % number for number in range(500))
    lines = indexed(file, content)

    assert all_of(lines) == content.splitlines()
    assert lines.find(b"line 499", 0) == content.index(b"line 499")


def test_a_failing_disk_is_reported(lines: LineFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "pread", fail)
    monkeypatch.setattr(os, "preadv", fail)

    for ask in (lambda: lines.line(0), lambda: lines.find(b"two", 0), lambda: lines.digest()):
        with pytest.raises(ReadError, match="reading failed: Input/output error"):
            ask()


# -- digests -----------------------------------------------------------------------------------------------


def test_digests_prove_that_the_first_bytes_are_unchanged(lines: LineFile, file: Path) -> None:
    content = file.read_bytes()

    def sha(data: bytes) -> str:
        return hashlib.sha256(data).hexdigest()

    assert lines.digest() == sha(content)
    assert lines.digest(4) == sha(b"one\n")
    assert lines.digests([0, 4, 4, len(content)]) == (sha(b""), sha(b"one\n"), sha(b"one\n"), sha(content))
    assert lines.digest(len(content) + 1) is None
    assert lines.digest(cancelled=lambda: True) is None


# -- files to open ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda path: path.symlink_to("/etc/passwd"), "the path goes through a symbolic link"),
        (os.mkfifo, "this is a pipe, not a file"),
        (Path.mkdir, "this is a folder, not a file"),
        (lambda path: None, "there is no such file"),
    ],
)
def test_only_regular_files_are_opened(
    tmp_path: Path, prepare: Callable[[Path], object], reason: str
) -> None:
    prepare(tmp_path / "stream")

    with pytest.raises(ReadError) as caught:
        LineFile(tmp_path, "stream")
    assert caught.value.reason == reason


@pytest.mark.parametrize("relative", ["../messages.jsonl", "/etc/passwd", "", "a\0b"])
def test_nothing_outside_the_folder_is_opened(tmp_path: Path, relative: str) -> None:
    (tmp_path / "messages.jsonl").touch()
    (tmp_path / "session").mkdir()

    with pytest.raises(ReadError):
        LineFile(tmp_path / "session", relative)


def test_a_file_that_may_not_be_read_says_so(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The user who runs the tests may be root.
    monkeypatch.setattr(system_calls, "openat2", refuse)

    with pytest.raises(ReadError, match="reading it is not permitted"):
        opening(file)


def refuse(*_: object) -> int:
    raise PermissionError(errno.EACCES, "Permission denied")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc here")
def test_unused_files_are_closed(file: Path) -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    gc.collect()
    before = open_files()
    lines = [opening(file) for _ in range(20)]
    for number, each in enumerate(lines):
        (file.parent / "new").write_bytes(b"%d" % number)
        (file.parent / "new").replace(file)
        assert each.again()[1] is LineGrowth.REPLACED
    with pytest.raises(ReadError):
        LineFile(file.parent.parent, file.parent.name)
    del lines, each
    gc.collect()

    assert open_files() == before
