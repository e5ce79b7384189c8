"""Recognise files and folders that hold records of the Agent Context draft."""

from __future__ import annotations

import re
from posixpath import splitext

from ctxview.core.format_spec import FormatMatch
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.formats.envelope import SPEC
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, OWN_ID, RecordKind
from ctxview.formats.peek import LINES_SUFFIXES, Peek

NAME = "envelope"
SUFFIXES = (".json", *LINES_SUFFIXES)
SURE = 90
LIKELY = 75
PERHAPS = 45
MOST_SAMPLED = 40
"""The number of records of a file, or of files in a folder, that are sampled to recognise it."""


def recognise(peek: Peek) -> FormatMatch | None:
    found = _recognise_folder(peek) if peek.is_folder else recognise_file(peek)
    return FormatMatch(NAME, *found, flat=peek.is_folder) if found is not None else None


def files_of(folder: Peek) -> list[Peek]:
    """The files of `folder` that may hold records, sorted by name."""
    names = [name for name in folder.names if _may_hold_records(name)]
    return [folder.below(name) for name in names if not (folder.path / name).is_dir()]


def revisions_beside(file: Peek) -> list[Peek]:
    """The revision files beside `file`, sorted by number: `plan.r2.json` of `plan.json`."""
    endings = "|".join(map(re.escape, SUFFIXES))
    named = re.compile(rf"{re.escape(file.path.stem)}\.r(\d+)(?:{endings})")
    numbers = {each: found[1] for each in files_of(file.parent) if (found := named.fullmatch(each.path.name))}
    return sorted(numbers, key=lambda each: int(numbers[each]))


def belongs_to_source(peek: Peek) -> bool:
    """Whether a file of a folder is part of the source: it holds records, is broken JSON or unreadable."""
    if peek.path.is_symlink():
        return False
    if peek.data is None and not peek.head:
        return True
    is_broken = peek.is_broken_json or (peek.json is None and _mentions_records(peek.head))
    return recognise_file(peek) is not None or is_broken


def recognise_file(peek: Peek) -> tuple[int, str] | None:
    """Return score and reason for a file that holds records, else None."""
    value = peek.json
    if isinstance(value, dict):
        kind = sure_kind(value)
        if kind is None:
            return None
        from ctxview.formats.envelope.field_specs import FIELDS

        is_typical = len(value.keys() & FIELDS[kind].keys()) > 2
        return (SURE if is_typical else LIKELY, f"a {kind.value}")
    if isinstance(value, list):
        return _recognise_values(value, "elements")
    if not _may_name_records(peek.head):
        return None
    if value is None and (lines := _lines(peek.head)):
        return _recognise_values(lines, "lines")
    return (PERHAPS, "broken JSON with the ids of records") if _mentions_records(peek.head) else None


def sure_kind(value: JsonValue) -> RecordKind | None:
    """The kind of an object that has an id field of the draft and another field of that kind.

    One whose id is not a text needs two others: numbers are the ids of many things.
    """
    if not isinstance(value, dict) or KIND_OF_ID.keys().isdisjoint(value):
        return None
    from ctxview.formats.envelope.field_specs import FIELDS, kind_of

    kind = kind_of(value)
    if kind is None:
        return None
    others = value.keys() & FIELDS[kind].keys() - {OWN_ID[kind]}
    return kind if len(others) >= (1 if isinstance(value[OWN_ID[kind]], str) else 2) else None


def _recognise_values(values: list[JsonValue], unit: str) -> tuple[int, str] | None:
    sampled = values[:MOST_SAMPLED]
    fitting = sum(sure_kind(each) is not None for each in sampled)
    if not fitting:
        return None
    why = f"{fitting} of {len(sampled)} {unit} are records of the draft"
    return SURE if fitting == len(sampled) else LIKELY if fitting * 2 >= len(sampled) else PERHAPS, why


def _may_name_records(head: bytes) -> bool:
    """Whether lines may have an id field of the draft; keys may be written with escapes."""
    return any(name in head for name in SPEC.words) or b"\\u" in head


def _lines(head: bytes) -> list[JsonValue]:
    """The objects in the first lines, None for other lines; empty when no line is an object."""
    lines = [line for line in head.split(b"\n") if line.strip()][:MOST_SAMPLED]
    values: list[JsonValue] = []
    for line in lines:
        try:
            values.append(parse(line).value if line.lstrip().startswith(b"{") else None)
        except JsonError:
            values.append(None)
    return values if any(isinstance(each, dict) for each in values) else []


def _mentions_records(head: bytes) -> bool:
    """Whether broken or very long JSON names an id field of the draft and another typical field."""
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
        return False
    named = any(f'"{name}"'.encode() in head for name in KIND_OF_ID)
    return named and (b'"schema_version"' in head or b'"context_kind"' in head or b'_refs"' in head)


def _recognise_folder(peek: Peek) -> tuple[int, str] | None:
    if peek.is_lost(LIKELY):
        return None
    names = [name for name in peek.names if _may_hold_records(name)]
    sampled = [below for name in names[:MOST_SAMPLED] if not (below := peek.below(name)).is_folder]
    fitting = sum(recognise_file(below) is not None for below in sampled)
    if not fitting:
        return None
    why = f"{fitting} of {len(sampled)} JSON files hold records of the draft"
    return (LIKELY if fitting * 2 > len(sampled) else PERHAPS, why)


def _may_hold_records(name: str) -> bool:
    return splitext(name)[1].lower() in SUFFIXES and not name.startswith(".")
