"""What belongs to no subject: copy, theme, palette, tour, picture, help, leaving."""

from __future__ import annotations

from pathlib import Path

from ctxview import theme_files
from ctxview.analysis.secrets import mask_secrets
from ctxview.files.visible import visible
from ctxview.tui import themes
from ctxview.tui.commands import COMMANDS
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.inspector import Inspector


def copy(screen: CommandScreen[object]) -> None:
    """The text marked with the mouse, else the selected thing's as it is in the file; secrets masked."""
    text = mask_secrets(screen.get_selected_text() or screen.copied_text())
    if not text:
        screen.say("There is nothing to copy.")
        return
    # A lone surrogate cannot be sent to a terminal; JSON may hold one.
    screen.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
    told = f"Copied {len(text):,} characters."
    if visible(text, keep_layout=True) == text:
        screen.say(told)
    else:
        screen.say(f"{told} Some are control characters or cannot be seen.", severity="warning")


def theme(screen: CommandScreen[object]) -> None:
    """The next one that is sound; a person's own file may be broken, and may be mended meanwhile."""
    known = theme_files.names()
    at = known.index(screen.app.theme) if screen.app.theme in known else -1
    for name in (*known[at + 1 :], *known[: at + 1]):
        try:
            screen.say(f"Theme: {themes.turn_to(screen.app, name).title}")
            return
        except themes.BadTheme as error:
            screen.say(str(error), severity="warning", title="theme")


def palette(screen: CommandScreen[object]) -> None:
    from ctxview.tui.screens.palette import PaletteScreen

    async def done(name: str | None) -> None:
        if name is not None:
            await screen.action_command(name)

    offered = [command for command in COMMANDS if command.id in screen.known - {"palette"}]
    screen.app.push_screen(PaletteScreen(offered), done)


def tour(screen: CommandScreen[object]) -> None:
    """Through the inspector, also from a screen that lies on top of it."""
    from ctxview.tui.screens.tour import TourScreen

    app = screen.app
    inspector = next((each for each in app.screen_stack if isinstance(each, Inspector)), None)
    if inspector is None:
        screen.say("The tour goes through what is open: choose something first, a sample for instance.")
        return
    if screen is not inspector:
        screen.dismiss()
    app.call_after_refresh(app.push_screen, TourScreen(inspector))


def screenshot(screen: CommandScreen[object]) -> None:
    """Beside what is inspected, never into it, under a name that nobody has."""
    from datetime import datetime

    from ctxview.files.create import CreateRefused, create
    from ctxview.tui.pictures import folder_for, self_contained

    name = f"ctxview-{datetime.now():%Y%m%d-%H%M%S}.svg"
    picture = self_contained(screen.app.export_screenshot(title="ctxview"))
    folder = folder_for(_inspected(screen))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = create(folder, name, picture.encode("utf-8", "replace"), mode=0o644)
    except (CreateRefused, OSError) as error:
        screen.say(f"The picture was not written: {error}", severity="error")
        return
    screen.say(f"Written to {folder / name}." if made else f"{folder / name} is there already.")


def _inspected(screen: CommandScreen[object]) -> list[Path]:
    """What is open, and the folders it was found in."""
    inspectors = [each for each in screen.app.screen_stack if isinstance(each, Inspector)]
    found = [source.path for each in inspectors for source in each.view.sources]
    return [*found, *(folder for each in inspectors for folder in each.following.folders)]


def help(screen: CommandScreen[object]) -> None:  # noqa: A001 - the name of the command
    from ctxview.tui.screens.help import HelpScreen

    screen.app.push_screen(HelpScreen())


async def quit(screen: CommandScreen[object]) -> None:  # noqa: A001 - the name of the command
    """Leaves a screen on top of the inspector; leaves the program from the inspector itself."""
    if isinstance(screen, Inspector):
        await screen.app.action_quit()
    else:
        screen.dismiss()
