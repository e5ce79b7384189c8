"""A first look at a path, shared by all formats that try to recognise it: kind, names, bytes, JSON.

Reads a bounded part once, changes nothing, and follows no link out of a folder it lists.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from ctxview.files.file_ends import read_ends
from ctxview.files.json_document import JsonError, parse
from ctxview.files.reading import Unreadable, read_bytes
from ctxview.origin import JsonValue

MOST_BYTES = 4 * 1024 * 1024
MOST_NAMES = 20_000
HEAD = 64 * 1024


class Peek:
    """One look at one path; each part is read at the first question."""

    def __init__(self, path: Path, *, inside: Path | None = None) -> None:
        self.path = path
        self._inside = inside

    @cached_property
    def is_folder(self) -> bool:
        return self.path.is_dir() and not self._is_link

    @cached_property
    def _is_link(self) -> bool:
        """A link is followed when a person names it, not when it merely lies in a folder they named."""
        return self._inside is not None and self.path.is_symlink()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What a folder holds, sorted and bounded; empty for a file or an unreadable folder."""
        try:
            with os.scandir(self.path) as entries:
                found = [entry.name for _, entry in zip(range(MOST_NAMES), entries, strict=False)]
        except OSError:
            return ()
        return tuple(sorted(found))

    @cached_property
    def data(self) -> bytes | None:
        """All bytes of a file of moderate size; None for a bigger one, a folder, or what cannot be read."""
        try:
            return None if self.is_folder or self._is_link else read_bytes(self.path, MOST_BYTES)
        except Unreadable:
            return None

    @cached_property
    def size(self) -> int:
        """How many bytes a file has; 0 when nobody can tell."""
        try:
            return 0 if self._is_link else self.path.stat().st_size
        except OSError:
            return 0

    @cached_property
    def head(self) -> bytes:
        """The first bytes of a file of any size; empty when there are none to be had."""
        if self.data is not None:
            return self.data[:HEAD]
        try:
            return b"" if self.is_folder or self._is_link else read_ends(self.path, 2 * HEAD).head
        except Unreadable:
            return b""

    @cached_property
    def json(self) -> JsonValue:
        """The file as JSON; None when it is none (or holds only `null`)."""
        if self.data is None or self.data.lstrip(b" \t\r\n")[:1] not in (b"{", b"["):
            return None
        try:
            return parse(self.data).value
        except JsonError:
            return None

    def below(self, name: str) -> Peek:
        return Peek(self.path / name, inside=self.path)
