"""The raw format: fits every file with the lowest score, so that every other format takes precedence."""

from __future__ import annotations

from ctxview.core.format_spec import FormatMatch
from ctxview.formats.peek import Peek

NAME = "raw"


def recognise(peek: Peek) -> FormatMatch | None:
    return None if peek.is_folder else FormatMatch(NAME, 1, "any file")
