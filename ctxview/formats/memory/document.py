"""A context document in parts: sections by heading, lines, and Mermaid diagrams with their nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from ctxview.formats.memory.words import content_in_order

NAME_WORDS: Final = 4
LONGEST_NAME: Final = 40
_HEADING: Final = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)\s*(\w*)")
_BULLET: Final = re.compile(r"^\s*(?:[-*•+]|\d+[.)])\s+")
_IGNORED: Final = ("subgraph", "end", "style", "classdef", "class", "linkstyle", "click", "direction", "%%")
_LABELLED_ARROW: Final = re.compile(r"<?(?:--|==|-\.)\s[^\n]*?\s(?:-->|---|==>|===|\.->|\.-)[>xo]?")
_ARROW: Final = re.compile(r"<?(?:-\.+-|--+|==+|~~~+)[>xo]?")
_NODE: Final = re.compile(r"(?:(?!--|==|-\.|~~~|:::)[^\s\[\](){}&;|>])+")
_PAIRS: Final = {"[": "]", "(": ")", "{": "}", "|": "|"}


class DocumentLine(Struct, frozen=True):
    """One line that says something: neither blank, nor a heading, nor part of a fenced block."""

    number: int
    """From 1."""
    text: str
    """Without indentation and bullet."""
    section: str


class DocumentSection(Struct, frozen=True):
    """A heading and the text up to the next one; the heading of the text before the first is empty."""

    heading: str
    level: int
    number: int
    """The line of the heading, from 1."""
    body: str
    lines: tuple[DocumentLine, ...]


class Diagram(Struct, frozen=True):
    number: int
    kind: str
    text: str
    nodes: frozenset[str]


class Fence(Struct, frozen=True):
    """A fenced block of a section; `number` is the line of its beginning."""

    number: int
    text: str
    section: str


class Document(Struct, frozen=True):
    sections: tuple[DocumentSection, ...]
    diagrams: tuple[Diagram, ...]
    fences: tuple[Fence, ...]
    fenced: bool
    """Whether one fence encloses the whole document."""

    def names(self) -> dict[int, str]:
        """Return a name for each line and fence, by its number: its first content words, each name once."""
        found: dict[int, str] = {}
        taken: set[str] = set()
        copies: Counter[str] = Counter()
        texts = [(line.number, line.text) for line in self.lines()]
        for number, text in sorted([*texts, *((each.number, "diagram") for each in self.fences)]):
            base = ("-".join(content_in_order(text)[:NAME_WORDS]) or "line")[:LONGEST_NAME]
            name = base
            while name in taken:
                copies[base] += 1
                name = f"{base}-{copies[base] + 1}"
            taken.add(name)
            found[number] = name
        return found

    def lines(self) -> Iterator[DocumentLine]:
        for section in self.sections:
            yield from section.lines


def parse_document(text: str) -> Document:
    written = text.split("\n")
    sections: list[DocumentSection] = []
    diagrams: list[Diagram] = []
    fences: list[Fence] = []
    heading, level, begin = "", 0, 0
    body: list[str] = []
    lines: list[DocumentLine] = []
    fence: tuple[str, str, int, list[str]] | None = None

    def close() -> None:
        if heading or any(line.strip() for line in body):
            sections.append(DocumentSection(heading, level, begin, "\n".join(body).strip("\n"), tuple(lines)))

    for number, line in enumerate(written, 1):
        marked = _FENCE.match(line)
        if fence is not None:
            body.append(line)
            if marked is not None and marked[1].startswith(fence[0]) and not marked[2]:
                if fence[1] == "mermaid":
                    diagrams.append(_diagram(fence[2], "\n".join(fence[3])))
                fences.append(Fence(fence[2], "\n".join(fence[3]), heading))
                fence = None
            else:
                fence[3].append(line)
            continue
        if marked is not None:
            fence = (marked[1], marked[2].lower(), number, [])
            body.append(line)
            continue
        if (found := _HEADING.fullmatch(line)) is not None:
            close()
            heading, level, begin = found[2], len(found[1]), number
            body, lines = [], []
            continue
        body.append(line)
        if line.strip():
            bare = _BULLET.sub("", line, count=1).strip()
            lines.append(DocumentLine(number, bare, heading))
    if fence is not None:
        if fence[1] == "mermaid":
            diagrams.append(_diagram(fence[2], "\n".join(fence[3])))
        fences.append(Fence(fence[2], "\n".join(fence[3]), heading))
    close()
    stripped = text.strip()
    fenced = stripped.startswith("```") and stripped.endswith("```") and stripped.count("```") == 2
    return Document(
        tuple(sections), tuple(diagrams), tuple(fences), fenced and "mermaid" not in stripped[:12]
    )


def _diagram(number: int, text: str) -> Diagram:
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.strip().startswith("%%")]
    kind = lines[0].split()[0].lower() if lines else ""
    nodes: set[str] = set()
    for line in lines[1:]:
        first = line.lower().split()[0].rstrip(";") if line.split() else ""
        if first in _IGNORED:
            continue
        nodes |= {line} if kind == "timeline" else set(_nodes(line))
    return Diagram(number, kind, text, frozenset(nodes))


def _nodes(line: str) -> Iterator[str]:
    """Yield the node ids of one statement; labels in brackets and on arrows are not ids."""
    at = 0
    while at < len(line):
        if (arrow := _LABELLED_ARROW.match(line, at) or _ARROW.match(line, at)) is not None:
            at = arrow.end()
        elif line.startswith(":::", at):
            at = len(line) if (space := line.find(" ", at)) < 0 else space
        elif line[at] in _PAIRS:
            at = _closing(line, at)
        elif (node := _NODE.match(line, at)) is not None:
            yield node[0]
            at = node.end()
        else:
            at += 1


def _closing(line: str, at: int) -> int:
    """Return the position behind the bracket that closes the one at `at`."""
    opening, closing = line[at], _PAIRS[line[at]]
    if opening == closing:
        found = line.find(closing, at + 1)
        return len(line) if found < 0 else found + 1
    depth = 0
    for place in range(at, len(line)):
        depth += (line[place] == opening) - (line[place] == closing)
        if depth == 0:
            return place + 1
    return len(line)


def with_line(text: str, number: int, new: str | None) -> str:
    """Return a document with another text on one line, after its bullet; None deletes the line."""
    lines = text.split("\n")
    if not 1 <= number <= len(lines):
        return text
    old = lines[number - 1]
    bullet = _BULLET.match(old)
    prefix = bullet[0] if bullet is not None else old[: len(old) - len(old.lstrip())]
    lines[number - 1 : number] = [] if new is None else [f"{prefix}{new}"]
    return "\n".join(lines)
