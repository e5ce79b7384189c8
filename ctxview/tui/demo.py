"""The demonstration: an index of the bundled stories, and a stage on which they are played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from textual.screen import Screen

from ctxview import theme_files
from ctxview.config import Config
from ctxview.samples import sample_paths
from ctxview.tui.app import CtxviewApp
from ctxview.tui.keys import use
from ctxview.tui.loading import Manner
from ctxview.tui.offers import Offer, stories
from ctxview.tui.opening import Opening
from ctxview.tui.player import Show
from ctxview.tui.screens.demo import DemoScreen
from ctxview.tui.screens.inspector import Inspector
from ctxview.tui.terminal import ABLE, Terminal, appearance


def run_demo(config: Config, show: Show, *, mode: str | None = None, profile: str | None = None) -> int:
    """Opens the index; a `show` that loops begins at once. Raises `BadTheme` and `ConfigError`."""
    theme, terminal = appearance(config)
    keys = use(config.keys)
    app = DemoApp(show, Manner(config.tokens, mode), profile, theme, terminal)
    app.set_keymap(keys)
    app.run()
    return app.return_code or 0


class DemoApp(CtxviewApp):
    def __init__(
        self,
        show: Show,
        manner: Manner | None = None,
        profile: str | None = None,
        theme: str = theme_files.DEFAULT,
        terminal: Terminal = ABLE,
    ) -> None:
        super().__init__(None, manner, profile, theme, show=show, terminal=terminal)

    def get_default_screen(self) -> Screen[None]:
        at_once = self._show is not None and self._show.loop
        return DemoScreen(stories(sample_paths()), self._on_stage, at_once=at_once)

    def _on_stage(self, story: Offer, ended: Callable[[], None]) -> Inspector:
        show = replace(self._show or Show(), stage=True, loop=False, opening=f"{story.name}: {story.about}.")
        opening = Opening(story.paths)
        manner, profile = self._manner, self._profile
        return Inspector(opening, manner, profile, self._precedence, show, ended, watching=False)
