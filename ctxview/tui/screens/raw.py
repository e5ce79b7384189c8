"""The raw view: the bytes of a file as numbered lines, with the span of an item marked.

Long lines are cut into pieces that fit, so that a file of one line can be read too; a piece is drawn only
when it becomes visible.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import ClassVar

from msgspec import Struct
from textual.widget import Widget

from ctxview.analysis.wording import counted
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import Origin
from ctxview.files.reading import ReadError
from ctxview.files.visible_text import is_safe
from ctxview.formats import Source
from ctxview.formats.masked_bytes import MaskedBytes, showable_bytes
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import Line, Span, fit, join, shorten, show
from ctxview.tui.job_runner import JobFinished
from ctxview.tui.model.action_table import READ_ONLY_ACTIONS
from ctxview.tui.model.jobs import Job, JobControl
from ctxview.tui.model.search import pattern
from ctxview.tui.screens.action_screen import ActionScreen, bindings
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.widgets.bars import KeyBar
from ctxview.tui.widgets.drawn_lines import RAIL
from ctxview.tui.widgets.strips import BarLine
from ctxview.tui.widgets.virtual_lines import VirtualLines

NOTHING_OPEN = "Nothing is open yet."
MOST_HITS = 10_000
TAB = "    "
TABBED = len(TAB)
WHILE_TYPING = 4_000_000
"""Characters up to which a file is searched while typing; larger files are searched at Enter."""


def open_origin(screen: InspectorScreen, place: Origin | None) -> None:
    """Open the raw view at `place`, or at the beginning of the shown revision."""
    source, view, key = screen.model.source, screen.view, screen.model.key
    if source is None:
        screen.say(NOTHING_OPEN)
        return
    file = place.file if place is not None else str(source.revisions[key.revision].file)
    load = partial(_shown_bytes, source, key.revision, file, screen.model.drafts.overlay(key.source))
    transcript = screen.model.transcript
    message = view.index.message_at(place) if view is not None and place is not None else None
    instead = (
        partial(transcript.raw, int(message.name))
        if transcript is not None and message is not None and source.abilities.redactor is None
        else None
    )
    screen.app.push_screen(RawScreen(file, load, place, screen.model.search.hits.needle, instead))


def _shown_bytes(source: Source, revision: int, file: str, drafts: Mapping[str, bytes]) -> MaskedBytes:
    """The masked bytes of a file: of its past revision, of its draft, or as it is on disk."""
    past = source.abilities.past
    if past is not None and past.read_only_reason(revision) is not None:
        return showable_bytes(source, file, past.bytes_at(revision, file))
    return showable_bytes(source, file, drafts[file] if file in drafts else source.bytes_of(file))


class RawText:
    """The text of a file with a marked byte range `span`; `first` is the number of its first line.

    Bytes that are not UTF-8 are kept, and shown as bytes.
    """

    def __init__(self, data: bytes, span: tuple[int, int] | None = None, first: int = 1) -> None:
        self.first = first
        try:
            self.text = data.decode()
            self.is_utf8 = True
        except UnicodeDecodeError:
            self.text = data.decode(errors="surrogateescape")
            self.is_utf8 = False
        self.size = len(data)
        self.lines = self.text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        self.widths = bytes(_widest(line) for line in self.lines)
        self.span: tuple[int, int] | None = None
        if span is not None:
            before, within = data[: span[0]], data[span[0] : span[1]]
            start = len(before.decode(errors="surrogateescape"))
            self.span = start, start + len(within.decode(errors="surrogateescape"))
        self._page: RawPage | None = None

    def page(self, width: int) -> RawPage:
        """The page for a width; the last one is cached, because that of a large file is slow."""
        if self._page is None or self._page.width != width:
            self._page = RawPage(self, width)
        return self._page

    def line_of(self, character: int) -> int:
        return bisect_right(self.starts, character) - 1

    def find(self, matches: re.Pattern[str]) -> list[int]:
        """The character offsets of the first matches."""
        return [match.start() for match in islice(matches.finditer(self.text), MOST_HITS)]


class RawPage(Page):
    """The pieces of the lines for one width."""

    def __init__(self, raw: RawText, width: int) -> None:
        self.width = width
        self._raw = raw
        self._gutter = len(str(len(raw.lines) + raw.first - 1)) + 1
        self._room = room = max(16, width - self._gutter - 1)
        lengths = (after - start - 1 for start, after in pairwise(raw.starts))
        sizes = (room // wide if wide != TABBED else self._size(line) for line, wide in enumerate(raw.widths))
        pieces = (-(-length // size) or 1 for length, size in zip(lengths, sizes, strict=True))
        self._last_rows = list(accumulate(pieces))
        super().__init__(self._last_rows[-1], lambda row: (self._piece_line(row),))

    def row_of(self, character: int) -> int:
        """The row that shows a character."""
        line = self._raw.line_of(character)
        first = self._last_rows[line - 1] if line else 0
        return min(
            first + (character - self._raw.starts[line]) // self._size(line), self._last_rows[line] - 1
        )

    def _size(self, line: int) -> int:
        """The number of characters of a line that certainly fit into one piece."""
        wide = self._raw.widths[line]
        if wide != TABBED:
            return self._room // wide
        return max(self._room // wide, self._room - self._raw.lines[line].count("\t") * (len(TAB) - 1))

    def _piece_line(self, row: int) -> Line:
        number = bisect_right(self._last_rows, row)
        piece = row - (self._last_rows[number - 1] if number else 0)
        size = self._size(number)
        line = self._raw.lines[number]
        start = piece * size
        label = f"{number + self._raw.first:>{self._gutter - 1}} " if piece == 0 else " " * self._gutter
        text = self._marked(line[start : start + size], self._raw.starts[number] + start)
        return join((Span(label, "dim"), Span("│" if piece == 0 else "┊", "faint")), fit(text, self._room))

    def _marked(self, text: str, at: int) -> Line:
        """A piece of text that starts at character `at`, with the span marked."""
        if self._raw.span is None:
            return show(text.replace("\t", TAB), "")
        begin, end = (min(max(edge - at, 0), len(text)) for edge in self._raw.span)
        parts = ((text[:begin], ""), (text[begin:end], "span"), (text[end:], ""))
        return join(*(show(part.replace("\t", TAB), style) for part, style in parts))


_PERHAPS_WIDE = lazy_pattern(r"[\u1100-\u115f\u231a-\u23ff\u25fd-\U0010ffff]")


def _widest(line: str) -> int:
    """The most cells of one character: two for wide ones, four for tabs, eight for those spelled out.

    Dashes, quotes, accents and arrows are not wide; of the rest only the Unicode block is looked at.
    """
    if line.isascii():
        return 1 if line.isprintable() else TABBED if line.replace("\t", "").isprintable() else 8
    if not is_safe(line):
        return 8
    return 2 if _PERHAPS_WIDE.search(line) else 1


class LoadedBytes(Struct, frozen=True):
    """A file for the raw view, and a note about what is not shown."""

    raw: RawText
    note: str


class LoadBytes(Job, frozen=True, eq=False):
    """Load the bytes of a file with the span of `origin`, laid out for a width.

    `instead` returns only the bytes of the origin, for a file that is too large.
    """

    group: ClassVar[str] = "reading"
    foreground: ClassVar[bool] = True
    load: Callable[[], MaskedBytes]
    origin: Origin | None
    instead: Callable[[], bytes] | None
    width: int

    def run(self, _: JobControl) -> LoadedBytes:
        origin = self.origin
        try:
            masked = self.load()
            span = None
            if origin is not None and origin.start is not None and origin.end is not None:
                span = masked.span(origin.start, origin.end)
            raw, note = RawText(masked.data, span), _withheld(masked)
        except ReadError as error:
            if self.instead is None:
                raise
            data = self.instead()
            line = origin.line if origin is not None and origin.line is not None else 1
            raw, note = RawText(data, (0, len(data)), line), f"only this line is shown: {error.reason}"
        raw.page(self.width)
        return LoadedBytes(raw, note)


class RawScreen(ActionScreen[None]):
    """The raw view of a file, opened at `origin`. `load` returns the masked bytes; it is called in a thread.

    `instead` returns only the bytes of the origin, for a file that is too large.
    """

    BINDINGS = bindings(READ_ONLY_ACTIONS)  # type: ignore[assignment]  # the toolkit asks for a list of several kinds
    known = READ_ONLY_ACTIONS

    def __init__(
        self,
        name: str,
        load: Callable[[], MaskedBytes],
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
        yield KeyBar(READ_ONLY_ACTIONS)

    def on_mount(self) -> None:
        self._lines.focus()
        self.jobs.start(LoadBytes(self._load, self._origin, self._instead, self.app.size.width - RAIL))

    def on_job_finished(self, message: JobFinished) -> None:
        match message.result:
            case LoadedBytes(raw, note):
                self._head.show_facts(raw, note)
                self._lines.show(raw, self._origin)
                if self._needle:
                    self.search_for(self._needle)
            case Exception() as error:
                self._lines.fail(str(error))

    def search_for(self, needle: str) -> Line:
        matches = pattern(needle)
        self._needle, self._hit = needle, -1
        self._lines.mark(matches)
        raw = self._lines.raw
        if raw is None or matches is None:
            self._hits = []
            return show("searches this file", "dim")
        if len(raw.text) > WHILE_TYPING and self.prompt is not None:
            return show("large file: press Enter to search it", "dim")
        self._hits = raw.find(matches)
        return show(
            f"{len(self._hits):,} found" if self._hits else "not found in this file",
            "ok" if self._hits else "warn",
        )

    def step_hit(self, *, back: bool) -> None:
        if self._needle and not self._hits:
            self.search_for(self._needle)
        if not self._hits:
            self.say("No hits." if self._needle else "No search yet: press / first.")
            return
        self._hit = (self._hit + (-1 if back else 1)) % len(self._hits)
        self._lines.go_to_character(self._hits[self._hit])
        self._head.update(f"hit {self._hit + 1:,} of {len(self._hits):,}")

    def copied_text(self) -> str:
        return self._lines.marked_text


def _withheld(masked: MaskedBytes) -> str:
    parts = (
        (masked.hidden, "span is withheld", "spans are withheld"),
        (masked.secrets, "secret is masked", "secrets are masked"),
    )
    return ", ".join(counted(number, one, more) for number, one, more in parts if number)


class RawTitle(BarLine):
    DEFAULT_CSS = "RawTitle { background: $panel; }"

    def __init__(self, name: str, origin: Origin | None) -> None:
        super().__init__()
        self._file = name
        self._pointer = origin.pointer if origin is not None else None
        self._text = "reading…"

    def show_facts(self, raw: RawText, note: str) -> None:
        kind = "UTF-8" if raw.is_utf8 else "not UTF-8: invalid bytes are shown as <U+DCxx>"
        facts = (note, f"{len(raw.lines):,} lines", f"{raw.size:,} bytes", kind)
        self.update(" · ".join(filter(None, facts)))

    def update(self, text: str) -> None:
        self._text = text
        self.refresh()

    def make_line(self, width: int) -> Line:
        brand: Line = (Span(" raw ", "brand"), Span(" "))
        name = show(shorten(self._file, max(12, width // 3)), "strong")
        return fit(
            join(brand, name, show(self._pointer or "", "code"), show(self._text, "dim"), gap="  "), width
        )


class RawLines(VirtualLines):
    """The lines of the file; they scroll and have no cursor."""

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
        text = (
            show(f"This file cannot be read: {self._problem}", "bad")
            if self._problem
            else show("Reading…", "dim")
        )
        return Page.of([fit(text, width)])
