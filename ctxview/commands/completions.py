"""`ctxview completions SHELL`: prints a script that lets a shell complete commands, options and their words.

Made from the very parsers of the commands, so it cannot know anything else than they do.
"""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHELLS = ("bash", "zsh", "fish")
INSTALL = {
    "bash": "ctxview completions bash > ~/.local/share/bash-completion/completions/ctxview",
    "zsh": "ctxview completions zsh > ~/.zfunc/_ctxview   (with ~/.zfunc in fpath)",
    "fish": "ctxview completions fish > ~/.config/fish/completions/ctxview.fish",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a command: its names, what it says of itself, and the words it takes."""

    names: tuple[str, ...]
    help: str
    words: tuple[str, ...]
    takes_value: bool


@dataclass(frozen=True, slots=True)
class Completed:
    """A command as a shell sees it; the name is empty for `ctxview` without one."""

    name: str
    summary: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    """What may stand in its first place beside paths."""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")


def run(arguments: Namespace) -> int:
    commands = [*_commands()]
    makers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    print(f"# To install: {INSTALL[arguments.shell]}")
    print("\n".join(makers[arguments.shell](commands)))
    return 0


def _commands() -> Iterator[Completed]:
    from ctxview.cli import COMMANDS, INSPECTOR, parser_of

    for name, command in (("", INSPECTOR), *COMMANDS.items()):
        parser = parser_of(name or None, command)
        actions = [each for each in parser._actions if each.help is not SUPPRESS]
        options = tuple(_option(each) for each in actions if each.option_strings)
        words = next((_words(each) for each in actions if not each.option_strings and each.choices), ())
        yield Completed(name, command.summary, options, words)


def _option(action: Action) -> Option:
    told = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return Option(tuple(action.option_strings), told, _words(action), action.nargs != 0)


def _words(action: Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices)) if action.choices is not None else ()


def _bash(commands: Sequence[Completed]) -> Iterator[str]:
    names = " ".join(each.name for each in commands if each.name)
    yield "_ctxview() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="" words=""'
    yield "  COMPREPLY=()"
    yield f'  case " {names} " in *" ${{COMP_WORDS[1]}} "*) command="${{COMP_WORDS[1]}}";; esac'
    yield '  case "$command:$before" in'
    for each in commands:
        for option in (one for one in each.options if one.words):
            places = "|".join(f"{each.name}:{name}" for name in option.names)
            yield f'    {places}) COMPREPLY=($(compgen -W "{" ".join(option.words)}" -- "$word")); return;;'
    yield "  esac"
    yield '  case "$command" in'
    for each in commands:
        known = [name for option in each.options for name in option.names]
        yield f'    "{each.name}") words="{" ".join([*each.words, *known])}";;'
    yield "  esac"
    yield f'  [ "$COMP_CWORD" = 1 ] && words="{names} $words"'
    yield '  case "$word" in -*) ;; *) COMPREPLY=($(compgen -f -- "$word"));; esac'
    yield '  COMPREPLY+=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o filenames -F _ctxview ctxview"


def _zsh(commands: Sequence[Completed]) -> Iterator[str]:
    yield "#compdef ctxview"
    yield "_ctxview() {"
    yield "  local -a commands"
    yield "  commands=("
    yield from (f"    '{each.name}:{_plain(each.summary)}'" for each in commands if each.name)
    yield "  )"
    yield "  if (( CURRENT == 2 )); then"
    yield "    _describe command commands"
    yield "  fi"
    yield '  case "$words[2]" in'
    for each in commands[1:]:
        yield f"    {each.name}) _arguments -s {' '.join(_zsh_arguments(each))};;"
    yield f"    *) _arguments -s {' '.join(_zsh_arguments(commands[0]))};;"
    yield "  esac"
    yield "}"
    yield '_ctxview "$@"'


def _zsh_arguments(command: Completed) -> Iterator[str]:
    for option in command.options:
        words = f":word:({' '.join(option.words)})" if option.words else ":value:_files"
        for name in option.names:
            yield f"'{name}[{_plain(option.help)}]{words if option.takes_value else ''}'"
    yield f"'*:word:({' '.join(command.words)})'" if command.words else "'*:path:_files'"


def _fish(commands: Sequence[Completed]) -> Iterator[str]:
    names = " ".join(each.name for each in commands if each.name)
    for each in commands:
        here = (
            f"__fish_seen_subcommand_from {each.name}"
            if each.name
            else f"not __fish_seen_subcommand_from {names}"
        )
        if each.name:
            alone = f"not __fish_seen_subcommand_from {names}"
            yield f"complete -c ctxview -n '{alone}' -a {each.name} -d '{_plain(each.summary)}'"
        if each.words:
            yield f"complete -c ctxview -n '{here}' -f -a '{' '.join(each.words)}'"
        for option in each.options:
            spelled = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            words = (
                f" -x -a '{' '.join(option.words)}'" if option.words else " -r" if option.takes_value else ""
            )
            yield f"complete -c ctxview -n '{here}' {spelled} -d '{_plain(option.help)}'{words}"


def _plain(text: str) -> str:
    """Without what a shell would take for its own."""
    return text.translate({ord(each): None for each in "'\"`$[]\\"}).replace(":", ",")
