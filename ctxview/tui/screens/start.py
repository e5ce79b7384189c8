"""The start screen with files to open, and the screen of the demo with its stories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ctxview.samples import sample_paths
from ctxview.tui.configured_keys import key_label
from ctxview.tui.drawing.page import Page
from ctxview.tui.drawing.start_list import columns_of, entry_lines, format_lines, heading
from ctxview.tui.drawing.text import EMPTY, Line, Span, fit, join, pad, show, wrap
from ctxview.tui.job_runner import JobFinished
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.model.command_line import Command, CommandKind
from ctxview.tui.model.reading_index import ItemId, ItemKind
from ctxview.tui.model.start_entries import (
    FIRST_STEPS,
    EntriesFound,
    FindEntries,
    StartEntry,
    sample_entries,
)
from ctxview.tui.screens.action_screen import ActionScreen, StartDemo, bindings
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.widgets.strips import BarLine
from ctxview.tui.widgets.virtual_lines import Chooser

TAGLINE = "See what your agent knows, what it was shown, and what it lost."
ABOUT_CONTEXTS = (
    "A context is all that a model is given to answer: rules, memory, messages.",
    "Its window is limited: parts are hidden, cut, lost. See which, when and why.",
)
SECTIONS = ("Nearby", "At home", "Recent", "First steps", "Samples")

KNOWN = frozenset(("palette", "theme", "screenshot", "help", "quit", "tour"))


class StartScreen(ActionScreen[None]):
    """Offers nearby, recent and sample files; `open_paths` is called with the chosen one."""

    DEFAULT_CSS = """
    StartScreen { background: $background; layout: vertical; }
    StartScreen _Entries { height: 1fr; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(KNOWN),
        Binding("enter,l,right,o", "choose", "open"),
        Binding("escape", "app.quit", "quit"),
    ]
    known = KNOWN

    def __init__(self, open_paths: Callable[[Sequence[Path]], object], home: Path | None = None) -> None:
        """`home`: where sources of programs are looked for, or None."""
        super().__init__()
        self._home = home
        self._open_paths = open_paths
        self._found: list[StartEntry] = []
        self._remark = "searching …"
        self._samples = sample_entries(sample_paths())

    def compose(self) -> ComposeResult:
        yield _Title()
        yield _Entries(self._page)
        yield _Keys()

    def on_mount(self) -> None:
        self.chooser.reset()
        self.chooser.move_end(last=False)
        self.chooser.focus()
        self.jobs.start(FindEntries(self._home, self._samples))

    @property
    def own_actions(self) -> Mapping[str, Callable[[], object]]:
        return {"tour": self._start_tour}

    @property
    def chooser(self) -> Chooser:
        return self.query_one(_Entries)

    @property
    def entries(self) -> list[StartEntry]:
        """All entries, in the order of the list."""
        return [*self._found, *FIRST_STEPS, *self._samples]

    @property
    def commands(self) -> list[Command]:
        return [
            Command(CommandKind.PATH, f"{each.group} {each.name}".strip(), each.about, str(each.paths[0]))
            for each in self.entries
            if len(each.paths) == 1
        ]

    def on_job_finished(self, message: JobFinished) -> None:
        found = message.result
        if isinstance(found, Exception):
            self.say(str(found), severity="error", title=f"{message.job.group} failed")
        if not isinstance(found, EntriesFound):
            return
        was_first = self.chooser.item == _item(self.entries[0])
        self._found, self._remark = [*found.nearby, *found.recent], found.remark
        self.chooser.reset()
        if was_first:
            self.chooser.move_end(last=False)

    def on_virtual_lines_chosen(self) -> None:
        self.action_choose()

    def action_choose(self) -> None:
        chosen = next((each for each in self.entries if _item(each) == self.chooser.item), None)
        if chosen is None:
            return
        if chosen.paths:
            self._open_paths(chosen.paths)
        elif chosen.action == "demo":
            self.post_message(StartDemo())
        elif chosen.action == "tour":
            self._start_tour()
        else:
            self.command_begun = "open "
            self.call_later(self.action_command, "palette")

    def _start_tour(self) -> None:
        """Open the first sample, and start the tour on it."""
        from ctxview.tui.screens.tour import TourScreen

        inspector = self._open_paths(self._samples[1].paths)
        if isinstance(inspector, InspectorScreen):
            self.app.call_after_refresh(self.app.push_screen, TourScreen(inspector))

    def _rows(self, cells: int) -> list[_Row]:
        about = [line for text in ABOUT_CONTEXTS for line in wrap(show(text, "dim"), cells)]
        rows = [*map(_Row, about), _Row(EMPTY), _Row(heading("Found here:", self._remark))]
        group = ""
        for section in SECTIONS:
            entries = [each for each in self.entries if each.section == section]
            if entries and section != "Nearby":
                rows += [_Row(EMPTY), _Row(heading(section))]
            for each in entries:
                if each.group and each.group != group:
                    rows.append(_Row(show(f"  {each.group}", "label")))
                group = each.group
                rows.append(_Row(EMPTY, each))
        return rows

    def _page(self, cells: int) -> Page:
        rows = self._rows(cells)
        columns = {
            section: columns_of([each for each in self.entries if each.section == section], cells)
            for section in SECTIONS
        }
        drawn: list[Sequence[Line]] = [
            entry_lines(row.entry, columns[row.entry.section], cells) if row.entry else (row.line,)
            for row in rows
        ]
        drawn += [(line,) for line in format_lines(cells)]
        return Page(
            len(drawn),
            lambda row: drawn[row],
            lambda row: rows[row].item if row < len(rows) else None,
            [len(lines) for lines in drawn],
        )


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
            (":", "command", "screen.command('palette')"),
            ("?", "help", "screen.command('help')"),
            QUIT,
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
    return ItemId(ItemKind.WHOLE, f"{entry.section} {entry.name} {entry.paths}")


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
QUIT = ("q", "quit", "app.quit")

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
        Binding("q,escape", "leave", "leave"),
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

    async def action_leave(self) -> None:
        """Go back to the start screen, or quit when the demo is all that was asked for."""
        if self.app.screen_stack[0] is self:
            await self.app.action_quit()
        else:
            self.dismiss()

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
            ("q", "back", "screen.leave") if self.app.screen_stack[0] is not self.screen else QUIT,
        )
        return _key_line(keys, width)
