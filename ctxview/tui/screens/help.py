"""The help screen: keys, signs, a glossary and the filter language, from the tables that the program uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from ctxview.core.fields import Owner
from ctxview.core.findings import Severity
from ctxview.core.state import Reach, RefStatus
from ctxview.reports.console import ascii_sign
from ctxview.tui.configured_keys import key_label
from ctxview.tui.drawing import glyphs
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import EMPTY, Line, Span, join, pad, plain, show, wrap
from ctxview.tui.model.action_table import GROUPS, READ_ONLY_ACTIONS, ActionGroup
from ctxview.tui.model.query import FLAGS, NUMBERS, WORDS
from ctxview.tui.model.search import pattern
from ctxview.tui.panes.references import STYLE as REF_STYLE
from ctxview.tui.screens.action_screen import ActionScreen, bindings
from ctxview.tui.widgets.bars import KeyBar
from ctxview.tui.widgets.virtual_lines import VirtualLines

OWNERS = {
    Owner.MODEL: "the model may write it, and so may you",
    Owner.SYSTEM: "only the system writes it; shown with the reason",
    Owner.DERIVED: "computed from other fields",
    Owner.APPEND_ONLY: "entries are only added, never changed",
}

TWO_COLUMNS = 116
LEFT = (ActionGroup.MOVING, ActionGroup.SEARCH)
"""The groups in the left one of two columns, before the signs."""
KEYS = 12
"""Cells for the key or sign before an explanation."""

HINT = "keys, signs, the filter and words; / searches this page, q goes back"

GLOSSARY = {
    "context": "all that a model is given for one answer",
    "window": "how many tokens a context may have",
    "tier": "a group of blocks that are kept by the same rules: core, working, ephemeral, longterm",
    "block": "one thing that the agent remembers or was given, with an id",
    "decay": "how faded a block is: 0 is fresh, and above the limit of its tier it is hidden",
    "confidence": "how sure the agent is: 1 is certain, and below the limit of its tier a block is hidden",
    "quality": "one figure from decay and confidence, by which a runtime orders blocks",
    "pack": "the blocks that a session puts together for the next prompt, within its budget",
    "swap": "long content is stored outside the prompt, and a short reference stays in its place",
    "envelope": "a record of a handoff: what was selected, left out and shown to whom",
    "revision": "the state at one moment: a round, a reply, a saved file",
    "finding": "something that a rule found wrong or worth knowing, with its place",
}

HELP = READ_ONLY_ACTIONS - {"theme"} | {"tour"}


class HelpScreen(ActionScreen[None]):
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

    def search_for(self, needle: str) -> Line:
        self._lines.mark(pattern(needle))
        self._found = self._lines.rows_with(needle)
        return show(f"{len(self._found)} lines" if needle else "searches this page", "dim")

    def step_hit(self, *, back: bool) -> None:
        if not self._found:
            self.say("No hits.")
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
    """The keys, the signs and the filter language, in two columns if there is room."""
    column = (width - 4) // 2 if width >= TWO_COLUMNS else width
    left = [line for group in LEFT for line in _group(group, column)]
    right = [line for group in GROUPS if group not in LEFT for line in _group(group, column)]
    legend = [*_signs(column), *_filter(column)]
    title = [*wrap(join(show("Help", "title"), show(HINT, "dim"), gap="  "), width)]
    left, right = (left[1:], right) if column == width else (left[1:], right[1:])
    if column == width:
        return [*title, *left, *right, *legend, *_glossary(column)]
    left += legend
    right += _glossary(column)
    height = max(len(left), len(right))
    left += [EMPTY] * (height - len(left))
    right += [EMPTY] * (height - len(right))
    pairs = zip(left, right, strict=True)
    return [*title, *(join(pad(one, column + 4), other) for one, other in pairs)]


def _group(group: ActionGroup, width: int) -> list[Line]:
    lines: list[Line] = [EMPTY, (Span(group, "title"),)]
    for command in GROUPS[group]:
        row = join(pad(show(key_label(command), "key"), KEYS), show(command.help))
        lines += wrap(row, width, " " * KEYS)
    return lines


def _glossary(width: int) -> list[Line]:
    drawn = [
        wrap(join(pad(show(word, "strong"), KEYS), show(text)), width, " " * KEYS)
        for word, text in GLOSSARY.items()
    ]
    return [EMPTY, (Span("Words", "title"),), *(line for lines in drawn for line in lines)]


def _signs(width: int) -> list[Line]:
    """Every sign with its meaning."""
    rows: list[tuple[str, str, str]] = [
        (glyphs.SHOWN, "visible.yes", "shown to the model"),
        ("◐", "visible.yes", "shown in part: cut, or only as a reference"),
        (glyphs.HIDDEN, "hidden", "not shown, still stored"),
        ("▼", "warn", "something left the window here"),
        ("┃", "limit", "the limit of the window"),
        ("▒ ░", "dim", "of the window: in the prompt but not in this file; reserved"),
        ("┄┄", "hidden", "a line that is not in the prompt"),
        ("…", "dim", "a text that is cut by the screen"),
        *((glyphs.OWNER[owner], f"owner.{owner}", f"{owner}: {text}") for owner, text in OWNERS.items()),
        *((glyphs.SEVERITY[each], f"severity.{each}", each) for each in Severity),
        *((glyphs.REF[each], REF_STYLE[each], f"reference {each}") for each in RefStatus),
        *(
            (glyphs.REACH_GLYPHS[each], glyphs.reach_style(each), f"a target: {glyphs.REACH_SENTENCES[each]}")
            for each in Reach
        ),
        ("▾ ▸", "dim", "open, folded"),
        ("+ ~", "changed.changed", "added; changed, also when it is now shown or now hidden"),
        ("−", "diff.removed", "gone"),
        ("≈", "warn", "an estimate; without it a figure is exact"),
        (f"{glyphs.LEVELS[0]} {glyphs.LEVELS[7]}", "decay.0", "decay and confidence from 0 to 1"),
        (
            glyphs.LEVELS[1::2],
            "decay.3",
            "a figure over the revisions; red where the block was hidden, pale for later ones",
        ),
        (
            f"{glyphs.MORE} {glyphs.LESS}",
            "warn",
            "more or less than at the previous revision, or than in the file",
        ),
        (
            f"{glyphs.DONE}─{glyphs.CURRENT}─{glyphs.OPEN}",
            "accent",
            "steps: done, current, open",
        ),
        (f"{glyphs.STUCK} {glyphs.DROPPED}", "warn", "blocked, dropped"),
        ("^[ <U+202E>", "escaped", "a control or invisible character, spelled out"),
    ]
    drawn = [
        wrap(join(pad(show(f"{_with_ascii(sign)} ", style), KEYS), show(text)), width, " " * KEYS)
        for sign, style, text in rows
    ]
    heading = join((Span("Signs", "title"),), show("and their spelling in ASCII", "dim"), gap="  ")
    return [EMPTY, heading, *(line for lines in drawn for line in lines)]


def _with_ascii(sign: str) -> str:
    """A sign and its substitute on a terminal without it."""
    spelled = "".join(map(ascii_sign, sign))
    return sign if spelled == sign else f"{sign}  {spelled}"


def _filter(width: int) -> list[Line]:
    rows = [
        (
            " ".join(FLAGS),
            "blocks with this property; changed: since the previous view, flagged: with a finding",
        ),
        (" ".join(f"{word}:" for word in WORDS), "the field contains the word; a,b means either"),
        (" ".join(NUMBERS), "and the figures of blocks, compared by > >= < <= =, as in decay>0.5"),
        ('"some text"', "in the id, type, tags or text; a word without quotes means the same"),
        ("!", "before any of these: the opposite"),
    ]
    drawn = [wrap(join(show(spelled, "key"), show(text), gap="  "), width, "    ") for spelled, text in rows]
    return [EMPTY, (Span("The filter (f)", "title"),), *(line for lines in drawn for line in lines)]
