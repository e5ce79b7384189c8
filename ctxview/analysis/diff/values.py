"""Comparison of values, texts and fields, and pairing of equal items of two sides."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from ctxview.analysis.diff.model import Delta, Word, word_pieces
from ctxview.analysis.secrets import mask_secrets
from ctxview.core.fields import Field, Owner
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import same_value

Item = TypeVar("Item")
_DEEPEST = 6
_PROSE = 24
_LONGEST_JSON = 256 * 1024
_PLAIN = lazy_pattern(r"(?!(?:null|true|false)$)[^\W\d][^\s\"]*")


def paired(
    before: Iterable[Item],
    after: Iterable[Item],
    key: Callable[[Item], Hashable],
    meaning: Callable[[Item], str],
) -> list[tuple[Item | None, Item | None]]:
    """Pair the items of both sides by `key`; of several with one key, equal ones first, the rest in order."""
    groups: dict[Hashable, tuple[list[Item], list[Item]]] = defaultdict(lambda: ([], []))
    for side, items in enumerate((before, after)):
        for item in items:
            groups[key(item)][side].append(item)
    return [pair for left, right in groups.values() for pair in _matched(left, right, meaning)]


def same_text(left: str, right: str) -> bool:
    """Whether two texts are equal as prose or as JSON: line ends, key order and spelling do not count."""
    if left == right or _prose(left) == _prose(right):
        return True
    values = _json_lines(left)
    return values is not None and (others := _json_lines(right)) is not None and same_value(values, others)


def is_same_but_cut(left: str, right: str) -> bool:
    """Whether one text is the beginning of the other and ends with `…`: only that much of it is kept."""
    short, long = sorted((left, right), key=len)
    return short.endswith("…") and len(short) > 1 and long.startswith(short[:-1])


def meaning_of(text: str) -> str:
    """A digest that is equal for all texts that `same_text` calls equal."""
    import hashlib  # it loads OpenSSL, which the first screen does not need

    values = _json_lines(text)
    normal = canonical(values) if values is not None else _prose(text)
    return hashlib.sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()


def delta(name: str, before: JsonValue, after: JsonValue, owner: Owner | None = None) -> Delta | None:
    """Return the change from `before` to `after`, or None when they are equal. Absent equals null here."""
    if same_value(before, after):
        return None
    if isinstance(before, str) and isinstance(after, str) and same_text(before, after):
        return None
    word: Word = "added" if before is None else "removed" if after is None else _direction(before, after)
    return _delta(name, before, after, word, owner)


def field_deltas(before: Sequence[Field], after: Sequence[Field]) -> Iterator[Delta]:
    """Yield the fields that differ in value or presence, objects member by member; new ones come last."""
    # By name: the pointer of a field changes when its neighbours move.
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
    """Yield the changes from one value to another, an object member by member."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        if found := delta("value", before, after):
            yield found
        return
    for name in {**before, **after}:
        if name in before and name in after:
            yield from _inside(name, before[name], after[name], None, _DEEPEST)
        elif (found := delta(name, before.get(name), after.get(name))) is not None:
            yield found


def value_text(value: JsonValue) -> str:
    """`value` on one line: single words bare, other texts quoted, secrets masked."""
    if isinstance(value, str):
        value = mask_secrets(value)
        return value if _PLAIN.fullmatch(value) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        # People set at most six decimals; further digits are rounding errors.
        return f"{round(value, 6):.12g}"
    return mask_secrets(json.dumps(printable(value), ensure_ascii=False))


def canonical(value: JsonValue) -> str:
    """A text that is the same for all equal values, to sort and match by."""
    return json.dumps(_printable(value, 50), sort_keys=True)


def printable(value: JsonValue) -> JsonValue:
    """`value` without infinite numbers and nesting too deep for JSON writers."""
    return _printable(value, 50)


def _matched(
    left: list[Item], right: list[Item], meaning: Callable[[Item], str]
) -> Iterator[tuple[Item | None, Item | None]]:
    if len(left) <= 1 and len(right) <= 1:
        yield next(iter(left), None), next(iter(right), None)
        return
    by_meaning: dict[str, list[Item]] = defaultdict(list)
    for item in right:
        by_meaning[meaning(item)].append(item)
    alone = []
    for item in sorted(left, key=meaning):
        twins = by_meaning[meaning(item)]
        if twins:
            yield item, twins.pop()
        else:
            alone.append(item)
    yield from zip_longest(alone, (item for key in sorted(by_meaning) for item in by_meaning[key]))


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


def _direction(before: JsonValue, after: JsonValue) -> Word:
    if isinstance(before, bool) or isinstance(after, bool):
        return "changed"
    if isinstance(before, int | float) and isinstance(after, int | float):
        return "raised" if after > before else "lowered"
    return "changed"


def _delta(name: str, before: JsonValue, after: JsonValue, word: Word, owner: Owner | None) -> Delta:
    """A delta with word pieces for prose. Secrets are masked in the pieces, which are only shown."""
    if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > _PROSE:
        return Delta(name, before, after, word, owner, word_pieces(mask_secrets(before), mask_secrets(after)))
    return Delta(name, before, after, word, owner, ())


def _inside(
    name: str, before: JsonValue, after: JsonValue, owner: Owner | None, depth: int
) -> Iterator[Delta]:
    """Compare objects member by member, so that one changed counter among twenty has its own name."""
    if not depth or not isinstance(before, dict) or not isinstance(after, dict):
        if not same_value(before, after):
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
