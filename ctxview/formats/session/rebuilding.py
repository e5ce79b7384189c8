"""Getting swapped content back from the histories, or saying why that cannot be done.

The very bytes, whether of a range, an output or a file, are those of `raw_content`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ctxview.analysis.wording import quoted, shown
from ctxview.formats.session.blobs import ChunkReference
from ctxview.formats.session.look import Look
from ctxview.formats.session.names import EVENTS, MESSAGES, digest_in
from ctxview.formats.session.raw_content import NoContent, RawContent
from ctxview.formats.session.records import Record
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """The content and where it came from; without one, `why` not, and the `member` that is to blame."""

    text: bytes | None
    why: str
    member: str | None = None

    @property
    def digest(self) -> str | None:
        return hashlib.sha256(self.text).hexdigest() if self.text is not None else None


def rebuild(look: Look, record: Record) -> Rebuilt:
    """The content of a swap entry, from the lines, the event or the file it names."""
    try:
        return Rebuilt(_raw(look).of(record), _place(record))
    except NoContent as error:
        return Rebuilt(None, str(error), error.member)


def follow(look: Look, reference: ChunkReference, name: str) -> Rebuilt:
    """What the referring chunk of that name leads to."""
    records = [each for each in look.session.swap.index.records if each.text("id") == name]
    try:
        place, content = referred(_raw(look), reference, records)
    except NoContent as error:
        return Rebuilt(None, str(error), error.member)
    return Rebuilt(content, place)


def referred(raw: RawContent, reference: ChunkReference, records: Sequence[Record]) -> tuple[str, bytes]:
    """Where a referring chunk leads and what stands there, its hash verified; raises `NoContent`.

    `records` are the index lines of the chunk. Messages carry no ids, so a chunk that names them by id is
    followed through these, provided that the hash agrees.
    """
    wanted = digest_in(reference.hash or "")
    try:
        place, content = _named(raw, reference)
    except NoContent as error:
        by_index = _indexed(raw, records, wanted) if error.member is None else None
        if by_index is None:
            raise
        return by_index
    if wanted is not None and (digest := hashlib.sha256(content).hexdigest()) != wanted:
        raise NoContent(f"{place} have another hash than the chunk says: {digest[:16]}…", "hash")
    return place, content


def _named(raw: RawContent, reference: ChunkReference) -> tuple[str, bytes]:
    source = reference.source or ""
    if source not in (MESSAGES, EVENTS):
        raise NoContent(f"its source is {quoted(source)}", "source")
    if reference.range is not None:
        first, last = raw.bounds(source, reference.range)
    elif source == EVENTS:
        first, last = (raw.event_record(each or "") for each in (reference.start, reference.end))
    else:
        raise NoContent("it names messages by id, but messages carry none")
    return f"{source.removesuffix('.jsonl')} {first}-{last}", raw.range(source, first, last)


def _indexed(raw: RawContent, records: Sequence[Record], wanted: str | None) -> tuple[str, bytes] | None:
    for record in records:
        try:
            content = raw.of(record)
        except NoContent:
            continue
        if hashlib.sha256(content).hexdigest() == wanted:
            return _place(record), content
    return None


def _raw(look: Look) -> RawContent:
    return RawContent(look.session.folder, look.history, look.survey)


def _place(record: Record) -> str:
    source = shown(record.text("source") or "", 60)
    if "range" in record.members:
        return f"lines {record.text('range')} of {source}"
    if "event" in record.members:
        return f"the result of the call {shown(record.text('event') or '')}"
    return source
