"""What a person prefers: the config file, then the environment, then flags, each going before the last.

Knows the settings and where each value came from; what a setting does is for whoever asks. Nothing is
written. A mistake is told with the file or the variable, the setting, and the nearest thing that would work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ctxview.analysis.tokens import COUNTERS
from ctxview.analysis.wording import did_you_mean
from ctxview.files.user_folders import config_folder

FILE: Final = "config.toml"
DEFAULT: Final = "default"
GLYPHS: Final = ("auto", "unicode", "ascii")
KEYS: Final = "keys"
"""The table of the file that gives commands other keys; the inspector knows the commands."""


class ConfigError(Exception):
    """A setting that cannot be used; the message names its place."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it is for, its value when nobody says anything, and how it is read."""

    about: str
    default: str | bool
    read: Callable[[object], str | bool]

    def of(self, value: object, where: str) -> str | bool:
        """The value somebody gave; raises `ConfigError`."""
        try:
            return self.read(value)
        except ValueError as error:
            raise ConfigError(f"{where}: {error}") from None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A value in force, and where it came from."""

    value: str | bool
    source: str


@dataclass(frozen=True)
class Config:
    """Every setting with its value, and the keys a person gave to commands."""

    settings: Mapping[str, Chosen]
    keys: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    """The file that was read; None when there is none."""

    @property
    def theme(self) -> str:
        return str(self.settings["theme"].value)

    @property
    def tokens(self) -> str:
        return str(self.settings["tokens"].value)

    @property
    def glyphs(self) -> str:
        return str(self.settings["glyphs"].value)

    @property
    def follow(self) -> bool:
        return self.settings["follow"].value is True


def load(flags: Mapping[str, object] | None = None, environment: Mapping[str, str] = os.environ) -> Config:
    """The settings in force; `flags` are those given on the command line. Raises `ConfigError`."""
    file = config_file()
    table = _table(file) if file.is_file() else {}
    chosen = {name: Chosen(setting.default, DEFAULT) for name, setting in SETTINGS.items()}
    keys = _keys(table.pop(KEYS, {}), file)
    for name, value in table.items():
        where = f"{file}: {name}"
        if name not in SETTINGS:
            raise ConfigError(f"{where}: there is no such setting{did_you_mean(name, (*SETTINGS, KEYS))}")
        chosen[name] = Chosen(SETTINGS[name].of(value, where), str(file))
    for name, setting in SETTINGS.items():
        variable = variable_of(name)
        if environment.get(variable):
            chosen[name] = Chosen(setting.of(environment[variable], variable), variable)
        if flags and flags.get(name) is not None:
            option = f"--{name}"
            chosen[name] = Chosen(setting.of(flags[name], option), option)
    return Config(chosen, keys, file if file.is_file() else None)


def config_file() -> Path:
    """Where the config file is, or would be."""
    return config_folder() / FILE


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return f"CTXVIEW_{name.upper()}"


def _table(file: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: not TOML: {error}") from None


def _keys(value: object, file: Path) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ConfigError(f"{file}: {KEYS}: this is a table of commands and their keys")
    for name, key in value.items():
        if not isinstance(key, str) or not key.strip():
            raise ConfigError(f'{file}: {KEYS}.{name}: {key!r} is no key; write it like "ctrl+k"')
    return dict(value)


def _word(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no name")
    return value


def _counter(value: object) -> str:
    if value not in COUNTERS:
        hint = did_you_mean(str(value), COUNTERS)
        raise ValueError(f"nothing counts by {value!r}{hint}; there are {', '.join(COUNTERS)}")
    return str(value)


def _glyphs(value: object) -> str:
    if value not in GLYPHS:
        raise ValueError(f"{value!r} is none of {', '.join(GLYPHS)}")
    return str(value)


def _yes_or_no(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False}
    found = value if isinstance(value, bool) else {**words, "off": False}.get(str(value).lower())
    if found is None:
        raise ValueError(f"{value!r} is neither yes nor no")
    return found


SETTINGS: Final[Mapping[str, Setting]] = {
    "theme": Setting("colours of the inspector: the name of a theme", "ctxview-dark", _word),
    "tokens": Setting("how tokens are counted", COUNTERS[0], _counter),
    "glyphs": Setting("signs of the inspector: auto, unicode or ascii", GLYPHS[0], _glyphs),
    "follow": Setting("whether what is open is followed as it changes", True, _yes_or_no),
}
