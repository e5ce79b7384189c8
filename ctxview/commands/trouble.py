"""Expected trouble, told in one line on stderr: the last word of a command, or a remark on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterable


class Trouble(Exception):
    """The message is for the person; it names the file and the place where there is one."""


def complain(message: str) -> None:
    """One line on stderr, whatever the message holds."""
    from ctxview.files.visible import visible

    print(f"ctxview: {visible(message)}", file=sys.stderr)


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, or nothing when no known word is close."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {found[0]}?)" if found else ""
