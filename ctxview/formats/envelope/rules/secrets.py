"""Which texts redacted records hide, and where else in a bundle the same texts stand.

Finds places only; no text that it handles gets into a message.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ctxview.formats.envelope.fates import GONE, is_redacted
from ctxview.formats.envelope.model import Dossier, Record, text
from ctxview.formats.envelope.rules.lookup import DEEPEST, Path, is_blank, strings
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.formats.envelope.withheld import SHORTEST as SHORTEST_SECRET
from ctxview.formats.envelope.withheld import compared, is_raw_key, withheld_values
from ctxview.origin import JsonValue

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
    homes: dict[tuple[str, str], str] = field(default_factory=dict)
    """By file and pointer what stands where it is known to be hidden; other rules speak of those places."""


def kept(record: Record) -> Iterator[tuple[Path, str]]:
    """Where a record still has what its redaction took away, and which redaction that is.

    What a masked record has in a redacted field is the mask; a placeholder gives nothing away.
    """
    for path, value in withheld_values(record):
        state = _state(record, path)
        if state not in GONE and not is_raw_key(str(path[-1])):
            continue
        if not all(is_blank(each) or is_placeholder(each) for each in _leaves(value)):
            yield path, state


def hidden_texts(dossier: Dossier) -> Hidden:
    found = Hidden()
    for record in dossier.records:
        for path, _ in kept(record):
            _hide(found, record, record, path)
        if is_redacted(record.text("redaction_state")):
            _add_original(found, dossier, record)
    return found


def returns(dossier: Dossier, hidden: Hidden) -> Iterator[tuple[Record, Path, Record]]:
    """Where a hidden text stands in the open: the record, the way to it, and who hides the text."""
    if not hidden.texts and not hidden.digests:
        return
    found = [
        (record, path, words)
        for record in dossier.records
        for path, words in strings(record.value)
        if len(words) >= SHORTEST_SECRET
    ]
    # Most hidden texts stand only where they are hidden, and counting rules each of them out at once.
    everything = "\0".join(compared(words) for _, _, words in found)
    homes = Counter(hidden.homes.values())
    texts = {
        secret: hider for secret, hider in hidden.texts.items() if everything.count(secret) > homes[secret]
    }
    told = set(hidden.homes)
    for record, path, words in found if texts or hidden.digests else ():
        hider = _hider(texts, hidden.digests, words)
        if hider is not None and (place := (record.file, record.at(*path))) not in told:
            told.add(place)
            yield record, path, hider


def is_placeholder(content: JsonValue) -> bool:
    """Whether a text only says that something was taken away."""
    return isinstance(content, str) and len(content) <= 100 and _PLACEHOLDER.fullmatch(content) is not None


def _hider(texts: Mapping[str, Record], digests: Mapping[str, Record], found: str) -> Record | None:
    if digests:
        digest = hashlib.sha256(found.encode("utf-8", "surrogatepass")).hexdigest()
        if digest in digests:
            return digests[digest]
    words = compared(found) if texts else ""
    return next((hider for secret, hider in texts.items() if secret in words), None)


def _add_original(hidden: Hidden, dossier: Dossier, record: Record) -> None:
    """What is known of the original without the record: its digest, or the very item it was."""
    for holder in (record.value, record.object("metadata"), record.object("redaction")):
        digest = (text(holder.get("digest")) or "").lower()
        if digest.startswith(_SHA256):
            hidden.digests[digest.removeprefix(_SHA256)] = record
    for reference in record.refs("original_ref"):
        original = dossier.named(Kind.ITEM, reference.id)
        if original is not None and original is not record:
            _hide(hidden, record, original, ("content",))


def _hide(hidden: Hidden, hider: Record, holder: Record, path: Path) -> None:
    for inner, found in strings(_value(holder, path)):
        if len(path) + len(inner) <= DEEPEST:
            hidden.homes[holder.file, holder.at(*path, *inner)] = compared(found)
        if len(compared(found)) >= SHORTEST_SECRET and not is_placeholder(found):
            hidden.texts.setdefault(compared(found), hider)


def _value(record: Record, path: Path) -> JsonValue:
    value: JsonValue = dict(record.value)
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step]
    return value


def _state(record: Record, path: Path) -> str:
    """The redaction of a record, or of the block that a path leads into."""
    part = _value(record, path[:2]) if path[0] in ("ordered_blocks", "window_segments") else None
    own = part.get("redaction_state") if isinstance(part, dict) else None
    return text(own) or record.text("redaction_state") or "redacted"


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
        else:
            yield found
