"""`ctxview completions SHELL`: print a script that completes commands, options and values.

The scripts are made from the parsers of the commands.
"""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

INSTALL = {
    "bash": "ctxview completions bash > ~/.local/share/bash-completion/completions/ctxview",
    "zsh": "ctxview completions zsh > ~/.zfunc/_ctxview   (with ~/.zfunc in fpath)",
    "fish": "ctxview completions fish > ~/.config/fish/completions/ctxview.fish",
}
SHELLS = tuple(INSTALL)
OR_FILES = ("profile",)
"""Arguments that also take a file."""
LISTS = ("select", "ignore")
"""Arguments that take several words separated by commas."""


class CompletionOption(Struct, frozen=True):
    """One option of a command: its names, help and the words it accepts."""

    names: tuple[str, ...]
    help: str
    words: tuple[str, ...]
    takes: str
    """The name of its value; empty for a flag."""
    listed: bool = False
    """Whether it takes several words separated by commas."""
    or_file: bool = False
    """Whether it takes a file as well as a word."""


class CompletedCommand(Struct, frozen=True):
    """A command with its completions; the name is empty for `ctxview` without a command."""

    name: str
    summary: str
    options: tuple[CompletionOption, ...]
    words: tuple[str, ...]
    """The words for its first argument."""
    paths: bool
    """Whether it takes files and folders."""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell to print a script for")


def run(arguments: Namespace) -> int:
    first, *rest = SCRIPTS[arguments.shell]([*_commands()])
    # zsh needs `#compdef` in the first line.
    print("\n".join([first, f"# To install: {INSTALL[arguments.shell]}", *rest]))
    return 0


def _commands() -> Iterator[CompletedCommand]:
    from ctxview.commands.parser import INSPECTOR, all_commands, parser_of
    from ctxview.reports.console import UserError, print_error

    for name, command in (("", INSPECTOR), *all_commands().items()):
        try:
            parser = parser_of(name or None, command)
        except UserError as error:
            print_error(f"note: {error}")
            continue
        options = tuple(_option(each) for each in parser._actions if each.option_strings)
        places = [_words(each) for each in parser._actions if not each.option_strings]
        words = next(filter(None, places), ())
        yield CompletedCommand(name, command.summary, options, words, any(not each for each in places))


def _option(action: Action) -> CompletionOption:
    text = (
        "show the arguments and examples" if action.help is SUPPRESS else (action.help or "") % vars(action)
    )
    takes = "" if action.nargs == 0 else str(action.metavar or "value").lower()
    listed, or_file = action.dest in LISTS, action.dest in OR_FILES
    return CompletionOption(tuple(action.option_strings), text, _words(action), takes, listed, or_file)


def _words(action: Action) -> tuple[str, ...]:
    if action.choices is not None:
        return tuple(map(str, action.choices))
    suggest = SUGGESTED.get(action.dest)
    return tuple(suggest()) if suggest is not None else ()


def _themes() -> list[str]:
    from ctxview.config import theme_names

    return [name.removeprefix("ctxview-") for name in theme_names()]


def _formats() -> list[str]:
    from ctxview.formats import formats

    return [spec.name for spec in formats()]


def _profiles() -> list[str]:
    from ctxview import formats

    return sorted({file.stem for file in Path(formats.__file__).parent.glob("*/profiles/*.toml")})


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
"""Suggested words for arguments without fixed choices."""


def bash(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    names = " ".join(each.name for each in commands if each.name)
    yield "# bash completion for ctxview"
    yield "_ctxview() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '  local command="" words="" values="" head="" files=""'
    yield f'  case " {names} " in *" ${{COMP_WORDS[1]}} "*)'
    yield '    [ "$COMP_CWORD" -gt 1 ] && command="${COMP_WORDS[1]}";; esac'
    yield '  case "$command:$before" in'
    for each in commands:
        for option in (one for one in each.options if one.words):
            places = "|".join(f"{each.name}:{name}" for name in option.names)
            commas = 'case "$word" in *,*) head="${word%,*},";; esac; ' if option.listed else ""
            files = ' files="yes"' if option.or_file else ""
            # Escaped twice: once for `compgen`, once for the line that contains the words.
            words = " ".join(option.words).replace("(", "\\\\\\(").replace(")", "\\\\\\)")
            yield f"    {places}) {commas}values='{words}'{files};;"
    yield "  esac"
    yield '  if [ -n "$values" ]; then'
    yield '    mapfile -t COMPREPLY < <(compgen -P "$head" -W "$values" -- "${word#"$head"}")'
    yield '    [ -n "$files" ] && _ctxview_files "$word"'
    yield "    return"
    yield "  fi"
    yield '  case "$command" in'
    for each in commands:
        known = [name for option in each.options for name in option.names]
        yield f'    "{each.name}") words="{" ".join([*each.words, *known])}";;'
    yield "  esac"
    yield f'  [ "$COMP_CWORD" = 1 ] && words="{names} $words"'
    yield '  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")'
    pathless = "|".join(f"{each.name}:*" for each in commands if not each.paths)
    yield f'  case "$command:$word" in *:-*|{pathless}) return;; esac'
    yield '  _ctxview_files "$word"'
    yield "}"
    yield "_ctxview_files() {"
    yield "  local files"
    yield '  mapfile -t files < <(compgen -f -- "$1")'
    yield '  [ "${#files[@]}" -gt 0 ] && compopt -o filenames 2>/dev/null'
    yield '  COMPREPLY+=("${files[@]}")'
    yield "}"
    yield "complete -F _ctxview ctxview"


def zsh(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    yield "#compdef ctxview"
    for option in {
        _zsh_function(one): one for each in commands for one in each.options if one.or_file
    }.values():
        words = _zsh_list(option.words)
        yield f"{_zsh_function(option)}() {{ _alternative 'words:word:({words})' 'files:file:_files' }}"
    yield "_ctxview() {"
    yield "  local -a commands"
    yield "  commands=("
    yield from (f"    '{each.name}:{_plain(each.summary)}'" for each in commands if each.name)
    yield "  )"
    yield "  (( CURRENT == 2 )) && _describe command commands"
    yield '  case "$words[2]" in'
    for each in commands[1:]:
        yield f"    {each.name}) (( CURRENT > 2 )) && shift words && (( CURRENT-- ))"
        yield f"      _arguments {' '.join(_zsh_arguments(each))};;"
    yield f"    *) _arguments {' '.join(_zsh_arguments(commands[0]))};;"
    yield "  esac"
    yield "}"
    yield '_ctxview "$@"'


def _zsh_arguments(command: CompletedCommand) -> Iterator[str]:
    for option in command.options:
        for name in option.names:
            value = f":{_plain(option.takes)}:{_zsh_words(option)}" if option.takes else ""
            yield f"'{name}[{_plain(option.help)}]{value}'"
    if command.words:
        yield f"'1:word:({_zsh_list(command.words)})'"
    if command.paths:
        yield "'*:path:_files'"


def _zsh_words(option: CompletionOption) -> str:
    if not option.words:
        return "_files"
    words = _zsh_list(option.words)
    if option.or_file:
        return _zsh_function(option)
    return f"_sequence -s , compadd - {words}" if option.listed else f"({words})"


def _zsh_function(option: CompletionOption) -> str:
    return f"_ctxview_{option.names[-1].lstrip('-').replace('-', '_')}"


def _zsh_list(words: Sequence[str]) -> str:
    return " ".join(word.replace("(", "\\(").replace(")", "\\)") for word in words)


def fish(commands: Sequence[CompletedCommand]) -> Iterator[str]:
    yield "# fish completion for ctxview"
    names = " ".join(each.name for each in commands if each.name)
    alone = f"not __fish_seen_subcommand_from {names}"
    for each in commands:
        here = f"__fish_seen_subcommand_from {each.name}" if each.name else alone
        if each.name:
            yield f"complete -c ctxview -n '{alone}' -a {each.name} -d '{_plain(each.summary)}'"
        if not each.paths:
            words = f" -a '{' '.join(each.words)}'" if each.words else ""
            yield f"complete -c ctxview -n '{here}' -f{words}"
        for option in each.options:
            flags = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            yield f"complete -c ctxview -n '{here}' {flags} -d '{_plain(option.help)}'{_fish_words(option)}"


def _fish_words(option: CompletionOption) -> str:
    if not option.words:
        return " -r" if option.takes else ""
    words = " ".join(f'"{word}"' if "(" in word else word for word in option.words)
    if option.or_file:
        return f" -r -F -a '{words}'"
    return f" -x -a '(__fish_append , {words})'" if option.listed else f" -x -a '{words}'"


def _plain(text: str) -> str:
    """Remove characters with a meaning in a shell."""
    return text.translate({ord(each): None for each in "'\"`$[]\\"}).replace(":", ",")


SCRIPTS: Mapping[str, Callable[[Sequence[CompletedCommand]], Iterator[str]]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
}
