"""Withheld content: content that a redaction removed, in every place where a source still has it.

All text that leaves this format goes through here. A redaction holds for every object with the id of the
redacted record, in all revisions, and for copies of the content anywhere; it is not undone by a revision that
states none. A masked or summarised text *is* the replacement, and is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from ctxview.analysis.text_copies import ANYWHERE, CopyFinder
from ctxview.analysis.text_rules import json_strings
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.document import JsonDocument, parse
from ctxview.files.strict_json.tree import join, split
from ctxview.files.strict_json.values import JsonPath, path_pointer, walk
from ctxview.files.visible_text import visible
from ctxview.formats.envelope.field_specs import FIELDS
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.named_ids import kind_of_object, member, names_of, targets_of
from ctxview.formats.envelope.outcomes import OUTCOME_WORDS
from ctxview.formats.envelope.parser import RecordFile
from ctxview.formats.envelope.redacted_fields import DEEPEST, Path, value_at
from ctxview.formats.envelope.redactions import (
    REPLACED,
    UNREADABLE,
    RedactableObject,
    Redaction,
    digests_of,
    is_placeholder,
    linked_names,
    mentions_redaction,
    objects_in,
    redaction_label,
    redaction_of,
    states_redaction,
    texts_of_removed,
    unescaped,
    withheld_by,
)
from ctxview.formats.envelope.references import LENGTHS, Digest, data_of
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, KNOWN, RecordKind

PLACEHOLDER = "[withheld]"
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
_FORM_KEYS = ("type", "role", "kind", "format", "encoding", "language", "mime_type", "media_type", "status")
"""The keys of values that describe the form of structured content, and are not content."""
_BROKEN_ID = re.compile(rf'"(?:{"|".join(KIND_OF_ID)})"\s*:\s*"([^"]{{1,200}})"')
SHORTEST_NUMBER = 4
_PLAIN_KEY = re.compile(r"[a-z_]+", re.IGNORECASE)
"""A key that is likely to be a name of a field, and not content."""
MAY_REDACT = re.compile(rb"redact|\\u00", re.IGNORECASE)


class Redactions(Struct, frozen=True):
    """The redactions of one source, so that another view of the same records can withhold as much."""

    names: dict[str, list[Redaction]] = field(default_factory=dict)
    masks: dict[str, list[JsonValue]] = field(default_factory=dict)
    """The replacements that are shown for the content of masked records, by id."""
    digests: dict[Digest, Redaction] = field(default_factory=dict)
    texts: dict[str, Redaction] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.names or self.digests or self.texts)

    def joined(self, other: Redactions) -> Redactions:
        names = {name: [*found] for name, found in self.names.items()}
        masks = {name: [*found] for name, found in self.masks.items()}
        for name, found in other.names.items():
            names.setdefault(name, []).extend(each for each in found if each not in names[name])
        for name, shown in other.masks.items():
            masks.setdefault(name, []).extend(each for each in shown if each not in masks[name])
        return Redactions(names, masks, self.digests | other.digests, self.texts | other.texts)


class WithheldContent:
    """The withheld content of the JSON texts of one source; `known` are redactions of other views of it."""

    def __init__(
        self,
        documents: Iterable[tuple[str, str, JsonDocument]],
        known: Redactions | None = None,
        broken: Iterable[str] = (),
    ) -> None:
        """`broken` are the parts of the files that are not JSON."""
        self._places: dict[tuple[str, str], Redaction] = {}
        """By file and pointer."""
        self.pointers: dict[tuple[str, str], list[str]] = {}
        """The same pointers within their JSON text, by file and the prefix of the text."""
        self.redactions = Redactions() if known is None else Redactions().joined(known)
        placed = list(documents)
        for plain in map(unescaped, broken):
            if states_redaction(plain):
                label = redaction_label({}, UNREADABLE)
                self._name(_BROKEN_ID.findall(plain), Redaction(UNREADABLE, (), label))
        data = {id(document.data): document.data for _, _, document in placed}
        if not self.redactions and not any(map(MAY_REDACT.search, data.values())):
            return
        objects = [each for file, prefix, found in placed for each in objects_in(file, prefix, found.value)]
        objects += [each for file, prefix, found in placed for each in _redacted_before(file, prefix, found)]
        self._ids = {each.names[0] for each in objects if each.names and kind_of_object(each.members)}
        for each in objects:
            self._register(each)
        for each in objects:
            self._withhold_in(each)
        if self.redactions.digests:
            self._withhold_by_digest(document for _, _, document in placed)

    def __bool__(self) -> bool:
        return bool(self._places or self.redactions.texts)

    def redaction_at(self, file: str, pointer: str) -> Redaction | None:
        """The redaction that withholds the value at a pointer, or a value around it."""
        while self._places:
            if (found := self._places.get((file, pointer))) is not None or not pointer:
                return found
            pointer = pointer.rpartition("/")[0]
        return None

    def holds(self, record: Record, path: Path) -> bool:
        """Whether the value at `path` of a record is withheld."""
        return self.redaction_at(record.file, record.at(*path)) is not None

    def copies(self, text: str) -> Sequence[tuple[int, int, Redaction]]:
        """Return the copies of withheld content in a text: start, end, and the redaction."""
        return self._finder.find(text)

    def copy_of_number(self, value: float) -> Redaction | None:
        """The redaction that withholds a number; short numbers occur everywhere and are not withheld."""
        words = json.dumps(value) if self and not isinstance(value, bool) else ""
        found = self._finder.find(words) if len(words) >= SHORTEST_NUMBER else ()
        return found[0][2] if found and found[0][:2] == (0, len(words)) else None

    def mask(self, text: str) -> str:
        """Return `text` with withheld content replaced, also where it is cut off with `…`."""
        found = self._finder.find(text)
        if not found:
            return text
        pieces: list[str] = []
        done = 0
        for start, end, redaction in found:
            pieces += [text[done:start], self._label(redaction)]
            done = end
        return "".join([*pieces, text[done:]])

    def origin(self, origin: Origin) -> Origin:
        """Return an origin without withheld content in its pointer: a key may be a copy."""
        if not origin.pointer or not self:
            return origin
        tokens = origin.pointer.split("/")
        masked = [each if each.isdigit() else self.mask(each).replace("/", "~1") for each in tokens]
        return origin if tokens == masked else replace(origin, pointer="/".join(masked))

    def value(self, record: Record, path: Path = ()) -> JsonValue:
        """The masked value at `path` of a record."""
        value = value_at(record.value, path)
        if not self:
            return value
        around = self.redaction_at(record.file, record.at(*path))
        return self._label(around) if around else self.masked_value(record.file, record.at(*path), value)

    def masked_value(self, file: str, pointer: str, value: JsonValue, depth: int = 0) -> JsonValue:
        """Return `value` from `pointer` of `file` with withheld content replaced; deep values are cut."""
        if (redaction := self._places.get((file, pointer))) is not None:
            return self._label(redaction)
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, int | float):
            return self._label(copy) if (copy := self.copy_of_number(value)) is not None else value
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

    def _register(self, found: RedactableObject) -> None:
        """Note the ids, the originals and the digests that an object redacts."""
        redaction, members = found.redaction, found.members
        kind = kind_of_object(members)
        if kind is RecordKind.EVENT:
            data = member(members, "data")
            about = data if isinstance(data, dict) else {}
            stated = redaction_of(about)
            if "redact" in str(member(members, "event_type")).lower():
                stated = stated or Redaction(REPLACED[0], (), redaction_label(about, REPLACED[0]))
                self._name((*found.names, *targets_of(members), *names_of(about), *targets_of(about)), stated)
            elif stated is not None and next(names_of(about), None) is None:
                self._name((*found.names, *targets_of(about)), stated)
        if redaction is None:
            return
        is_part = any(member(members, name) is not None for name in ("block_id", "segment_id"))
        if redaction.is_gone and (kind is RecordKind.ENVELOPE or (kind is None and not is_part)):
            self._name(targets_of(members), redaction)
        content = member(members, "content")
        for name in found.names:
            self._name((name,), redaction)
            if redaction.state in REPLACED and content is not None:
                self.redactions.masks.setdefault(name, []).append(content)
        state = redaction.state if redaction.is_gone else UNREADABLE
        original = Redaction(state, (), redaction.label, redaction.name)
        self._name((name for name in linked_names(members) if name not in found.names), original)
        for written in digests_of(members):
            digest = Digest.parse(written if ":" in written else f"sha256:{written}")
            is_of_mask = isinstance(content, str) and digest.matches(content.encode("utf-8", "surrogatepass"))
            if digest.algorithm in LENGTHS and not is_of_mask:
                self.redactions.digests[digest] = redaction

    def _name(self, names: Iterable[str], redaction: Redaction) -> None:
        for name in names:
            stated = self.redactions.names.setdefault(name, [])
            # Many events may repeat one redaction.
            if redaction not in stated:
                stated.append(redaction)

    def _withhold_in(self, found: RedactableObject) -> None:
        if found.redaction is not None:
            for path, value in withheld_by(found.redaction, found.members):
                self._withhold(found, path, value, found.redaction)
        for name in found.names:
            masks = self.redactions.masks.get(name, [])
            for redaction in self.redactions.names.get(name, ()):
                if redaction is not found.redaction:
                    for path, value in withheld_by(redaction, found.members, masks):
                        self._withhold(found, path, value, redaction, masks)
        named = (each for name in found.names[:1] for each in self.redactions.names.get(name, ()))
        gone = next((each for each in (found.redaction, *named) if each is not None and each.is_gone), None)
        if gone is not None:
            for path, words in texts_of_removed(gone, found.members):
                if words not in self._ids and words.strip() not in _OWN_WORDS:
                    self._withhold(found, path, words, gone)

    def _withhold(
        self,
        found: RedactableObject,
        path: Path,
        value: JsonValue,
        redaction: Redaction,
        masks: Sequence[JsonValue] = (),
    ) -> None:
        self._withhold_place(found.file, found.prefix, join(path_pointer(found.path), *path), redaction)
        shown = CopyFinder([(mask, None) for mask in masks if isinstance(mask, str)]) if masks else None
        for inner, each in walk({"": value}, DEEPEST):
            if inner is None:
                continue
            is_nested, key = inner[0] is not None, inner[1]
            if is_nested and isinstance(key, str) and len(key) >= ANYWHERE and not _PLAIN_KEY.fullmatch(key):
                self._withhold_text(key, redaction)
            is_number = isinstance(each, int | float) and not isinstance(each, bool)
            words = json.dumps(each) if is_number else each
            if not isinstance(words, str) or (is_number and is_nested and len(words) < ANYWHERE):
                continue
            is_short = len(words.strip()) < ANYWHERE and is_nested and not any(map(str.isdigit, words))
            if is_short or (is_nested and inner[1] in _FORM_KEYS):
                continue
            for part in _without(words, shown):
                self._withhold_text(part, redaction)

    def _withhold_place(self, file: str, prefix: str, pointer: str, redaction: Redaction) -> None:
        place = file, prefix + pointer
        if place not in self._places:
            self._places[place] = redaction
            self.pointers.setdefault((file, prefix), []).append(pointer)

    def _withhold_text(self, words: str, redaction: Redaction) -> None:
        if words.strip() in _OWN_WORDS or is_placeholder(words):
            return
        texts = self.redactions.texts
        texts.setdefault(words, redaction)
        texts.setdefault(visible(words), redaction)
        if words[:5].lower() == "data:":
            decoded = (data_of(words) or b"").decode("utf-8", "replace")
            texts.setdefault(decoded or words, redaction)

    def _withhold_by_digest(self, documents: Iterable[JsonDocument]) -> None:
        digests = self.redactions.digests
        algorithms = {each.algorithm or "" for each in digests}
        # A large bundle repeats its ids and words many times.
        for words in dict.fromkeys(words for each in documents for _, words in json_strings(each.value)):
            content = words.encode("utf-8", "surrogatepass")
            for algorithm in algorithms:
                redaction = digests.get(Digest.of(algorithm, content))
                if redaction is not None:
                    self._withhold_text(words, redaction)

    def is_named(self, names: Iterable[str]) -> bool:
        """Whether one of the ids is that of a redacted record."""
        return any(name in self.redactions.names for name in names)

    @cached_property
    def _finder(self) -> CopyFinder[Redaction]:
        return CopyFinder(self.redactions.texts.items())

    @cached_property
    def _labels(self) -> dict[str, str]:
        return {}

    def _label(self, redaction: Redaction) -> str:
        """The label of a redaction; it names a policy or a person, and that name may itself be withheld."""
        if redaction.label not in self._labels:
            is_safe = not self._finder.find(redaction.label)
            self._labels[redaction.label] = redaction.label if is_safe else PLACEHOLDER
        return self._labels[redaction.label]


def documents_of(files: Iterable[RecordFile]) -> Iterator[tuple[str, str, JsonDocument]]:
    """Yield every JSON text of some files: the file, the prefix of its pointers, and the text."""
    return ((file.file, prefix, document) for file in files for prefix, document in file.documents)


def withheld_in(files: Sequence[RecordFile], known: Redactions | None = None) -> WithheldContent:
    broken = (words for file in files for _, _, words in file.broken_parts)
    return WithheldContent(documents_of(files), known, broken)


def withheld_label(record: Record) -> str:
    """The text that replaces the withheld content of a record."""
    return redaction_label(record.value, record.redaction)


def normalise(words: str) -> str:
    """Return a text in one case and with single spaces, for comparison."""
    return " ".join(words.casefold().split())


def shadowed_members(document: JsonDocument) -> Iterator[tuple[str, str, int]]:
    """Yield pointer of the object, key and node of members that a later one of the same name replaces."""
    if not MAY_REDACT.search(document.data, document.start, document.end):
        return
    tree = document.tree
    for pointer in dict.fromkeys(document.duplicates):
        path = tree.path(pointer) or [0]
        key = tree.key(path[-1]) or ""
        for node in tree.children(path[-2]):
            if node != path[-1] and tree.key(node) == key:
                yield pointer.rpartition("/")[0], key, node


def _redacted_before(file: str, prefix: str, document: JsonDocument) -> Iterator[RedactableObject]:
    """Yield the objects with a redaction that a later member of the same name replaces."""
    for pointer, key, node in shadowed_members(document):
        path = split(pointer) or []
        members = value_at(
            {"": document.value}, ("", *(int(each) if each.isdigit() else each for each in path))
        )
        if isinstance(members, dict) and mentions_redaction({key: None}):
            earlier = parse(document.data, *document.tree.span(node)).value
            way: JsonPath = None
            for step in path:
                way = way, step
            redaction = redaction_of({**members, key: earlier})
            yield RedactableObject(file, prefix, way, members, tuple(names_of(members)), redaction)


def _without(words: str, shown: CopyFinder[None] | None) -> Iterator[str]:
    """Yield the parts of a text that its replacement does not show."""
    done = 0
    for start, end, _ in shown.find(words) if shown is not None else ():
        yield words[done:start]
        done = end
    yield words[done:]
