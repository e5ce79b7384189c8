"""The ids that a JSON object has or refers to, with keys in any spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.vocabulary import ID_KEYS, KIND_OF_ID, RecordKind

NAMING = (*ID_KEYS, "subject", "record_ref", "record_id", "target_ref", "target_id")
"""The keys by which an object that is not a record names one."""
_TARGET_KEY = re.compile(
    r"subjects?|(?:(?:item|record|target|summary|missing|context_item)s?_?)?(?:refs?|ids?)?"
)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+")


MOST_KEYS = 60
"""The keys of larger objects are not remembered."""


@lru_cache(maxsize=4096)
def snake_case(key: str) -> str:
    """Return `redactionState` and `redaction-state` as `redaction_state`."""
    return _CAPITAL.sub("_", key.strip()).lower()


class KeySet(Struct, frozen=True):
    """What the keys of an object say, in any spelling; many objects have the same keys."""

    spelled: Mapping[str, str]
    """The first key of each name."""
    kind: RecordKind | None
    """The kind of record by the id field."""
    mentions_redaction: bool

    @classmethod
    def of(cls, members: Mapping[str, JsonValue]) -> KeySet:
        keys = tuple(members)
        return _key_set(keys) if len(keys) <= MOST_KEYS else _key_set.__wrapped__(keys)


@lru_cache(maxsize=1024)
def _key_set(keys: tuple[str, ...]) -> KeySet:
    spelled = {snake_case(key): key for key in reversed(keys)}
    kind = next((kind for name, kind in KIND_OF_ID.items() if name in spelled), None)
    return KeySet(spelled, kind, any("redact" in key.lower() for key in keys))


def member(members: Mapping[str, JsonValue], name: str) -> JsonValue:
    """The member with this name in any spelling; None when there is none."""
    if name in members:
        return members[name]
    key = KeySet.of(members).spelled.get(name)
    return members[key] if key is not None else None


def kind_of_object(members: Mapping[str, JsonValue]) -> RecordKind | None:
    """The kind of record that an object is by its id field, in any spelling."""
    return KeySet.of(members).kind


def names_of(members: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the id of a record, and the subject of an event; the ids that any other object has."""
    kind = kind_of_object(members)
    own = [name for name, each in KIND_OF_ID.items() if each is kind]
    keys = (*own, *(("subject",) if kind is RecordKind.EVENT else ())) if kind else NAMING
    for key in keys:
        if isinstance(found := member(members, key), str) and found:
            yield found


def targets_of(members: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the ids of all records that an object which is not a record names, also in lists and objects."""
    for key, value in members.items():
        if _TARGET_KEY.fullmatch(snake_case(key)):
            for name in ids_in(value):
                yield from dict.fromkeys((name, name.rpartition(":")[2]))


def ids_in(value: JsonValue) -> Iterator[str]:
    """Yield the ids of a reference or a list of them."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and each:
            yield each
        elif isinstance(each, dict):
            yield from names_of(each)
            yield from (name for key in ID_KEYS if isinstance(name := each.get(key), str) and name)
