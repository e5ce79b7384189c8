"""What the rules about text say about the bytes of a file, each with its place. Knows no format."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.text_rules import check_text
from ctxview.files.places import Places
from ctxview.findings import Finding
from ctxview.origin import Origin


def check_bytes(file: str, data: bytes, begin: int = 0, end: int | None = None) -> Iterator[Finding]:
    """Everything TXT and SEC say about the text from `begin` to `end` of a file that holds `data`."""
    text = data[begin:end].decode("utf-8", "replace")
    places = Places(data)

    def origin_at(first: int, last: int) -> Origin:
        start = begin + len(text[:first].encode("utf-8", "replace"))
        place = places.at(start)
        stop = start + len(text[first:last].encode("utf-8", "replace"))
        return Origin(file, start=start, end=stop, line=place.line, column=place.column)

    yield from check_text(text, origin_at)
