"""The index of the bundled stories: choose one, or have all of them played one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ctxview.tui.commands import BY_ID
from ctxview.tui.keys import shown
from ctxview.tui.offers import Offer
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.screens.start import PROMISE
from ctxview.tui.text import EMPTY, Line, Span, fit, join, pad, show, wrap
from ctxview.tui.things import Kind, Thing
from ctxview.tui.widgets.drawing import OneLine
from ctxview.tui.widgets.listing import Chooser
from ctxview.tui.widgets.page import Page

ABOUT = (
    "Each story is the life of an agent's context, read from plain files: blocks are added, fade, are hidden "
    "from the model, promoted, lost. The lines below it say what happens and why it matters."
)
WHILE_IT_PLAYS = (
    (("play",), "pause, and play on"),
    (("earlier", "later"), "one step back or forth"),
    (("next_event",), "on to where something matters"),
    (("faster", "slower"), "faster, slower"),
    (("down", "up", "enter", "diff", "help"), "look around: any key pauses"),
    (("back",), "back to this list"),
)
NAME = 20

Stage = Callable[[Offer, Callable[[], None]], Inspector]
"""Makes the inspector that plays a story, and tells when it is over."""


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

    def __init__(self, stories: Sequence[Offer], stage: Stage, *, at_once: bool = False) -> None:
        super().__init__()
        self._stories = list(stories)
        self._stage = stage
        self._at_once = at_once
        self._playing_all = False
        self._now = 0
        self._inspector: Inspector | None = None

    def compose(self) -> ComposeResult:
        yield _Title()
        yield _Stories(self._page)
        yield _Keys()

    def on_mount(self) -> None:
        chooser = self.query_one(_Stories)
        chooser.focus()
        if self._at_once:
            self.call_after_refresh(self.action_play_all)

    def on_virtual_lines_chosen(self) -> None:
        self.action_play()

    def action_play(self) -> None:
        thing = self.query_one(_Stories).thing
        if thing is not None:
            self._playing_all = False
            self._play(int(thing.name))

    def action_play_all(self) -> None:
        """One after the other, from the one the cursor is on, over and over."""
        thing = self.query_one(_Stories).thing
        self._playing_all = True
        self._play(int(thing.name) if thing is not None else 0)

    def _play(self, number: int) -> None:
        self._now = number
        self._inspector = self._stage(self._stories[number], self._ended)
        self.app.push_screen(self._inspector)

    def _ended(self) -> None:
        if self._playing_all:
            self.app.call_later(self._play_next)

    async def _play_next(self) -> None:
        if self._inspector is not None and self._inspector.is_current:
            await self._inspector.dismiss()
            self._play((self._now + 1) % len(self._stories))

    def _page(self, cells: int) -> Page:
        rows = [_row(each, cells) for each in self._stories]
        told: list[Line] = [EMPTY, *wrap(show(ABOUT, "dim"), min(cells, 100))]
        told += [EMPTY, show("While it plays", "title")]
        told += [
            join(pad(show(f"  {_keys(names)}", "key"), NAME), show(does, "dim"))
            for names, does in WHILE_IT_PLAYS
        ]
        drawn = [*rows, *([line] for line in told)]
        things = [Thing(Kind.WHOLE, str(at)) for at in range(len(rows))]
        return Page(
            len(drawn),
            lambda row: drawn[row],
            lambda row: things[row] if row < len(things) else None,
            [len(lines) for lines in drawn],
        )


def _keys(names: Sequence[str]) -> str:
    return " ".join(shown(BY_ID[name]).split()[0] for name in names)


def _row(story: Offer, cells: int) -> list[Line]:
    return wrap(join(pad(show(f"▶ {story.name}", "strong"), NAME), show(story.about)), cells, " " * NAME)


class _Stories(Chooser):
    """The cursor stays on the stories; what is told below them is only read."""

    def move_to(self, row: int) -> None:
        last = max((at for at in range(self.page.rows) if self.page.thing(at) is not None), default=0)
        super().move_to(min(row, last))


class _Title(OneLine):
    DEFAULT_CSS = "_Title { background: $panel; }"

    def make_line(self, width: int) -> Line:
        return fit(join((Span(" ctxview ", "brand"),), show(PROMISE), gap="  "), width)


class _Keys(OneLine):
    DEFAULT_CSS = "_Keys { background: $panel; }"

    def make_line(self, width: int) -> Line:
        keys = (
            ("Enter", "play this story", "screen.play"),
            ("a", "play all, over and over", "screen.play_all"),
            ("j k", "move", ""),
            ("q", "quit", "app.quit"),
        )
        spans = (
            span
            for key, told, action in keys
            for span in (Span(key, "key", action), Span(f" {told}   ", "dim", action))
        )
        return fit((Span(" "), *spans), width)
