"""A session in which pack, gc, swap and dedup have something to do, and the options to do it."""

from __future__ import annotations

from pathlib import Path

from tests.formats.session.builders import Build, sound, tool, user

LOG = "FAILED tests/test_parser.py::test_blank_lines - assert 3 == 2\n" * 100
WRITING = {
    "pack": ("--write", "--budget", "40"),
    "gc": ("--apply",),
    "swap": ("--range", "3-5", "--write"),
    "dedup": ("--write",),
}
DRY = {"pack": (), "gc": (), "swap": ("--range", "3-5"), "dedup": ()}


def busy_session(base: Path) -> Build:
    build = sound(base).add("messages.jsonl", tool(LOG), user("Again, please."), tool(LOG))
    return build.swap(7, 8, "the first log").set("context/budget", "60\n")
