"""`ctxview config`: show the settings and where each comes from."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from ctxview.analysis.wording import did_you_mean
from ctxview.config import SETTINGS, Config, ConfigError, config_file, load_config, variable_of
from ctxview.core.origin import JsonValue
from ctxview.files.visible_text import visible
from ctxview.reports.console import UserError, print_error, print_lines


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    try:
        config = load_config()
        if config.keys:
            from ctxview.tui.configured_keys import checked_keymap

            checked_keymap(config.keys)
    except ConfigError as error:
        raise UserError(str(error)) from error
    known = [*map(variable_of, SETTINGS)]
    for variable in sorted(os.environ):
        if variable.startswith("CTXVIEW_") and variable not in known:
            print_error(f"note: unknown environment variable {variable}{did_you_mean(variable, known)}")
    if arguments.json:
        from ctxview.reports.json_output import dumps

        settings: dict[str, JsonValue] = {
            name: {"value": chosen.value, "source": chosen.source} for name, chosen in config.settings.items()
        }
        keys: dict[str, JsonValue] = {
            command: {"value": key.keys, "source": key.source} for command, key in config.keys.items()
        }
        exists = config.file is not None
        print(dumps({"file": str(config_file()), "exists": exists, "settings": settings, "keys": keys}))
    else:
        print_lines(map(visible, _lines(config)))
    return 0


def _lines(config: Config) -> list[str]:
    state = "" if config.file is not None else "  (does not exist)"
    lines = [f"file  {config_file()}{state}", ""]
    for name, chosen in config.settings.items():
        value = chosen.value if isinstance(chosen.value, str) else "yes" if chosen.value else "no"
        lines.append(f"{name:<8}  {value:<14}  {chosen.source}")
        lines.append(f"{'':<8}  {SETTINGS[name].about}; {variable_of(name)}")
    for command, key in config.keys.items():
        lines.append(f"{'keys':<8}  {f'{command} = {key.keys}':<14}  {key.source}")
    return lines
