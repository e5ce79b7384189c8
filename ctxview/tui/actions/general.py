"""General actions: copy, theme, palette, tour, screenshot, help, quit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxview import config
from ctxview.analysis.secrets import mask_secrets
from ctxview.files.user_folders import state_folder
from ctxview.files.visible_text import visible
from ctxview.tui import themes
from ctxview.tui.model.action_table import ACTIONS
from ctxview.tui.screens.action_screen import ActionScreen
from ctxview.tui.screens.inspector import InspectorScreen


def copy(screen: ActionScreen[object]) -> None:
    """Copy the text marked with the mouse, else that of the selected item as in the file; secrets masked."""
    text = mask_secrets(screen.get_selected_text() or screen.copied_text())
    if not text:
        screen.say("There is nothing to copy.")
        return
    # A lone surrogate cannot be sent to a terminal; JSON may hold one.
    screen.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
    notice = f"Copied {len(text):,} characters."
    if visible(text, keep_layout=True) == text:
        screen.say(notice)
    else:
        screen.say(f"{notice} Some are control characters or invisible.", severity="warning")


def theme(screen: ActionScreen[object]) -> None:
    """Use the next valid theme; a person's own file may be invalid, or valid again by now."""
    known = config.theme_names()
    at = known.index(screen.app.theme) if screen.app.theme in known else -1
    for name in (*known[at + 1 :], *known[: at + 1]):
        try:
            screen.say(f"Theme: {themes.apply_theme(screen.app, name).title}")
            return
        except themes.ThemeError as error:
            screen.say(str(error), severity="warning", title="theme")


def palette(screen: ActionScreen[object]) -> None:
    from ctxview.tui.screens.help import PaletteScreen

    async def done(name: str | None) -> None:
        if name is not None:
            await screen.action_command(name)

    offered = [command for command in ACTIONS if command.id in screen.known - {"palette"}]
    screen.app.push_screen(PaletteScreen(offered), done)


def tour(screen: ActionScreen[object]) -> None:
    """Start the tour of the inspector, also from a screen on top of it."""
    from ctxview.tui.screens.tour import TourScreen

    app = screen.app
    inspector = next((each for each in app.screen_stack if isinstance(each, InspectorScreen)), None)
    if inspector is None:
        screen.say("The tour needs an open source: choose one first, for example a sample.")
        return
    if screen is not inspector:
        screen.dismiss()
    app.call_after_refresh(app.push_screen, TourScreen(inspector))


def screenshot(screen: ActionScreen[object]) -> None:
    """Write a picture of the screen to a new file that is not inside an inspected folder."""
    from datetime import datetime

    from ctxview.files.create import CreateRefused, create

    name = f"ctxview-{datetime.now():%Y%m%d-%H%M%S}.svg"
    picture = self_contained(screen.app.export_screenshot(title="ctxview"))
    inspectors = [each for each in screen.app.screen_stack if isinstance(each, InspectorScreen)]
    inspected = [source.path for each in inspectors for source in each.model.sources]
    inspected += [path for each in inspectors for path in each.model.live.folders]
    folder = screenshot_folder(inspected)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = create(folder, name, picture.encode("utf-8", "replace"), mode=0o644)
    except (CreateRefused, OSError) as error:
        screen.say(f"The picture was not written: {error}", severity="error")
        return
    screen.say(f"Written to {folder / name}." if made else f"Not written: {folder / name} already exists.")


def help(screen: ActionScreen[object]) -> None:  # noqa: A001 - the id of the action
    from ctxview.tui.screens.help import HelpScreen

    screen.app.push_screen(HelpScreen())


async def quit(screen: ActionScreen[object]) -> None:  # noqa: A001 - the name of the command
    """Close a screen on top of the inspector; on the inspector itself, quit."""
    if isinstance(screen, InspectorScreen):
        await screen.app.action_quit()
    else:
        screen.dismiss()


_FONTS = re.compile(r"@font-face\s*\{[^}]*\}\s*")


def screenshot_folder(inspected: Iterable[Path]) -> Path:
    """The working folder, or the home folder, or the state folder: the first that is not inspected."""
    taken = [path.resolve() for path in inspected]
    free = (each for each in _folders() if not any(each.resolve().is_relative_to(path) for path in taken))
    return next(free, state_folder())


def self_contained(picture: str) -> str:
    """Return the picture without the fonts that the toolkit would load from a server."""
    return _FONTS.sub("", picture)


def _folders() -> Iterator[Path]:
    for find in (Path.cwd, Path.home):
        try:
            yield find()
        except (OSError, RuntimeError):
            continue
