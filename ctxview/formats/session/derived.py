"""Writing what a session derives from its histories: packs, chunks, blobs, their indexes, nothing else.

The names that may be written are listed here, so the histories have no way through. A file that exists is
replaced only if it still is what was read, one that does not exist is created only if that is still so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from ctxview.analysis.tokens import ESTIMATES
from ctxview.files.create import CreateRefused, create
from ctxview.files.save import Conflict, SaveRefused, save
from ctxview.formats.session.candidates import estimate
from ctxview.formats.session.folder import EntryKind, SessionFolder
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.records import RecordFile
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

_WRITABLE: Final = re.compile(
    r"context/(?:pack\.json|pack\.md"
    r"|swap/index\.jsonl|swap/chunk/sha256[-_.][0-9a-f]{64}"
    r"|dedup/index\.jsonl|dedup/blob/sha256[-_.][0-9a-f]{64})"
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
            raise NotWritten(name, f"it is {entry.kind.told}")
        return Wrote(name, Deed.REPLACED, save(folder.root / name, new, expected).warning)
    except Conflict:
        raise NotWritten(name, "another program changed it meanwhile; nothing was overwritten") from None
    except (CreateRefused, SaveRefused) as error:
        raise NotWritten(name, str(error)) from None


def cost(text: str, profile: Profile) -> int:
    """The tokens an index tells of a text: by the profile's own estimate, or by bytes where it has none."""
    estimated = estimate(text, profile)
    return max(1, ESTIMATES["bytes/4"].count(text)) if estimated is None else estimated


def json_line(value: JsonValue) -> bytes:
    """A record as the runtime writes it: compact, and nothing escaped that need not be."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair is no UTF-8, but JSON can spell it out.
        return json.dumps(value, separators=(",", ":")).encode()


def with_lines(index: RecordFile, name: str, lines: Sequence[bytes], data: bytes | None) -> bytes | None:
    """`data`, which is an index as it was read or changed since, with more lines; raises `NotWritten`."""
    if lines and index.torn:
        raise NotWritten(name, "its last line has no end: it is being written, or was torn")
    if index.left_out:
        raise NotWritten(name, "it has too many lines to be sure that none is written twice")
    return (data or b"") + b"".join(line + b"\n" for line in lines) if lines else data
