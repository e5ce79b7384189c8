"""`ctxview [PATH …]`: open the inspector. The only module of the commands that starts a screen."""

from __future__ import annotations

import gc
import os
import select
import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.arguments import add_reading_arguments, given_options, preferred_settings
from ctxview.config import GLYPHS, ConfigError
from ctxview.formats.path_hints import missing_path_reason
from ctxview.reports.console import UserError

if TYPE_CHECKING:
    from ctxview.tui.model.replay import ReplayOptions


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, help="files, sessions or folders")
    add_screen_arguments(parser)
    parser.add_argument(
        "--no-home",
        dest="home",
        action="store_false",
        default=None,
        help="without PATH: do not offer the sessions of Claude Code, Codex and OpenCode",
    )
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    for path in arguments.paths:
        if (why := missing_path_reason(path)) is not None:
            from ctxview.commands.parser import all_commands

            hint = "" if "did you mean" in why else did_you_mean(str(path), all_commands())
            raise UserError(f"{path}: {why}{hint}")
    return open_inspector(arguments.paths, arguments)


def open_inspector(
    paths: list[Path], arguments: Namespace, show: ReplayOptions | None = None, view: str | None = None
) -> int:
    """Run the inspector; with `show` it plays the revisions, `view` is the name of the first view."""

    def inspect() -> int:
        from ctxview.tui.app import run
        from ctxview.tui.model.layout import Pane

        return run(
            paths,
            preferred_settings(arguments),
            as_format=arguments.as_format,
            options=given_options(arguments),
            profile=arguments.profile,
            show=show,
            view=Pane[view] if view is not None else Pane.OVERVIEW,
        )

    return run_screen(inspect, arguments)


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def run_screen(run: Callable[[], int], arguments: Namespace) -> int:
    """Run a screen; raises `UserError` without a terminal, or when a setting is wrong."""
    if arguments.read_only:
        from ctxview.files.write_lock import lock_writes

        lock_writes("this inspector was opened to read only")
    # With a driver of its own, as in a browser, the toolkit needs no terminal.
    needs_terminal = not os.environ.get("TEXTUAL_DRIVER")
    if needs_terminal and not is_terminal():
        raise UserError("the inspector needs a terminal; ctxview show PATH prints the state")
    if needs_terminal and os.environ.get("TERM") == "dumb":
        raise UserError("the inspector does not work with TERM=dumb; ctxview show PATH prints the state")
    _end_with_terminal(sys.stdin.fileno())
    # Nothing loaded until now is garbage, so collecting it would only cost time; the app enables it again.
    gc.disable()
    # The toolkit paints at most so many times a second, and a key waits for the next time.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    # A key passes through several threads before it is painted, so the others must yield soon.
    sys.setswitchinterval(0.0005)
    from ctxview.tui.themes import ThemeError

    try:
        return run()
    except (ThemeError, ConfigError) as error:
        raise UserError(str(error)) from error


def _end_with_terminal(terminal: int) -> None:
    """End the process when the terminal goes away, also where no hang-up signal says so.

    The toolkit would read the end of its input again and again. Nothing is left to restore, saves are safe at
    any point, and the counting processes end with their pipes.
    """

    def watch() -> None:
        poll = select.poll()
        poll.register(terminal, 0)
        if any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
            os._exit(128 + signal.SIGHUP)

    Thread(target=watch, name="watching the terminal", daemon=True).start()


def add_screen_arguments(parser: ArgumentParser, *, read_only: bool = True) -> None:
    """Add `--theme`, `--glyphs`, `--no-follow` and, unless a command is always so, `--read-only`."""
    parser.add_argument(
        "--theme", metavar="NAME", help="colour theme: dark, light, contrast, safe, amber, reef …"
    )
    parser.add_argument("--glyphs", choices=GLYPHS, help="drawing characters (default: auto)")
    parser.add_argument(
        "--no-follow",
        dest="follow",
        action="store_false",
        default=None,
        help="do not reload when a file changes",
    )
    if read_only:
        parser.add_argument("--read-only", action="store_true", help="refuse every edit and every save")
