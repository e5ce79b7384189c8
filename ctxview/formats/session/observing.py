"""What is remembered of a session between two looks, and two looks side by side. Writes nothing."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ctxview.files.observations import Observation, StreamSeen
from ctxview.formats.session.child_uses import uses_by_child
from ctxview.formats.session.folder import Part
from ctxview.formats.session.history import Cancelled
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import EVENTS, MESSAGES
from ctxview.quick_dataclass import dataclass

MOST_FACTS = 10_000


@dataclass(frozen=True)
class Comparison:
    """Two looks at one session. `prefixes` are the present hashes of the bytes that were there before."""

    before: Observation
    now: Observation
    prefixes: Mapping[str, str | None]

    def changed(self, name: str) -> tuple[str, str] | None:
        """Both values of a fact that is in both looks and differs."""
        old, new = self.before.facts.get(name), self.now.facts.get(name)
        return (old, new) if old is not None and new is not None and old != new else None

    @property
    def kept(self) -> Observation:
        """What to remember: this look, and the last one of a history that could not be read this time."""
        return replace(self.now, streams={**self.before.streams, **self.now.streams})

    def gone(self, kind: str) -> Iterator[str]:
        """The names of facts of a kind that were there and are not any more."""
        for name in self.before.facts:
            if name.startswith(f"{kind}:") and name not in self.now.facts:
                yield name.partition(":")[2]


def key_of(session: Session) -> str:
    """What tells sessions apart from one look to the next: where they really are."""
    return str(session.folder.root.resolve())


def observe(look: Look, cancelled: Cancelled, before: Observation | None = None) -> Comparison | None:
    """The session as it is now, beside what was seen before; None when cancelled or not all could be read."""
    if look.survey is None:
        return None
    streams: dict[str, StreamSeen] = {}
    prefixes: dict[str, str | None] = {}
    for name in (MESSAGES, EVENTS):
        stream, size = look.history.stream(name), look.survey.facts(name).size
        old = before.streams.get(name) if before is not None else None
        lengths = sorted({size, *([old.length] if old is not None and old.length <= size else [])})
        digests = stream.digests(lengths, cancelled)
        if cancelled():
            return None
        if digests is None:
            continue
        streams[name] = StreamSeen(size, digests[-1], look.survey.facts(name).records)
        # Without an earlier look the present one stands for it: nothing has changed.
        prefixes[name] = digests[0] if old is None or old.length <= size else None
    now = Observation(int(time.time()), streams, dict(_facts(look)))
    return Comparison(before or now, now, prefixes)


def _facts(look: Look) -> Iterator[tuple[str, str]]:
    session = look.session
    for name in ("created_at", "updated_at"):
        value = session.part(name).value
        if value is not None:
            yield name, value
    if session.scope is not None:
        yield "scope", session.scope
    if session.agent is not None:
        yield "agent", session.agent
    for name in ("summary.md", "pack.json", "pack.md"):
        part = session.part(f"context/{name}")
        if part.readable and not part.is_blank:
            yield f"file:{name}", _hash(part)
    for child in session.children:
        yield f"child:{child.name}", child.status or ""
        if not child.result.is_blank:
            yield f"result:{child.name}", _hash(child.result)
    yield from ((f"used:{name}", ", ".join(users)) for name, users in uses_by_child(session).items())
    for kind, records, field in (
        ("fact", session.facts, "text"),
        ("decision", session.decisions, "decision"),
    ):
        for record in records.records[:MOST_FACTS]:
            if (own := record.text("id")) is not None:
                yield f"{kind}:{own}", _short(record.text(field) or "")
    referred = {record.text("hash") for record in session.dedup.index.records if record.members.get("refs")}
    for blob in session.dedup.blobs[:MOST_FACTS]:
        yield f"blob:{blob.id}", "referred" if blob.id in referred else "orphan"
    yield from ((f"chunk:{blob.id}", str(blob.entry.size)) for blob in session.swap.blobs[:MOST_FACTS])


def _hash(part: Part) -> str:
    return hashlib.sha256(part.data or b"").hexdigest()[:32]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
