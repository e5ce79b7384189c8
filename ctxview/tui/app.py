"""The application: builds the screens, applies themes and line filters, and asks before quitting."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from traceback import format_exc
from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.text import Text
from textual import events
from textual.filter import LineFilter
from textual.notifications import Notification, Notify, SeverityLevel
from textual.screen import Screen

from ctxview.analysis.tokens import use_counting_processes
from ctxview.config import DEFAULT_THEME, Config
from ctxview.files.visible_text import visible
from ctxview.formats.interface import NO_OPTIONS
from ctxview.tui import themes
from ctxview.tui.configured_keys import key_label, use_keymap
from ctxview.tui.drawing.text import show
from ctxview.tui.input_order import OrderedInput
from ctxview.tui.job_runner import UserPriority
from ctxview.tui.model.action_table import ACTIONS_BY_ID
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.jobs.load import Opener, PathOpener
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.replay import ReplayOptions
from ctxview.tui.model.view_state import ReadOptions
from ctxview.tui.screens.action_screen import OpenPath, UnsavedChanged
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.terminal import ABLE, ColourDepth, Terminal, appearance, filters_for
from ctxview.tui.widgets.strips import content

if TYPE_CHECKING:
    from ctxview.tui.model.start_entries import StartEntry
    from ctxview.tui.screens.start import DemoScreen

COLLECT_AFTER = 3.0
"""Seconds after which most objects in memory stay until the end."""
COLLECT_EVERY = 30.0
PAUSE = 3.0
"""Seconds between two passes over all objects, and how long no key must have come before one."""
NEW_OBJECTS = 10_000
NEVER = 1_000_000
SHORTEST_NOTICE = 0.1
"""Seconds that a notice stays when it ends just as a screen begins to show it."""


def run(
    paths: list[Path],
    config: Config,
    *,
    as_format: str | None = None,
    options: Mapping[str, str | int] = NO_OPTIONS,
    profile: str | None = None,
    show: ReplayOptions | None = None,
    opener: Opener | None = None,
    view: Pane = Pane.OVERVIEW,
) -> int:
    """Open the inspector on `paths`, or the start screen without any; return the exit code.

    `opener` opens something else than paths. With `show` the revisions of the first source are replayed;
    `view` is shown first. Raises `ThemeError` and `ConfigError`.
    """
    theme, terminal = appearance(config)
    keys = use_keymap(config.keys)
    start = PathOpener(paths, as_format, remembers=True) if paths else opener
    app = CtxviewApp(
        start,
        ReadOptions(config.tokens, options),
        profile,
        theme,
        show=show,
        view=view,
        watching=config.follow,
        terminal=terminal,
        home=Path.home() if config.home else None,
    )
    app.set_keymap(keys)
    use_counting_processes()
    app.run()
    return app.return_code or 0


class Notice(Notification):
    """A notification whose time never seems to be over while it is shown.

    The toolkit would start a timer over less than no time, which runs for ever and takes no more keys.
    """

    @property
    def time_left(self) -> float:
        return max(super().time_left, SHORTEST_NOTICE)

    @property
    def has_expired(self) -> bool:
        return super().time_left <= 0


class CtxviewApp(OrderedInput):
    TITLE = "ctxview"
    ENABLE_COMMAND_PALETTE = False

    CSS_PATH = "app.tcss"

    def __init__(
        self,
        opener: Opener | None,
        options: ReadOptions | None = None,
        profile: str | None = None,
        theme: str = DEFAULT_THEME,
        *,
        show: ReplayOptions | None = None,
        view: Pane = Pane.OVERVIEW,
        watching: bool = True,
        terminal: Terminal = ABLE,
        home: Path | None = None,
    ) -> None:
        """Without `opener` a person first chooses what to open, also below `home`.

        Without `watching` sources are reread only on request.
        """
        super().__init__()
        self._home = home
        self._watching = watching
        self._opener = opener
        self._options = options or ReadOptions()
        self._profile = profile
        self._terminal = terminal
        self.draws_letters = terminal.ascii or terminal.colours is ColourDepth.NONE
        self._priority = UserPriority()
        self._last_input = monotonic()
        self._show = show
        self._view = view
        themes.begin_with_theme(self, theme)

    def get_css_variables(self) -> dict[str, str]:
        """None for the toolkit's own theme, for which it asks before ours is set."""
        return super().get_css_variables() if hasattr(self, "stylesheet") else {}

    def get_default_screen(self) -> Screen[None]:
        if self._opener is not None:
            return self._inspector(self._opener)
        from ctxview.tui.screens.start import StartScreen

        return StartScreen(self.open_paths, self._home)

    def on_start_over(self) -> None:
        from ctxview.tui.screens.start import StartScreen

        self.push_screen(StartScreen(self.open_paths, self._home))

    def on_open_path(self, message: OpenPath) -> None:
        self.open_paths([message.path])

    def on_unsaved_changed(self, message: UnsavedChanged) -> None:
        """Let the page know, when the inspector is in a browser."""
        if self.is_web:
            from textual.drivers.web_driver import WebDriver

            if isinstance(self._driver, WebDriver):
                self._driver.write_meta({"type": "draft", "unsaved": message.unsaved})

    def on_start_demo(self) -> None:
        self.push_screen(self._demo())

    def _demo(self, *, at_once: bool = False) -> DemoScreen:
        from ctxview.samples import sample_paths
        from ctxview.tui.model.start_entries import story_entries
        from ctxview.tui.screens.start import DemoScreen

        return DemoScreen(story_entries(sample_paths()), self._on_stage, at_once=at_once)

    def open_paths(self, paths: Sequence[Path]) -> InspectorScreen:
        """Open an inspector from the start screen or by `:open`, and return it."""
        inspector = self._inspector(PathOpener(paths, remembers=True))
        self.push_screen(inspector)
        return inspector

    def _on_stage(self, story: StartEntry, ended: Callable[[], None]) -> InspectorScreen:
        show = replace(
            self._show or ReplayOptions(), stage=True, loop=False, opening=f"{story.name}: {story.about}."
        )
        model = InspectorModel(self._profile, self._options, PathOpener(story.paths), show, watching=False)
        model.shown.show(Pane.MEMORY)
        return InspectorScreen(model, self._priority, ended)

    def _inspector(self, opener: Opener) -> InspectorScreen:
        model = InspectorModel(self._profile, self._options, opener, self._show, watching=self._watching)
        model.shown.show(self._view)
        return InspectorScreen(model, self._priority)

    def on_mount(self) -> None:
        if not gc.isenabled():
            self.call_after_refresh(_collect_garbage_again)
            self.set_timer(COLLECT_AFTER, _collect_garbage_again)
            self.set_interval(COLLECT_EVERY, self._collect_old_garbage)

    def _collect_old_garbage(self) -> None:
        """Collect what the collection of new objects leaves, while no keys arrive."""
        if monotonic() - self._last_input > PAUSE:
            gc.collect()

    def get_line_filters(self) -> Sequence[LineFilter]:
        return filters_for(self._terminal, super().get_line_filters())

    def _fatal_error(self) -> None:
        """Print the traceback only: the toolkit would print all variables, with contents of files."""
        self.panic(Text(visible(format_exc(), keep_layout=True)))

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.InputEvent):
            self._priority.touched()
            self._last_input = monotonic()
        if isinstance(event, events.MouseDown):
            # Ignore a click on a widget that is painted but removed; the toolkit would need its parent.
            found, _ = self.screen.get_widget_and_offset_at(event.x, event.y)
            if found is not None and found.parent is None:
                return
        await super().on_event(event)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        **_: bool,
    ) -> None:
        """Show a notice; its text is never read as markup."""
        seconds = self.NOTIFICATION_TIMEOUT if timeout is None else timeout
        self.post_message(Notify(Notice(message, title, severity, seconds, markup=False)))

    def action_help_quit(self) -> None:
        """Say how to quit after Ctrl-C; the toolkit would name a key of its own."""
        key = key_label(ACTIONS_BY_ID["quit"])
        self.notify(content(show(f"Press {key} to quit.")).plain, markup=False)

    async def action_quit(self) -> None:
        """Quit; ask first when there are unsaved changes."""
        inspectors = (screen for screen in self.screen_stack if isinstance(screen, InspectorScreen))
        unsaved = [name for inspector in inspectors for name in inspector.model.drafts.unsaved]
        if not unsaved:
            self.exit()
            return
        from ctxview.tui.screens.dialogs import ConfirmDialog

        names = ", ".join(unsaved)
        question = ConfirmDialog(
            "Quit without saving?", yes="quit", no="stay", more=f"Unsaved changes: {names}"
        )
        self.push_screen(question, lambda confirmed: self.exit() if confirmed else None)


def _collect_garbage_again() -> None:
    """Collect only new objects from now on: a pass over all older ones would delay a key too long."""
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, 10, NEVER)
    gc.enable()


def run_demo(
    config: Config,
    show: ReplayOptions,
    *,
    options: Mapping[str, str | int] = NO_OPTIONS,
    profile: str | None = None,
) -> int:
    """Open the list of stories; a `show` that loops begins at once. Raises `ThemeError` and `ConfigError`."""
    theme, terminal = appearance(config)
    keys = use_keymap(config.keys)
    app = DemoApp(show, ReadOptions(config.tokens, options), profile, theme, terminal)
    app.set_keymap(keys)
    app.run()
    return app.return_code or 0


class DemoApp(CtxviewApp):
    def __init__(
        self,
        show: ReplayOptions,
        options: ReadOptions | None = None,
        profile: str | None = None,
        theme: str = DEFAULT_THEME,
        terminal: Terminal = ABLE,
    ) -> None:
        super().__init__(None, options, profile, theme, show=show, terminal=terminal)

    def get_default_screen(self) -> Screen[None]:
        at_once = self._show is not None and self._show.loop
        return self._demo(at_once=at_once)
