"""Lines of output: a name from a file cannot act on the log of a CI service."""

from __future__ import annotations

import ast
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctxview
from ctxview.cli import main
from ctxview.reports.console import print_lines
from ctxview.reports.json_output import dumps

NAMES = (
    "::error file=x::boo",
    "::stop-commands::t",
    "##[error]x",
    "##vso[task.setvariable variable=a]b",
    "\u2003::warning::spaced",
    "a ##[add-mask]x",
)
# The conditions of the runners of GitHub (`::`, `##[`), Azure Pipelines (`##vso[`, `##[`) and TeamCity.
ACTS = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)


def printed(*lines: str, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding, errors="backslashreplace")
    print_lines(lines, stream)
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["show", "check", "diff"])
def test_a_file_name_is_not_a_command_of_a_log(
    command: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).mkdir()
    file = Path(name, name)
    file.write_text(f'{{"a": 1, "a": NaN, "title": "{name}"}}')
    arguments = [command, str(file), str(file)] if command == "diff" else [command, str(file)]
    main(arguments)
    main([command, name, "--as", "raw"])

    captured = capsys.readouterr()

    assert captured.out + captured.err
    assert not ACTS.search(captured.out), captured.out
    assert not ACTS.search(captured.err), captured.err


def test_one_character_of_a_command_is_spelled_out() -> None:
    assert printed("::error::x") == "<U+003A>:error::x\n"
    assert printed("  ::error::x") == "  <U+003A>:error::x\n"
    assert printed("see ##[error]x, ##vso[a]b") == "see <U+0023>#[error]x, <U+0023>#vso[a]b\n"


@pytest.mark.parametrize("line", ["a::b", "a ::b", ":a", "## heading", "#[x]", "item ## [x]"])
def test_lines_that_do_not_act_stay_as_they_are(line: str) -> None:
    assert printed(line) == f"{line}\n"


def test_signs_that_become_ascii_do_not_make_a_command() -> None:
    assert not ACTS.search(printed("▄▄error::x", "██[error]x", encoding="ascii"))


@given(st.lists(st.text("ab :#[]▄█\u2003", max_size=12), max_size=4))
def test_no_line_acts(lines: list[str]) -> None:
    assert not ACTS.search(printed(*lines))
    assert not ACTS.search(printed(*lines, encoding="ascii"))


@given(st.text('a\\#[]vso"', max_size=20))
def test_json_holds_no_command_and_the_same_value(text: str) -> None:
    written = dumps({"text": text})

    assert not ACTS.search(written)
    assert json.loads(written) == {"text": text}


def test_commands_print_text_only_through_the_safe_function() -> None:
    """Only JSON, workflow commands and shell scripts are printed as they are."""
    allowed = {
        ("commands/completions.py", "join"),
        ("commands/check.py", "line"),
        ("commands/check.py", "summary"),
        ("commands/review.py", "line"),
    }
    root = Path(ctxview.__file__).parent
    for file in (*(root / "commands").rglob("*.py"), root / "cli.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print":
                argument = call.args[0]
                found = argument.func if isinstance(argument, ast.Call) else argument
                name = found.attr if isinstance(found, ast.Attribute) else getattr(found, "id", "")
                place = file.relative_to(root).as_posix()
                assert name == "dumps" or (place, name) in allowed, f"{place}:{call.lineno}"
