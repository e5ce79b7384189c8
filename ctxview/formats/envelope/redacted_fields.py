"""The fields that a redaction names, and where they lead in a JSON object."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import path_keys, walk
from ctxview.formats.envelope.named_ids import snake_case

Path = tuple[str | int, ...]

DEEPEST = 60
EMPTY: Sequence[JsonValue] = (None, "", [], {})
_FIELD_KEYS = ("path", "pointer", "field", "name", "paths", "pointers", "fields", "names")
_STEP = re.compile(r"[^./\[\]'\"]+")
_FILTER = re.compile(r"\[\?.*?(?:\)\]|\]|$)")


def field_names(value: JsonValue) -> Iterator[str]:
    """Yield the fields of `redacted_fields`: a text, an object with a path, or a list of them.

    A list inside a list is read as the steps of one path, and as several fields.
    """
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and each.strip():
            yield each.strip()
        elif isinstance(each, dict):
            named = [each[key] for key in _FIELD_KEYS if each.get(key) not in EMPTY]
            yield from field_names(named) if named else each
        elif isinstance(each, list):
            steps = [str(step) for step in each if isinstance(step, str | int)]
            yield from ("/" + "/".join(steps), *field_names(each)) if steps else field_names(each)


def field_paths(members: Mapping[str, JsonValue], field: str) -> Sequence[Path]:
    """The paths that a redacted field names, such as `a.b`, `/a/b`, `$.a.b`, `a[0].b`, `$['a']`, `a.b*`.

    A filter such as `a[?(@.b)]` is not evaluated and leads to every element. A name that leads nowhere stands
    for every member with its last part, at any depth.
    """
    if field in members:
        return [(field,)]
    plain = _FILTER.sub(".*", field.lstrip("#$@"))
    steps = [step.replace("~1", "/").replace("~0", "~") for step in _STEP.findall(plain)]
    found: list[tuple[Path, JsonValue]] = [((), dict(members))]
    for step in steps:
        fitting = [
            ((*path, key), each) for path, value in found for key, each in entries(value) if _fits(step, key)
        ]
        # A part of a text is withheld with all of the text.
        found = fitting or [(path, value) for path, value in found if path and isinstance(value, str)]
    if found and steps:
        return [path for path, _ in found]
    last = next((step for step in reversed(steps) if not _is_index(step)), None)
    if last is None:
        return []
    ways = (way for way, _ in walk(dict(members), DEEPEST))
    return [path_keys(way) for way in ways if way is not None and _fits(last, way[1])]


def _fits(step: str, key: str | int) -> bool:
    """Whether a step of a field leads to a key; `*`, `-1` and `0:2` lead to every element."""
    if "*" in step and fnmatchcase(str(key), step):
        return True
    if isinstance(key, int):
        return step == str(key) or (_is_index(step) and not step.isdigit())
    return step == key or snake_case(step) == snake_case(key)


def _is_index(step: str) -> bool:
    return re.fullmatch(r"\*+|-?[0-9]*:?-?[0-9]*", step) is not None


def entries(value: JsonValue) -> Iterable[tuple[str | int, JsonValue]]:
    if isinstance(value, list):
        return enumerate(value)
    return value.items() if isinstance(value, dict) else ()


def value_at(members: Mapping[str, JsonValue], path: Path) -> JsonValue:
    """The value at a path of an object; None where the path leads nowhere."""
    value: JsonValue = dict(members)
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
