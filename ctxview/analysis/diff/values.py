"""JSON values compared by meaning and told in a few words. Iterative: no depth of nesting can break it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence

from ctxview.analysis.diff.model import Delta, Word
from ctxview.analysis.diff.words import pieces
from ctxview.state import Field, JsonValue, Owner

_DEEPEST = 6
_PROSE = 24
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


def delta(name: str, before: JsonValue, after: JsonValue, owner: Owner | None = None) -> Delta | None:
    """How `before` became `after`; None when they mean the same. Absent and null are one here."""
    if same(before, after):
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


def shown(value: JsonValue) -> str:
    """`value` on one line: single words bare, other texts quoted, numbers without spelling."""
    if isinstance(value, str):
        return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(printable(value), ensure_ascii=False)


def canonical(value: JsonValue) -> str:
    """One text for all values that mean the same, to sort and match by."""
    return json.dumps(_printable(value, 50), sort_keys=True)


def printable(value: JsonValue) -> JsonValue:
    """`value` as every JSON writer can write it: nothing deeper than writers bear, nothing infinite."""
    return _printable(value, 50)


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
    prose = isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > _PROSE
    return Delta(name, before, after, word, owner, pieces(str(before), str(after)) if prose else ())


def _inside(name: str, before: JsonValue, after: JsonValue, owner: Owner, depth: int) -> Iterator[Delta]:
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
