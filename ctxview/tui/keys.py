"""Keys a person gave to commands in the config file: checked against the table, and spelled for people."""

from __future__ import annotations

from collections.abc import Mapping
from unicodedata import lookup

from textual.keys import Keys

from ctxview.analysis.wording import did_you_mean
from ctxview.config import ConfigError, Key
from ctxview.tui.commands import BY_ID, COMMANDS, Brackets, Command

NAMES = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "question_mark": "?",
    "slash": "/",
    "colon": ":",
    "space": "Space",
    "full_stop": ".",
    "comma": ",",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "left_parenthesis": "(",
    "right_parenthesis": ")",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "escape": "Esc",
    "delete": "Del",
}
"""What people call keys that the toolkit calls otherwise."""
SIGNS = {sign: name for name, sign in NAMES.items() if len(sign) == 1}
_own: dict[str, str] = {}


def use(keys: Mapping[str, Key]) -> dict[str, str]:
    """Take these keys in the place of the table's; what the toolkit is to bind. Raises `ConfigError`."""
    chosen = checked(keys)
    _own.clear()
    _own.update(chosen)
    return chosen


def checked(keys: Mapping[str, Key]) -> dict[str, str]:
    """These keys as the toolkit calls them; raises `ConfigError`."""
    for name, given in keys.items():
        if name not in BY_ID:
            hint = did_you_mean(name, BY_ID)
            raise ConfigError(f"{given.source}: keys.{name}: there is no such command{hint}")
    chosen = {name: ",".join(_names(name, given)) for name, given in keys.items()}
    taken: dict[str, str] = {}
    for command in COMMANDS:
        for key in chosen.get(command.id, command.keys).split(","):
            if key in taken:
                both = f"{taken[key]} and {command.id}"
                own = keys[command.id if command.id in keys else taken[key]].source
                raise ConfigError(f"{own}: keys: {spelled(key)} would mean both {both}; give one another key")
            taken[key] = command.id
    return chosen


def shown(command: Command) -> str:
    """The keys of a command as people read them, two in a row first."""
    if not {command.id, "edit", *Brackets.JUMPS} & _own.keys():
        return command.shown
    own = _own.get(command.id)
    alone = command.shown if own is None else " ".join(map(spelled, own.split(",")))
    bracket = next((name for name, jump in Brackets.JUMPS.items() if jump == command.id), None)
    if bracket is None:
        return alone
    pair = "".join(shown(BY_ID[name]).split()[0] for name in (bracket, "edit"))
    return f"{pair} {' '.join(map(spelled, (own or command.keys).split(',')))}"


def spelled(key: str) -> str:
    """One key as people read it: `ctrl+k` is Ctrl-k, `shift+f8` Shift-F8."""
    *holding, last = key.split("+") if len(key) > 1 else [key]
    name = NAMES.get(last) or (last.capitalize() if len(last) > 1 else last)
    return "-".join([*(each.capitalize() for each in holding), name])


def _names(command: str, given: Key) -> list[str]:
    """Keys as the toolkit calls them; a sign may be written as itself."""
    if given.keys.strip() == ",":
        return ["comma"]
    names = [SIGNS.get(key.strip(), key.strip()) for key in given.keys.split(",")]
    for name in names:
        if not _is_key(name):
            told = f'"{name}" is no key; write it like "ctrl+k" or "f8"'
            raise ConfigError(f"{given.source}: keys.{command}: {told}")
    return names


def _is_key(name: str) -> bool:
    """Whether any terminal could send it."""
    *holding, last = name.split("+") if len(name) > 1 else [name]
    if not set(holding) <= {"ctrl", "alt", "shift", "super", "meta", "hyper"}:
        return False
    if len(last) == 1 or last in NAMES or last in {each.value for each in Keys}:
        return True
    try:
        return bool(lookup(last.replace("_", " ")))
    except KeyError:
        return False
