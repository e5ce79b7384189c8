"""The raw view: the very bytes something comes from, with their line numbers, and nothing that could act."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from textual.message import Message
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from ctxview.analysis.wording import counted
from ctxview.files.reading import Unreadable
from ctxview.state import Origin
from ctxview.tui.commands import READING, bindings
from ctxview.tui.raw_text import RawPage, RawText
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.search import pattern
from ctxview.tui.text import Line, Span, fit, join, shorten, show
from ctxview.tui.veil import Veiled
from ctxview.tui.widgets.drawing import OneLine
from ctxview.tui.widgets.drawn_lines import RAIL
from ctxview.tui.widgets.key_bar import KeyBar
from ctxview.tui.widgets.page import Page
from ctxview.tui.widgets.virtual_lines import VirtualLines

WHILE_TYPING = 4_000_000
"""Larger files are searched when Enter is pressed."""


class RawScreen(CommandScreen[None]):
    """`load` gives what may be shown; it is called in a thread. Opens at `origin` where that says a place.

    `instead` gives only the bytes of the place, for when the whole file is too large.
    """

    BINDINGS = bindings(READING)  # type: ignore[assignment]  # the toolkit asks for a list of several kinds
    known = READING

    class Loaded(Message):
        def __init__(self, raw: RawText, note: str) -> None:
            super().__init__()
            self.raw = raw
            self.note = note

    def __init__(
        self,
        name: str,
        load: Callable[[], Veiled],
        origin: Origin | None,
        needle: str = "",
        instead: Callable[[], bytes] | None = None,
    ) -> None:
        super().__init__()
        self._head = RawTitle(name, origin)
        self._lines = RawLines()
        self._load = load
        self._instead = instead
        self._origin = origin
        self._needle = needle
        self._hits: list[int] = []
        self._hit = -1

    def compose(self) -> Iterator[Widget]:
        yield self._head
        yield self._lines
        yield KeyBar(READING)

    def on_mount(self) -> None:
        self._lines.focus()
        self.run_worker(self._read, name="reading", thread=True, exit_on_error=False)

    def _read(self) -> None:
        origin = self._origin
        try:
            veiled = self._load()
            raw, note = RawText(veiled.data, _span(veiled, origin)), _withheld(veiled)
        except Unreadable as error:
            if self._instead is None:
                raise
            data = self._instead()
            line = origin.line if origin is not None and origin.line is not None else 1
            raw, note = RawText(data, (0, len(data)), line), f"only this line is shown: {error.reason}"
        raw.page(self.app.size.width - RAIL)
        self.post_message(self.Loaded(raw, note))

    def on_raw_screen_loaded(self, message: Loaded) -> None:
        raw = message.raw
        self._head.tell(raw, message.note)
        self._lines.show(raw, self._origin)
        if self._needle:
            self.look_for(self._needle)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._lines.fail(str(event.worker.error))

    def look_for(self, needle: str) -> Line:
        matches = pattern(needle)
        self._needle, self._hit = needle, -1
        self._lines.mark(matches)
        raw = self._lines.raw
        if raw is None or matches is None:
            self._hits = []
            return show("searches this file", "dim")
        if len(raw.text) > WHILE_TYPING and self.prompt is not None:
            return show("a large file: Enter searches it", "dim")
        self._hits = raw.find(matches)
        return show(
            f"{len(self._hits):,} found" if self._hits else "nowhere in this file",
            "ok" if self._hits else "warn",
        )

    def step_hit(self, *, back: bool) -> None:
        if self._needle and not self._hits:
            self.look_for(self._needle)
        if not self._hits:
            self.say("Nothing was found." if self._needle else "Nothing is searched for yet: press / first.")
            return
        self._hit = (self._hit + (-1 if back else 1)) % len(self._hits)
        self._lines.go_to_character(self._hits[self._hit])
        self._head.say(f"hit {self._hit + 1:,} of {len(self._hits):,}")

    def copied_text(self) -> str:
        return self._lines.marked_text


def _span(veiled: Veiled, origin: Origin | None) -> tuple[int, int] | None:
    if origin is None or origin.start is None or origin.end is None:
        return None
    return veiled.span(origin.start, origin.end)


def _withheld(veiled: Veiled) -> str:
    parts = (
        (veiled.hidden, "stretch is withheld", "stretches are withheld"),
        (veiled.secrets, "secret is masked", "secrets are masked"),
    )
    return ", ".join(counted(number, one, more) for number, one, more in parts if number)


class RawTitle(OneLine):
    DEFAULT_CSS = "RawTitle { background: $panel; }"

    def __init__(self, name: str, origin: Origin | None) -> None:
        super().__init__()
        self._file = name
        self._pointer = origin.pointer if origin is not None else None
        self._said = "reading…"

    def tell(self, raw: RawText, note: str) -> None:
        kind = "UTF-8" if raw.is_utf8 else "not UTF-8: such bytes are shown as <U+DCxx>"
        told = (note, f"{len(raw.lines):,} lines", f"{raw.size:,} bytes", kind)
        self.say(" · ".join(filter(None, told)))

    def say(self, text: str) -> None:
        self._said = text
        self.refresh()

    def make_line(self, width: int) -> Line:
        brand: Line = (Span(" raw ", "brand"), Span(" "))
        name = show(shorten(self._file, max(12, width // 3)), "strong")
        return fit(
            join(brand, name, show(self._pointer or "", "code"), show(self._said, "dim"), gap="  "), width
        )


class RawLines(VirtualLines):
    """The file itself; scrolls, has no cursor."""

    DEFAULT_CSS = "RawLines { height: 1fr; background: $surface; }"
    has_cursor = False

    def __init__(self) -> None:
        super().__init__()
        self.raw: RawText | None = None
        self._problem = ""

    def show(self, raw: RawText, origin: Origin | None) -> None:
        self.raw = raw
        self.reset()
        if raw.span is not None:
            self.go_to_character(raw.span[0])
        elif origin is not None and origin.line is not None:
            self.go_to_character(raw.starts[min(origin.line, len(raw.lines)) - 1])

    def fail(self, reason: str) -> None:
        self._problem = reason
        self.reset()

    def go_to_character(self, character: int) -> None:
        page = self.page
        if isinstance(page, RawPage):
            self.show_line(max(0, page.row_of(character) - self.size.height // 3))

    @property
    def marked_text(self) -> str:
        if self.raw is None or self.raw.span is None:
            return ""
        return self.raw.text[slice(*self.raw.span)]

    def make_page(self, width: int) -> Page:
        if self.raw is not None:
            return self.raw.page(width)
        said = (
            show(f"This could not be read: {self._problem}", "bad")
            if self._problem
            else show("Reading…", "dim")
        )
        return Page.of([fit(said, width)])
