"""Recognises records of the Agent Context draft by their content and opens them: a file, or a folder."""

from __future__ import annotations

import re
from pathlib import Path

from ctxview.files.json_document import JsonError, parse
from ctxview.formats.envelope.fields import FIELDS
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, OWN_ID, Kind
from ctxview.formats.interface import Match, Source
from ctxview.formats.peek import Peek
from ctxview.origin import JsonValue

NAME = "envelope"
SUFFIXES = frozenset((".json", ".jsonl", ".ndjson"))
SURE = 90
LIKELY = 75
PERHAPS = 45
MOST_LOOKED_AT = 40
"""How many records of a file, and files of a folder, are looked at to decide what it is."""


class EnvelopeFormat:
    name = NAME

    def recognise(self, peek: Peek) -> Match | None:
        found = _recognise_folder(peek) if peek.is_folder else recognise_file(peek)
        return Match(NAME, *found) if found is not None else None

    def open(self, path: Path) -> Source:
        from ctxview.formats.envelope.source import EnvelopeSource

        return EnvelopeSource(path)


FORMAT = EnvelopeFormat()


def files_of(folder: Path) -> list[Path]:
    """The files of a folder that may hold records, by name."""
    names = [name for name in Peek(folder).names if _may_hold_records(name)]
    return [path for name in names if not (path := folder / name).is_dir()]


def revisions_beside(file: Path) -> list[Path]:
    """The revisions of a file that lie beside it, by number: `plan.r2.json` of `plan.json`."""
    named = re.compile(rf"{re.escape(file.stem)}\.r(\d+)\.(?:json|jsonl|ndjson)")
    numbers = {path: found[1] for path in files_of(file.parent) if (found := named.fullmatch(path.name))}
    return sorted(numbers, key=lambda path: int(numbers[path]))


def belongs(path: Path) -> bool:
    """Whether a file of a folder is one of the source's: it holds records, or was meant to and is broken."""
    peek = Peek(path, inside=path.parent)
    if peek.path.is_symlink():
        return False
    return recognise_file(peek) is not None or _mentions_records(peek.head)


def recognise_file(peek: Peek) -> tuple[int, str] | None:
    """Score and reason for a file, by its shape."""
    value = peek.json
    if isinstance(value, dict):
        kind = sure_kind(value)
        return (SURE if _is_typical(value, kind) else LIKELY, f"a {kind.value}") if kind is not None else None
    if isinstance(value, list):
        return _many(value, "elements")
    if value is None and (lines := _lines(peek.head)):
        return _many(lines, "lines")
    return (PERHAPS, "broken JSON with the ids of records") if _mentions_records(peek.head) else None


def sure_kind(value: JsonValue) -> Kind | None:
    """The kind of an object that has an id field of the draft and another field of that kind."""
    if not isinstance(value, dict):
        return None
    kind = next((kind for name, kind in KIND_OF_ID.items() if name in value), None)
    if kind is None or not isinstance(value[OWN_ID[kind]], str):
        return None
    others = value.keys() & FIELDS[kind].keys() - {OWN_ID[kind]}
    return kind if others else None


def _is_typical(value: dict[str, JsonValue], kind: Kind | None) -> bool:
    return kind is not None and len(value.keys() & FIELDS[kind].keys()) > 2


def _many(values: list[JsonValue], what: str) -> tuple[int, str] | None:
    looked_at = values[:MOST_LOOKED_AT]
    fitting = sum(sure_kind(each) is not None for each in looked_at)
    if not fitting:
        return None
    why = f"{fitting} of {len(looked_at)} {what} are records of the draft"
    return SURE if fitting == len(looked_at) else LIKELY if fitting * 2 >= len(looked_at) else PERHAPS, why


def _lines(head: bytes) -> list[JsonValue]:
    """The objects in the first lines; None for one that is something else. Empty when there is no object."""
    lines = [line for line in head.split(b"\n") if line.strip()][:MOST_LOOKED_AT]
    values = [_object(line) if line.lstrip().startswith(b"{") else None for line in lines]
    return values if any(isinstance(each, dict) for each in values) else []


def _object(line: bytes) -> JsonValue:
    try:
        return parse(line).value
    except JsonError:
        return None


def _mentions_records(head: bytes) -> bool:
    """Whether broken or very long JSON names an id of the draft beside its version."""
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"["):
        return False
    named = any(f'"{name}"'.encode() in head for name in KIND_OF_ID)
    return named and (b'"schema_version"' in head or b'"context_kind"' in head or b'_refs"' in head)


def _recognise_folder(peek: Peek) -> tuple[int, str] | None:
    names = [name for name in peek.names if _may_hold_records(name)]
    looked_at = [below for name in names[:MOST_LOOKED_AT] if not (below := peek.below(name)).is_folder]
    fitting = sum(recognise_file(below) is not None for below in looked_at)
    if not fitting:
        return None
    why = f"{fitting} of {len(looked_at)} JSON files hold records of the draft"
    return (LIKELY if fitting * 2 > len(looked_at) else PERHAPS, why)


def _may_hold_records(name: str) -> bool:
    return Path(name).suffix in SUFFIXES and not name.startswith(".")
