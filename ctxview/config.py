"""What a person prefers: the config file, then the environment, then flags, each going before the last.

Knows the settings and where each value came from; what a setting does is for whoever asks. Nothing is
written. A mistake is told with the file and line or the variable, the setting, and the nearest thing that
would work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from ctxview import theme_files
from ctxview.analysis.tokens import COUNTERS
from ctxview.analysis.wording import did_you_mean
from ctxview.files.reading import in_words
from ctxview.files.user_folders import config_folder
from ctxview.quick_dataclass import dataclass

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


@dataclass(frozen=True, slots=True)
class Key:
    """What somebody gave a command to be pressed, and where they did."""

    keys: str
    source: str


@dataclass(frozen=True)
class Config:
    """Every setting with its value, and the keys a person gave to commands."""

    settings: Mapping[str, Chosen]
    keys: Mapping[str, Key] = field(default_factory=dict)
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
    file = _File.read(config_file())
    chosen = {name: Chosen(setting.default, DEFAULT) for name, setting in SETTINGS.items()}
    keys = _keys(file)
    for name, value in file.table.items():
        place = file.place(name)
        if name not in SETTINGS:
            hint = did_you_mean(name, (*SETTINGS, KEYS))
            raise ConfigError(f"{place}: {name}: there is no such setting{hint}; there are {_all_settings()}")
        chosen[name] = Chosen(SETTINGS[name].of(value, f"{place}: {name}"), place)
    for name, setting in SETTINGS.items():
        variable = variable_of(name)
        if environment.get(variable):
            chosen[name] = Chosen(setting.of(environment[variable], variable), variable)
        if flags and flags.get(name) is not None:
            option = f"--{name}"
            chosen[name] = Chosen(setting.of(flags[name], option), option)
    return Config(chosen, keys, file.path if file.is_there else None)


def config_file() -> Path:
    """Where the config file is, or would be."""
    return config_folder() / FILE


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return f"CTXVIEW_{name.upper()}"


@dataclass(frozen=True)
class _File:
    """What stands in the config file, and in which line."""

    path: Path
    text: str | None
    table: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> _File:
        import tomllib

        try:
            text = path.read_text("utf-8")
            return cls(path, text, tomllib.loads(text))
        except FileNotFoundError:
            return cls(path, None, {})
        except OSError as error:
            raise ConfigError(f"{path}: {in_words(error)}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: this is no text in UTF-8") from None
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{path}{_toml_place(str(error))}") from None

    @property
    def is_there(self) -> bool:
        return self.text is not None

    def place(self, name: str, table: str = "") -> str:
        """The file with the line in which a name is given something; as far as that can be told."""
        inside = ""
        for number, line in enumerate((self.text or "").splitlines(), 1):
            if heading := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
                inside = heading[1].strip("\"'")
            if inside == table and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", line):
                return f"{self.path}:{number}"
            if not table and inside == name:
                return f"{self.path}:{number}"
        return str(self.path)


def _toml_place(told: str) -> str:
    """What the parser says, with its place where everybody looks for one."""
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", told, re.DOTALL)
    return f":{found[2]}:{found[3]}: not TOML: {found[1]}" if found else f": not TOML: {told}"


def _keys(file: _File) -> dict[str, Key]:
    given = file.table.pop(KEYS, {})
    if not isinstance(given, dict):
        raise ConfigError(f"{file.place(KEYS)}: {KEYS}: this is a table of commands and their keys")
    keys = {name: Key(value, file.place(name, KEYS)) for name, value in given.items()}
    for name, key in keys.items():
        if not isinstance(key.keys, str) or not key.keys.strip():
            raise ConfigError(f'{key.source}: {KEYS}.{name}: {key.keys!r} is no key; write it like "ctrl+k"')
    return keys


def _theme(value: object) -> str:
    """By its name; ours also by what comes after `ctxview-`."""
    short = {name.removeprefix("ctxview-"): name for name in theme_files.names()}
    word = str(value).removeprefix("ctxview-")
    return short[_one_of(lambda: list(short), "no theme is called")(word)]


def _one_of(known: Callable[[], list[str]], what: str) -> Callable[[object], str]:
    """Reads a word out of some that are only asked for when it is needed."""

    def read(value: object) -> str:
        words = known()
        if value not in words:
            hint = did_you_mean(str(value), words)
            raise ValueError(f"{what} {value}{hint}; there are {', '.join(words)}")
        return str(value)

    return read


def _yes_or_no(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False}
    found = value if isinstance(value, bool) else {**words, "off": False}.get(str(value).lower())
    if found is None:
        raise ValueError(f"{value!r} is neither yes nor no")
    return found


def _all_settings() -> str:
    return ", ".join((*SETTINGS, f"[{KEYS}]"))


SETTINGS: Final[Mapping[str, Setting]] = {
    "theme": Setting("colours of the inspector", theme_files.DEFAULT, _theme),
    "tokens": Setting(
        "how tokens are counted", COUNTERS[0], _one_of(lambda: list(COUNTERS), "nothing counts by")
    ),
    "glyphs": Setting(
        "signs of the inspector: auto, unicode or ascii",
        GLYPHS[0],
        _one_of(lambda: list(GLYPHS), "nothing draws signs by"),
    ),
    "follow": Setting("whether what is open is followed as it changes", True, _yes_or_no),
}
