"""Writes the derived files of a session: packs, chunks, blobs and their indexes.

Only the names listed here can be written, so a history never is. An existing file is replaced only if it
still has the content that was read; a new one is created only if it still does not exist.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import JsonValue
from ctxview.files.create import CreateRefused, create, remove_leftovers
from ctxview.files.save import SaveConflict, SaveRefused, adopt_leftover, save
from ctxview.formats.kit.folder import EntryKind, SourceFolder
from ctxview.formats.kit.json_records import JsonRecordFile
from ctxview.formats.session.pack_candidates import estimate
from ctxview.formats.session.profile import Profile

_WRITABLE: Final = re.compile(
    r"context/(?:pack\.json|pack\.md"
    r"|swap/index\.jsonl|swap/chunk/sha256[-_.][0-9a-f]{64}"
    r"|dedup/index\.jsonl|dedup/blob/sha256[-_.][0-9a-f]{64})"
)


class WriteFailed(Exception):
    """A file that was not written, with the reason; it is unchanged."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.reason = reason


class WriteAction(StrEnum):
    CREATED = "created"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


class WrittenFile(Struct, frozen=True):
    """The action on one file, with a `warning` for the user if any."""

    name: str
    action: WriteAction
    warning: str | None = None


def write_derived(folder: SourceFolder, name: str, new: bytes, expected: bytes | None) -> WrittenFile:
    """Write `new` to a derived file if it still holds `expected` (None: does not exist).

    Raises `WriteFailed`.
    """
    if _WRITABLE.fullmatch(name) is None:
        raise WriteFailed(name, "only packs, chunks, blobs and their indexes are written here")
    if new == expected:
        return WrittenFile(name, WriteAction.UNCHANGED)
    try:
        if expected is None:
            made = create(folder.root, name, new)
            return WrittenFile(name, WriteAction.CREATED if made else WriteAction.UNCHANGED)
        entry = folder.entry(name)
        if entry.kind is not EntryKind.FILE:
            raise WriteFailed(name, f"it is {entry.kind.description}")
        return WrittenFile(name, WriteAction.REPLACED, save(folder.root / name, new, expected).warning)
    except SaveConflict:
        raise WriteFailed(name, "another program changed it meanwhile; nothing was overwritten") from None
    except (CreateRefused, SaveRefused) as error:
        raise WriteFailed(name, str(error)) from None


def clear_leftovers(folder: SourceFolder) -> None:
    """Remove the hidden files that killed commands left beside the derived files."""
    for place in ("context/swap", "context/swap/chunk", "context/dedup", "context/dedup/blob", "context"):
        remove_leftovers(folder.root, place)
    for name in ("pack.json", "pack.md", "swap/index.jsonl", "dedup/index.jsonl"):
        if folder.entry(f"context/{name}").kind is EntryKind.FILE:
            adopt_leftover(folder.root / "context" / name)


def cost(text: str, profile: Profile) -> int:
    """Return the tokens of a text for an index: by the profile's estimate, or by bytes if it has none."""
    estimated = estimate(text, profile)
    return max(1, ESTIMATES["bytes/4"].count(text)) if estimated is None else estimated


def json_line(value: JsonValue) -> bytes:
    """Return a record as the runtime writes it: compact, with no unnecessary escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # UTF-8 cannot encode a lone surrogate, but a JSON escape can.
        return json.dumps(value, separators=(",", ":")).encode()


def with_lines(index: JsonRecordFile, name: str, lines: Sequence[bytes], data: bytes | None) -> bytes | None:
    """Return `data`, an index as it was read or changed since, with more lines; raises `WriteFailed`."""
    if lines and index.torn:
        raise WriteFailed(name, "its last line has no end: it is being written, or was torn")
    if index.left_out:
        raise WriteFailed(name, "it has too many lines to be sure that none is written twice")
    return (data or b"") + b"".join(line + b"\n" for line in lines) if lines else data
