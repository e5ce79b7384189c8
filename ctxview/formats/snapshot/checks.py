"""Runs every rule that concerns one file of this format: its own, strict JSON, deceiving text, secrets.

What spans several files (an exchange, a succession, the store) is asked for by `source`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from ctxview.analysis.json_rules import check_document, check_json
from ctxview.analysis.text_rules import check_text
from ctxview.files.json_document import JsonDocument, JsonError, join, parse
from ctxview.files.places import Places
from ctxview.findings import Finding
from ctxview.formats.snapshot.profile import Profile
from ctxview.formats.snapshot.read import Kind, SnapshotFile
from ctxview.origin import JsonValue, Origin

Way: TypeAlias = "tuple[Way, str | int] | None"
"""The way down to a value as links upwards: deep nesting costs no more than one link a level."""


def check_file(file: SnapshotFile, profile: Profile) -> Iterator[Finding]:
    """Everything wrong with one file taken by itself."""
    from ctxview.formats.snapshot import rules

    if file.reply is not None:
        yield from rules.check_reply(file.reply, profile)
    elif file.kind is not Kind.PROMPT or _whole_json(file) is not None:
        yield from _check_strict_json(file)
    if file.log is not None:
        yield from rules.check_log(file.log, profile)
    for snapshot in file.snapshots():
        yield from rules.check_snapshot(snapshot, profile)
    yield from check_texts(file)


def check_texts(file: SnapshotFile) -> Iterator[Finding]:
    """What may deceive or leak in any string of the file, and in all text around its JSON."""
    document = _whole_json(file) if file.kind is Kind.PROMPT else file.document
    if document is None:
        yield from _check_bytes(file.file, file.data, 0, len(file.data))
        return
    yield from _check_strings(file.file, document, _derived_part(file))
    yield from _check_bytes(file.file, file.data, 0, document.start)
    yield from _check_bytes(file.file, file.data, document.end, len(file.data))


def _whole_json(file: SnapshotFile) -> JsonDocument | None:
    """The JSON a prompt was found in; None when it stands in plain text."""
    try:
        return parse(file.data)
    except JsonError:
        return None


def _check_strict_json(file: SnapshotFile) -> Iterator[Finding]:
    if file.document is not None and file.kind is not Kind.PROMPT:
        yield from check_document(file.file, file.document)
    else:
        yield from check_json(file.file, file.data)


def _derived_part(file: SnapshotFile) -> str | None:
    """Where a log repeats what it already holds: the injected copy of its stored snapshot."""
    if file.log is None or file.log.stored is None or file.log.injected is None:
        return None
    return file.log.injected.pointer


def _check_strings(file: str, document: JsonDocument, derived: str | None) -> Iterator[Finding]:
    together = "\n".join(_plain_strings(document.value))
    if next(check_text(together, lambda _start, _end: Origin(file)), None) is None:
        return
    told: set[str] = set()
    for way, string in _strings(document.value):
        pointer = _pointer(way)
        if derived is not None and pointer.startswith(f"{derived}/") and string in told:
            continue
        told.add(string)
        yield from check_text(string, _everywhere(document.origin(file, pointer)))


def _everywhere(origin: Origin) -> Callable[[int, int], Origin]:
    """A string inside JSON is one place: its escapes keep characters from having a place of their own."""
    return lambda _start, _end: origin


def _plain_strings(value: JsonValue) -> Iterator[str]:
    """Every key and string, in no order: most files hold nothing worth a place."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            yield from current
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)


def _strings(value: JsonValue) -> Iterator[tuple[Way, str]]:
    """Every key and string with the way to it, in document order, at any depth."""
    waiting: list[tuple[Way, JsonValue]] = [(None, value)]
    while waiting:
        way, current = waiting.pop()
        if isinstance(current, str):
            yield way, current
        elif isinstance(current, dict):
            yield from (((way, key), key) for key in current)
            waiting.extend(reversed([((way, key), item) for key, item in current.items()]))
        elif isinstance(current, list):
            waiting.extend(reversed([((way, index), item) for index, item in enumerate(current)]))


def _pointer(way: Way) -> str:
    tokens: list[str | int] = []
    while way is not None:
        way, token = way
        tokens.append(token)
    return join("", *reversed(tokens))


def _check_bytes(file: str, data: bytes, begin: int, end: int) -> Iterator[Finding]:
    """A stretch of plain text, with the place of every finding."""
    text = data[begin:end].decode("utf-8", "replace")
    places = Places(data)

    def origin_at(first: int, last: int) -> Origin:
        start = begin + len(text[:first].encode("utf-8", "replace"))
        place = places.at(start)
        stop = start + len(text[first:last].encode("utf-8", "replace"))
        return Origin(file, start=start, end=stop, line=place.line, column=place.column)

    yield from check_text(text, origin_at)
