"""`ctxview config`: the settings in force, and where each came from."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.trouble import Trouble, complain
from ctxview.config import SETTINGS, Config, ConfigError, config_file, load, variable_of
from ctxview.files.visible import visible
from ctxview.origin import JsonValue


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: Namespace) -> int:
    try:
        config = load()
        if config.keys:
            from ctxview.tui.keys import checked

            checked(config.keys)
    except ConfigError as error:
        raise Trouble(str(error)) from error
    for variable in _strangers(os.environ):
        hint = did_you_mean(variable, map(variable_of, SETTINGS))
        complain(f"note: {variable} is in the environment and means nothing{hint}")
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(_as_json(config)))
    else:
        for line in _lines(config):
            print(visible(line))
    return 0


def _strangers(names: Iterable[str]) -> list[str]:
    """Variables that look like ours and are none."""
    known = set(map(variable_of, SETTINGS))
    return sorted(name for name in names if name.startswith("CTXVIEW_") and name not in known)


def _as_json(config: Config) -> JsonValue:
    settings: dict[str, JsonValue] = {
        name: {"value": chosen.value, "source": chosen.source} for name, chosen in config.settings.items()
    }
    keys: dict[str, JsonValue] = {
        command: {"value": key.keys, "source": key.source} for command, key in config.keys.items()
    }
    file, there = str(config_file()), config.file is not None
    return {"file": file, "exists": there, "settings": settings, "keys": keys}


def _lines(config: Config) -> list[str]:
    state = "" if config.file is not None else "  (not there yet)"
    lines = [f"file  {config_file()}{state}", ""]
    for name, chosen in config.settings.items():
        lines.append(f"{name:<8}  {_spelled(chosen.value):<14}  {chosen.source}")
        lines.append(f"{'':<8}  {SETTINGS[name].about}; {variable_of(name)}")
    for command, key in config.keys.items():
        lines.append(f"{'keys':<8}  {f'{command} = {key.keys}':<14}  {key.source}")
    return lines


def _spelled(value: str | bool) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"
