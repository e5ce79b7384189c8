"""The rules about files as such (RAW). They need no format, and every format may report them."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping

from ctxview.analysis.json_rules import foreign_encoding
from ctxview.core.findings import REGISTRY, Finding, Hit, Severity, rule, run
from ctxview.core.origin import Origin
from ctxview.files.line_columns import LineColumns


def report_unrecognised(file: str, shown_as: str, failed: Mapping[str, str]) -> Iterator[Finding]:
    """Report RAW001; `failed` are formats that failed while recognising, and why."""
    yield from run([REGISTRY["RAW001"]], file, shown_as, failed)


def report_unreadable(file: str, reason: str) -> Iterator[Finding]:
    yield from run([REGISTRY["RAW002"]], file, reason)


def report_partly_read(file: str, left_out: str) -> Iterator[Finding]:
    yield from run([REGISTRY["RAW003"]], file, left_out)


def report_invalid_texts(file: str, tables: Mapping[str, int]) -> Iterator[Finding]:
    """Report RAW004 about a database; `tables` has the number of such texts by table."""
    for table, count in tables.items():
        texts = f"1 text of {table} is" if count == 1 else f"{count:,} texts of {table} are"
        yield from run([REGISTRY["RAW004"]], Origin(file, f"/{table}"), f"{texts} not UTF-8")


def check_encoding(file: str, data: bytes) -> Iterator[Finding]:
    """Report RAW004 where the bytes of a text are not UTF-8; a byte order mark of UTF-8 is allowed."""
    begin = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
    found = foreign_encoding(data[begin:])
    if found is not None:
        start = begin + found[0]
        place = LineColumns(data).at(start)
        origin = Origin(file, start=start, line=place.line, column=place.column)
        yield from run([REGISTRY["RAW004"]], origin, found[1])


@rule("RAW001", name="no-format-recognised", severity=Severity.INFO)
def no_format_recognised(file: str, shown_as: str, failed: Mapping[str, str]) -> Iterator[Hit]:
    """The file has the shape of no format that ctxview knows, so it is shown as it is.

    ## Why
    Only the checks that need no format were made: strict JSON, deceiving text, secrets. Silence about
    anything else means that it was not checked.
    ## Bad
    {"hello": "world"}
    ## Good
    {"version": 3.0, "runtime": {"round": 1}, "memory": {"core": []}}
    ## Fix
    If it is in one of the known formats after all, name it with `--as FORMAT`; `ctxview formats` lists them.
    ## Source
    ctxview's own: formats are recognised by content, and every file can be opened.
    """
    failures = "".join(f"; the format {name} failed: {why}" for name, why in failed.items())
    message = f"no format was recognised; shown as {shown_as}{failures}"
    yield Hit(Origin(file, start=0, line=1, column=1), message)


@rule("RAW002", name="unreadable-file", severity=Severity.ERROR)
def unreadable_file(file: str, reason: str) -> Iterator[Hit]:
    """A file that belongs to what is inspected cannot be read at all.

    ## Why
    Its content is missing from everything shown: rounds, references and counts may be incomplete.
    ## Bad
    round-02.json: permission denied
    ## Good
    round-02.json can be read
    ## Fix
    Give yourself the right to read it, or move it out of the folder.
    ## Source
    ctxview's own: a file that cannot be read is named.
    """
    yield Hit(Origin(file), f"cannot be read: {reason}")


@rule("RAW003", name="partly-read", severity=Severity.WARNING)
def partly_read(file: str, left_out: str) -> Iterator[Hit]:
    """A file or folder is too large to be read or shown whole, so a part of it was left out.

    ## Why
    Findings and figures cover only what was read, and the screen shows only a part.
    ## Bad
    A file of 2 GB, of which the first and the last 32 MiB were read
    ## Good
    A file below 64 MiB
    ## Fix
    Split the file, or point ctxview at the part that matters.
    ## Source
    ctxview's own: every bound that is reached is reported.
    """
    yield Hit(Origin(file, start=0), left_out)


@rule("RAW004", name="invalid-text", severity=Severity.ERROR)
def invalid_text(origin: Origin, what: str) -> Iterator[Hit]:
    """A database or a file holds text that is not UTF-8.

    ## Why
    The invalid bytes are shown as U+FFFD. Most programs that read the row or the file fail or skip it, and
    those that do not may read another text than is shown here.
    ## Bad
    INSERT INTO messages (content) VALUES (CAST(x'636166E9' AS TEXT))
    ## Good
    INSERT INTO messages (content) VALUES ('café')
    ## Fix
    Write the row again, from the program that it belongs to, or save the file as UTF-8.
    ## Source
    SQLite's file format: text is in the encoding of the database, and SQLite does not check it.
    """
    yield Hit(origin, f"{what}, and \ufffd replaces the invalid bytes")
