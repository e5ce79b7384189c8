"""Peek: the kind, names, bytes and JSON of a path, read once for all formats that try to recognise it.

It reads a bounded part and follows no link out of a folder that it lists.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from ctxview.core.origin import JsonValue
from ctxview.files.reading import ReadError, read_bytes, read_ends
from ctxview.files.strict_json.document import JsonError, parse

MOST_BYTES = 4 * 1024 * 1024
MOST_NAMES = 20_000
HEAD = 64 * 1024
LINES_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines")


class Peek:
    """A first look at one path; each part is read when it is first needed."""

    def __init__(self, path: Path, *, inside: Path | None = None) -> None:
        self.path = path
        self._inside = inside

    @cached_property
    def is_folder(self) -> bool:
        return self.path.is_dir() and not self._is_link

    @cached_property
    def _is_link(self) -> bool:
        """Whether this is a link that must not be followed: one in a folder, not one named by the user."""
        return self._inside is not None and self.path.is_symlink()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in a folder, sorted and bounded; empty for a file or an unreadable folder."""
        try:
            with os.scandir(self.path) as entries:
                found = [entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False)]
        except OSError:
            return ()
        return tuple(sorted(found))

    @cached_property
    def data(self) -> bytes | None:
        """All bytes of a file up to `MOST_BYTES`; None for a larger or unreadable file or a folder."""
        try:
            return None if self.is_folder or self._is_link else read_bytes(self.path, MOST_BYTES)
        except ReadError:
            return None

    @cached_property
    def size(self) -> int:
        """The size of a file in bytes; 0 when it is unknown."""
        try:
            return 0 if self._is_link else self.path.stat().st_size
        except OSError:
            return 0

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file of any size; empty when it cannot be read."""
        if self.data is not None:
            return self.data[:HEAD]
        try:
            return b"" if self.is_folder or self._is_link else read_ends(self.path, 2 * HEAD).head
        except ReadError:
            return b""

    @cached_property
    def json(self) -> JsonValue:
        """The file as JSON; None when it is not JSON (or holds only `null`)."""
        if self.data is None or self.data.lstrip(b" \t\r\n")[:1] not in (b"{", b"["):
            return None
        try:
            first, _, rest = self.data.partition(b"\n")
            if rest.strip() and first.strip() and parse(first):
                return None  # these are JSON lines, and parsing them as one text would take long to fail
        except JsonError:
            pass
        try:
            return parse(self.data).value
        except JsonError:
            return None

    @cached_property
    def is_broken_json(self) -> bool:
        """Whether a file is called JSON or JSON lines and is not."""
        suffix, data = self.path.suffix.lower(), self.data
        if data is None or suffix not in (".json", *LINES_SUFFIXES):
            return False
        lines = [data] if suffix == ".json" else [line for line in data.split(b"\n") if line.strip()]
        try:
            return not all(map(parse, lines))
        except JsonError:
            return True

    def below(self, name: str) -> Peek:
        return Peek(self.path / name, inside=self.path)

    @cached_property
    def parent(self) -> Peek:
        """The folder that holds this path."""
        return Peek(self.path.parent)
