"""The `ctxview` program: find the command, run it, and return its exit code.

This module knows only the names of the commands; the modules in `ctxview.commands` do the work.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser

EXIT_ERROR = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
NEW_OBJECTS = 50_000


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; without `argv` as the program that the user started."""
    if argv is not None:
        return _main(list(argv))
    # Most objects live until the end: the usual collection after every 700 new ones finds little.
    gc.set_threshold(NEW_OBJECTS, 10, 50)
    code = _main(sys.argv[1:])
    _end_at_once(code)
    gc.freeze()  # the interpreter would search for garbage once more before it ends
    return code


def _end_at_once(code: int) -> None:
    """End the process without taking every module apart, which takes as long as a small check.

    While other threads or a profiler run, the interpreter ends the process, because it waits for them.
    """
    if len(sys._current_frames()) > 1 or sys.getprofile() is not None:
        return
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _main(arguments: list[str]) -> int:
    from ctxview.reports.console import UserError, print_error

    try:
        import ctxview.files.system_calls  # noqa: F401 - it says which systems are supported
    except ImportError as error:
        print_error(str(error))
        return EXIT_ERROR
    try:
        _replace_unprintable_characters()
        code = _run(arguments)
        sys.stdout.flush()
    except UserError as error:
        print_error(str(error))
        return EXIT_ERROR
    except PermissionError as error:
        # Python asks for the kind of a path in many places, and fails in a folder that may not be searched.
        from ctxview.files.reading import error_text

        print_error(f"{error.filename}: {error_text(error)}" if error.filename else error_text(error))
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return EXIT_BROKEN_PIPE
    except Exception as error:
        # A profile is only looked up when its format reads the source.
        from ctxview.formats.interface import OpenError

        if not isinstance(error, OpenError):
            raise
        print_error(str(error))
        return EXIT_ERROR
    return code


def _run(arguments: list[str]) -> int:
    from ctxview.commands.parser import COMMANDS, INSPECTOR, all_commands, command_module, parser_of

    name = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    command = COMMANDS.get(name) or (all_commands().get(name) if name else None) or INSPECTOR
    name = command.name
    parser = parser_of(name or None, command)
    known, unknown = parser.parse_known_args(arguments[1:] if name else arguments)
    if unknown:
        parser.error(_unknown_argument(unknown[0], parser))
    code: int = command_module(command).run(known)
    return code


def _unknown_argument(argument: str, parser: ArgumentParser) -> str:
    from ctxview.analysis.wording import did_you_mean

    if not argument.startswith("-"):
        return f"unexpected argument {argument}"
    options = {name.lstrip("-"): name for action in parser._actions for name in action.option_strings}
    near = did_you_mean(argument.lstrip("-"), options)
    return f"unknown option {argument}{near.replace('mean ', 'mean --')}"


def _replace_unprintable_characters() -> None:
    """Write a substitute for each character that the terminal cannot write, instead of ending the program."""
    from ctxview.reports.console import ASCII_ERRORS, is_utf8

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace" if is_utf8(stream) else ASCII_ERRORS)


def _discard_stdout() -> None:
    """Keep the interpreter from reporting at exit that the reader of stdout has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
