"""The application: themes, the back-stop against control characters, leaving."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from traceback import format_exc

from rich.text import Text
from textual import events
from textual.app import App
from textual.filter import LineFilter
from textual.screen import Screen

from ctxview import theme_files
from ctxview.analysis.tokens import count_apart
from ctxview.config import Config
from ctxview.files.visible import visible
from ctxview.recents import note
from ctxview.tui import themes
from ctxview.tui.filters import filters_for
from ctxview.tui.keys import use
from ctxview.tui.layouts import Layouts
from ctxview.tui.loading import Manner, Opener
from ctxview.tui.opening import Opening
from ctxview.tui.player import Show
from ctxview.tui.precedence import Precedence
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.terminal import ABLE, Terminal, appearance
from ctxview.tui.text import content
from ctxview.tui.text import show as line

SETTLED = 3.0
"""Seconds after which most of what is in memory is there for good."""


def run(
    paths: list[Path],
    config: Config,
    *,
    as_format: str | None = None,
    mode: str | None = None,
    profile: str | None = None,
    show: Show | None = None,
) -> int:
    """Opens the inspector on `paths`, or the start screen without any; returns the exit code.

    With a `show` the revisions of the first of them are played.
    Raises `BadTheme` and `ConfigError`.
    """
    theme, terminal = appearance(config)
    keys = use(config.keys)
    if paths:
        _note(paths)
    start = Opening(paths, as_format) if paths else None
    manner = Manner(config.tokens, mode)
    app = CtxviewApp(
        start,
        manner,
        profile,
        theme,
        show=show,
        watching=config.follow,
        terminal=terminal,
        layouts=Layouts.load(),
    )
    app.set_keymap(keys)
    count_apart()
    app.run()
    return app.return_code or 0


class CtxviewApp(App[None]):
    TITLE = "ctxview"
    ENABLE_COMMAND_PALETTE = False

    CSS_PATH = "app.tcss"

    def __init__(
        self,
        opener: Opener | None,
        manner: Manner | None = None,
        profile: str | None = None,
        theme: str = theme_files.DEFAULT,
        *,
        show: Show | None = None,
        watching: bool = True,
        terminal: Terminal = ABLE,
        layouts: Layouts | None = None,
    ) -> None:
        """Without an opener a person chooses first what to open.

        Without `watching` nothing is looked at again unless somebody asks for it; without `layouts` the sizes
        of panes are forgotten.
        """
        super().__init__()
        self._watching = watching
        self._opener = opener
        self._manner = manner or Manner()
        self._profile = profile
        self._terminal = terminal
        self._layouts = layouts
        self._precedence = Precedence()
        self._show = show
        themes.turn_to(self, theme)

    def get_default_screen(self) -> Screen[None]:
        if self._opener is not None:
            return self._inspector(self._opener)
        from ctxview.tui.screens.start import StartScreen

        return StartScreen(self.open_paths)

    def start_over(self) -> None:
        """From an inspector to the start screen."""
        from ctxview.tui.screens.start import StartScreen

        self.push_screen(StartScreen(self.open_paths))

    def open_paths(self, paths: Sequence[Path]) -> None:
        """From the start screen to the inspector."""
        _note(paths)
        self.push_screen(self._inspector(Opening(paths)))

    def _inspector(self, opener: Opener) -> Inspector:
        return Inspector(
            opener,
            self._manner,
            self._profile,
            self._precedence,
            self._show,
            watching=self._watching,
            layouts=self._layouts,
        )

    def on_mount(self) -> None:
        if not gc.isenabled():
            self.call_after_refresh(_look_for_garbage_again)
            self.set_timer(SETTLED, _look_for_garbage_again)
        if self._layouts is not None and self._layouts.problem:
            self.notify(
                content(line(self._layouts.problem)).plain, title="layout", severity="warning", markup=False
            )

    def get_line_filters(self) -> Sequence[LineFilter]:
        return filters_for(self._terminal, super().get_line_filters())

    def _fatal_error(self) -> None:
        """Something nobody foresaw. The toolkit would print all variables, contents of files among them."""
        self.panic(Text(visible(format_exc(), keep_layout=True)))

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent):
            self._precedence.touched()
        if not (isinstance(event, events.MouseDown) and self._hits_what_is_gone(event)):
            await super().on_event(event)

    def _hits_what_is_gone(self, event: events.MouseDown) -> bool:
        """Whether what is still painted there was taken away; the toolkit would look for its parent."""
        found, _ = self.screen.get_widget_and_offset_at(event.x, event.y)
        return found is not None and found.parent is None

    def on_key(self, event: events.Key) -> None:
        if isinstance(self.screen, CommandScreen):
            self.screen.pass_on(event)

    async def action_quit(self) -> None:
        """Asks first when something would be lost."""
        inspectors = (screen for screen in self.screen_stack if isinstance(screen, Inspector))
        unsaved = [name for inspector in inspectors for name in inspector.drafts.unsaved]
        if not unsaved:
            self.exit()
            return
        from ctxview.tui.screens.question import Question

        names = ", ".join(unsaved)
        question = Question("Leave without saving?", yes="leave", no="stay", more=f"Unsaved changes: {names}")
        self.push_screen(question, lambda leave: self.exit() if leave else None)


def _look_for_garbage_again() -> None:
    """Only among what comes from now on: a look through all the rest makes a key wait longer than it may."""
    gc.freeze()
    gc.enable()


def _note(paths: Sequence[Path]) -> None:
    """Nobody waits until the disk has it."""
    Thread(target=note, args=(paths,), name="noting what was opened").start()
