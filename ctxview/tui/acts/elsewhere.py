"""What belongs to no subject: copy, theme, palette, help, leaving."""

from __future__ import annotations

from ctxview.tui import themes
from ctxview.tui.screens.command_screen import CommandScreen
from ctxview.tui.screens.inspector import Inspector


def copy(screen: CommandScreen[object]) -> None:
    """The text marked with the mouse, else the text of the selected thing, as it is in the file."""
    text = screen.get_selected_text() or screen.copied_text()
    if not text:
        screen.say("There is nothing to copy.")
        return
    # A lone surrogate cannot be sent to a terminal; JSON may hold one.
    screen.app.copy_to_clipboard(text.encode("utf-8", "replace").decode())
    screen.say(f"Copied {len(text):,} characters.")


def theme(screen: CommandScreen[object]) -> None:
    known = themes.names()
    at = known.index(screen.app.theme) if screen.app.theme in known else -1
    screen.app.theme = known[(at + 1) % len(known)]
    screen.say(f"Theme: {themes.load(screen.app.theme).title}")


def palette(screen: CommandScreen[object]) -> None:
    screen.app.action_command_palette()


def help(screen: CommandScreen[object]) -> None:  # noqa: A001 - the name of the command
    from ctxview.tui.screens.help import HelpScreen

    screen.app.push_screen(HelpScreen())


async def quit(screen: CommandScreen[object]) -> None:  # noqa: A001 - the name of the command
    """Leaves a screen on top of the inspector; leaves the program from the inspector itself."""
    if isinstance(screen, Inspector):
        await screen.app.action_quit()
    else:
        screen.dismiss()
