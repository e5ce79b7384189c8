"""What to remove from a source: all secrets, blocks by id, fields as `FILE#/pointer`, and texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.secrets import find_secrets
from ctxview.analysis.text_copies import ANYWHERE
from ctxview.core.origin import Origin
from ctxview.files.reading import ReadError
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.strict_json.values import all_values
from ctxview.formats import Lens, Source
from ctxview.review.redaction.redacted_database import DatabaseRefused, is_database, texts_of
from ctxview.review.redaction.redacted_files import Files, as_text
from ctxview.review.redaction.redacted_text import SHORTEST


class RedactionError(Exception):
    """A choice that removes nothing or cannot be made, with the reason; nothing was written."""


class RedactionChoice(Struct, frozen=True):
    """What to remove: all secrets, blocks by id, fields as `FILE#/pointer`, and texts."""

    secrets: bool = False
    blocks: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


def chosen_texts(
    source: Source, trees: Sequence[Files], choice: RedactionChoice, lens: Lens
) -> Iterator[tuple[str, str]]:
    """Yield each text to remove and where it was chosen, without repeating one; raises `RedactionError`."""
    seen: set[str] = set()
    files = trees[-1] if trees else {}
    for where, texts in (
        ("texts", _typed(choice.texts)),
        ("fields", _fields(files, choice.fields)),
        ("blocks", _blocks(source, choice.blocks, lens)),
        ("secrets", (text for tree in trees for text in _secrets(tree)) if choice.secrets else ()),
    ):
        for text in texts:
            if text not in seen and len(text.strip()) >= SHORTEST:
                seen.add(text)
                yield text, where


def _typed(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        if len(text.strip()) < SHORTEST:
            raise RedactionError(f"--text {text}: it needs {SHORTEST} characters, or it is found everywhere")
        yield text


def _fields(files: Files, fields: Sequence[str]) -> Iterator[str]:
    for field in fields:
        path, mark, pointer = field.partition("#")
        path, _, line = path.partition(":")
        name = next((each for each in files if f"/{path}".endswith(f"/{each}")), None)
        if not mark or name is None:
            raise RedactionError(f"--field {field}: expected FILE#/pointer with a file of the source")
        data = files[name]
        if line:
            lines = data.split(b"\n")
            if not line.isdecimal() or not 0 < int(line) <= len(lines):
                raise RedactionError(f"--field {field}: the file has {len(lines):,} lines")
            data = lines[int(line) - 1]
        try:
            span = parse(data).span(pointer)
        except JsonError as error:
            hint = "for a file of JSON lines, write FILE:LINE#/pointer"
            raise RedactionError(f"--field {field}: this is not JSON: {error}; {hint}") from None
        if span is None:
            raise RedactionError(f"--field {field}: there is no such value")
        values = [each for each in all_values(json.loads(data[slice(*span)])) if not isinstance(each, bool)]
        texts = [str(each) for each in values if isinstance(each, str | int | float)]
        if not any(len(text.strip()) >= SHORTEST for text in texts):
            raise RedactionError(f"--field {field}: the value is shorter than {SHORTEST} characters")
        yield from texts


def _blocks(source: Source, ids: Sequence[str], lens: Lens) -> Iterator[str]:
    """Yield the texts of the blocks in all revisions, whole where the state cuts them."""
    found: dict[str, int] = {}
    for number in range(len(source.revisions) if ids else 0):
        for block in source.reading(number, lens).state.blocks():
            if block.id in ids:
                found[block.id] = max(found.get(block.id, 0), len(block.text.strip()))
                yield block.text
                yield from _inside(block.text)
                yield from _uncut(source, block.origin, block.text)
    for each in ids:
        if each not in found:
            raise RedactionError(f"--block {each}: no revision has such a block")
        if found[each] < SHORTEST:
            raise RedactionError(f"--block {each}: its text is shorter than {SHORTEST} characters")


def _inside(text: str) -> Iterator[str]:
    """Yield the texts of a block that is JSON, such as the arguments of a call, for other layouts of it."""
    if text[:1] not in ("{", "["):
        return
    try:
        value = json.loads(text)
    except ValueError:
        return
    yield from (each for each in all_values(value) if isinstance(each, str) and len(each) >= ANYWHERE)


def _uncut(source: Source, origin: Origin, text: str) -> Iterator[str]:
    """Yield the texts at the origin of a block that begin with its text."""
    if origin.start is None or origin.end is None or len(text) < 1_000:
        return
    try:
        value = json.loads(source.bytes_of(origin.file)[origin.start : origin.end])
    except (ReadError, ValueError):
        return
    yield from (each for each in all_values(value) if isinstance(each, str) and each.startswith(text[:200]))


def _secrets(files: Files) -> Iterator[str]:
    for name, data in files.items():
        texts: Iterable[str] = [name, as_text(data) or ""]
        if is_database(data):
            try:
                texts = [name, *texts_of(data)]
            except DatabaseRefused:
                texts = [name]
        for text in texts:
            for secret in find_secrets(text):
                written = text[secret.start : secret.end]
                yield written
                yield from _unescaped(written)


def _unescaped(written: str) -> Iterator[str]:
    try:
        read = json.loads(f'"{written}"', strict=False)
    except ValueError:
        return
    if isinstance(read, str) and read != written:
        yield read
