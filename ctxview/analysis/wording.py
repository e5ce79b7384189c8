"""How a value from a file is written inside a message: short, on one line, and unable to act.

Only words for people; what is right or wrong about a value is said by the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from ctxview.files.visible import visible
from ctxview.origin import JsonValue

_LONGEST = 40


def shown(text: str, limit: int = _LONGEST) -> str:
    """The start of `text`, safe to print: no character acts, no secret is told; `…` where it was cut."""
    from ctxview.analysis.secrets import mask_start

    return visible(mask_start(text, limit)) + ("…" if len(text) > limit else "")


def quoted(text: str, limit: int = _LONGEST) -> str:
    return f'"{shown(text, limit)}"'


def spelled(value: JsonValue, limit: int = _LONGEST) -> str:
    """A JSON value as it might stand in a file; containers only by their kind and size."""
    if isinstance(value, str):
        return quoted(value, limit)
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    return json.dumps(value)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, or nothing when no known word is close."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 block`, `2 blocks`."""
    return f"{number} {thing}" if number == 1 else f"{number} {things or f'{thing}s'}"


def listed(names: Iterable[str], most: int = 4) -> str:
    """`a, b, c and 5 more`, each name safe to print."""
    found = list(names)
    text = ", ".join(shown(name) for name in found[:most])
    return f"{text} and {len(found) - most} more" if len(found) > most else text
