"""The start screen with files to open, and the screen of the demo with its stories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from ctxview.formats.registry import formats
from ctxview.samples import sample_paths
from ctxview.tui.configured_keys import key_label
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, shorten, show, width, wrap
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.start_entries import (
    StartEntry,
    nearby_entries,
    recent_entries,
    recent_paths,
    sample_entries,
)
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.widgets.strips import BarLine
from ctxview.tui.widgets.virtual_lines import Chooser

TAGLINE = "See what your agent knows, what it was shown, and what it lost."
SECTIONS = ("Nearby", "Recent", "Samples")


class StartScreen(Screen[None]):
    """Offers nearby, recent and sample files; `open_paths` is called with the chosen one."""

    DEFAULT_CSS = """
    StartScreen { background: $background; layout: vertical; }
    StartScreen _Entries { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l,right,o", "choose", "open"),
        Binding("question_mark,f1", "help", "help"),
        Binding("q,escape", "app.quit", "quit"),
    ]

    class NearbyFound(Message):
        """The entries found nearby, and a remark on the search."""

        def __init__(self, entries: list[StartEntry], remark: str) -> None:
            super().__init__()
            self.entries = entries
            self.remark = remark

    def __init__(self, open_paths: Callable[[Sequence[Path]], None], folder: Path | None = None) -> None:
        super().__init__()
        self._open_paths = open_paths
        self._folder = folder if folder is not None else Path()
        self._nearby: list[StartEntry] = []
        self._remark = "searching …"
        self._recent_and_samples: list[StartEntry] = []

    def compose(self) -> ComposeResult:
        yield _Title()
        yield _Entries(self._page)
        yield _Keys()

    def on_mount(self) -> None:
        self._recent_and_samples = [*recent_entries(recent_paths()), *sample_entries(sample_paths())]
        self.chooser.reset()
        self.chooser.move_end(last=False)
        self.chooser.focus()
        self.run_worker(self._search_nearby, thread=True, name="searching nearby")

    @property
    def chooser(self) -> Chooser:
        return self.query_one(_Entries)

    @property
    def entries(self) -> list[StartEntry]:
        """All entries, in the order of the list."""
        return [*self._nearby, *self._recent_and_samples]

    def on_start_screen_nearby_found(self, message: NearbyFound) -> None:
        first = self.chooser.item == _item(self.entries[0])
        self._nearby, self._remark = message.entries, message.remark
        self.chooser.reset()
        if first:
            self.chooser.move_end(last=False)

    def on_virtual_lines_chosen(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        chosen = next((each for each in self.entries if _item(each) == self.chooser.item), None)
        if chosen is not None:
            self._open_paths(chosen.paths)

    def action_help(self) -> None:
        from ctxview.tui.screens.help import HelpScreen

        self.app.push_screen(HelpScreen())

    def _search_nearby(self) -> None:
        entries, remark = nearby_entries(self._folder)
        if not get_current_worker().is_cancelled:
            self.post_message(self.NearbyFound(entries, remark))

    def _rows(self) -> list[_Row]:
        rows = [_Row(_heading("Nearby", self._remark))]
        for section in SECTIONS:
            entries = [each for each in self.entries if each.section == section]
            if entries and section != "Nearby":
                rows += [_Row(EMPTY), _Row(_heading(section))]
            rows += [_Row(EMPTY, each) for each in entries]
        return rows

    def _page(self, cells: int) -> Page:
        rows = self._rows()
        column = min(max((width(show(each.name)) for each in self.entries), default=0), cells // 2)
        lines: list[Line] = []
        for row in rows:
            line = row.line
            if (entry := row.entry) is not None:
                name = pad(show(f"  {shorten(entry.name, column)}", "strong"), column + 4)
                line = fit(join(name, show(entry.about, "dim")), cells)
            lines.append(line)
        return Page.of([*lines, *_formats(cells)], [row.item for row in rows])


class _Row(Struct, frozen=True):
    """An entry, or a heading."""

    line: Line
    entry: StartEntry | None = None

    @property
    def item(self) -> ItemId | None:
        return _item(self.entry) if self.entry is not None else None


class _Entries(Chooser):
    """A list whose cursor skips the rows without an entry."""

    def move_to(self, row: int) -> None:
        row = min(max(row, 0), self.page.rows - 1)
        ahead = range(row, self.page.rows) if row >= self.cursor else range(row, -1, -1)
        back = range(row, -1, -1) if row >= self.cursor else range(row, self.page.rows)
        super().move_to(next((each for each in (*ahead, *back) if self.page.item(each) is not None), row))
        self._show_heading()

    def on_resize(self) -> None:
        super().on_resize()
        self._show_heading()

    def _show_heading(self) -> None:
        """Scroll to the top if the cursor is on the first entry, so that its heading is visible."""
        if not any(self.page.item(row) for row in range(self.cursor)):
            self.show_line(0)


class _Title(BarLine):
    def make_line(self, width: int) -> Line:
        return fit(join((Span(" ctxview ", "brand"),), show(TAGLINE), gap="  "), width)


class _Keys(BarLine):
    DEFAULT_CSS = "_Keys { background: $panel; }"

    def make_line(self, width: int) -> Line:
        keys = (
            ("Enter", "open", "screen.choose"),
            ("j k", "move", ""),
            ("?", "help", "screen.help"),
            ("q", "quit", "app.quit"),
        )
        return _key_line(keys, width)


def _key_line(keys: Sequence[tuple[str, str, str]], width: int) -> Line:
    """Keys with their labels and the actions of a click."""
    spans = (
        span
        for key, label, action in keys
        for span in (Span(key, "key", action), Span(f" {label}   ", "dim", action))
    )
    return fit((Span(" "), *spans), width)


def _item(entry: StartEntry) -> ItemId:
    return ItemId(ItemKind.WHOLE, f"{entry.section} {entry.name} {entry.paths[0]}")


def _heading(section: str, remark: str = "") -> Line:
    return join(show(section, "title"), show(remark, "dim"), gap="  ")


def _formats(cells: int) -> list[Line]:
    """The formats that can be opened, for new users."""
    lines: list[Line] = [EMPTY, show("What ctxview opens", "title")]
    for spec in formats():
        text = join(
            pad(show(f"  {spec.name}", "rule"), 14), show(f"{spec.title}: {spec.recognised_by}", "dim")
        )
        lines += wrap(text, cells, " " * 14)
    return lines


ABOUT = (
    "Each story replays the context of an agent, read from plain files: blocks are added, decay, are hidden "
    "from the model, promoted, lost. The captions below the panes say what happens and why it matters."
)
KEYS_WHILE_PLAYING = (
    (("play",), "pause or continue"),
    (("earlier", "later"), "one revision back or forward"),
    (("next_event",), "next important event"),
    (("faster", "slower"), "faster, slower"),
    (("down", "up", "enter", "diff", "help"), "explore: any key pauses"),
    (("back",), "back to this list"),
)
NAME = 20

DemoStage = Callable[[StartEntry, Callable[[], None]], InspectorScreen]
"""Return the inspector that plays a story; the callback is called when the story ends."""


class DemoScreen(Screen[None]):
    DEFAULT_CSS = """
    DemoScreen { background: $background; layout: vertical; }
    DemoScreen _Stories { height: 1fr; padding: 1 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,l,right,space", "play", "play"),
        Binding("a", "play_all", "play all"),
        Binding("q,escape", "app.quit", "quit"),
    ]

    def __init__(self, stories: Sequence[StartEntry], stage: DemoStage, *, at_once: bool = False) -> None:
        super().__init__()
        self._stories = list(stories)
        self._stage = stage
        self._plays_at_once = at_once
        self._playing_all = False
        self._current = 0
        self._inspector: InspectorScreen | None = None

    def compose(self) -> ComposeResult:
        yield _DemoTitle()
        yield _Stories(self._page)
        yield _DemoKeys()

    def on_mount(self) -> None:
        chooser = self.query_one(_Stories)
        chooser.focus()
        if self._plays_at_once:
            self.call_after_refresh(self.action_play_all)

    def on_virtual_lines_chosen(self) -> None:
        self.action_play()

    def action_play(self) -> None:
        item = self.query_one(_Stories).item
        if item is not None:
            self._playing_all = False
            self._play(int(item.name))

    def action_play_all(self) -> None:
        """Play all stories in a loop, starting with the one under the cursor."""
        item = self.query_one(_Stories).item
        self._playing_all = True
        self._play(int(item.name) if item is not None else 0)

    def _play(self, number: int) -> None:
        self._current = number
        self._inspector = self._stage(self._stories[number], self._story_ended)
        self.app.push_screen(self._inspector)

    def _story_ended(self) -> None:
        if self._playing_all:
            self.app.call_later(self._play_next)

    async def _play_next(self) -> None:
        if self._inspector is not None and self._inspector.is_current:
            await self._inspector.dismiss()
            self._play((self._current + 1) % len(self._stories))

    def _page(self, cells: int) -> Page:
        rows = [
            wrap(join(pad(show(f"▶ {each.name}", "strong"), NAME), show(each.about)), cells, " " * NAME)
            for each in self._stories
        ]
        notes: list[Line] = [EMPTY, *wrap(show(ABOUT, "dim"), min(cells, 100))]
        notes += [EMPTY, show("While it plays", "title")]
        for actions, does in KEYS_WHILE_PLAYING:
            keys = " ".join(key_label(ACTIONS_BY_ID[action]).split()[0] for action in actions)
            notes.append(join(pad(show(f"  {keys}", "key"), NAME), show(does, "dim")))
        drawn = [*rows, *([line] for line in notes)]
        items = [ItemId(ItemKind.WHOLE, str(at)) for at in range(len(rows))]
        return Page(
            len(drawn),
            lambda row: drawn[row],
            lambda row: items[row] if row < len(items) else None,
            [len(lines) for lines in drawn],
        )


class _Stories(Chooser):
    """A list whose cursor stays on the stories, above the notes."""

    def move_to(self, row: int) -> None:
        last = max((at for at in range(self.page.rows) if self.page.item(at) is not None), default=0)
        super().move_to(min(row, last))


class _DemoTitle(_Title):
    DEFAULT_CSS = "_DemoTitle { background: $panel; }"


class _DemoKeys(BarLine):
    DEFAULT_CSS = "_DemoKeys { background: $panel; }"

    def make_line(self, width: int) -> Line:
        keys = (
            ("Enter", "play this story", "screen.play"),
            ("a", "play all in a loop", "screen.play_all"),
            ("j k", "move", ""),
            ("q", "quit", "app.quit"),
        )
        return _key_line(keys, width)
