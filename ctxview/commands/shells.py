"""How bash, zsh and fish want to be told what can be completed. Knows no command of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a command: its names, what it says of itself, and the words it takes."""

    names: tuple[str, ...]
    help: str
    words: tuple[str, ...]
    takes: str
    """What its value is called; empty when it has none."""
    listed: bool = False
    """Whether it takes several words with commas between them."""
    or_file: bool = False
    """Whether it takes a file as well as a word."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A command as a shell sees it; the name is empty for `ctxview` without one."""

    name: str
    summary: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    """What may stand in its first place."""
    paths: bool
    """Whether it takes files and folders."""


def bash(commands: Sequence[Completed]) -> Iterator[str]:
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
            yield f"    {places}) {commas}values='{' '.join(map(_bash_word, option.words))}'{files};;"
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


def _bash_word(word: str) -> str:
    """Escaped twice: once for `compgen`, once for the line it comes to stand in."""
    return word.replace("(", "\\\\\\(").replace(")", "\\\\\\)")


def zsh(commands: Sequence[Completed]) -> Iterator[str]:
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


def _zsh_arguments(command: Completed) -> Iterator[str]:
    for option in command.options:
        for name in option.names:
            value = f":{_plain(option.takes)}:{_zsh_words(option)}" if option.takes else ""
            yield f"'{name}[{_plain(option.help)}]{value}'"
    if command.words:
        yield f"'1:word:({_zsh_list(command.words)})'"
    if command.paths:
        yield "'*:path:_files'"


def _zsh_words(option: Option) -> str:
    if not option.words:
        return "_files"
    words = _zsh_list(option.words)
    if option.or_file:
        return _zsh_function(option)
    return f"_sequence -s , compadd - {words}" if option.listed else f"({words})"


def _zsh_function(option: Option) -> str:
    return f"_ctxview_{option.names[-1].lstrip('-').replace('-', '_')}"


def _zsh_list(words: Sequence[str]) -> str:
    return " ".join(word.replace("(", "\\(").replace(")", "\\)") for word in words)


def fish(commands: Sequence[Completed]) -> Iterator[str]:
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
            spelled = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            yield f"complete -c ctxview -n '{here}' {spelled} -d '{_plain(option.help)}'{_fish_words(option)}"


def _fish_words(option: Option) -> str:
    if not option.words:
        return " -r" if option.takes else ""
    words = " ".join(f'"{word}"' if "(" in word else word for word in option.words)
    if option.or_file:
        return f" -r -F -a '{words}'"
    return f" -x -a '(__fish_append , {words})'" if option.listed else f" -x -a '{words}'"


def _plain(text: str) -> str:
    """Without what a shell would take for its own."""
    return text.translate({ord(each): None for each in "'\"`$[]\\"}).replace(":", ",")


SCRIPTS: Mapping[str, Callable[[Sequence[Completed]], Iterator[str]]] = {
    "bash": bash,
    "zsh": zsh,
    "fish": fish,
}
