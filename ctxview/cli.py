"""The `ctxview` program: finds the command, runs it, and gives every ending its exit code.

Knows the names of the commands and nothing of what they do; the modules in `ctxview.commands` do the work.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import NamedTuple, NoReturn

from ctxview.commands.help_text import Example, help_text
from ctxview.commands.trouble import Trouble, complain

TROUBLE = 2
INTERRUPTED = 130
READER_GONE = 141


class Command(NamedTuple):
    """What `--help` says of a command; the module of the same name does the rest."""

    module: str
    summary: str
    examples: tuple[tuple[str, str], ...]


COMMANDS = {
    "demo": Command(
        "demo",
        "play the bundled stories: how context lives, fades and is lost",
        (
            ("ctxview demo", "choose a story; any key pauses, q leaves"),
            ("ctxview demo --loop --speed 2", "all of them, over and over, twice as fast"),
        ),
    ),
    "show": Command(
        "show",
        "print the state of a file, a session or a tree",
        (
            ("ctxview show round-12.json", "an overview for people"),
            ("ctxview show round-12.json --json", "the same for programs"),
            ("ctxview show .agent --at -2", "as it was one revision ago; also 12, 'round 12', 02:30"),
        ),
    ),
    "check": Command(
        "check",
        "say what is wrong, for people, programs and CI",
        (
            ("ctxview check .agent", "exit 0 clean, 1 findings, 2 unreadable"),
            ("ctxview check logs --format github --fail-on warning", "annotate a pull request"),
            ("ctxview check session/default --forget", "its history was rewritten on purpose"),
        ),
    ),
    "rules": Command(
        "rules",
        "list the rules, or explain one",
        (
            ("ctxview rules", "every rule in one line"),
            ("ctxview rules SNP021", "what, why, bad, good, fix, source"),
        ),
    ),
    "formats": Command(
        "formats",
        "list the formats and how each is recognised",
        (
            ("ctxview formats", "what ctxview can open"),
            ("ctxview formats --json", "the same for programs"),
        ),
    ),
    "config": Command(
        "config",
        "show the settings in force and where each came from",
        (
            ("ctxview config", "theme, token counter, keys, and the config file"),
            ("ctxview config --json", "the same for programs"),
        ),
    ),
    "completions": Command(
        "completions",
        "print a script that completes commands and options in a shell",
        (
            ("ctxview completions bash", "a line at its top says where to put it"),
            ("ctxview completions zsh", "the same for zsh; fish is there too"),
        ),
    ),
    "merge": Command(
        "merge",
        "say what a runtime would make of a model's reply",
        (
            ("ctxview merge received.json reply.txt", "kept, updated, truncated, wiped …"),
            ("ctxview merge received.json reply.txt --json", "the same, with the result"),
        ),
    ),
    "diff": Command(
        "diff",
        "tell two states apart by meaning",
        (
            ("ctxview diff round-11.json round-12.json", "exit 0 equal, 1 different"),
            ("ctxview diff .agent --at 9 12", "two revisions of one thing; --at 12 alone: what 12 changed"),
            ("ctxview diff before.json after.json --json", "the same for programs"),
        ),
    ),
    "record": Command(
        "record",
        "keep what happens to a file, a session or a tree, to look back at",
        (
            ("ctxview record .agent -o night.ctxrec", "until Ctrl-C; a line for each moment"),
            ("ctxview record session/default -o run.ctxrec --for 600", "for ten minutes"),
            ("ctxview night.ctxrec", "look at it; show, check and diff take it too"),
        ),
    ),
    "replay": Command(
        "replay",
        "play a recording, or the revisions of anything, with captions",
        (
            ("ctxview replay night.ctxrec", "space pauses, . goes to the next event, + and - set the pace"),
            ("ctxview replay .agent --speed 2 --loop", "twice as fast, over and over"),
        ),
    ),
    "pack": Command(
        "pack",
        "build a session's context pack and say why each item is in or out",
        (
            ("ctxview pack session/default --budget 8000", "try a budget; exit 1 if it leaves out some"),
            ("ctxview pack session/default --write", "write context/pack.json and pack.md"),
        ),
    ),
    "gc": Command(
        "gc",
        "say what may be collected from a session's context, and do it",
        (
            ("ctxview gc session/default", "what would go and why; nothing is removed"),
            ("ctxview gc session/default --apply", "remove it; --undo puts it back"),
        ),
    ),
    "swap": Command(
        "swap",
        "move messages or a tool's output out of the working set",
        (
            ("ctxview swap session/default --range 1-40", "what would be swapped out"),
            ("ctxview swap session/default --event call-07 --write", "swap out what a tool put out"),
            ("ctxview swap session/default --rebuild --write", "make lost chunks again"),
        ),
    ),
    "dedup": Command(
        "dedup",
        "keep large repeated content of a session once",
        (
            ("ctxview dedup session/default", "what is repeated, and where"),
            ("ctxview dedup session/default --least 20000 --write", "write blobs for large ones"),
        ),
    ),
}

INSPECTOR = Command(
    "inspect",
    "See what your agent knows, what it was shown, and what it lost.",
    (
        ("ctxview round-12.json", "open a file, a session or a tree"),
        ("ctxview .agent --profile protocol-3.0", "judge by the protocol alone"),
        ("ctxview", "start from what is nearby"),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _speak_any_text()
        code = _run(arguments)
        sys.stdout.flush()
    except Trouble as trouble:
        complain(str(trouble))
        return TROUBLE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return READER_GONE
    return code


def _run(arguments: list[str]) -> int:
    name = arguments[0] if arguments and arguments[0] in COMMANDS else None
    command = COMMANDS[name] if name else INSPECTOR
    module = import_module(f"ctxview.commands.{command.module}")
    parser = parser_of(name, command)
    known, unknown = parser.parse_known_args(arguments[1:] if name else arguments)
    if unknown:
        parser.error(f"nobody knows {unknown[0]}{_option_like(unknown[0], parser)}")
    code: int = module.run(known)
    return code


def _option_like(word: str, parser: ArgumentParser) -> str:
    from ctxview.analysis.wording import did_you_mean

    options = [name for action in parser._actions for name in action.option_strings]
    return did_you_mean(word, options) if word.startswith("-") else ""


def parser_of(name: str | None, command: Command) -> ArgumentParser:
    """The parser of a command with all its arguments."""
    parser = _Parser(name, command)
    import_module(f"ctxview.commands.{command.module}").configure(parser)
    if name is None:
        from ctxview import __version__

        version = f"ctxview {__version__}"
        parser.add_argument("--version", action="version", version=version, help="say which ctxview this is")
    return parser


class _Parser(ArgumentParser):
    def __init__(self, name: str | None, command: Command) -> None:
        super().__init__(
            prog=f"ctxview {name}" if name else "ctxview",
            usage=None if name else "ctxview [PATH ...] [OPTIONS]\n       ctxview COMMAND ...",
            description=command.summary[0].upper() + command.summary[1:].removesuffix(".") + ".",
            add_help=False,
            allow_abbrev=False,
        )
        self._examples = [Example(*each) for each in command.examples]
        self._whole = name is None
        self.add_argument("-h", "--help", action="help", help=SUPPRESS)

    def format_help(self) -> str:
        commands = [f"  {name:<11}  {each.summary}" for name, each in COMMANDS.items()]
        listed = ["commands (each has its own --help; a path called like one: ./check):", *commands]
        return help_text(self, self._examples, listed if self._whole else ())

    def error(self, message: str) -> NoReturn:
        raise Trouble(f"{message} (see {self.prog} --help)")

    def _check_value(self, action: Action, value: object) -> None:
        """A word that is none of those there are is answered with the nearest."""
        if action.choices is not None and value not in action.choices:
            from ctxview.analysis.wording import did_you_mean

            known = list(map(str, action.choices))
            told = f"{value} is none of {', '.join(known)}{did_you_mean(str(value), known)}"
            raise ArgumentError(action, told)


def _speak_any_text() -> None:
    """A terminal that cannot write a character gets another one instead of ending the program."""
    from ctxview.reports.console import speaks_utf8

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace" if speaks_utf8(stream) else _signs())


def _signs() -> str:
    from ctxview.ascii_signs import ERRORS

    return ERRORS


def _forget_stdout() -> None:
    """The reader has gone; keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
