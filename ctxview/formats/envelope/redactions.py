"""Which values of a JSON object a redaction withholds: its content, the fields it names, the original.

A redaction is read wherever an object states one, also in metadata, events and unknown lists, and with keys
such as `redactionState`. A word that is not known means that the content is withheld.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import JsonPath, all_values, path_keys
from ctxview.formats.envelope.named_ids import (
    NAMING,
    KeySet,
    ids_in,
    kind_of_object,
    member,
    names_of,
    snake_case,
)
from ctxview.formats.envelope.redacted_fields import (
    DEEPEST,
    EMPTY,
    Path,
    entries,
    field_names,
    field_paths,
    value_at,
)
from ctxview.formats.envelope.vocabulary import KIND_OF_ID, RecordKind

SHOWN = ("none", "unknown")
"""The words of the draft that redact nothing."""
REPLACED = ("masked", "summarized")
"""The words with which the content is the replacement, and is shown."""
UNREADABLE = "redacted"
"""The word for a redaction state that is blank or not a text: none of the seven of the draft."""
CONTENT_KEYS = frozenset(
    (
        *("content", "text", "body", "value", "data", "payload", "blob", "bytes", "base64"),
        *("snippet", "excerpt", "quote", "exact", "prefix", "suffix"),
    )
)
"""The keys of content and of quotations of it, inside an object whose content was removed."""
DIGEST_KEYS = ("digest", "original_digest", "content_digest", "raw_digest")
_NOTES = ("redaction", "redaction_record", "redactions", "redaction_records")
"""Where producers put the redaction record; the draft defines no place."""
_RAW_KEY = re.compile(
    r"(?:^|_)(?:raw|original|unredacted|unmasked|plaintext|plain_text|cleartext|before|previous|prior|old)(?:_|$)"
)
_LINK_KEY = re.compile(r"_(?:refs?|ids?|uris?|urls?|digest|hash|size|tokens(?:_before)?|at)$")
_REFERENCE = re.compile(r"_(?:refs?|ids?|uris?|urls?)$")
_KEPT_KEY = re.compile("redact|version$|^content$")
_KEPT_OF_ITEM = ("title", "metadata", "source_refs")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ][\d:.,+Zz-]{1,30})?")
_STATE_LABELS = {"policy_blocked": "blocked by policy", "encrypted_ref": "encrypted"}
_TELLING_KEYS = frozenset((*KIND_OF_ID, *NAMING, "block_id", "segment_id", "metadata"))
_NAMES_REDACTION = re.compile(r"redact|withheld|policy_blocked|encrypted_ref", re.IGNORECASE)
_NAMES_NONE = re.compile(r'"redaction_state"\s*:\s*"(?:none|unknown)"')
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_PLACEHOLDER_TEXT = re.compile(
    r"(?:(?:this|the|content|text|was|is)\b|\W)*"
    r"(?:redacted|removed|withheld|blocked|encrypted|masked|summarized|hidden|deleted)"
    r"(?:-\d{1,6})?(?: (?:by|under|for|per) [\w.:/-]{1,40})?\W*"
    r"|[*█•x\s._-]+",
    re.IGNORECASE,
)


class Redaction(Struct, frozen=True):
    """A redaction as an object states it."""

    state: str
    """The word as it is written; empty when only fields are named."""
    fields: tuple[str, ...]
    label: str
    """The text that replaces the withheld content."""
    name: str = ""
    """The id of the record that states it."""

    @property
    def is_gone(self) -> bool:
        return is_gone(self.state)


def is_redacted(state: str | None) -> bool:
    return bool(state) and state not in SHOWN


def is_gone(state: str | None) -> bool:
    """Whether a redaction leaves nothing to show."""
    return is_redacted(state) and state not in REPLACED


def mentions_redaction(members: Mapping[str, JsonValue]) -> bool:
    return KeySet.of(members).mentions_redaction


def unescaped(words: str) -> str:
    """Return broken JSON with its escapes decoded."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), words.replace("\0", ""))


def states_redaction(plain: str) -> bool:
    """Whether broken JSON names a redaction."""
    return _NAMES_REDACTION.search(_NAMES_NONE.sub("", plain)) is not None


def redaction_state(members: Mapping[str, JsonValue]) -> str | None:
    """The strictest redaction state that an object or its redaction record gives, as a word, or None."""
    if not mentions_redaction(members) and not isinstance(members.get("metadata"), dict):
        return None
    holders = (members, _object(members, "metadata"), *_notes(members))
    pairs = (pair for each in holders for pair in each.items() if snake_case(pair[0]) == "redaction_state")
    # The draft has a text here, one of seven: `null` is stated and is none of them.
    stated = ("" if value is None else value for _, value in pairs)
    values = (*stated, *_states_of_notes(members), member(members, "redacted") is True or None)
    words = (
        each if isinstance(each, str) and each.strip() else UNREADABLE for each in values if each is not None
    )
    return max(words, key=_strictness, default=None)


def _strictness(state: str) -> int:
    return is_redacted(state) + is_gone(state)


def redaction_of(members: Mapping[str, JsonValue]) -> Redaction | None:
    """The redaction that an object states about itself, also by fields beside the state `none`, or None."""
    state = redaction_state(members)
    named = [
        member(each, "redacted_fields") for each in (members, _object(members, "metadata"), *_notes(members))
    ]
    fields = tuple(dict.fromkeys(field for value in named for field in field_names(value)))
    if not is_redacted(state) and not fields:
        return None
    state = state if is_redacted(state) else None
    return Redaction(state or "", fields, redaction_label(members, state), next(iter(names_of(members)), ""))


def redaction_label(members: Mapping[str, JsonValue], state: str | None) -> str:
    redactor = member(members, "redacted_by")
    who = next(ids_in(member(members, "policy_refs")), None) or next(ids_in(redactor), None)
    how = _STATE_LABELS.get(state or "", (state or UNREADABLE)[:40])
    by = f": {who}" if who and state == "policy_blocked" else f" by {who}" if who else ""
    return f"[withheld: {how}{by}]"


def linked_names(members: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the ids of the original to which a redacted object leads."""
    for holder in (members, *_notes(members), _object(members, "metadata")):
        for key, value in holder.items():
            if is_link_to_original(key):
                yield from ids_in(value)


def digests_of(members: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the digests that a redacted object gives of its original."""
    for holder in (members, *_notes(members), _object(members, "metadata")):
        for key in DIGEST_KEYS:
            if isinstance(found := member(holder, key), str):
                yield found


def is_raw_key(key: str) -> bool:
    """Whether a key such as `raw` or `original` names the unredacted content."""
    found = snake_case(key)
    return _RAW_KEY.search(found) is not None and _LINK_KEY.search(found) is None


def is_link_to_original(key: str) -> bool:
    found = snake_case(key)
    return _RAW_KEY.search(found) is not None and _REFERENCE.search(found) is not None


def withheld_by(
    redaction: Redaction, members: Mapping[str, JsonValue], masks: Sequence[JsonValue] | None = None
) -> Iterator[tuple[Path, JsonValue]]:
    """Yield path and value of what a redaction withholds in an object.

    Without `masks` the object states the redaction itself. Otherwise another object with the same id does,
    and `masks` are the replacements that are shown for the content.
    """
    is_replaced = redaction.state in REPLACED
    named = redaction.fields or (("content",) if is_replaced and masks is not None else ())
    for field in named:
        for path in field_paths(members, field):
            value = value_at(members, path)
            # The content of a masked object is the mask.
            is_mask = is_replaced and path == ("content",) and (masks is None or value in masks)
            if not is_mask and value not in EMPTY:
                yield path, value
    own, kind = set(names_of(members)), kind_of_object(members)
    waiting: list[tuple[Path, str, JsonValue]] = [((), "", dict(members))]
    while waiting:
        path, name, value = waiting.pop()
        pairs: Iterable[tuple[str | int, JsonValue]] = ()
        if isinstance(value, list):
            pairs = enumerate(value)
        elif isinstance(value, dict) and (not path or name == "source_refs" or not _is_other(value, own)):
            pairs = value.items()
        for key, each in pairs:
            here, key_name = (*path, key), snake_case(key) if isinstance(key, str) else name
            is_event_data = kind is RecordKind.EVENT and here == ("data",)
            if each not in EMPTY and not is_event_data and _is_withheld(key_name, each, redaction):
                yield here, each
            elif isinstance(each, dict | list) and len(here) < DEEPEST:
                waiting.append((here, key_name, each))


def texts_of_removed(redaction: Redaction, members: Mapping[str, JsonValue]) -> Iterator[tuple[Path, str]]:
    """Yield path and value of the texts of a removed record, without ids, references, times and versions.

    Of an item and a summary, whose content `withheld_by` yields, only sentences in fields beside the title.
    """
    own, kind = set(names_of(members)), kind_of_object(members)
    is_item = kind in (RecordKind.ITEM, RecordKind.SUMMARY)
    is_of_other = kind is RecordKind.ENVELOPE and redaction.name not in own
    # The state in an event about a redaction is that of the redacted record.
    if kind is None or is_of_other or "redact" in str(member(members, "event_type")):
        return
    waiting: list[tuple[Path, str, JsonValue]] = [((), "", dict(members))]
    while waiting:
        path, name, value = waiting.pop()
        for key, each in () if isinstance(value, dict) and path and _is_other(value, own) else entries(value):
            here, key_name = (*path, key), snake_case(key) if isinstance(key, str) else name
            if not path and (_KEPT_KEY.search(key_name) or (is_item and key_name in _KEPT_OF_ITEM)):
                continue
            if isinstance(each, dict | list) and len(here) < DEEPEST:
                waiting.append((here, key_name, each))
            elif not isinstance(each, str) or _LINK_KEY.search(f"_{key_name}") or _TIME.fullmatch(each):
                continue
            elif not is_item or len(each.split()) > 1:
                yield here, each


def _is_withheld(name: str, value: JsonValue, redaction: Redaction) -> bool:
    """Whether the value of a member, or an element of it, is withheld as a whole."""
    is_link = is_link_to_original(name)
    if isinstance(value, str) and value[:5].lower() == "data:":
        return redaction.is_gone or is_link
    if is_link:
        return isinstance(value, dict) and any(snake_case(key) in CONTENT_KEYS for key in value)
    if is_raw_key(name):
        return True
    if not redaction.is_gone or name not in CONTENT_KEYS:
        return False
    return name == "content" or any(isinstance(each, str) for each in all_values(value))


def _is_other(members: Mapping[str, JsonValue], own: set[str]) -> bool:
    """Whether an object is a record with another id."""
    return kind_of_object(members) is not None and own.isdisjoint(names_of(members))


class RedactableObject(Struct, frozen=True):
    """An object anywhere in the records, with all its ids."""

    file: str
    prefix: str
    path: JsonPath
    members: Mapping[str, JsonValue]
    names: tuple[str, ...]
    redaction: Redaction | None


def objects_in(file: str, prefix: str, value: JsonValue, embedded: bool = True) -> Iterator[RedactableObject]:
    """Yield the objects in a JSON value that have an id or state a redaction.

    Without `embedded`, not those of records inside a record.
    """
    waiting: list[tuple[JsonPath, JsonValue, str]] = [(None, value, "")]
    while waiting:
        path, current, owner = waiting.pop()
        if isinstance(current, list):
            waiting.extend(((path, at), each, owner) for at, each in enumerate(current))
        elif isinstance(current, dict):
            keys = KeySet.of(current)
            if keys.mentions_redaction or not _TELLING_KEYS.isdisjoint(keys.spelled):
                names = tuple(names_of(current))
                if names and kind_of_object(current) is not None:
                    if path is not None and not embedded:
                        continue
                    owner = names[0]
                parts = (member(current, name) for name in ("block_id", "segment_id"))
                names += tuple(f"{owner}\0{part}" for part in parts if isinstance(part, str))
                yield RedactableObject(file, prefix, path, current, names, redaction_of(current))
            inner = (each for each in current.items() if isinstance(each[1], dict | list) and each[1])
            waiting.extend(((path, key), each, owner) for key, each in inner)


def withheld_values(members: Mapping[str, JsonValue]) -> Iterator[tuple[Path, JsonValue, Redaction]]:
    """Yield the path and value of content that an object holds in spite of a redaction in it."""
    seen: set[Path] = set()
    for found in objects_in("", "", dict(members), embedded=False):
        for path, value in withheld_by(found.redaction, found.members) if found.redaction else ():
            place = (*path_keys(found.path), *path)
            if not any(place[:size] in seen for size in range(len(place) + 1)):
                seen.add(place)
                yield place, value, found.redaction or Redaction("", (), "")


def is_placeholder(content: JsonValue) -> bool:
    """Whether a text only says that content was removed."""
    return (
        isinstance(content, str) and len(content) <= 100 and _PLACEHOLDER_TEXT.fullmatch(content) is not None
    )


def _notes(members: Mapping[str, JsonValue]) -> Iterator[Mapping[str, JsonValue]]:
    """Yield the redaction records of an object: under `redaction` and its like, or there in its metadata."""
    for holder in (members, _object(members, "metadata")):
        for name in _NOTES if mentions_redaction(holder) else ():
            note = member(holder, name)
            for each in note if isinstance(note, list) else [note]:
                if isinstance(each, dict) and next(names_of(each), None) is None:
                    yield each


def _states_of_notes(members: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    for note in _notes(members):
        yield from (member(note, name) for name in ("state", "status"))
    for holder in (members, _object(members, "metadata")):
        if isinstance(word := member(holder, "redaction"), str):
            yield word


def _object(members: Mapping[str, JsonValue], name: str) -> Mapping[str, JsonValue]:
    value = members.get(name)
    return value if isinstance(value, dict) else {}
