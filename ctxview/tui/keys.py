"""Keys a person gave to commands in the config file: checked against the table, and spelled for people."""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.analysis.wording import did_you_mean
from ctxview.config import ConfigError
from ctxview.tui.commands import BY_ID, COMMANDS, Command

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
}
SIGNS = {sign: name for name, sign in NAMES.items() if len(sign) == 1}
_own: dict[str, str] = {}


def use(keys: Mapping[str, str]) -> dict[str, str]:
    """Take these keys in the place of the table's; what the toolkit is to bind. Raises `ConfigError`."""
    for name in keys:
        if name not in BY_ID:
            raise ConfigError(f"keys.{name}: there is no such command{did_you_mean(name, BY_ID)}")
    chosen = {name: ",".join(_names(key)) for name, key in keys.items()}
    taken: dict[str, str] = {}
    for command in COMMANDS:
        for key in chosen.get(command.id, command.keys).split(","):
            if key in taken:
                both = f"{taken[key]} and {command.id}"
                raise ConfigError(f"keys: {spelled(key)} would mean both {both}; give one another key")
            taken[key] = command.id
    _own.clear()
    _own.update(chosen)
    return chosen


def shown(command: Command) -> str:
    """The keys of a command as people read them."""
    own = _own.get(command.id)
    return command.shown if own is None else " ".join(map(spelled, own.split(",")))


def spelled(key: str) -> str:
    """One key as people read it: `ctrl+k` is Ctrl-k."""
    *holding, last = key.split("+") if len(key) > 1 else [key]
    return "-".join([*(each.capitalize() for each in holding), NAMES.get(last, last)])


def _names(keys: str) -> list[str]:
    """Keys as the toolkit calls them; a sign may be written as itself."""
    if keys.strip() == ",":
        return ["comma"]
    return [SIGNS.get(key.strip(), key.strip()) for key in keys.split(",")]
