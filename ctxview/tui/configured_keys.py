"""The keys that the config file gives to actions: checked against the table, and spelled for people."""

from __future__ import annotations

from collections.abc import Mapping
from unicodedata import lookup

from textual.keys import Keys

from ctxview.analysis.wording import did_you_mean
from ctxview.config import ConfigError, KeyChoice
from ctxview.tui.model.action_table import ACTIONS, ACTIONS_BY_ID, Action, BracketKeys

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
"""The names for people of keys that have another name in the toolkit."""
SIGNS = {sign: name for name, sign in NAMES.items() if len(sign) == 1}
_own: dict[str, str] = {}


def use_keymap(keys: Mapping[str, KeyChoice]) -> dict[str, str]:
    """Use `keys` in place of the table's and return the bindings for the toolkit; raises `ConfigError`."""
    chosen = checked_keymap(keys)
    _own.clear()
    _own.update(chosen)
    return chosen


def checked_keymap(keys: Mapping[str, KeyChoice]) -> dict[str, str]:
    """Return `keys` as the toolkit spells them; raises `ConfigError`."""
    for name, given in keys.items():
        if name not in ACTIONS_BY_ID:
            hint = did_you_mean(name, ACTIONS_BY_ID)
            raise ConfigError(f"{given.source}: keys.{name}: unknown action{hint}")
    chosen = {name: ",".join(_names(name, given)) for name, given in keys.items()}
    taken: dict[str, str] = {}
    for action in ACTIONS:
        for key in chosen.get(action.id, action.keys).split(","):
            if key in taken:
                both = f"{taken[key]} and {action.id}"
                own = keys[action.id if action.id in keys else taken[key]].source
                raise ConfigError(
                    f"{own}: keys: {spell_key(key)} is the key of both {both}; give one of them another key"
                )
            taken[key] = action.id
    return chosen


def key_label(action: Action) -> str:
    """The keys of an action as people read them, a sequence of two keys first."""
    if not {action.id, "edit", *BracketKeys.JUMPS} & _own.keys():
        return action.key_text
    own = _own.get(action.id)
    alone = action.key_text if own is None else " ".join(map(spell_key, own.split(",")))
    bracket = next((name for name, jump in BracketKeys.JUMPS.items() if jump == action.id), None)
    if bracket is None:
        return alone
    pair = "".join(key_label(ACTIONS_BY_ID[name]).split()[0] for name in (bracket, "edit"))
    return f"{pair} {' '.join(map(spell_key, (own or action.keys).split(',')))}"


def spell_key(key: str) -> str:
    """One key as people read it: `ctrl+k` is Ctrl-k, `shift+f8` Shift-F8."""
    *holding, last = key.split("+") if len(key) > 1 else [key]
    name = NAMES.get(last) or (last.capitalize() if len(last) > 1 else last)
    return "-".join([*(each.capitalize() for each in holding), name])


def _names(action: str, given: KeyChoice) -> list[str]:
    """The keys of `action` as the toolkit spells them; a sign may be written as itself."""
    if given.keys.strip() == ",":
        return ["comma"]
    names = [SIGNS.get(key.strip(), key.strip()) for key in given.keys.split(",")]
    for name in names:
        if not _is_key(name):
            message = f'"{name}" is not a key; write it like "ctrl+k" or "f8"'
            raise ConfigError(f"{given.source}: keys.{action}: {message}")
    return names


def _is_key(name: str) -> bool:
    """Whether a terminal can send the key."""
    *holding, last = name.split("+") if len(name) > 1 else [name]
    if not set(holding) <= {"ctrl", "alt", "shift", "super", "meta", "hyper"}:
        return False
    if len(last) == 1 or last in NAMES or last in {each.value for each in Keys}:
        return True
    try:
        return bool(lookup(last.replace("_", " ")))
    except KeyError:
        return False
