"""The checks that need no format, in one call: files (RAW), strict JSON (JSN), paths (PTH), text (TXT, SEC).

A format calls `general_findings` once for each file that it reads into memory, with everything that it knows
about the file. `checked_part` fills this in for a file of a folder by its name. Histories that do not fit
into memory go through `TextPass` of `history_passes` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.json_rules import check_document, check_json, check_json_texts
from ctxview.analysis.path_rules import check_path
from ctxview.analysis.text_rules import check_bytes, check_strings
from ctxview.core.findings import Finding
from ctxview.core.origin import Origin
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse
from ctxview.formats.kit.file_rules import report_partly_read, report_unreadable
from ctxview.formats.kit.json_records import line_spans

if TYPE_CHECKING:
    from ctxview.formats.kit.folder import FolderFile


class PathInFile(Struct, frozen=True):
    """A path that a file names. It is checked, shown and never followed."""

    named_in: str
    """A name for the place in messages, such as `refs.jsonl`."""
    path: str
    origin: Origin


class CheckedFile(Struct, frozen=True):
    """One file as the general rules see it; parts that a format leaves out are not checked."""

    file: str
    """The name in origins."""
    data: bytes = b""
    problem: str | None = None
    """Why the file cannot be read (RAW002); nothing else is checked then."""
    left_out: str | None = None
    """The part of the file that was not read (RAW003)."""
    documents: Sequence[tuple[str, JsonDocument]] = ()
    """The JSON texts of the file, each with the prefix of its pointers, such as `/3` for line 4.

    Their strings are checked one by one. Without documents the file is checked as one text.
    """
    errors: Sequence[JsonError] = ()
    """The places that should be JSON and are not."""
    lines: bool = False
    """Whether the file is made of JSON lines."""
    strict: bool = True
    """Whether the JSON must be strict (JSN)."""
    paths: Sequence[PathInFile] = ()
    already_checked: Callable[[str, str], bool] = lambda _pointer, _string: False
    """Says of a string, given its pointer, that the same string was checked elsewhere."""


def checked_part(part: FolderFile, paths: Sequence[PathInFile] = ()) -> CheckedFile:
    """Return a file of a folder for the general rules: JSON, JSON lines or text, by the end of its name."""
    if part.data is None:
        return CheckedFile(part.file, problem=part.problem if part.exists else None)
    documents: list[tuple[str, JsonDocument]] = []
    errors: list[JsonError] = []
    lines = part.name.endswith(".jsonl")
    spans = line_spans(part.data) if lines else iter(((0, 0, len(part.data)),))
    for index, start, end in spans if lines or part.name.endswith(".json") else ():
        if part.data[start:end].strip():
            try:
                documents.append((f"/{index}" if lines else "", parse(part.data, start, end)))
            except JsonError as error:
                errors.append(error)
    return CheckedFile(part.file, part.data, documents=documents, errors=errors, lines=lines, paths=paths)


def general_findings(checked: CheckedFile) -> Iterator[Finding]:
    """Yield the findings of the rule families RAW, JSN, PTH, TXT and SEC about one file."""
    if checked.problem is not None:
        yield from report_unreadable(checked.file, checked.problem)
        return
    if checked.left_out is not None:
        yield from report_partly_read(checked.file, checked.left_out)
    documents = [document for _, document in checked.documents]
    if checked.strict and checked.lines:
        yield from check_json_texts(checked.file, checked.data, documents, checked.errors)
    elif checked.strict and checked.errors:
        yield from check_json(checked.file, checked.data)
    elif checked.strict:
        for document in documents:
            yield from check_document(checked.file, document)
    for each in checked.paths:
        yield from check_path(each.named_in, each.path, each.origin)
    for prefix, document in checked.documents:
        origin_of = partial(_origin, checked.file, prefix, document)
        yield from check_strings(document.value, origin_of, checked.already_checked)
    # The text around a single JSON text, such as that of a reply, or the whole file.
    if not checked.lines and len(documents) <= 1:
        start, end = (documents[0].start, documents[0].end) if documents else (len(checked.data),) * 2
        yield from check_bytes(checked.file, checked.data, 0, start)
        yield from check_bytes(checked.file, checked.data, end)


def _origin(file: str, prefix: str, document: JsonDocument, pointer: str) -> Origin:
    found = document.origin(file, pointer)
    return replace(found, pointer=f"{prefix}{found.pointer or ''}")
