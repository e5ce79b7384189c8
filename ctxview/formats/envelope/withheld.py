"""What must not be shown to anybody: the content that a redaction took away, wherever it still stands.

A record may say that its content was removed and carry it all the same, and another may repeat it. Everything
that leaves this format as text goes through here. A text that was masked or summarised *is* the replacement,
and is shown.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ctxview.analysis.json_strings import pointer_of, strings
from ctxview.files.json_document import JsonDocument, join
from ctxview.files.visible import visible
from ctxview.formats.envelope.fates import FATES, GONE, is_redacted
from ctxview.formats.envelope.fields import FIELDS
from ctxview.formats.envelope.model import Record, text, texts
from ctxview.formats.envelope.read import RecordFile
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, KNOWN, Kind
from ctxview.origin import JsonValue

SHORTEST = 8
"""Shorter texts are withheld where they stand, but not looked for elsewhere: any sentence may hold them."""
PLACEHOLDER = "[withheld]"
DEEPEST = 60
_RAW_KEY = re.compile(
    r"(?:^|_)(?:raw|original|unredacted|unmasked|plaintext|plain_text|cleartext|before_redaction)(?:_|$)",
    re.IGNORECASE,
)
_LINK_KEY = re.compile(r"_(?:refs?|ids?|uri|digest|hash|size|tokens)$", re.IGNORECASE)
_TOLD = {"policy_blocked": "blocked by policy", "encrypted_ref": "encrypted"}
_OWN_WORDS = frozenset(
    (
        *FATES,
        *KIND_OF_ID,
        *(kind.value for kind in Kind),
        *(word for words in KNOWN.values() for word in words),
        *(name for names in FIELDS.values() for name in names),
        "withheld",
    )
)
"""What this program says itself; a removed content that is just such a word hides nothing by being hidden."""

Path = tuple[str | int, ...]


class Withheld:
    """What the records of one source must not show."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._places: dict[tuple[str, str], str] = {}
        self._held: dict[Record, list[Path]] = {}
        texts: dict[str, str] = {}
        everything = list(records)
        for hider, holder, path, value in _all_withheld(everything):
            told = label(hider)
            self._places[(holder.file, holder.at(*path))] = told
            self._held.setdefault(holder, []).append(path)
            for found in _strings(value):
                texts.setdefault(found.strip(), told)
        self._texts = {spelling: told for each, told in texts.items() for spelling in _spellings(each)}
        # Who redacted something may be named by the very text that is withheld.
        self._texts = {spelling: self._safe(told) for spelling, told in self._texts.items()}
        self._told = {compared(spelling): told for spelling, told in self._texts.items()}
        self._places = {place: self._safe(told) for place, told in self._places.items()}

    def __bool__(self) -> bool:
        return bool(self._places)

    def holds(self, record: Record, path: Path) -> bool:
        """Whether the value at `path` of a record may not be shown."""
        return any(path[: len(held)] == held for held in self._held.get(record, ()))

    def mask(self, text: str) -> str:
        """A text with everything withheld replaced, also where somebody cut it off with `…`."""
        if not self._texts:
            return text
        found = self._pattern.sub(lambda match: self._told.get(compared(match[0]), PLACEHOLDER), text)
        return self._without_beginnings(found) if "…" in found else found

    def value(self, record: Record, path: Path = ()) -> JsonValue:
        """The value at `path` of a record, fit to be shown."""
        value: JsonValue = dict(record.value)
        for step in path:
            if isinstance(value, dict):
                value = value.get(str(step))
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return self.shown(record.file, record.at(*path), value) if self else value

    def shown(self, file: str, pointer: str, value: JsonValue, depth: int = 0) -> JsonValue:
        """A value that stands at a pointer of a file, fit to be shown; what is nested very deep is cut."""
        if (told := self._places.get((file, pointer))) is not None:
            return told
        if isinstance(value, str):
            return self.mask(value)
        if not isinstance(value, dict | list) or not value:
            return value
        if depth >= DEEPEST:
            return "…"
        if isinstance(value, list):
            return [self.shown(file, join(pointer, at), each, depth + 1) for at, each in enumerate(value)]
        return {
            self.mask(key): self.shown(file, join(pointer, key), each, depth + 1)
            for key, each in value.items()
        }

    def spans(self, file: RecordFile) -> tuple[tuple[int, int], ...]:
        """The bytes of a file that nobody may see, in order and apart."""
        found = [*self._spans_of_values(file), *self._spans_of_texts(file)]
        return tuple(_merged(sorted(found)))

    def _spans_of_values(self, file: RecordFile) -> Iterator[tuple[int, int]]:
        for record in file.records:
            for path in self._held.get(record, ()):
                yield from _every_span(record.document, join(record.inner, *path))

    def _spans_of_texts(self, file: RecordFile) -> Iterator[tuple[int, int]]:
        for needle in self._needles:
            start = file.data.find(needle)
            while start >= 0:
                yield start, start + len(needle)
                start = file.data.find(needle, start + len(needle))
        if self._texts:
            for _, document in file.documents:
                yield from self._otherwise_spelled(document)

    def _otherwise_spelled(self, document: JsonDocument) -> Iterator[tuple[int, int]]:
        """Strings that hold a withheld text in a spelling of their own are withheld whole."""
        for way, value in strings(document.value):
            if self._pattern.search(value) and (span := document.span(pointer_of(way))) is not None:
                literal = document.data[slice(*span)]
                if not any(needle in literal for needle in self._needles):
                    yield span

    def _safe(self, told: str) -> str:
        return PLACEHOLDER if self._texts and self._pattern.search(told) else told

    def _without_beginnings(self, text: str) -> str:
        """Without the first part of a withheld text before a `…`, as messages quote long values."""
        pieces = text.split("…")
        for place, piece in enumerate(pieces[:-1]):
            for start in (match.start() for match in self._beginnings.finditer(piece)):
                spelling = next((each for each in self._texts if each.startswith(piece[start:])), None)
                if spelling is not None:
                    pieces[place] = piece[:start] + self._texts[spelling]
                    break
        return "…".join(pieces)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """In any case and with any spaces: a secret is none the less one in capitals."""
        longest = sorted({compared(each): each for each in self._texts}.values(), key=len, reverse=True)
        return re.compile(
            "|".join(r"\s+".join(map(re.escape, each.split())) for each in longest), re.IGNORECASE
        )

    @cached_property
    def _beginnings(self) -> re.Pattern[str]:
        heads = sorted({each[:SHORTEST] for each in self._texts})
        return re.compile(f"(?={'|'.join(map(re.escape, heads))})")

    @cached_property
    def _needles(self) -> Sequence[bytes]:
        return [each.encode("utf-8", "surrogatepass") for each in self._texts]


def compared(words: str) -> str:
    """A text without regard to case and spaces."""
    return " ".join(words.casefold().split())


def _all_withheld(records: Sequence[Record]) -> Iterator[tuple[Record, Record, Path, JsonValue]]:
    """Who hides something, who holds it, where, and what it is."""
    for record in records:
        yield from ((record, record, path, value) for path, value in withheld_values(record))
    redacted = [each for each in records if is_redacted(_redaction(each))]
    items = {each.id: each for each in records if each.kind is Kind.ITEM} if redacted else {}
    for record in redacted:
        for reference in record.refs("original_ref"):
            original = items.get(reference.id)
            if original is not None and original is not record and "content" in original.value:
                yield record, original, ("content",), original.value["content"]
    digests = {digest: each for each in redacted if (digest := _digest_of_original(each))}
    if digests:
        for record in records:
            for path, found in _placed_strings(record.value):
                hider = digests.get(_sha256(found)) if len(found) >= SHORTEST else None
                if hider is not None:
                    yield hider, record, path, found


def _digest_of_original(record: Record) -> str | None:
    """The SHA-256 of what a record hides; one of what it shows instead says nothing."""
    for holder in (record.value, record.object("metadata"), _note(record)):
        digest = (text(holder.get("digest")) or "").lower()
        if digest.startswith("sha256:"):
            own = record.text("content")
            found = digest.removeprefix("sha256:")
            return found if own is None or _sha256(own) != found else None
    return None


def _sha256(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def _every_span(document: JsonDocument, pointer: str) -> Iterator[tuple[int, int]]:
    """Where a member stands, each time that its object has the key: readers see only the last."""
    tree = document.tree
    path = tree.path(pointer)
    if path is None or len(path) < 2:
        return
    key = tree.key(path[-1])
    for node in tree.children(path[-2]):
        if node == path[-1] or (key is not None and tree.key(node) == key):
            yield tree.span(node)


def label(record: Record) -> str:
    """What stands in the place of what is withheld, in plain words."""
    state, policies = _redaction(record), record.refs("policy_refs")
    who = next((each.id for each in policies if each.id), None) or _name(record.value.get("redacted_by"))
    told = _TOLD.get(state or "", state or "redacted")
    by = f": {who}" if who and state == "policy_blocked" else f" by {who}" if who else ""
    return f"[withheld: {told}{by}]"


def is_raw_key(key: str) -> bool:
    """Whether a name promises what a redaction took away."""
    return _RAW_KEY.search(key) is not None and _LINK_KEY.search(key) is None


def _name(value: JsonValue) -> str | None:
    return text(value.get("id")) if isinstance(value, dict) else text(value)


def _redaction(record: Record) -> str | None:
    note = _note(record)
    return record.text("redaction_state") or text(note.get("redaction_state"))


def _note(record: Record) -> Mapping[str, JsonValue]:
    """A redaction record for which the draft has no home: most put it here."""
    for holder in (record.value, record.object("metadata")):
        note = holder.get("redaction")
        if isinstance(note, dict):
            return note
    return {}


def withheld_values(record: Record) -> Iterator[tuple[Path, JsonValue]]:
    """Where a record holds what it must not show."""
    state = _redaction(record)
    if is_redacted(state):
        yield from _of_holder(record.value, (), state, _fields(record))
    for name in ("ordered_blocks", "window_segments"):
        for at, part in record.objects(name):
            own = text(part.get("redaction_state"))
            if is_redacted(own):
                yield from _of_holder(part, (name, at), own, texts(part.get("redacted_fields")))


def _fields(record: Record) -> tuple[str, ...]:
    return (*record.texts("redacted_fields"), *texts(_note(record).get("redacted_fields")))


def _of_holder(
    members: Mapping[str, JsonValue], prefix: Path, state: str | None, fields: Sequence[str]
) -> Iterator[tuple[Path, JsonValue]]:
    named = [_path_of(each) for each in fields]
    if state in GONE:
        named.append(("content",))
    else:
        # What a masked record holds as its content is the mask.
        named = [path for path in named if path != ("content",)]
    for path in dict.fromkeys(named):
        found, value = _lookup(members, path)
        if found and value not in (None, "", [], {}):
            yield (*prefix, *path), value
    yield from _raw_values(members, prefix)


def _raw_values(members: Mapping[str, JsonValue], prefix: Path) -> Iterator[tuple[Path, JsonValue]]:
    """Values under keys that promise the unredacted."""
    waiting: list[tuple[Path, JsonValue]] = [(prefix, dict(members))]
    while waiting:
        path, value = waiting.pop()
        if len(path) > DEEPEST:
            continue
        if isinstance(value, list):
            waiting.extend(((*path, at), each) for at, each in enumerate(value))
        elif isinstance(value, dict):
            for key, each in value.items():
                if each not in (None, "") and is_raw_key(key):
                    yield (*path, key), each
                elif isinstance(each, dict | list):
                    waiting.append(((*path, key), each))


def _path_of(field: str) -> Path:
    """`content`, `metadata.email`, `metadata/email` or `/metadata/email`."""
    return tuple(part for part in re.split(r"[./]", field) if part)


def _lookup(members: Mapping[str, JsonValue], path: Path) -> tuple[bool, JsonValue]:
    value: JsonValue = dict(members)
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return False, None
        value = value[str(step)]
    return bool(path), value


def _spellings(found: str) -> Iterator[str]:
    """A withheld text as it may stand in other strings."""
    if len(found) < SHORTEST or found in _OWN_WORDS:
        return
    yield found
    yield from {json.dumps(found)[1:-1], json.dumps(found, ensure_ascii=False)[1:-1], visible(found)} - {
        found
    }


def _strings(value: JsonValue) -> Iterator[str]:
    return (found for _, found in _placed_strings({"": value}))


def _placed_strings(members: Mapping[str, JsonValue]) -> Iterator[tuple[Path, str]]:
    """Every text with the way to it, as deep as anything is shown."""
    waiting: list[tuple[Path, JsonValue]] = [((), dict(members))]
    while waiting:
        path, current = waiting.pop()
        if isinstance(current, str):
            yield path, current
        elif len(path) > DEEPEST:
            continue
        elif isinstance(current, dict):
            waiting.extend(((*path, name), each) for name, each in current.items())
        elif isinstance(current, list):
            waiting.extend(((*path, at), each) for at, each in enumerate(current))


def _merged(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    current: tuple[int, int] | None = None
    for start, end in spans:
        if current is None or start > current[1]:
            if current is not None:
                yield current
            current = (start, end)
        else:
            current = (current[0], max(current[1], end))
    if current is not None:
        yield current
