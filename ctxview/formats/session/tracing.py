"""Finding content in the histories that no index line places there: a chunk that somebody forgot to list."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping

from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import content_text, parts_of, size_of
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.raw_content import NoContent, RawContent
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

LONGEST_FIRST = 1024 * 1024
"""A content whose first line is longer is not looked for as lines."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a content is recognised by before it is hashed: its size, its lines, and the first of them."""

    size: int
    lines: int
    first: bytes


def shape_of(content: bytes) -> Shape:
    return Shape(len(content), content.count(b"\n"), content.partition(b"\n")[0][:LONGEST_FIRST])


def traced(raw: RawContent, wanted: Mapping[str, Shape]) -> dict[str, str]:
    """Where each content stands, by its SHA-256: `messages 4-9` or `events 7`; what is nowhere is left out.

    A content is either some whole lines of a history or one text in it, as `raw_content` defines them.
    """
    found: dict[str, str] = {}
    sizes = {shape.size for shape in wanted.values()}
    beginnings: defaultdict[bytes, list[str]] = defaultdict(list)
    for digest, shape in wanted.items():
        beginnings[shape.first].append(digest)
    for stream in (MESSAGES, EVENTS) if wanted else ():
        word = stream.removesuffix(".jsonl")
        for record, line in raw.records(stream):
            for digest in beginnings.get(line.content, ()):
                last = record + wanted[digest].lines - 1
                if digest not in found and _stands_at(raw, stream, record, last, digest):
                    found[digest] = f"{word} {record}-{last}"
            for digest in _text_digests(line, sizes) & wanted.keys():
                found.setdefault(digest, f"{word} {record}")
    return found


def texts_of(value: dict[str, JsonValue]) -> Iterator[str]:
    """The texts of a record that could be kept as a content of their own: all of it, and each part."""
    content = value.get("content")
    yield content_text(content)
    for part in parts_of(content):
        yield content_text(part.get("content", part.get("text")))
    for name in ("text", "output"):
        text = value.get(name)
        if isinstance(text, str):
            yield text


def _stands_at(raw: RawContent, stream: str, first: int, last: int, digest: str) -> bool:
    try:
        return hashlib.sha256(raw.range(stream, first, last)).hexdigest() == digest
    except NoContent:
        return False


def _text_digests(line: HistoryLine, sizes: set[int]) -> set[str]:
    """The hashes of those texts of a line that have one of the sizes."""
    if line.size < min(sizes, default=0) or line.value is None:
        return set()
    texts = {text for text in texts_of(line.value) if size_of(text) in sizes}
    return {hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts}
