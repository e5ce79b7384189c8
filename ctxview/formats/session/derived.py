"""Writing what a session derives from its histories: packs, chunks, blobs, their indexes, nothing else.

The names that may be written are listed here, so the histories have no way through. A file that exists is
replaced only if it still is what was read, one that does not exist is created only if that is still so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ctxview.files.create import CreateRefused, create
from ctxview.files.save import Conflict, SaveRefused, save
from ctxview.formats.session.folder import EntryKind, SessionFolder

_WRITABLE: Final = re.compile(
    r"context/(?:pack\.json|pack\.md"
    r"|swap/index\.jsonl|swap/chunk/sha256-[0-9a-f]{64}"
    r"|dedup/index\.jsonl|dedup/blob/sha256-[0-9a-f]{64})"
)


class NotWritten(Exception):
    """A file that was not written, with the reason; it is as it was."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class Deed(StrEnum):
    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Wrote:
    """What was done to one file; `warning` is what the person should know besides."""

    name: str
    deed: Deed
    warning: str | None = None


def write_derived(folder: SessionFolder, name: str, new: bytes, expected: bytes | None) -> Wrote:
    """Make a derived file hold `new`, if it still holds `expected` (None: is not there); or `NotWritten`."""
    if _WRITABLE.fullmatch(name) is None:
        raise NotWritten(name, "only packs, chunks, blobs and their indexes are written here")
    if new == expected:
        return Wrote(name, Deed.UNCHANGED)
    try:
        if expected is None:
            made = create(folder.root, name, new)
            return Wrote(name, Deed.CREATED if made else Deed.UNCHANGED)
        entry = folder.entry(name)
        if entry.kind is not EntryKind.FILE:
            raise NotWritten(name, f"it is {entry.kind.value}")
        return Wrote(name, Deed.REPLACED, save(folder.root / name, new, expected).warning)
    except Conflict:
        raise NotWritten(name, "another program changed it meanwhile; nothing was overwritten") from None
    except (CreateRefused, SaveRefused) as error:
        raise NotWritten(name, str(error)) from None


def with_line(index: bytes | None, line: bytes) -> bytes:
    """An index with one more line; a last line without an end gets none added behind it."""
    before = index or b""
    if before and not before.endswith(b"\n"):
        raise ValueError("the last line of the index has no end")
    return before + line + b"\n"
