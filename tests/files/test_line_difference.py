"""The difference of two files as lines."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files.line_difference import Hunk, line_difference

SIGNS = {"same": " ", "removed": "-", "added": "+", "note": "\\"}


def drawn(hunks: tuple[Hunk, ...]) -> list[str]:
    return [f"{SIGNS[kind]}{text}" for hunk in hunks for kind, text in hunk.lines]


def numbered(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def test_equal_files_differ_nowhere() -> None:
    assert line_difference(b"a\nb", b"a\nb") == ()
    assert line_difference(b"", b"") == ()


def test_a_change_is_shown_with_three_lines_around_it() -> None:
    [hunk] = line_difference(numbered(*"abcdefgh"), numbered(*"abcdXfgh"))

    assert (hunk.old_line, hunk.new_line) == (2, 2)
    assert drawn((hunk,)) == [" b", " c", " d", "-e", "+X", " f", " g", " h"]


def test_changes_far_apart_are_separate_and_know_their_lines() -> None:
    old = [str(number) for number in range(40)]
    new = [*old[:2], "in", *old[2:30], *old[31:]]
    first, second = line_difference(numbered(*old), numbered(*new))

    assert drawn((first,)) == [" 0", " 1", "+in", " 2", " 3", " 4"]
    assert (second.old_line, second.new_line) == (28, 29)
    assert drawn((second,)) == [" 27", " 28", " 29", "-30", " 31", " 32", " 33"]


def test_a_missing_line_end_is_noted() -> None:
    assert drawn(line_difference(b"a", b"a\n")) == ["-a", "\\no line end at the end of the file", "+a"]


def test_bytes_that_are_not_text_and_other_line_ends_are_compared() -> None:
    assert drawn(line_difference(b"\xff\r\nx\x0by\n", b"\xfe\r\nx\x0by\n")) == [
        "-\udcff\r",
        "+\udcfe\r",
        " x\x0by",
    ]


def test_only_the_changed_part_of_a_long_line_is_shown() -> None:
    old = b"[" + b"1, " * 5000 + b"2, " + "é, ".encode() * 5000 + b"3]"

    removed, added = drawn(line_difference(old + b"\n", old.replace(b" 2,", b" 77,") + b"\n"))

    assert len(removed) < 200
    assert removed.startswith("-… ")
    assert removed.endswith(" …")
    assert " 2, é" in removed
    assert " 77, é" in added


def test_a_long_new_line_is_clipped() -> None:
    [added, note] = drawn(line_difference(b"", b"x" * 100_000))

    assert len(added) < 2100
    assert note.startswith("\\no line end")


def test_files_with_nothing_in_common_are_one_replacement() -> None:
    old, new = numbered(*map(str, range(500))), numbered(*map(str, range(1000, 1500)))

    assert drawn(line_difference(old, new)) == [f"-{n}" for n in range(500)] + [
        f"+{n}" for n in range(1000, 1500)
    ]


lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"\xff\r\n"]), max_size=25).map(b"".join)


@given(lines, lines)
@settings(max_examples=15, deadline=None)
def test_applying_the_difference_to_the_old_file_gives_the_new_one(old: bytes, new: bytes) -> None:
    source = old.decode(errors="surrogateescape").split("\n")[:-1]
    result: list[str] = []
    position = 0
    for hunk in line_difference(old, new):
        result += source[position : hunk.old_line - 1]
        position = hunk.old_line - 1
        assert hunk.new_line == len(result) + 1
        for kind, text in hunk.lines:
            if kind != "added":
                assert source[position] == text
                position += 1
            if kind != "removed":
                result.append(text)
    result += source[position:]

    assert "".join(f"{line}\n" for line in result).encode(errors="surrogateescape") == new
