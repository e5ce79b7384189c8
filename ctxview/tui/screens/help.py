"""All keys, every glyph and the filter language, made from the same tables that do the work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from ctxview.findings import Severity
from ctxview.state import Owner, RefStatus, Sight
from ctxview.tui import glyphs, sights
from ctxview.tui.commands import GROUPS, READING, Group, bindings
from ctxview.tui.keys import shown
from ctxview.tui.panes.references import STYLE as REF_STYLE
from ctxview.tui.query import FLAGS, NUMBERS, WORDS
from ctxview.tui.revision_kinds import LEGEND
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.search import pattern
from ctxview.tui.text import EMPTY, Line, Span, join, pad, plain, show, wrap
from ctxview.tui.widgets.key_bar import KeyBar
from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.virtual_lines import VirtualLines

OWNERS = {
    Owner.MODEL: "the model may write it, and so may you",
    Owner.SYSTEM: "only the system writes it; shown with the reason",
    Owner.DERIVED: "computed from something else",
    Owner.APPEND_ONLY: "only ever added to",
}

TWO_COLUMNS = 116
LEFT = (Group.MOVING, Group.ARRANGING)
"""What stands in the left one of two columns, before the signs."""
KEYS = 12
"""Cells for what stands before an explanation."""


HELP = READING - {"theme"} | {"tour"}


class HelpScreen(CommandScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(HELP),
        Binding("t", "command('tour')", "tour", show=False),
    ]
    known = HELP

    def __init__(self) -> None:
        super().__init__()
        self._lines = HelpLines()
        self._found: list[int] = []

    def compose(self) -> Iterator[Widget]:
        yield self._lines
        yield KeyBar(HELP)

    def on_mount(self) -> None:
        self._lines.focus()

    def look_for(self, needle: str) -> Line:
        self._lines.mark(pattern(needle))
        self._found = self._lines.rows_with(needle)
        return show(f"{len(self._found)} lines" if needle else "searches this page", "dim")

    def step_hit(self, *, back: bool) -> None:
        if not self._found:
            self.say("Nothing was found.")
            return
        self._found = self._found[-1:] + self._found[:-1] if back else self._found[1:] + self._found[:1]
        self._lines.show_line(max(0, self._found[-1] - 2))


class HelpLines(VirtualLines):
    DEFAULT_CSS = "HelpLines { height: 1fr; padding: 0 1; background: $surface; }"
    has_cursor = False

    def make_page(self, width: int) -> Page:
        return Page.of(help_lines(width))

    def rows_with(self, needle: str) -> list[int]:
        page = self.page
        return (
            [row for row in range(page.rows) if needle.lower() in plain(page.line(row)).lower()]
            if needle
            else []
        )


def help_lines(width: int) -> list[Line]:
    """Two columns where there is room: the keys, then what the signs mean."""
    column = (width - 4) // 2 if width >= TWO_COLUMNS else width
    left = [line for group in LEFT for line in _group(group, column)]
    right = [line for group in GROUPS if group not in LEFT for line in _group(group, column)]
    legend = [*_signs(column), *_filter(column)]
    if column == width:
        return [*left, *right, *legend]
    left += legend
    height = max(len(left), len(right))
    left += [EMPTY] * (height - len(left))
    right += [EMPTY] * (height - len(right))
    return [join(pad(one, column + 4), other) for one, other in zip(left, right, strict=True)]


def _group(group: Group, width: int) -> list[Line]:
    lines: list[Line] = [EMPTY, (Span(group, "title"),)]
    digits = [command for command in GROUPS[group] if command.keys.isdigit()]
    for command in GROUPS[group]:
        if command in digits[1:]:
            continue
        keys = f"{shown(digits[0])} … {shown(digits[-1])}" if command in digits else shown(command)
        told = "Sources, Memory, Todo, Budget, References, …" if command in digits else command.help
        lines += wrap(join(pad(show(keys, "key"), KEYS), show(told)), width, " " * KEYS)
    return lines


def _signs(width: int) -> list[Line]:
    """Every glyph with the word for it."""
    rows: list[tuple[str, str, str]] = [
        (glyphs.YES, "visible.yes", "the model is shown this block"),
        (glyphs.NO, "visible.no", "hidden from the model, with the reason below or beside it"),
        *((glyphs.OWNER[owner], f"owner.{owner}", f"{owner}: {told}") for owner, told in OWNERS.items()),
        *((glyphs.SEVERITY[each], f"severity.{each}", each) for each in Severity),
        *((glyphs.REF[each], REF_STYLE[each], f"reference {each}") for each in RefStatus),
        *((sights.GLYPHS[each], sights.style(each), f"a target: {sights.SENTENCES[each]}") for each in Sight),
        *((f"{each.hollow} {each.filled}", each.style, f"on the timeline: {each.told}") for each in LEGEND),
        ("+ ~ !", "changed.changed", "new, changed, or judged otherwise than what was shown before"),
        ("≈", "warn", "an estimate; without it a figure is exact"),
        (f"{glyphs.LEVELS[0]} {glyphs.LEVELS[7]}", "decay.0", "decay and confidence from 0 to 1"),
        (
            glyphs.LEVELS[1::2],
            "decay.3",
            "a figure over the revisions; red where the block was hidden, pale later",
        ),
        (
            f"{glyphs.MORE} {glyphs.LESS}",
            "warn",
            "more or less than at the revision before, or than the file",
        ),
        (
            f"{glyphs.DONE}─{glyphs.CURRENT}─{glyphs.OPEN}",
            "accent",
            "steps: done, the present one, still open",
        ),
        (f"{glyphs.STUCK} {glyphs.DROPPED}", "warn", "something blocked, something dropped"),
        ("^[ <U+202E>", "escaped", "a character that could act or deceive, spelled out"),
    ]
    drawn = [
        wrap(join(pad(show(sign, style), KEYS), show(told)), width, " " * KEYS) for sign, style, told in rows
    ]
    return [EMPTY, (Span("Signs", "title"),), *(line for lines in drawn for line in lines)]


def _filter(width: int) -> list[Line]:
    rows = [
        (" ".join(FLAGS), "blocks that are so; changed since the view before, flagged by a finding"),
        (" ".join(f"{word}:" for word in WORDS), "the word is in it; a,b means either"),
        (" ".join(NUMBERS), "compared by > >= < <= =, as in decay>0.5"),
        ('"some text"', "in the id, the type, a tag or the text; a bare word does the same"),
        ("!", "before any of these: not so"),
    ]
    drawn = [wrap(join(show(spelled, "key"), show(told), gap="  "), width, "    ") for spelled, told in rows]
    return [EMPTY, (Span("The filter (f)", "title"),), *(line for lines in drawn for line in lines)]
