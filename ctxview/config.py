"""The settings: config file, environment variables and command-line flags, and the themes to choose from.

A flag goes before a variable, a variable before the file. This module lists themes but reads none of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from ctxview.analysis.tokens import COUNTERS
from ctxview.analysis.wording import did_you_mean
from ctxview.files.reading import error_text
from ctxview.files.user_folders import config_folder

DEFAULT_THEME: Final = "ctxview-dark"
FILE: Final = "config.toml"
DEFAULT: Final = "default"
GLYPHS: Final = ("auto", "unicode", "ascii")
KEYS: Final = "keys"
"""The table of the file that binds actions to other keys; the inspector knows the actions."""


class ConfigError(Exception):
    """A setting that cannot be used; the message says where it was set."""


class Setting(Struct, frozen=True):
    """One setting: its purpose, its default value, and the function that reads a value."""

    about: str
    default: str | bool
    read: Callable[[object], str | bool]

    def of(self, value: object, where: str) -> str | bool:
        """Return the given `value` as a value of this setting; raises `ConfigError`, which names `where`."""
        try:
            return self.read(value)
        except ValueError as error:
            raise ConfigError(f"{where}: {error}") from None


class SettingValue(Struct, frozen=True):
    """The value in force, and where it was set."""

    value: str | bool
    source: str


class KeyChoice(Struct, frozen=True):
    """The keys that a person bound to an action, and where they did."""

    keys: str
    source: str


class Config(Struct, frozen=True):
    """Every setting with its value, and the keys that a person bound to actions."""

    settings: Mapping[str, SettingValue]
    keys: Mapping[str, KeyChoice] = field(default_factory=dict)
    file: Path | None = None
    """The file that was read; None when it does not exist."""

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

    @property
    def home(self) -> bool:
        return self.settings["home"].value is True


def load_config(
    flags: Mapping[str, object] | None = None, environment: Mapping[str, str] = os.environ
) -> Config:
    """Return the settings in force; `flags` are from the command line. Raises `ConfigError`."""
    file = _File.read(config_file())
    chosen = {name: SettingValue(setting.default, DEFAULT) for name, setting in SETTINGS.items()}
    keys = _keys(file)
    for name, value in file.table.items():
        place = file.place(name)
        if name not in SETTINGS:
            hint = did_you_mean(name, (*SETTINGS, KEYS))
            settings = ", ".join((*SETTINGS, f"[{KEYS}]"))
            raise ConfigError(f"{place}: unknown setting {name}{hint}; choose from {settings}")
        chosen[name] = SettingValue(SETTINGS[name].of(value, f"{place}: {name}"), place)
    for name, setting in SETTINGS.items():
        variable = variable_of(name)
        if environment.get(variable):
            chosen[name] = SettingValue(setting.of(environment[variable], variable), variable)
        if flags and flags.get(name) is not None:
            option = f"--{name}"
            chosen[name] = SettingValue(setting.of(flags[name], option), option)
    return Config(chosen, keys, file.path if file.text is not None else None)


def config_file() -> Path:
    """Return the path of the config file, which may not exist."""
    return config_folder() / FILE


def theme_folder() -> Path:
    """Return the folder of the bundled themes: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "themes"
    return installed if installed.is_dir() else package.parent / "themes"


def theme_paths() -> list[Path]:
    """Return the files of all themes, a person's own before the bundled ones."""
    own = config_folder() / "themes"
    return [*own.glob("*.toml"), *theme_folder().glob("*.toml")]


def theme_names() -> list[str]:
    """Return the names of all themes, the default first."""
    return sorted({path.stem for path in theme_paths()}, key=lambda name: (name != DEFAULT_THEME, name))


def variable_of(name: str) -> str:
    """Return the environment variable of the setting `name`."""
    return f"CTXVIEW_{name.upper()}"


class _File(Struct, frozen=True):
    """The content of the config file; `text` is None when the file does not exist."""

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
            raise ConfigError(f"{path}: {error_text(error)}") from None
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: this is not UTF-8 text") from None
        except tomllib.TOMLDecodeError as error:
            found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
            place, message = (f":{found[2]}:{found[3]}", found[1]) if found else ("", str(error))
            raise ConfigError(f"{path}{place}: not TOML: {message}") from None

    def place(self, name: str, table: str = "") -> str:
        """Return the file with the line that sets `name` in `table`; the file alone if no line is found."""
        inside = ""
        for number, line in enumerate((self.text or "").splitlines(), 1):
            if heading := re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line):
                inside = heading[1].strip("\"'")
            if inside == table and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[=.]", line):
                return f"{self.path}:{number}"
            if not table and inside == name:
                return f"{self.path}:{number}"
        return str(self.path)


def _keys(file: _File) -> dict[str, KeyChoice]:
    given = file.table.pop(KEYS, {})
    if not isinstance(given, dict):
        raise ConfigError(f"{file.place(KEYS)}: {KEYS}: this must be a table of actions and their keys")
    keys = {name: KeyChoice(value, file.place(name, KEYS)) for name, value in given.items()}
    for name, key in keys.items():
        if not isinstance(key.keys, str) or not key.keys.strip():
            raise ConfigError(
                f'{key.source}: {KEYS}.{name}: {key.keys!r} is not a key; write it like "ctrl+k"'
            )
    return keys


def _theme(value: object) -> str:
    """Return the theme that `value` names; the prefix `ctxview-` may be left out."""
    short = {name.removeprefix("ctxview-"): name for name in theme_names()}
    word = str(value).removeprefix("ctxview-")
    return short[_one_of(lambda: list(short), "theme")(word)]


def _one_of(known: Callable[[], list[str]], noun: str) -> Callable[[object], str]:
    """Return a function that reads one of the `known` words; it asks for them only when it is called."""

    def read(value: object) -> str:
        words = known()
        if value not in words:
            hint = did_you_mean(str(value), words)
            raise ValueError(f"unknown {noun} {value}{hint}; choose from {', '.join(words)}")
        return str(value)

    return read


def _yes_or_no(value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False}
    found = value if isinstance(value, bool) else {**words, "off": False}.get(str(value).lower())
    if found is None:
        raise ValueError(f"{value!r} is neither yes nor no")
    return found


SETTINGS: Final[Mapping[str, Setting]] = {
    "theme": Setting("colours of the inspector", DEFAULT_THEME, _theme),
    "tokens": Setting(
        "how tokens are counted", COUNTERS[0], _one_of(lambda: list(COUNTERS), "token counter")
    ),
    "glyphs": Setting(
        "glyphs of the inspector: auto, unicode or ascii",
        GLYPHS[0],
        _one_of(lambda: list(GLYPHS), "glyph set"),
    ),
    "follow": Setting("whether open files are followed as they change", True, _yes_or_no),
    "home": Setting(
        "whether the start screen offers sessions of Claude Code, Codex and OpenCode", True, _yes_or_no
    ),
}
