"""A file of lines: the same lines, places and finds as in memory, whatever the bytes and however it grows."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files import held_file, newline_index
from ctxview.files.lines import Growth, Line, LineFile, open_lines
from ctxview.files.reading import Unreadable

SMALL = st.sampled_from([b"", b"a", b"\r", b"\n", b"\r\n", b"\n\n", b"\0", b"ab", "é本".encode()])
PIECES = st.lists(SMALL | st.binary(max_size=40) | st.integers(1, 300).map(lambda n: b"x" * n), max_size=30)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], LineFile]:
    def writing(content: bytes) -> LineFile:
        (tmp_path / "file").write_bytes(content)
        return open_lines(tmp_path, "file")

    return writing


class Model:
    """What a person would do with a file that fits in memory."""

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


@given(st.lists(PIECES.map(b"".join), min_size=1, max_size=4), st.data())
@settings(max_examples=150, deadline=None)
def test_lines_are_those_of_the_bytes_while_the_file_grows(contents: list[bytes], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder, small_blocks():
        path = Path(folder) / "file"
        path.write_bytes(b"")
        lines = open_lines(Path(folder), "file")
        written = b""
        for content in contents:
            with path.open("ab") as file:
                file.write(content)
            written += content
            assert lines.refresh() is (Growth.GROWN if content else Growth.SAME)
            lines.index()
            agree(lines, written)
            assert all(lines.number_at(at) == written[:at].count(b"\n") for at in range(len(written)))
            count = data.draw(st.integers(0, len(lines) + 1))
            assert lines.tail(count) == Model(written).spans[-count or len(written) + 1 :]


class small_blocks:  # noqa: N801 - reads as the statement it is used in
    """Blocks and slices so small that a few bytes cross them."""

    def __enter__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(newline_index, "BLOCK", 16)
        self._patch.setattr(newline_index, "SLICE", 64)
        self._patch.setattr(newline_index, "_DENSE", 3)
        self._patch.setattr(held_file, "SLICE", 32)

    def __exit__(self, *_: object) -> None:
        self._patch.undo()


def agree(lines: LineFile, content: bytes) -> None:
    model = Model(content)
    numbers = range(len(model.lines))
    assert lines.complete
    assert len(lines) == len(model.lines)
    assert lines.unterminated == (bool(content) and not content.endswith(b"\n"))
    assert [lines.line(number) for number in numbers] == model.lines
    assert [lines.span(number) for number in numbers] == model.spans
    assert [lines.ending(number) for number in numbers] == model.endings
    assert list(lines.lines()) == [
        Line(number, *model.spans[number], model.lines[number]) for number in numbers
    ]
