"""What the files of the swap and the dedup store really hold: their hash, their cost, where they point."""

from __future__ import annotations

import hashlib

import orjson

from ctxview.files.reading import Unreadable, read_beneath
from ctxview.formats.session.candidates import estimate
from ctxview.formats.session.folder import EntryKind, SessionFolder
from ctxview.formats.session.model import Blob, Session
from ctxview.formats.session.names import digest_in
from ctxview.formats.session.profile import Profile
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

LARGEST_REFERENCE = 64 * 1024
LONGEST_SHOWN = 4000
CHUNKS = "context/swap/"
"""Only a chunk may refer; a blob that looks like a reference is content like any other."""


@dataclass(frozen=True, slots=True)
class ChunkReference:
    """A chunk that holds no content but says where the content is."""

    source: str | None
    start: str | None
    end: str | None
    hash: str | None
    range: str | None


@dataclass(frozen=True, slots=True)
class BlobFacts:
    """One look into a blob; `problem` says why there was none."""

    digest: str | None
    size: int
    tokens: int | None = None
    """None for a chunk that only refers: what it refers to costs something, and `referring` counts that."""
    head: str = ""
    """The beginning of its text."""
    reference: ChunkReference | None = None
    problem: str | None = None

    def stands_for(self, digest: str | None) -> bool:
        """Whether it holds the content of that hash, or says that it refers to it."""
        referred = digest_in(self.reference.hash or "") if self.reference is not None else None
        return digest is not None and digest in (self.digest, referred)


def examine(folder: SessionFolder, blob: Blob, profile: Profile) -> BlobFacts:
    """Read a blob whole and say what it is."""
    if blob.entry.kind is not EntryKind.FILE:
        return BlobFacts(None, 0, problem=f"this is {blob.entry.kind.told}")
    try:
        data = read_beneath(folder.root, blob.name)
    except Unreadable as error:
        return BlobFacts(None, blob.entry.size, problem=error.reason)
    text = data.decode("utf-8", "replace")
    reference = reference_in(data) if blob.name.startswith(CHUNKS) else None
    return BlobFacts(
        digest=hashlib.sha256(data).hexdigest(),
        size=len(data),
        tokens=estimate(text, profile) if reference is None else None,
        head=text[:LONGEST_SHOWN],
        reference=reference,
    )


def all_blobs(session: Session) -> list[Blob]:
    return [*session.swap.blobs, *session.dedup.blobs]


def blob_bytes(session: Session) -> int:
    """How much there is to read for all of them."""
    return sum(blob.entry.size for blob in all_blobs(session))


def text_of(folder: SessionFolder, blob: Blob) -> str | None:
    """The whole text of a blob, for those who must compare it."""
    try:
        return read_beneath(folder.root, blob.name).decode("utf-8", "replace")
    except Unreadable:
        return None


def reference_in(data: bytes) -> ChunkReference | None:
    """The reference that a chunk is; None for one with content of its own."""
    if len(data) > LARGEST_REFERENCE or not data.lstrip().startswith(b"{"):
        return None
    try:
        value: JsonValue = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    if (
        not isinstance(value, dict)
        or "source" not in value
        or not value.keys() & {"start_event", "hash", "range"}
    ):
        return None

    def word(name: str) -> str | None:
        found = value.get(name) if isinstance(value, dict) else None
        return found if isinstance(found, str) else None

    return ChunkReference(word("source"), word("start_event"), word("end_event"), word("hash"), word("range"))
