"""General actions: copy, theme, the command line, tour, screenshot, help, quit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxview import config
from ctxview.analysis.secrets import mask_secrets
from ctxview.files.user_folders import state_folder
from ctxview.files.visible_text import visible
from ctxview.tui import themes
from ctxview.tui.actions.navigate import explain_name
from ctxview.tui.configured_keys import key_label
from ctxview.tui.model.action_table import ACTIONS
from ctxview.tui.model.command_line import (
    GOTO,
    OPEN,
    Command,
    CommandKind,
    block_commands,
    revision_commands,
    row_of_message,
    theme_commands,
)
from ctxview.tui.model.reading_index import ItemKind, message_id
from ctxview.tui.screens.action_screen import ActionScreen, OpenPath, StartOver
from ctxview.tui.screens.inspector import InspectorScreen
from ctxview.tui.widgets.bars import offered_actions

MOVES = frozenset(
    ("down", "up", "half_down", "half_up", "page_down", "page_up", "home", "end", "left", "right", "enter")
)
"""Actions that are of no use by name."""


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
    """Ask for a command by name and run it; a theme is tried while the cursor is on it."""
    from ctxview.tui.screens.command_line import CommandScreen

    before = screen.app.theme
    begun, screen.command_begun = screen.command_begun, ""

    def preview(command: Command | None) -> None:
        is_theme = command is not None and command.kind is CommandKind.THEME
        wanted = command.value if command is not None and is_theme else before
        if screen.app.theme != wanted:
            use_theme(screen, wanted)

    async def done(command: Command | None) -> None:
        if command is not None:
            await run_command(screen, command)

    screen.app.push_screen(CommandScreen(offered_commands(screen), preview, begun), done)


def offered_commands(screen: ActionScreen[object]) -> list[Command]:
    """The commands of a screen: its actions, the most used first, then everything it can go to."""
    known = screen.known - {"palette", *MOVES}
    needs = offered_actions(screen.model) if isinstance(screen, InspectorScreen) else set()
    actions = sorted(
        (each for each in ACTIONS if each.id in known),
        key=lambda each: (each.need is not None and each.need not in needs, each.bar or 99),
    )
    commands = [
        Command(CommandKind.ACTION, each.label, each.help, each.id, key_label(each)) for each in actions
    ]
    commands += [OPEN, *screen.commands, *theme_commands(config.theme_names())]
    if isinstance(screen, InspectorScreen):
        model = screen.model
        commands.append(GOTO)
        if model.source is not None:
            commands += revision_commands(model.source.revisions)
        if len(model.sources) > 1:
            commands += [
                Command(CommandKind.SOURCE, each.title, f"{each.format}: {each.path}", str(number))
                for number, each in enumerate(model.sources)
            ]
        if screen.view is not None:
            index = screen.view.index
            commands += block_commands(index, index.of(ItemKind.BLOCK))
    return commands


async def run_command(screen: ActionScreen[object], command: Command) -> None:
    if command.kind is CommandKind.ACTION:
        await screen.action_command(command.value)
    elif command.kind is CommandKind.THEME:
        use_theme(screen, command.value)
    elif command.kind is CommandKind.PATH:
        screen.post_message(OpenPath(Path(command.value)))
    elif isinstance(screen, InspectorScreen):
        if command.kind is CommandKind.REVISION:
            screen.action_go_to_revision(int(command.value))
        elif command.kind is CommandKind.SOURCE:
            screen.perform(screen.model.go_to_source(int(command.value)))
        elif command.kind is CommandKind.ROW:
            _go_to_row(screen, int(command.value))
        elif command.kind is CommandKind.WHY:
            explain_name(screen, command.value)
        elif command.item is not None:
            screen.go_to(command.item)


def use_theme(screen: ActionScreen[object], name: str) -> None:
    try:
        themes.apply_theme(screen.app, name)
    except themes.ThemeError as error:
        screen.say(str(error), severity="warning", title="theme")


def _go_to_row(screen: InspectorScreen, number: int) -> None:
    """Go to a message of the history by its number, else to a row of the focused list."""
    transcript = screen.view.index.reading.state.transcript if screen.view is not None else None
    if transcript is None or not len(transcript):
        if screen.lines is not None:
            screen.lines.move_to(min(max(number, 1), screen.lines.page.rows) - 1)
    elif (row := row_of_message(transcript, number)) is None:
        screen.say(f"There is no message {number:,}: {len(transcript):,} lines are known.")
    else:
        screen.go_to(message_id(row))


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
    """Leave the view, or go back to the screen below, such as the start list; on the lowest one, quit."""
    if isinstance(screen, InspectorScreen) and screen.model.shown.leave(screen.model.replay.first_view):
        screen.show_view()
    elif screen.app.screen_stack[0] is screen:
        await screen.app.action_quit()
    elif isinstance(screen, InspectorScreen) and (unsaved := ", ".join(screen.model.drafts.unsaved)):
        from ctxview.tui.screens.dialogs import ConfirmDialog

        question = ConfirmDialog(
            "Go back without saving?", yes="go back", no="stay", more=f"Unsaved changes: {unsaved}"
        )

        def answered(confirmed: bool | None) -> None:
            if confirmed:
                screen.dismiss()

        screen.app.push_screen(question, answered)
    else:
        screen.dismiss()


def start_list(screen: InspectorScreen) -> None:
    screen.post_message(StartOver())


_FONTS = re.compile(r"@font-face\s*\{[^}]*\}\s*")


def screenshot_folder(inspected: Iterable[Path]) -> Path:
    """The working folder, or the home folder, or the state folder: the first that is not inspected."""
    taken = [path.resolve() for path in inspected]
    free = (each for each in _folders() if not any(each.resolve().is_relative_to(path) for path in taken))
    return next(free, state_folder())


def self_contained(picture: str) -> str:
    """Return the picture without the fonts that the toolkit would load from a server, with all its spaces."""
    return _FONTS.sub("", picture).replace("<svg ", '<svg xml:space="preserve" ', 1)


def _folders() -> Iterator[Path]:
    for find in (Path.cwd, Path.home):
        try:
            yield find()
        except (OSError, RuntimeError):
            continue
