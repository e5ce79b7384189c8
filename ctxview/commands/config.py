"""`ctxview config`: the settings in force, and where each came from."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ctxview.commands.trouble import Trouble
from ctxview.config import SETTINGS, Config, ConfigError, config_file, load, variable_of
from ctxview.files.visible import visible
from ctxview.origin import JsonValue


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def run(arguments: Namespace) -> int:
    try:
        config = load()
    except ConfigError as error:
        raise Trouble(str(error)) from error
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(_as_json(config)))
    else:
        for line in _lines(config):
            print(visible(line))
    return 0


def _as_json(config: Config) -> JsonValue:
    settings: dict[str, JsonValue] = {
        name: {"value": chosen.value, "source": chosen.source} for name, chosen in config.settings.items()
    }
    keys: dict[str, JsonValue] = {**config.keys}
    file, there = str(config_file()), config.file is not None
    return {"file": file, "exists": there, "settings": settings, "keys": keys}


def _lines(config: Config) -> list[str]:
    state = "" if config.file is not None else "  (not there yet)"
    lines = [f"file  {config_file()}{state}", ""]
    for name, chosen in config.settings.items():
        lines.append(f"{name:<8}  {_spelled(chosen.value):<14}  {chosen.source}")
        lines.append(f"{'':<8}  {SETTINGS[name].about}; {variable_of(name)}")
    for command, key in config.keys.items():
        lines.append(f"{'keys':<8}  {command} = {key}")
    return lines


def _spelled(value: str | bool) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"
