"""JSON values compared by meaning and told in a few words. Iterative: no depth of nesting can break it."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence

from ctxview.analysis.diff.model import Delta, Word
from ctxview.analysis.diff.words import pieces
from ctxview.analysis.secrets import mask_secrets
from ctxview.state import Field, JsonValue, Owner

_DEEPEST = 6
_PROSE = 24
_LONGEST_JSON = 256 * 1024
_PLAIN = re.compile(r"(?!(?:null|true|false)$)[^\W\d][^\s\"]*")


def same(left: JsonValue, right: JsonValue) -> bool:
    """Equal as JSON means it: `3.0` is `3`, but `true` is not `1`; members in any order."""
    waiting = [(left, right)]
    while waiting:
        a, b = waiting.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            waiting += [(a[key], b[key]) for key in a]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            waiting += zip(a, b, strict=True)
        elif isinstance(a, bool) is not isinstance(b, bool) or a != b:
            return False
    return True


def same_text(left: str, right: str) -> bool:
    """Equal as prose, or as the JSON both of them are: line ends, key order and spelling do not count."""
    if left == right:
        return True
    if _prose(left) == _prose(right):
        return True
    values = _json_lines(left)
    return values is not None and (others := _json_lines(right)) is not None and same(values, others)


def meaning_of(text: str) -> str:
    """One digest for all texts of which `same_text` is true."""
    values = _json_lines(text)
    told = canonical(values) if values is not None else _prose(text)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def delta(name: str, before: JsonValue, after: JsonValue, owner: Owner | None = None) -> Delta | None:
    """How `before` became `after`; None when they mean the same. Absent and null are one here."""
    if same(before, after):
        return None
    if isinstance(before, str) and isinstance(after, str) and same_text(before, after):
        return None
    word: Word = "added" if before is None else "removed" if after is None else _direction(before, after)
    return _delta(name, before, after, word, owner)


def field_deltas(before: Sequence[Field], after: Sequence[Field]) -> Iterator[Delta]:
    """The fields that differ in value or presence, objects taken apart; new ones come last."""
    # By name: the same field of the same thing has another pointer once its neighbours have moved.
    left = {each.name: each for each in before if each.present}
    right = {each.name: each for each in after if each.present}
    for name in [*left, *(name for name in right if name not in left)]:
        old, new = left.get(name), right.get(name)
        some = new or old
        if some is None:
            continue
        if old is None or new is None:
            word: Word = "added" if old is None else "removed"
            yield _delta(name, old.value if old else None, new.value if new else None, word, some.owner)
        else:
            yield from _inside(name, old.value, new.value, some.owner, _DEEPEST)


def value_deltas(before: JsonValue, after: JsonValue) -> Iterator[Delta]:
    """How one value became another, an object member by member."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        if found := delta("value", before, after):
            yield found
        return
    for name in {**before, **after}:
        if name in before and name in after:
            yield from _inside(name, before[name], after[name], None, _DEEPEST)
        elif (found := delta(name, before.get(name), after.get(name))) is not None:
            yield found


def shown(value: JsonValue) -> str:
    """`value` on one line: single words bare, other texts quoted, numbers without spelling, no secrets."""
    if isinstance(value, str):
        value = mask_secrets(value)
        return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return _number(value)
    return mask_secrets(json.dumps(printable(value), ensure_ascii=False))


def canonical(value: JsonValue) -> str:
    """One text for all values that mean the same, to sort and match by."""
    return json.dumps(_printable(value, 50), sort_keys=True)


def printable(value: JsonValue) -> JsonValue:
    """`value` as every JSON writer can write it: nothing deeper than writers bear, nothing infinite."""
    return _printable(value, 50)


def _prose(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")


def _json_lines(text: str) -> list[JsonValue] | None:
    """The values of a text that is JSON, as a whole or line by line; None for any other text."""
    if len(text) > _LONGEST_JSON or text.lstrip()[:1] not in ("{", "["):
        return None
    for parts in ([text], [line for line in text.split("\n") if line.strip()]):
        try:
            return [json.loads(part) for part in parts]
        except (ValueError, RecursionError):
            continue
    return None


def _printable(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, dict):
        return {key: _printable(item, depth - 1) for key, item in value.items()} if depth else "{…}"
    if isinstance(value, list):
        return [_printable(item, depth - 1) for item in value] if depth else "[…]"
    if isinstance(value, float):
        return int(value) if value.is_integer() else value if math.isfinite(value) else str(value)
    return value


def _number(value: float) -> str:
    """Six decimals are beyond anything a person set; what they hide is arithmetic noise."""
    return f"{round(value, 6):.12g}"


def _direction(before: JsonValue, after: JsonValue) -> Word:
    if isinstance(before, bool) or isinstance(after, bool):
        return "changed"
    if isinstance(before, int | float) and isinstance(after, int | float):
        return "raised" if after > before else "lowered"
    return "changed"


def _delta(name: str, before: JsonValue, after: JsonValue, word: Word, owner: Owner | None) -> Delta:
    """The pieces are made to be shown, so they hold no secrets."""
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > _PROSE:
        return Delta(name, before, after, word, owner, pieces(mask_secrets(before), mask_secrets(after)))
    return Delta(name, before, after, word, owner, ())


def _inside(
    name: str, before: JsonValue, after: JsonValue, owner: Owner | None, depth: int
) -> Iterator[Delta]:
    """Objects member by member, so that one counter among twenty is told as that counter."""
    if not depth or not isinstance(before, dict) or not isinstance(after, dict):
        if not same(before, after):
            yield _delta(name, before, after, _direction(before, after), owner)
        return
    for key in [*before, *(key for key in after if key not in before)]:
        inner = f"{name}.{key}"
        if key not in after:
            yield _delta(inner, before[key], None, "removed", owner)
        elif key not in before:
            yield _delta(inner, None, after[key], "added", owner)
        else:
            yield from _inside(inner, before[key], after[key], owner, depth - 1)
