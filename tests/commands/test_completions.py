"""The completion scripts, run in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ctxview import cli
from ctxview.commands.completions import SHELLS
from ctxview.commands.parser import all_commands
from tests.running import LIMIT


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["completions", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_its_options_are_in_the_script(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = script(shell, capsys)
    for name in all_commands():
        assert name in text
    for word in ("fail-on", "json", "profile", "SNP021", "envelope", "reef", "cortexfs"):
        assert word in text
    first, second, *_ = text.splitlines()
    assert second.startswith("# To install: ")
    assert first == "#compdef ctxview" or shell != "zsh"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_can_read_its_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    if shutil.which(shell) is None:
        # Without the shell, only count the quotes.
        assert text.count("'") % 2 == 0
        return
    done = subprocess.run(
        [shell, "-n"], input=text, capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (["ctxview", "che"], {"check"}),
        (["ctxview", "check", "--fail-on", "w"], {"warning"}),
        (["ctxview", "check", "--fo"], {"--format", "--forget"}),
        (["ctxview", "completions", ""], {"bash", "zsh", "fish", "-h", "--help"}),
        (["ctxview", "--theme", "r"], {"reef"}),
        (["ctxview", "rules", "SNP02"], {f"SNP02{digit}" for digit in range(10)}),
        (["ctxview", "check", "--select", "ABI,SNP001"], {"ABI,SNP001"}),
        (["ctxview", "show", "--profile", "c"], {"cortexfs", "c d.toml"}),
        (["ctxview", "show", "c"], {"c d.toml"}),
    ],
)
def test_bash_completes_commands_options_and_words(
    typed: list[str], expected: set[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    words = " ".join(f"'{word}'" for word in typed)
    ask = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _ctxview; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    code = script("bash", capsys) + ask
    (tmp_path / "c d.toml").touch()
    done = subprocess.run(
        [bash, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, timeout=LIMIT
    )
    assert set(done.stdout.splitlines()) == expected


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ctxview che", {"check"}),
        ("ctxview --theme r", {"reef"}),
        ("ctxview check --select ABI,SNP001", {"ABI,SNP001"}),
        ("ctxview completions ", {"bash", "zsh", "fish"}),
    ],
)
def test_fish_completes_commands_options_and_words(
    typed: str, expected: set[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("fish is not installed")
    code = f"{script('fish', capsys)}\ncomplete -C '{typed}'"
    home = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        [fish, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=home, timeout=LIMIT
    )
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == expected
