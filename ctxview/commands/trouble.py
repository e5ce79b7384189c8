"""Expected trouble, told in one line on stderr: the last word of a command, or a remark on the way."""

from __future__ import annotations

import sys


class Trouble(Exception):
    """The message is for the person; it names the file and the place where there is one."""


def complain(message: str) -> None:
    """One line on stderr, whatever the message holds."""
    from ctxview.files.visible import visible

    print(f"ctxview: {visible(message)}", file=sys.stderr)
