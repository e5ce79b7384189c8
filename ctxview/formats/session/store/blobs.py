"""The files of the swap and dedup stores: hash, tokens and references; and the uses of child results."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

import orjson
from msgspec import Struct

from ctxview.core.origin import JsonValue, Origin
from ctxview.files.reading import ReadError, read_beneath
from ctxview.files.strict_json.values import as_text
from ctxview.formats.kit.folder import EntryKind, SourceFolder
from ctxview.formats.session.caps import unread_parts
from ctxview.formats.session.grammar import digest_in
from ctxview.formats.session.model import Blob, Session
from ctxview.formats.session.pack_candidates import estimate
from ctxview.formats.session.profile import Profile

LARGEST_REFERENCE = 64 * 1024
LONGEST_SHOWN = 4000
CHUNKS = "context/swap/"
"""Only a chunk may refer; a blob that looks like a reference is content."""


class ChunkReference(Struct, frozen=True):
    """The content of a chunk that only refers to lines of a history."""

    source: str | None
    start: str | None
    end: str | None
    hash: str | None
    range: str | None


class BlobFacts(Struct, frozen=True):
    """The facts about a blob that was read; `problem` says why it could not be read."""

    digest: str | None
    size: int
    tokens: int | None = None
    """None for a chunk that only refers: the referenced content is counted elsewhere."""
    head: str = ""
    """The beginning of its text."""
    reference: ChunkReference | None = None
    problem: str | None = None

    def stands_for(self, digest: str | None) -> bool:
        """Whether the blob holds the content of that hash, or says that it refers to it."""
        referred = digest_in(self.reference.hash or "") if self.reference is not None else None
        return digest is not None and digest in (self.digest, referred)


def examine(folder: SourceFolder, blob: Blob, profile: Profile) -> BlobFacts:
    """Read a whole blob and return its facts."""
    if blob.entry.kind is not EntryKind.FILE:
        return BlobFacts(None, 0, problem=f"this is {blob.entry.kind.description}")
    try:
        data = read_beneath(folder.root, blob.name)
    except ReadError as error:
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
    return sum(blob.entry.size for blob in all_blobs(session))


def text_of(folder: SourceFolder, blob: Blob) -> str | None:
    """Return the whole text of a blob, or None when it cannot be read."""
    try:
        return read_beneath(folder.root, blob.name).decode("utf-8", "replace")
    except ReadError:
        return None


def reference_in(data: bytes) -> ChunkReference | None:
    """Parse the reference in a chunk; None when the chunk holds content."""
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
    members = ("source", "start_event", "end_event", "hash", "range")
    return ChunkReference(*(as_text(value.get(name)) for name in members))


class ChildUse(Struct, frozen=True):
    """One use of a child's file by `user`; `result` says whether it must be an existing result."""

    child: str
    name: str
    user: str
    origin: Origin
    result: bool = True


def child_uses(session: Session) -> Iterator[ChildUse]:
    """Yield every reference to a child that a program can follow."""
    for item in session.pack.items:
        source = item.source or ""
        if (child := _child_of(source)) is not None:
            origin = session.pack.origin(item, "source")
            yield ChildUse(child, source, "the pack", origin, source.endswith("/result.md"))
    for record in session.refs.records:
        path = record.text("path") or ""
        if (child := _child_of(path)) is not None:
            user = f"the reference {record.text('id') or '?'}"
            yield ChildUse(child, path, user, record.origin("path"), path.endswith("/result.md"))
    for node in session.plan.nodes:
        if node.child is not None:
            origin = session.plan.json.origin("nodes", node.index, "child")
            # A node without a channel has not begun; a channel without a result is broken.
            begun = session.child(node.child) is not None
            result = f"context/child/{node.child}/result.md"
            yield ChildUse(node.child, result, f"the plan node {node.name}", origin, begun)
    for record in session.dedup.index.records:
        refs = record.members.get("refs")
        for index, ref in enumerate(refs if isinstance(refs, list) else ()):
            kind, _, name = ref.partition(":") if isinstance(ref, str) else ("", "", "")
            if kind == "child" and name:
                child = name.split("/")[0]
                result = f"context/child/{child}/result.md"
                yield ChildUse(child, result, "the dedup index", record.origin("refs", index))


def uses_by_child(session: Session) -> dict[str, list[str]]:
    """Return the users of each child, including the summary, which names children in prose."""
    found: dict[str, list[str]] = defaultdict(list)
    for use in child_uses(session):
        if use.user not in found[use.child]:
            found[use.child].append(use.user)
    summary = session.part("context/summary.md").text
    for child in session.children:
        if child.name in summary:
            found[child.name].append("the summary")
    return {child: users for child, users in found.items() if users}


def _child_of(path: str) -> str | None:
    parts = path.split("/")
    inside = parts[:2] == ["context", "child"] and len(parts) > 3 and ".." not in parts
    return parts[2] if inside else None


NAMING = (
    "context/pack.json",
    "context/summary.md",
    "context/todo.md",
    "context/facts.jsonl",
    "context/decisions.jsonl",
    "context/refs.jsonl",
    "context/plan.json",
    "context/swap/index.jsonl",
    "context/dedup/index.jsonl",
)


def unread_naming(session: Session) -> Iterator[tuple[str, str]]:
    """Yield each part that may name chunks, blobs or children but was not read whole, with the reason."""
    for place, why in sorted(session.closed.items()):
        if place.partition("/")[0] in ("", "context"):
            yield place or "the session", why
    for part in session.problems():
        if part.name in NAMING or part.name.startswith("context/child/"):
            yield part.name, part.problem or "it cannot be read"
    yield from unread_parts(session)


class Mentions(Struct, frozen=True, dict=True):
    """The texts of a session that can name its other files. pack.md is left out: it repeats the others."""

    session: Session

    def of(self, words: str, besides: str = "") -> tuple[str, ...]:
        """Return the files, except `besides`, that contain `words`: an id or a path."""
        return tuple(name for name, text in self._texts.items() if name != besides and words in text)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        texts = {name: self.session.part(name).text for name in NAMING}
        channels = (part for child in self.session.children for part in child.parts.values())
        return texts | {part.name: part.text for part in channels}
