"""Styled lines of safe text: every string for the terminal becomes spans here, and only here.

Characters that are not printable become visible notation with their own style. The module knows cells and
semantic style names; it does not know colours, which belong to the theme, or widgets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from rich.cells import cell_len, get_character_cell_size

from ctxview.analysis.secrets import SHORTEST, mask_secrets, mask_start
from ctxview.files.visible_text import visible_parts

MARK = "…"
TAB = 4


class Span(Struct, frozen=True):
    """A run of printable text. `style` has semantic names ("tier.core dim"); a click runs `action`."""

    text: str
    style: str = ""
    action: str = ""


Line: TypeAlias = tuple[Span, ...]

LONGEST_CACHED = 500
"""Characters of a text whose masked form is cached; longer texts are rarely drawn twice."""

EMPTY: Line = ()


def show(text: str, style: str = "", action: str = "") -> Line:
    """Any text as one line; controls, newlines and invisible characters are spelled out, secrets masked."""
    if len(text) >= SHORTEST:
        text = _masked(text) if len(text) <= LONGEST_CACHED else mask_secrets(text)
    if text.isascii() and text.isprintable():
        return (Span(text, style, action),) if text else EMPTY
    return tuple(
        Span(piece, f"{style} escaped" if escaped else style, action)
        for piece, escaped in visible_parts(text)
        if piece
    )


@lru_cache(8192)
def _masked(text: str) -> str:
    """Mask secrets with a cache: most lines are drawn again and again."""
    return mask_secrets(text)


def preview(text: str, style: str = "", limit: int = 400) -> Line:
    """The beginning of a text on one line, with a dim mark for each line break, and secrets masked."""
    head = mask_start(text, limit).strip()
    parts: list[Span] = []
    for index, row in enumerate(filter(None, (each.strip() for each in head.replace("\t", " ").split("\n")))):
        if index:
            parts.append(Span(" ⏎ ", "dim"))
        parts.extend(show(row, style))
    if len(text) > limit:
        parts.append(Span(MARK, "dim"))
    return tuple(parts)


def paragraphs(text: str, style: str = "") -> list[Line]:
    """The lines of a text: tabs become spaces, other controls are spelled out, and secrets masked."""
    return [show(row.expandtabs(TAB), style) for row in mask_secrets(text).split("\n")]


def join(*parts: Line, gap: str = "") -> Line:
    """Put lines one after the other, with `gap` between those that are not empty."""
    joined: list[Span] = []
    for part in parts:
        if part and joined and gap:
            joined.append(Span(gap))
        joined.extend(part)
    return tuple(joined)


def merge(spans: Iterable[Span]) -> list[Span]:
    """Join neighbours of the same style and action into one span."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].style == span.style and merged[-1].action == span.action:
            merged[-1] = Span(merged[-1].text + span.text, span.style, span.action)
        else:
            merged.append(span)
    return merged


def width(line: Line) -> int:
    return sum(cell_len(span.text) for span in line)


def plain(line: Line) -> str:
    return "".join(span.text for span in line)


def styled(line: Line, style: str) -> Line:
    """The same text with one more style name on every span."""
    return tuple(replace(span, style=f"{span.style} {style}".strip()) for span in line)


def fit(line: Line, cells: int) -> Line:
    """Cut a line to `cells`, with a mark where it was cut."""
    if cells <= 0:
        return EMPTY
    if width(line) <= cells:
        return line
    spans: list[Span] = []
    room = cells - 1
    for span in line:
        head = take(span.text, room)
        if head:
            spans.append(replace(span, text=head))
        room -= cell_len(head)
        if len(head) < len(span.text):
            break
    spans.append(Span(MARK, spans[-1].style if spans else ""))
    return tuple(spans)


def pad(line: Line, cells: int, *, right: bool = False) -> Line:
    """Make a line exactly `cells` wide: cut with a mark, or spaces after it (before it when `right`)."""
    line = fit(line, cells)
    blank = cells - width(line)
    if blank <= 0:
        return line
    space = (Span(" " * blank),)
    return space + line if right else line + space


def take(text: str, cells: int) -> str:
    """The longest beginning of `text` that is at most `cells` wide."""
    if text.isascii():
        return text[: max(0, cells)]
    used = 0
    for index, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > cells:
            return text[:index]
    return text


def shorten(text: str, cells: int) -> str:
    """Shorten an identifier to `cells` in its middle, because its ends distinguish it."""
    visible = plain(show(text))
    if cell_len(visible) <= cells:
        return text
    text = visible
    if cells < 4:
        return take(text, cells - 1) + MARK
    head = take(text, cells // 2)
    tail = take(text[::-1], cells - 1 - cell_len(head))[::-1]
    return f"{head}{MARK}{tail}"


def wrap(line: Line, cells: int, indent: str = "") -> list[Line]:
    """Wrap a line to `cells`, at spaces where possible; further lines begin with `indent`."""
    return list(_wrapped(line, cells, indent))


def wrap_to(line: Line, cells: int, most: int, indent: str = "") -> list[Line]:
    """Wrap a line to at most `most` lines, with a mark where the rest was cut, if possible between words."""
    lines = list(islice(_wrapped(line, cells, indent), most + 1))
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    if cells // 2 <= width(last) <= cells - 2:
        return [*lines[: most - 1], (*last, Span(f" {MARK}", last[-1].style))]
    first, *more = lines[most]
    rest = (replace(first, text=first.text[len(indent) :]), *more)
    return [*lines[: most - 1], fit((*last, Span(" "), *rest, Span(MARK)), cells)]


def wrap_all(lines: Iterable[Line], cells: int, indent: str = "") -> list[Line]:
    return [piece for line in lines for piece in wrap(line, cells, indent)]


def _wrapped(line: Line, cells: int, indent: str) -> Iterator[Line]:
    cells = max(cells, len(indent) + 4)
    if width(line) <= cells:
        yield line
    elif all(map(_narrow, line)):
        yield from _wrapped_letters(line, cells, indent)
    else:
        yield from _wrapped_words(line, cells, indent)


def _narrow(span: Span) -> bool:
    """Whether every character takes one cell."""
    return span.text.isascii() or all(get_character_cell_size(letter) == 1 for letter in span.text)


def _wrapped_letters(line: Line, cells: int, indent: str) -> Iterator[Line]:
    """Wrap a line whose characters all take one cell, without measuring each character."""
    text, start, room, head = plain(line), 0, cells, ""
    while start < len(text):
        end = len(text)
        if end - start > room:
            space = text.rfind(" ", start, start + room + 1)
            end = start + room if space < start else space
        yield _merged([Span(head), *_between(line, start, end)])
        start = end
        while text.startswith(" ", start):
            start += 1
        room, head = cells - len(indent), indent


def _between(line: Line, start: int, end: int) -> Iterator[Span]:
    """The spans of a line from character `start` up to `end`."""
    at = 0
    for span in line:
        if start < at + len(span.text) and at < end:
            yield _cut(span, max(0, start - at), end - at)
        at += len(span.text)


def _wrapped_words(line: Line, cells: int, indent: str) -> Iterator[Line]:
    start = [Span(indent)] if indent else []
    current: list[Span] = []
    used, first = 0, True
    for word in _words(line):
        if not first and used == len(indent) and word.text == " ":
            continue
        if used + cell_len(word.text.rstrip(" ")) > cells and used > len(indent):
            yield _merged(current)
            current, used, first = list(start), len(indent), False
        while used + cell_len(word.text.rstrip(" ")) > cells:
            head = take(word.text, cells - used) or word.text[:1]
            yield _merged([*current, _cut(word, 0, len(head))])
            word = _cut(word, len(head))
            current, used, first = list(start), len(indent), False
        current.append(word)
        used += cell_len(word.text)
    yield _merged(current)


def _cut(span: Span, start: int, end: int | None = None) -> Span:
    return Span(span.text[start:end], span.style, span.action)


def _words(line: Line) -> Iterator[Span]:
    """Runs that must not be broken: words with the space after them, and single wide characters."""
    for span in line:
        start = 0
        text = span.text
        for index, character in enumerate(text):
            if character == " " or (character > "\u10ff" and get_character_cell_size(character) == 2):
                if character != " " and index > start:
                    yield _cut(span, start, index)
                    start = index
                yield _cut(span, start, index + 1)
                start = index + 1
        if start < len(text):
            yield _cut(span, start)


def _merged(spans: list[Span]) -> Line:
    """The spans as few spans, without the spaces at the end of the line."""
    merged = merge(spans)
    if merged:
        merged[-1] = replace(merged[-1], text=merged[-1].text.rstrip(" "))
    return tuple(span for span in merged if span.text)
