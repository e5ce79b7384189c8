"""Formats are recognised by content, and a path that cannot be opened gets a helpful message."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import (
    FormatMatch,
    FormatSpec,
    Lens,
    OpenError,
    Peek,
    Source,
    detect,
    formats,
    open_source,
    registry,
)
from ctxview.formats.envelope.vocabulary import KIND_OF_ID
from ctxview.formats.raw.source import RawSource
from ctxview.formats.registry import format_problems, known_formats
from tests.formats.snapshot.builders import block, full_log_value, reply_bytes, snapshot_value, to_bytes
from tests.running import LIMIT

VALUE = snapshot_value(core=[block("a")])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (to_bytes(VALUE), "memory and version"),
        (to_bytes({"ok": True, "data": VALUE}), "memory and version in an API response"),
        (to_bytes(full_log_value(VALUE)), "a log envelope"),
        (to_bytes({"modelContext": VALUE, "meta": {}}), "a log envelope"),
        (to_bytes({"memory": {"core": []}}), "a snapshot's keys"),
        (to_bytes({"ok": False, "error": {"code": "X", "message": "y"}}), "an API error"),
        (reply_bytes(VALUE), "a text with the separator and a payload"),
        (b"Done.\n<<<CONTEXT>>>\n```json\n{}", "a text with the separator and a payload"),
        (b"Done.\n<<<CONTEXT>>>\n", "a text with the separator"),
        (b"Done.\n<<CONTEXT>>\n{}", "a text with a misspelled separator"),
        (b'<context>{"version": "1.2", "round": 1}</context>', "a text with a context tag"),
        (b"<context>\nversion: 3\n</context>", "a text with a context tag"),
        (
            b'{"version": 3, "memory": {"core": [',
            "broken or very long JSON with memory and version or runtime",
        ),
    ],
)
def test_a_snapshot_is_recognised_by_its_content(tmp_path: Path, data: bytes, why: str) -> None:
    file = tmp_path / "anything.xyz"
    file.write_bytes(data)
    assert [(match.format, match.why) for match in detect(file)] == [("snapshot", why)]
    assert open_source(file).format == "snapshot"


@pytest.mark.parametrize("data", [b"", b"hello", b'{"a": 1}', b"[1, 2]", b"\x00\x01\x02", b"# Notes\n\ntext"])
def test_anything_else_opens_raw(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "anything.json"
    file.write_bytes(data)
    assert detect(file) == []
    assert open_source(file).format == "raw"


def test_a_very_long_snapshot_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_bytes(to_bytes(snapshot_value(core=[block("a", content="x" * 5_000_000)])))
    assert detect(file)[0].format == "snapshot"


def test_a_snapshot_too_large_to_read_whole_opens_raw(tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    with file.open("wb") as out:
        out.write(b'{"version": 3, "runtime": {}, "memory": {"core": [')
        out.truncate(65 * 1024 * 1024)
    assert open_source(file).format == "raw"


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_bytes(b"No separator here.")
    assert open_source(file).format == "raw"
    assert open_source(file, "snapshot").format == "snapshot"


def test_a_missing_path_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "snapshot.json").write_bytes(b"{}")
    with pytest.raises(OpenError, match=r"no such file or folder \(did you mean .*/snapshot\.json\?\)"):
        open_source(tmp_path / "snapshott.json")


def test_an_unknown_format_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        OpenError, match=r"unknown format snapshto \(did you mean snapshot\?\); known formats: session"
    ):
        open_source(tmp_path, "snapshto")


def test_the_message_about_an_unrecognised_folder_lists_its_entries(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(
        OpenError, match=r"nothing in this folder was recognised \(1 entry, such as notes.*any one file"
    ):
        open_source(tmp_path)


def test_a_pipe_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OpenError, match="this is a pipe, not a file"):
        open_source(tmp_path / "pipe")


# -- formats of other packages -----------------------------------------------------------------------------


def diary(name: str = "diary", recognise: str = "recognise_diary") -> FormatSpec:
    """A made-up format of another package; this module has its code."""
    return FormatSpec(
        name=name,
        title="diaries",
        recognised_by="its greeting",
        recognise=f"{__name__}:{recognise}",
        open=f"{__name__}:open_diary",
    )


def recognise_diary(peek: Peek) -> FormatMatch | None:
    return FormatMatch("diary", 80, "dear diary") if b"Dear diary" in peek.head else None


def recognise_anything(peek: Peek) -> FormatMatch | None:
    return FormatMatch("journal", 78, "a journal")


def recognise_too_much(peek: Peek) -> FormatMatch | None:
    return FormatMatch("diary", 99, "dear diary") if b"Dear diary" in peek.head else None


def recognise_nothing(peek: Peek) -> FormatMatch | None:
    raise KeyError("oops")


def open_diary(peek: Peek) -> Source:
    if b"burnt" in peek.head:
        raise ZeroDivisionError("nothing is left")
    return RawSource(peek.path, b"")


@dataclass
class Entry:
    name: str
    loads: object
    value: str = "diaries:SPEC"

    def load(self) -> object:
        if isinstance(self.loads, Exception):
            raise self.loads
        return self.loads


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Entry]]:
    entries: list[Entry] = []
    monkeypatch.setattr(registry, "_entry_points", lambda: iter(entries))
    known_formats.cache_clear()
    yield entries
    known_formats.cache_clear()


def test_formats_of_other_packages_compete_by_score(tmp_path: Path, installed: list[Entry]) -> None:
    installed.append(Entry("diary", diary()))
    (tmp_path / "d.txt").write_text("Dear diary, today")
    assert [match.format for match in detect(tmp_path / "d.txt")] == ["diary"]
    (tmp_path / "s.txt").write_bytes(reply_bytes(VALUE, "Dear diary"))
    assert [match.format for match in detect(tmp_path / "s.txt")] == ["snapshot", "diary"]
    installed[0] = Entry("diary", diary(recognise="recognise_too_much"))
    known_formats.cache_clear()
    assert [match.format for match in detect(tmp_path / "s.txt")] == ["diary", "snapshot"]
    assert [spec.name for spec in formats()][-2:] == ["diary", "raw"]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("My night, at last", False),
        ("the night shift", True),
        ('{"\\u006eight": 1}', True),  # a key may be written with escapes
        ("", True),
    ],
)
def test_a_format_with_words_is_asked_only_about_files_that_have_one(
    tmp_path: Path, installed: list[Entry], text: str, *, asked: bool
) -> None:
    spec = replace(diary("journal", "recognise_anything"), words=(b"day", b"the night"))
    installed.append(Entry("journal", spec))
    (tmp_path / "d.txt").write_text(text)
    assert ("journal" in [match.format for match in detect(tmp_path / "d.txt")]) is asked
    assert "journal" in [match.format for match in detect(tmp_path)]


def test_the_words_of_envelopes_are_the_ids_of_their_records() -> None:
    words = known_formats().specs["envelope"].words
    assert {*words} == {f'"{name}"'.encode() for name in KIND_OF_ID}


def test_a_snapshot_imports_the_code_of_no_other_format(tmp_path: Path) -> None:
    file = tmp_path / "one.json"
    file.write_bytes(to_bytes(VALUE))
    code = (
        "import sys; from pathlib import Path; from ctxview.formats import detect; "
        f"print(detect(Path({str(file)!r}))[0].format); "
        "parts = ('envelope.format', 'transcript.format', 'recording.format', 'snapshot.separator'); "
        "print([name for name in parts if f'ctxview.formats.{name}' in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=LIMIT).split("\n")[
        :2
    ] == [
        "snapshot",
        "[]",
    ]


def test_a_format_of_another_package_cannot_take_the_name_of_another(installed: list[Entry]) -> None:
    installed += [Entry("mine", diary("snapshot")), Entry("one", diary()), Entry("two", diary())]
    assert [spec.name for spec in formats()].count("snapshot") == 1
    assert format_problems() == {
        "mine": "there is another format with the name snapshot",
        "two": "there is another format with the name diary",
    }


def test_a_format_that_fails_while_opening_says_so(tmp_path: Path, installed: list[Entry]) -> None:
    installed.append(Entry("diary", diary()))
    (tmp_path / "d.txt").write_text("Dear diary, all is burnt")
    with pytest.raises(
        OpenError, match="the format diary cannot open it: ZeroDivisionError: nothing is left"
    ):
        open_source(tmp_path / "d.txt")


def test_a_format_that_fails_to_load_is_an_error_only_when_it_is_named(
    tmp_path: Path, installed: list[Entry]
) -> None:
    installed.append(Entry("broken", ImportError("no module named x")))
    (tmp_path / "a.txt").write_text("hello")
    source = open_source(tmp_path / "a.txt")
    (note,) = source.findings(Lens(ESTIMATES["bytes/4"]))
    assert "the format broken failed: ImportError" in note.message
    with pytest.raises(
        OpenError, match="the format broken cannot be used: ImportError: no module named x; known formats"
    ):
        open_source(tmp_path / "a.txt", "broken")


def test_a_format_that_fails_while_recognising_does_not_stop_the_others(
    tmp_path: Path, installed: list[Entry]
) -> None:
    careless = diary("careless", "recognise_nothing")
    installed += [Entry("careless", careless), Entry("diary", diary())]
    (tmp_path / "d.txt").write_text("Dear diary")
    assert [match.format for match in detect(tmp_path / "d.txt")] == ["diary"]
    assert "careless" in format_problems()


def test_an_object_that_is_not_a_format_does_not_stop_the_others(
    tmp_path: Path, installed: list[Entry]
) -> None:
    installed += [Entry("not-a-format", object()), Entry("diary", diary())]
    (tmp_path / "d.txt").write_text("Dear diary")
    assert [match.format for match in detect(tmp_path / "d.txt")] == ["diary"]
    assert "not-a-format" in format_problems()


def test_two_formats_that_fit_equally_well_are_left_to_the_user(
    tmp_path: Path, installed: list[Entry]
) -> None:
    journal = diary("journal", "recognise_anything")
    installed += [Entry("diary", diary()), Entry("journal", journal)]
    (tmp_path / "d.txt").write_text("Dear diary")
    with pytest.raises(
        OpenError, match=r"this could be diary \(dear diary\) or journal \(a journal\); choose one"
    ):
        open_source(tmp_path / "d.txt")


# -- listing -------------------------------------------------------------------------------------


def test_every_format_is_listed_with_how_it_is_recognised() -> None:
    assert formats()[-1].name == "raw"
    assert all(spec.title and spec.recognised_by for spec in formats())


def test_listing_formats_loads_none_of_them() -> None:
    code = (
        "import sys, ctxview.formats; "
        "heavy = 'pydantic sqlite3 tiktoken textual ctxview.formats.snapshot ctxview.formats.raw'.split(); "
        "print([name for name in heavy if name in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=LIMIT).strip() == "[]"
