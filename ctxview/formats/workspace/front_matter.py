"""The front matter of a Markdown file: a small, documented part of YAML.

Read are `key: value` with plain or quoted text, `[a, b]` lists, lists of `- item` lines, and texts after `|`
or `>`. Everything else, such as a nested mapping, is a problem with its line; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

FrontValue: TypeAlias = str | tuple[str, ...]
_KEY = re.compile(r"([A-Za-z_][\w.-]*)\s*:(?:\s+(.*)|$)")


class FrontMatter(Struct, frozen=True):
    """The keys between the two `---` lines, each with its line, and the lines that could not be read."""

    values: Mapping[str, FrontValue]
    lines: Mapping[str, int]
    problems: tuple[tuple[int, str], ...]
    end: int
    """The number of lines up to and with the closing `---`; all lines when it is missing."""
    closed: bool = True

    def text(self, name: str) -> str | None:
        found = self.values.get(name)
        return found if isinstance(found, str) else None

    def items(self, name: str) -> tuple[str, ...]:
        """Return a list, also of one text or of texts between commas."""
        found = self.values.get(name, ())
        if isinstance(found, str):
            return tuple(part.strip() for part in found.split(",") if part.strip())
        return found


def read_front_matter(lines: Sequence[str]) -> FrontMatter | None:
    """Read the front matter at the start of a file; None when the first line is not `---`."""
    if not lines or lines[0].strip() != "---" or lines[0].startswith(" "):
        return None
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() in ("---", "...")), None)
    reader = _Reader(lines[: len(lines) if end is None else end])
    while reader.at < len(reader.lines):
        reader.step()
    closed = end is not None
    return FrontMatter(
        reader.values, reader.places, tuple(reader.problems), len(lines) if end is None else end + 1, closed
    )


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 1
        self.values: dict[str, FrontValue] = {}
        self.places: dict[str, int] = {}
        self.problems: list[tuple[int, str]] = []

    def step(self) -> None:
        line, number = self.lines[self.at], self.at + 1
        self.at += 1
        if not line.strip() or line.lstrip().startswith("#"):
            return
        found = _KEY.match(line)
        if found is None:
            self.problems.append((number, "this line is not `key: value`"))
            return
        key, rest = found[1], (found[2] or "").strip()
        if key in self.values:
            self.problems.append((number, f"the key {key} occurs twice"))
        self.places[key] = number
        if rest in ("|", ">", "|-", ">-"):
            joint = "\n" if rest[0] == "|" else " "
            self.values[key] = joint.join(each.strip() for each in self._indented())
        elif rest:
            self.values[key] = self._inline(rest, number)
        else:
            self.values[key] = self._items()

    def _indented(self) -> list[str]:
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at][:1] in (" ", "\t", ""):
            self.at += 1
        return list(self.lines[start : self.at])

    def _items(self) -> FrontValue:
        items: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip().startswith("- "):
                items.append(_unquoted(line.strip()[2:].strip()))
            elif line[:1] in (" ", "\t") and line.strip():
                self.problems.append((self.at + 1, "nested values are not read"))
            elif line.strip():
                break
            self.at += 1
        return tuple(items) if items else ""

    def _inline(self, text: str, number: int) -> FrontValue:
        if text.startswith("["):
            if not text.endswith("]"):
                self.problems.append((number, "the list has no closing bracket"))
            return tuple(_unquoted(each.strip()) for each in text.strip("[]").split(",") if each.strip())
        if text.startswith("{"):
            self.problems.append((number, "nested values are not read"))
        return _unquoted(text)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return re.split(r"\s+#", text, maxsplit=1)[0].rstrip()
