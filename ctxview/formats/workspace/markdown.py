"""Markdown documents as sections and statements with their places; nothing is judged here.

A statement is one list item, paragraph or table row: the smallest text that can be said twice. Only the block
structure is parsed, which is fast and cannot fail. The front matter is a small part of YAML: `key: value`
with plain or quoted text, `[a, b]` lists, lists of `- item` lines, and texts after `|` or `>`. Everything
else, such as a nested mapping, is a problem with its line; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from ctxview.core.origin import Origin

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


FrontValue: TypeAlias = str | tuple[str, ...]
_FRONT_END = re.compile(r"^(?:---|\.\.\.)\s*?$", re.MULTILINE)
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


BOX = re.compile(r"\[(.?)\](?:\s+|$)")
_TAG = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class Statement(Struct, frozen=True):
    """One statement. Lines count from 1; `depth` is 0 outside lists; `box` is the mark of a checkbox."""

    text: str
    kind: str
    """`bullet`, `paragraph` or `row`."""
    line: int
    last: int
    depth: int = 0
    box: str | None = None


class Section(Struct, frozen=True):
    """A heading and everything up to the next one. The first section has no heading: level 0, line 0."""

    title: str
    level: int
    line: int
    last: int
    statements: tuple[Statement, ...]

    @property
    def bullets(self) -> list[Statement]:
        return [each for each in self.statements if each.kind == "bullet"]


class CodeBlock(Struct, frozen=True):
    """A fenced or indented block of code: its language, its text, and its first and last line."""

    language: str
    text: str
    line: int
    last: int


class MarkdownDocument(Struct, frozen=True, dict=True, eq=False):
    """The bytes of one Markdown file and what is in them, parsed when it is first needed."""

    file: str
    data: bytes
    place: Origin | None = None
    """The origin of everything in it, when the bytes are not a file but a value inside of one."""

    @cached_property
    def text(self) -> str:
        """The file as text with plain line ends; a last newline does not begin another line."""
        text = self.data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n")
        return text.removesuffix("\r").replace("\r", " ")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n") if self.data else []

    @cached_property
    def starts(self) -> list[int]:
        """The byte at which each line starts, and the end of the file."""
        starts = [0]
        for line in self.data.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        starts = starts[: len(self.lines) + 1]
        starts[-1] = len(self.data)
        return starts

    @cached_property
    def front(self) -> FrontMatter | None:
        # Of hundreds of documents only this is read at the first look.
        end = _FRONT_END.search(self.text, 3) if self.text.startswith("---") else None
        return read_front_matter(self.text[: end.end()].split("\n") if end is not None else self.lines)

    @property
    def body_line(self) -> int:
        """How many lines the front matter takes."""
        return self.front.end if self.front is not None and self.front.closed else 0

    @property
    def body(self) -> str:
        """The text after the front matter."""
        return "".join(self.text.split("\n", self.body_line)[self.body_line :])

    @property
    def is_blank(self) -> bool:
        return not self.body.strip()

    def origin(self, first: int = 1, last: int | None = None) -> Origin:
        """Return the origin of whole lines, from 1."""
        if self.place is not None:
            return self.place
        if not self.data or first < 1:
            return Origin(self.file, start=0, end=len(self.data), line=1, column=1)
        end = self.starts[min(last or first, len(self.lines))]
        if end > 0 and self.data[end - 1 : end] == b"\n":
            end -= 1
        return Origin(self.file, None, self.starts[first - 1], end, first, 1)

    @property
    def whole(self) -> Origin:
        """The origin of everything, without counting lines: hundreds of documents are in the first look."""
        end = len(self.data) - self.data.endswith(b"\n")
        return self.place or Origin(self.file, None, 0, end, 1, 1)

    @cached_property
    def parsed(self) -> tuple[tuple[Section, ...], tuple[CodeBlock, ...]]:
        return _parse(self)

    @property
    def sections(self) -> tuple[Section, ...]:
        return self.parsed[0]

    @property
    def code(self) -> tuple[CodeBlock, ...]:
        return self.parsed[1]

    def statements(self) -> Iterator[tuple[Section, Statement]]:
        for section in self.sections:
            for statement in section.statements:
                yield section, statement

    @cached_property
    def prose(self) -> list[str]:
        """The lines with front matter and code blocks blanked, for patterns that must not match code."""
        lines = list(self.lines)
        blocks = [(1, self.body_line), *((block.line, block.last) for block in self.code)]
        for first, last in blocks:
            lines[first - 1 : last] = [""] * len(lines[first - 1 : last])
        return lines


def _parse(document: MarkdownDocument) -> tuple[tuple[Section, ...], tuple[CodeBlock, ...]]:
    skipped, total = document.body_line, len(document.lines)
    tokens = _parser().parse(document.body)
    headings: list[tuple[str, int, int]] = [("", 0, 0)]
    statements: list[list[Statement]] = [[]]
    code: list[CodeBlock] = []
    depth, place, in_head = 0, 0, False
    row: list[str] = []
    for at, token in enumerate(tokens):
        match token.type:
            case "list_item_open":
                depth += 1
            case "list_item_close":
                depth -= 1
            case "fence" | "code_block" if token.map:
                first, last = token.map[0] + skipped + 1, token.map[1] + skipped
                code.append(CodeBlock(token.info.strip(), token.content, first, last))
            case "heading_open" if token.map:
                title = tokens[at + 1].content.strip()
                headings.append((title, int(token.tag[1:]), token.map[0] + skipped + 1))
                statements.append([])
            case "html_block" if token.map and (text := " ".join(_TAG.sub(" ", token.content).split())):
                first, last = token.map[0] + skipped + 1, token.map[1] + skipped
                statements[-1].append(Statement(text, "paragraph", first, last, depth))
            case "thead_open" | "thead_close":
                in_head = token.type == "thead_open"
            case "tr_open":
                row = []
            case "tr_close" if not in_head and any(row):
                statements[-1].append(Statement(" | ".join(filter(None, row)), "row", place, place, depth))
            case "inline" if tokens[at - 1].type in ("td_open", "th_open"):
                row.append(token.content.strip())
                place = (token.map[0] if token.map else 0) + skipped + 1
            case "inline" if token.map and tokens[at - 1].type == "paragraph_open":
                text = " ".join(_TAG.sub(" ", token.content).split())
                if not text:
                    continue
                first, last = token.map[0] + skipped + 1, token.map[1] + skipped
                box = BOX.match(text) if depth else None
                kind = "bullet" if depth else "paragraph"
                shown = text[box.end() :] if box else text
                statements[-1].append(Statement(shown, kind, first, last, depth, box[1] if box else None))
    sections = []
    for at, (title, level, line) in enumerate(headings):
        last = headings[at + 1][2] - 1 if at + 1 < len(headings) else total
        if level or statements[at] or last > skipped:
            sections.append(Section(title, level, line, last, tuple(statements[at])))
    return tuple(sections), tuple(code)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only blocks: the text of a statement is shown and compared as it is written.
    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
