"""Peek: the kind, names, bytes and JSON of a path, read once for all formats that try to recognise it.

It reads a bounded part and follows no link out of a folder that it lists.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.files.change_detector import Stamp, stamp_of
from ctxview.files.reading import LIMIT, ReadError, is_review_file, read_beneath, read_bytes, read_ends
from ctxview.files.strict_json.document import JsonDocument, JsonError, parse, parse_once

CLOSE_CALL = 5
"""When the two best scores are closer than this, the user has to choose."""
MOST_BYTES = 4 * 1024 * 1024
MOST_NAMES = 20_000
HEAD = 64 * 1024
LINES_SUFFIXES = (".jsonl", ".ndjson", ".jsonlines", ".ldjson")
JSON_SUFFIXES = (".json", ".har")
"""The endings that say that a file is JSON; HAR files record calls of models."""
SUFFIXES = (*JSON_SUFFIXES, *LINES_SUFFIXES, ".txt", ".md", ".log", ".db")
"""The endings of files that may be sources."""
FOLDERS = (".agent",)
"""The names of folders that are sources; a pipe or a socket of the name is reported."""
_SYNTAX = msgspec.json.Decoder(msgspec.Raw)
"""Checks JSON without keeping its values."""
_STRING = rb'"(?:[^"\\\n]|\\.)*"'
_COMMENT = lazy_pattern(_STRING + rb"|//[^\n]*|/\*.{0,10000}?\*/", re.DOTALL)
_LAST_COMMA = lazy_pattern(_STRING + rb"|,(?=\s{0,1000}[}\]])")


class Peek:
    """A first look at one path; each part is read when it is first needed."""

    def __init__(self, path: Path, *, inside: Path | None = None) -> None:
        self.path = path
        self._inside = inside
        self._below: dict[str, Peek] = {}
        self.best = 0
        """The best score of the formats that were asked so far."""

    def is_lost(self, score: int) -> bool:
        """Whether another format fits so much better that a match with this score changes nothing."""
        return self.best >= score + CLOSE_CALL

    @cached_property
    def is_folder(self) -> bool:
        """Whether this is a folder; False when it is in one that may not be searched."""
        try:
            return self.path.is_dir() and not self._is_link
        except OSError:
            return False

    @cached_property
    def _is_link(self) -> bool:
        """Whether this is a link that must not be followed: one in a folder, not one named by the user."""
        try:
            return self._inside is not None and self.path.is_symlink()
        except OSError:
            return False

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in a folder, sorted and bounded; empty for a file or an unreadable folder.

        Review records lie beside what was reviewed and are not a part of it.
        """
        try:
            with os.scandir(self.path) as entries:
                found = [entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False)]
        except OSError:
            return ()
        return tuple(sorted(name for name in found if not is_review_file(name)))

    @cached_property
    def stamp(self) -> Stamp | None:
        """The stamp of the path, taken before its bytes are read: they are at least as new."""
        return stamp_of(self.path)

    @cached_property
    def data(self) -> bytes | None:
        """All bytes of a file up to `MOST_BYTES`; None for a larger or unreadable file or a folder."""
        _ = self.stamp
        try:
            if self.is_folder or self._is_link:
                return None
            if self._inside is not None:
                return read_beneath(self._inside, self.path.name, MOST_BYTES)
            return read_bytes(self.path, MOST_BYTES)
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

    @property
    def json(self) -> JsonValue:
        """The file as JSON; None when it is not JSON (or holds only `null`)."""
        if self.data is None or self.data.lstrip(b" \t\r\n")[:1] not in (b"{", b"["):
            return None
        return self._document.value if self._document is not None else None

    @cached_property
    def _document(self) -> JsonDocument | None:
        """The whole text as JSON, which `parse_once` returns again to the format that opens the file."""
        try:
            first, _, rest = (self.data or b"").partition(b"\n")
            if rest.strip() and first.strip() and parse(first):
                return None  # these are JSON lines, and parsing them as one text would take long to fail
        except JsonError:
            pass
        try:
            return parse_once(self.data or b"")
        except JsonError:
            return None

    @cached_property
    def is_broken_json(self) -> bool:
        """Whether a file is called JSON or JSON lines and is not."""
        suffix, data = self.path.suffix.lower(), self.data
        if not self._is_called_json:
            return False
        if data is None:
            return bool(self.head) and self._is_large_and_broken()
        if suffix in JSON_SUFFIXES:
            return self._document is None
        try:
            return not all(parse(line) for line in data.split(b"\n") if line.strip())
        except JsonError:
            return True

    def _is_large_and_broken(self) -> bool:
        """Whether a file over `MOST_BYTES` is not JSON, or is over `LIMIT` and cannot be judged."""
        try:
            data = read_bytes(self.path, LIMIT)
            data.decode()
            for text in [data] if self.path.suffix.lower() in JSON_SUFFIXES else data.split(b"\n"):
                if text.strip():
                    _SYNTAX.decode(text)
        except (ReadError, UnicodeDecodeError, msgspec.DecodeError, RecursionError):
            return True
        return False

    @property
    def is_unreadable(self) -> bool:
        """Whether a file may be a source by its name, and cannot be read."""
        known = self.is_folder or self._is_link or self.data is not None
        name = self.path.name
        may_be_source = name in FOLDERS or self.path.suffix.lower() in SUFFIXES
        return may_be_source and not known and not self.head

    @property
    def _is_called_json(self) -> bool:
        return self.path.suffix.lower() in (*JSON_SUFFIXES, *LINES_SUFFIXES)

    @property
    def without_comments(self) -> Peek | None:
        """The file without comments and trailing commas, which settings of editors have; None if not JSON."""
        if self.path.suffix.lower() != ".json":
            return None
        text = self.data or b""
        for pattern in (_COMMENT, _LAST_COMMA):
            text = pattern.sub(lambda found: found[0] if found[0].startswith(b'"') else b" ", text)
        plain = Peek(self.path, inside=self._inside)
        plain.data = text
        return plain if plain._document is not None else None

    def below(self, name: str) -> Peek:
        """The peek at a path in this folder, always the same one."""
        if name not in self._below:
            self._below[name] = Peek(self.path / name, inside=self.path)
        return self._below[name]

    @property
    def seen_below(self) -> Sequence[Peek]:
        """The paths in this folder that were looked at."""
        return tuple(self._below.values())

    @property
    def read_already(self) -> bytes | None:
        """The bytes of a file if they were read, which may be fewer than a source reads."""
        data: bytes | None = self.__dict__.get("data")
        return data

    @property
    def held(self) -> int:
        """How many bytes the peek keeps in memory, with those of the paths below."""
        own = len(self.__dict__.get("data") or b"") + len(self.__dict__.get("head") or b"")
        return own + sum(each.held for each in self._below.values())

    def release(self) -> None:
        """Forget what was read; it is read again when it is needed."""
        for each in self._below.values():
            each.release()
        self._below.clear()
        for name in ("data", "head", "stamp", "_document", "is_broken_json"):
            self.__dict__.pop(name, None)

    @cached_property
    def parent(self) -> Peek:
        """The folder that holds this path."""
        return Peek(self.path.parent)
