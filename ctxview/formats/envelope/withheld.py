"""Withheld content: content that a redaction removed, in every place where a file still has it.

A record may say that its content was removed and still carry it, and another record may repeat it. All text
that leaves this format goes through here. A masked or summarised text *is* the replacement, and is shown.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ctxview.analysis.text_rules import json_strings
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonDocument
from ctxview.files.strict_json.tree import join
from ctxview.files.strict_json.values import path_keys, path_pointer, walk
from ctxview.files.visible_text import visible
from ctxview.formats.envelope.field_specs import FIELDS
from ctxview.formats.envelope.model import Record, text, texts
from ctxview.formats.envelope.outcomes import GONE, OUTCOME_WORDS, is_redacted
from ctxview.formats.envelope.parser import RecordFile
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, KNOWN, RecordKind

SHORTEST = 8
"""The shortest text that is also withheld elsewhere: shorter ones may occur in any sentence."""
PLACEHOLDER = "[withheld]"
DEEPEST = 60
_RAW_KEY = re.compile(
    r"(?:^|_)(?:raw|original|unredacted|unmasked|plaintext|plain_text|cleartext|before_redaction)(?:_|$)",
    re.IGNORECASE,
)
_LINK_KEY = re.compile(r"_(?:refs?|ids?|uri|digest|hash|size|tokens)$", re.IGNORECASE)
_STATE_LABELS = {"policy_blocked": "blocked by policy", "encrypted_ref": "encrypted"}
_OWN_WORDS = frozenset(
    (
        *OUTCOME_WORDS,
        *KIND_OF_ID,
        *(kind.value for kind in RecordKind),
        *(word for words in KNOWN.values() for word in words),
        *(name for names in FIELDS.values() for name in names),
        "withheld",
    )
)
"""Words of ctxview and the draft; removed content that is only such a word is not withheld elsewhere."""

Path = tuple[str | int, ...]


class WithheldContent:
    """The withheld content of the records of one source."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._places: dict[tuple[str, str], str] = {}
        self._paths: dict[Record, list[Path]] = {}
        texts: dict[str, str] = {}
        everything = list(records)
        for hider, holder, path, value in _all_withheld(everything):
            label = withheld_label(hider)
            self._places[(holder.file, holder.at(*path))] = label
            self._paths.setdefault(holder, []).append(path)
            for _, found in _placed_strings({"": value}):
                texts.setdefault(found.strip(), label)
        self._texts = {spelling: label for each, label in texts.items() for spelling in _spellings(each)}
        # A label names the policy or the person, and that name may itself be withheld.
        self._texts = {spelling: self._safe(label) for spelling, label in self._texts.items()}
        self._labels = {normalise(spelling): label for spelling, label in self._texts.items()}
        self._places = {place: self._safe(label) for place, label in self._places.items()}

    def __bool__(self) -> bool:
        return bool(self._places)

    def holds(self, record: Record, path: Path) -> bool:
        """Whether the value at `path` of a record is withheld."""
        return any(path[: len(each)] == each for each in self._paths.get(record, ()))

    def mask(self, text: str) -> str:
        """Return `text` with withheld content replaced, also where it is cut off with `…`."""
        if not self._texts:
            return text
        found = self._pattern.sub(lambda match: self._labels.get(normalise(match[0]), PLACEHOLDER), text)
        return self._without_beginnings(found) if "…" in found else found

    def value(self, record: Record, path: Path = ()) -> JsonValue:
        """The masked value at `path` of a record."""
        value: JsonValue = dict(record.value)
        for step in path:
            if isinstance(value, dict):
                value = value.get(str(step))
            elif isinstance(value, list) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                return None
        return self.masked_value(record.file, record.at(*path), value) if self else value

    def masked_value(self, file: str, pointer: str, value: JsonValue, depth: int = 0) -> JsonValue:
        """Return `value` from `pointer` of `file` with withheld content replaced; deep values are cut."""
        if (label := self._places.get((file, pointer))) is not None:
            return label
        if isinstance(value, str):
            return self.mask(value)
        if not isinstance(value, dict | list) or not value:
            return value
        if depth >= DEEPEST:
            return "…"
        if isinstance(value, list):
            return [
                self.masked_value(file, join(pointer, at), each, depth + 1) for at, each in enumerate(value)
            ]
        return {
            self.mask(key): self.masked_value(file, join(pointer, key), each, depth + 1)
            for key, each in value.items()
        }

    def spans(self, file: RecordFile) -> tuple[tuple[int, int], ...]:
        """The withheld byte spans of a file, in order and not overlapping."""
        found: list[tuple[int, int]] = []
        for needle in self._needles:
            start = file.data.find(needle)
            while start >= 0:
                found.append((start, start + len(needle)))
                start = file.data.find(needle, start + len(needle))
        for _, document in file.documents if self._texts else ():
            found += self._spans_of_other_spellings(document)
        for record in file.records:
            for path in self._paths.get(record, ()):
                found += _every_span(record.document, join(record.inner, *path))
        merged: list[tuple[int, int]] = []
        for start, end in sorted(found):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return tuple(merged)

    def _spans_of_other_spellings(self, document: JsonDocument) -> Iterator[tuple[int, int]]:
        """Yield the spans of strings that hold a withheld text in another spelling, each as a whole."""
        for path, value in json_strings(document.value):
            if self._pattern.search(value) and (span := document.span(path_pointer(path))) is not None:
                literal = document.data[slice(*span)]
                if not any(needle in literal for needle in self._needles):
                    yield span

    def _safe(self, label: str) -> str:
        return PLACEHOLDER if self._texts and self._pattern.search(label) else label

    def _without_beginnings(self, text: str) -> str:
        """Replace the start of a withheld text before a `…`, as in messages that quote long values."""
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
        """Matches every withheld text in upper or lower case and with any white space."""
        longest = sorted({normalise(each): each for each in self._texts}.values(), key=len, reverse=True)
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


def normalise(words: str) -> str:
    """Return a text in one case and with single spaces, for comparison."""
    return " ".join(words.casefold().split())


def _all_withheld(records: Sequence[Record]) -> Iterator[tuple[Record, Record, Path, JsonValue]]:
    """Yield the redacted record, the record that holds its content, the path, and the value."""
    for record in records:
        yield from ((record, record, path, value) for path, value in withheld_values(record))
    redacted = [each for each in records if is_redacted(_redaction(each))]
    items = {each.id: each for each in records if each.kind is RecordKind.ITEM} if redacted else {}
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
    """The SHA-256 of the removed content; None when the digest is that of the content shown instead."""
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
    """Yield the span of a member and of its duplicates: a JSON reader returns only the last of them."""
    tree = document.tree
    path = tree.path(pointer)
    if path is None or len(path) < 2:
        return
    key = tree.key(path[-1])
    for node in tree.children(path[-2]):
        if node == path[-1] or (key is not None and tree.key(node) == key):
            yield tree.span(node)


def withheld_label(record: Record) -> str:
    """The text that replaces the withheld content of a record."""
    state, redactor = _redaction(record), record.value.get("redacted_by")
    name = text(redactor.get("id")) if isinstance(redactor, dict) else text(redactor)
    who = next((each.id for each in record.refs("policy_refs") if each.id), name)
    how = _STATE_LABELS.get(state or "", state or "redacted")
    by = f": {who}" if who and state == "policy_blocked" else f" by {who}" if who else ""
    return f"[withheld: {how}{by}]"


def is_raw_key(key: str) -> bool:
    """Whether a key such as `raw` or `original` names the unredacted content."""
    return _RAW_KEY.search(key) is not None and _LINK_KEY.search(key) is None


def _redaction(record: Record) -> str | None:
    note = _note(record)
    return record.text("redaction_state") or text(note.get("redaction_state"))


def _note(record: Record) -> Mapping[str, JsonValue]:
    """The redaction record under `redaction`, where most producers put it; the draft defines no place."""
    for holder in (record.value, record.object("metadata")):
        note = holder.get("redaction")
        if isinstance(note, dict):
            return note
    return {}


def withheld_values(record: Record) -> Iterator[tuple[Path, JsonValue]]:
    """Yield the path and value of content that a record holds in spite of its redaction."""
    state = _redaction(record)
    if is_redacted(state):
        fields = (*record.texts("redacted_fields"), *texts(_note(record).get("redacted_fields")))
        yield from _of_holder(record.value, (), state, fields)
    for name in ("ordered_blocks", "window_segments"):
        for at, part in record.objects(name):
            own = text(part.get("redaction_state"))
            if is_redacted(own):
                yield from _of_holder(part, (name, at), own, texts(part.get("redacted_fields")))


def _of_holder(
    members: Mapping[str, JsonValue], prefix: Path, state: str | None, fields: Sequence[str]
) -> Iterator[tuple[Path, JsonValue]]:
    # A field is written as `content`, `metadata.email`, `metadata/email` or `/metadata/email`.
    named: list[Path] = [tuple(part for part in re.split(r"[./]", each) if part) for each in fields]
    if state in GONE:
        named.append(("content",))
    else:
        # The content of a masked record is the mask.
        named = [path for path in named if path != ("content",)]
    for path in dict.fromkeys(named):
        found, value = _lookup(members, path)
        if found and value not in (None, "", [], {}):
            yield (*prefix, *path), value
    yield from _raw_values(members, prefix)


def _raw_values(members: Mapping[str, JsonValue], prefix: Path) -> Iterator[tuple[Path, JsonValue]]:
    """Yield the values under keys such as `raw`, at any depth."""
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


def _lookup(members: Mapping[str, JsonValue], path: Path) -> tuple[bool, JsonValue]:
    value: JsonValue = dict(members)
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return False, None
        value = value[str(step)]
    return bool(path), value


def _spellings(found: str) -> Iterator[str]:
    """Yield the spellings in which a withheld text may occur in other strings."""
    if len(found) < SHORTEST or found in _OWN_WORDS:
        return
    yield found
    yield from {json.dumps(found)[1:-1], json.dumps(found, ensure_ascii=False)[1:-1], visible(found)} - {
        found
    }


def _placed_strings(members: Mapping[str, JsonValue]) -> Iterator[tuple[Path, str]]:
    """Yield every text with its path, as deep as anything is shown."""
    for path, value in walk(dict(members), DEEPEST):
        if isinstance(value, str):
            yield path_keys(path), value
