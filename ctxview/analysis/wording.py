"""Values from files inside messages: short, on one line, safe to print, without secrets."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ctxview.core.origin import JsonValue
from ctxview.files.visible_text import visible

_LONGEST = 40


def excerpt(text: str, limit: int = _LONGEST) -> str:
    """The start of `text`, safe to print, with secrets masked; `…` where it was cut."""
    from ctxview.analysis.secrets import mask_start

    return visible(mask_start(text, limit)) + ("…" if len(text) > limit else "")


def beginning(text: str, limit: int) -> str:
    """The start of `text`; masked if it may end inside a secret: half a secret is not recognised later."""
    from ctxview.analysis.secrets import SHORTEST, mask_start

    if len(text) <= limit:
        return text
    start = text[:limit]
    word = limit - 1 - max(map(start.rfind, " \n\t"))
    return start if word < SHORTEST and "PRIVATE KEY" not in start else mask_start(text, limit)


def quoted(text: str, limit: int = _LONGEST) -> str:
    return f'"{excerpt(text, limit)}"'


def json_excerpt(value: JsonValue, limit: int = _LONGEST) -> str:
    """A JSON value as a file has it; containers only by kind and size."""
    if isinstance(value, str):
        return quoted(value, limit)
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    return json.dumps(value)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, or an empty text when no known word is close."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""


def counted(number: int, item: str, items: str = "") -> str:
    """`1 block`, `2 blocks`."""
    return f"{number} {item}" if number == 1 else f"{number} {items or f'{item}s'}"


def listed(names: Iterable[str], most: int = 4) -> str:
    """`a, b, c and 5 more`, each name safe to print."""
    found = list(names)
    text = ", ".join(excerpt(name) for name in found[:most])
    return f"{text} and {len(found) - most} more" if len(found) > most else text
