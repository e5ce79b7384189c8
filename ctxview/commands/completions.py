"""`ctxview completions SHELL`: prints a script that lets a shell complete commands, options and their words.

Made from the very parsers of the commands, so it cannot know anything else than they do. How each shell wants
it is said in `shells.py`.
"""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ctxview.commands.shells import SCRIPTS, Completed, Option

INSTALL = {
    "bash": "ctxview completions bash > ~/.local/share/bash-completion/completions/ctxview",
    "zsh": "ctxview completions zsh > ~/.zfunc/_ctxview   (with ~/.zfunc in fpath)",
    "fish": "ctxview completions fish > ~/.config/fish/completions/ctxview.fish",
}
SHELLS = tuple(INSTALL)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")


def run(arguments: Namespace) -> int:
    first, *rest = SCRIPTS[arguments.shell]([*_commands()])
    # zsh wants its own mark in the first line.
    print("\n".join([first, f"# To install: {INSTALL[arguments.shell]}", *rest]))
    return 0


def _commands() -> Iterator[Completed]:
    from ctxview.cli import COMMANDS, INSPECTOR, parser_of

    for name, command in (("", INSPECTOR), *COMMANDS.items()):
        parser = parser_of(name or None, command)
        options = tuple(_option(each) for each in parser._actions if each.option_strings)
        places = [_words(each) for each in parser._actions if not each.option_strings]
        words = next(filter(None, places), ())
        yield Completed(name, command.summary, options, words, any(not each for each in places))


def _option(action: Action) -> Option:
    told = "what it takes, and examples" if action.help is SUPPRESS else (action.help or "") % vars(action)
    takes = "" if action.nargs == 0 else str(action.metavar or "value").lower()
    listed, or_file = action.dest in LISTS, action.dest in OR_FILES
    return Option(tuple(action.option_strings), told, _words(action), takes, listed, or_file)


def _words(action: Action) -> tuple[str, ...]:
    if action.choices is not None:
        return tuple(map(str, action.choices))
    suggest = SUGGESTED.get(action.dest)
    return tuple(suggest()) if suggest is not None else ()


def _themes() -> list[str]:
    from ctxview import theme_files

    return [name.removeprefix("ctxview-") for name in theme_files.names()]


def _formats() -> list[str]:
    from ctxview.formats.registry import FORMATS

    return [spec.name for spec in FORMATS]


def _profiles() -> list[str]:
    from ctxview import formats

    shelves = Path(formats.__file__).parent.glob("*/profiles/*.toml")
    return sorted({file.stem for file in shelves})


def _rules() -> list[str]:
    from ctxview.formats import all_rules, rule_families

    return [*rule_families(), *(rule.id for rule in all_rules())]


SUGGESTED: Mapping[str, Callable[[], list[str]]] = {
    "theme": _themes,
    "as_format": _formats,
    "profile": _profiles,
    "id": _rules,
    "select": _rules,
    "ignore": _rules,
}
"""Words for arguments that take others, too."""

OR_FILES = ("profile",)
"""Arguments that take a file instead."""

LISTS = ("select", "ignore")
"""Arguments that take several words with commas between them."""
