"""JSON for other programs: readable, always valid, and harmless when it is printed to a terminal."""

from __future__ import annotations

import json

from ctxview.files.visible import is_safe
from ctxview.origin import JsonValue


def dumps(value: JsonValue) -> str:
    """Indented JSON; whatever a terminal might act on, or a person cannot see, is written as `\\uXXXX`."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    if is_safe(text.replace("\n", "")):
        return text
    return "".join(char if char == "\n" or is_safe(char) else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1]
