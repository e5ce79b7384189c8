"""Finding content in the histories that no index line places there: a chunk that somebody forgot to list."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping

from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import content_text, parts_of, size_of
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.formats.session.raw_content import NoContent, RawContent
from ctxview.state import JsonValue


def traced(raw: RawContent, contents: Mapping[str, bytes]) -> dict[str, str]:
    """Where each content stands, by its SHA-256: `messages 4-9` or `events 7`; what is nowhere is left out.

    A content is either some whole lines of a history or one text in it, as `raw_content` defines them.
    """
    found: dict[str, str] = {}
    sizes = {len(content) for content in contents.values()}
    beginnings: defaultdict[bytes, list[str]] = defaultdict(list)
    for digest, content in contents.items():
        beginnings[content.partition(b"\n")[0]].append(digest)
    for stream in (MESSAGES, EVENTS) if contents else ():
        word = stream.removesuffix(".jsonl")
        for record, line in _records(raw, stream):
            for digest in beginnings.get(line.content, ()):
                count = contents[digest].count(b"\n")
                if _stands_at(raw, stream, record, count, contents[digest]):
                    found.setdefault(digest, f"{word} {record}-{record + count - 1}")
            for digest in _text_digests(line, sizes) & contents.keys():
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


def _records(raw: RawContent, stream: str) -> Iterator[tuple[int, HistoryLine]]:
    record = 0
    for line in raw.history.stream(stream).scan():
        if not line.is_blank:
            record += 1
            yield record, line


def _stands_at(raw: RawContent, stream: str, record: int, count: int, content: bytes) -> bool:
    try:
        return count > 0 and raw.range(stream, record, record + count - 1) == content
    except NoContent:
        return False


def _text_digests(line: HistoryLine, sizes: set[int]) -> set[str]:
    """The hashes of those texts of a line that have one of the sizes."""
    if line.size < min(sizes, default=0) or line.value is None:
        return set()
    texts = {text for text in texts_of(line.value) if size_of(text) in sizes}
    return {hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts}
