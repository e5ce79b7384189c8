"""JSON for other programs: readable, always valid, and harmless when it is printed to a terminal."""

from __future__ import annotations

import json
import sys

from ctxview.files.visible import is_safe
from ctxview.origin import JsonValue
from ctxview.reports.console import speaks_utf8


def dumps(value: JsonValue) -> str:
    """Indented JSON; whatever a terminal might act on, or a person cannot see, is written as `\\uXXXX`.

    So is all that the encoding of stdout may not know.
    """
    text = json.dumps(value, ensure_ascii=not speaks_utf8(sys.stdout), indent=2, allow_nan=False)
    if is_safe(text.replace("\n", "")):
        return text
    return "".join(char if char == "\n" or is_safe(char) else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return json.dumps(char)[1:-1]
