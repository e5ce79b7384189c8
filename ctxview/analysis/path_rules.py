"""The rule about references that leave the inspected folder (PTH). It reads no file and follows no path."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.analysis.wording import quoted
from ctxview.core.findings import Effect, Finding, Hit, Severity, rule, rules_in, run
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import Origin


def check_path(file: str, path_text: str, origin: Origin) -> Iterator[Finding]:
    """Run the PTH rules on a path found at `origin` in `file`, which is a name for messages."""
    yield from run(_RULES, file, path_text, origin)


def path_escape(path: str) -> str | None:
    """How a path leaves the folder it starts from, or None when it stays inside."""
    if "\x00" in path:
        return "holds a NUL, where the system cuts it off"
    if _ABSOLUTE.match(path):
        return "is absolute"
    depth = 0
    for part in re.split(r"[/\\]", path):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return "climbs out of the session"
    return None


@rule("PTH001", name="path-leaves-session", severity=Severity.WARNING, effect=Effect.IGNORED)
def path_leaves_session(file: str, path_text: str, origin: Origin) -> Iterator[Hit]:
    """A reference is absolute or climbs out of its folder with `..`.

    ## Why
    What it leads to is not part of the session: on another machine it is missing or another file, and a
    hostile session can point it at anything the reader may open. This program shows such a reference and
    never follows it.
    ## Bad
    ../../etc/passwd
    ## Good
    swap/../refs/notes.txt
    ## Fix
    Copy the file into the session and refer to it by a path relative to the session.
    ## Source
    Promise 6 of this program: nothing outside.
    """
    reason = path_escape(path_text)
    if reason is not None:
        yield Hit(origin, f"{quoted(path_text, 80)} in {file} {reason}; it is shown but never opened")


_RULES = rules_in(__name__)
_ABSOLUTE = lazy_pattern(r"[/\\~]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]{1,20}://")
