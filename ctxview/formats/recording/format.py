"""Recognises recordings by their first bytes."""

from __future__ import annotations

from ctxview.core.format_spec import FormatMatch
from ctxview.formats.peek import Peek
from ctxview.recording import MAGIC

NAME = "recording"


def recognise(peek: Peek) -> FormatMatch | None:
    return FormatMatch(NAME, 100, "the first bytes of a recording") if peek.head.startswith(MAGIC) else None
