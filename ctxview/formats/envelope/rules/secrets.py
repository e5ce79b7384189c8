"""Which texts redacted records hide, and where else in a bundle the same texts stand.

Finds places only; no text that it handles gets into a message.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxview.formats.envelope.fates import GONE, is_redacted
from ctxview.formats.envelope.model import Dossier, Record, text
from ctxview.formats.envelope.rules.lookup import Path, strings
from ctxview.formats.envelope.thresholds import SHORTEST_SECRET
from ctxview.formats.envelope.vocabulary import RAW_KEYS, Kind
from ctxview.origin import JsonValue

_HOMES = ((), ("metadata",), ("redaction",))
_SHA256 = "sha256:"
_PLACEHOLDER = re.compile(
    r"(?:(?:this|the|content|text|was|is)\b|\W)*"
    r"(?:redacted|removed|withheld|blocked|encrypted|masked|hidden|deleted)"
    r"(?: (?:by|under|for|per) [\w.:/-]{1,40})?\W*"
    r"|[*█•x\s._-]+",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Hidden:
    """The texts that must not be seen, as they are compared, and who hides them."""

    texts: dict[str, Record] = field(default_factory=dict)
    digests: dict[str, Record] = field(default_factory=dict)
    homes: set[tuple[str, str]] = field(default_factory=set)
    """File and pointer of the places where they stand by themselves; other rules speak of those."""


def raw_members(record: Record) -> Iterator[Path]:
    """Where a record keeps what its redaction hides."""
    for home in _HOMES:
        members = record.object(home[0]) if home else record.value
        for name in RAW_KEYS:
            if any(found.strip() for _, found in strings(members.get(name))):
                yield (*home, name)


def hidden_texts(dossier: Dossier) -> Hidden:
    found = Hidden()
    for kind in (Kind.ITEM, Kind.SUMMARY):
        for record in dossier.of(kind):
            if is_redacted(record.text("redaction_state")):
                _add(found, dossier, record)
    return found


def returns(dossier: Dossier, hidden: Hidden) -> Iterator[tuple[Record, Path, Record]]:
    """Where a hidden text stands in the open: the record, the way to it, and who hides the text."""
    if not hidden.texts and not hidden.digests:
        return
    told = set(hidden.homes)
    for record in dossier.records:
        for path, found in strings(record.value):
            hider = _hider(hidden, found) if len(found) >= SHORTEST_SECRET else None
            if hider is not None and (place := (record.file, record.at(*path))) not in told:
                told.add(place)
                yield record, path, hider


def is_placeholder(content: JsonValue) -> bool:
    """Whether a text only says that something was taken away."""
    return isinstance(content, str) and len(content) <= 100 and _PLACEHOLDER.fullmatch(content) is not None


def plain(words: str) -> str:
    """A text as it is compared: without regard to case and spaces."""
    return " ".join(words.casefold().split())


def _hider(hidden: Hidden, found: str) -> Record | None:
    if hidden.digests:
        digest = hashlib.sha256(found.encode("utf-8", "surrogatepass")).hexdigest()
        if digest in hidden.digests:
            return hidden.digests[digest]
    words = plain(found)
    return next((record for secret, record in hidden.texts.items() if secret in words), None)


def _add(hidden: Hidden, dossier: Dossier, record: Record) -> None:
    for path in raw_members(record):
        _hide(hidden, record, record, path)
    if record.text("redaction_state") in GONE:
        _hide(hidden, record, record, ("content",))
    for home in _HOMES:
        digest = text((record.object(home[0]) if home else record.value).get("digest"))
        if digest is not None and digest.lower().startswith(_SHA256):
            hidden.digests[digest.lower().removeprefix(_SHA256)] = record
    for reference in record.refs("original_ref"):
        original = dossier.named(Kind.ITEM, reference.id)
        if original is not None and original is not record:
            _hide(hidden, record, original, ("content",))


def _hide(hidden: Hidden, hider: Record, holder: Record, path: Path) -> None:
    value: JsonValue = dict(holder.value)
    for key in path:
        value = value.get(str(key)) if isinstance(value, dict) else None
    for inner, found in strings(value):
        hidden.homes.add((holder.file, holder.at(*path, *inner)))
        if len(plain(found)) >= SHORTEST_SECRET and not is_placeholder(found):
            hidden.texts.setdefault(plain(found), hider)
