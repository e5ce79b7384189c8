#!/usr/bin/env python3
"""Run ctxview or its checks from a fresh clone, with nothing but Python.

    python3 dev.py demo [ARGUMENTS]   play the bundled stories in the inspector
    python3 dev.py check              run every check that a change must pass

The environment is in `.venv`; it is installed again only when `pyproject.toml` or the Python version changed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "ctxview-installed"

Command = tuple[str, ...]

LINT: Command = ("ruff", "check", ".")
FORMATTING: Command = ("ruff", "format", "--check", ".")
TYPES: Command = ("mypy", "--strict", "-p", "ctxview")
IMPORT_RULES: Command = ("lint-imports",)
# Tests of screens wait for timers, so two processes for each core keep the cores busy.
TESTS: Command = ("pytest", "-n", str(2 * (os.cpu_count() or 1)))


def main(arguments: list[str]) -> int | str:
    if sys.version_info < (3, 11):
        return "ctxview needs Python 3.11 or newer; this is {}.{}".format(*sys.version_info)
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "demo":
        return demo(rest)
    if command == "check" and not rest:
        return check()
    print(__doc__.strip())
    return 0 if command in ("-h", "--help") else 2


def demo(arguments: list[str]) -> int:
    prepare("plain")
    return subprocess.call([SCRIPTS / "ctxview", "demo", *arguments])


def check() -> int:
    """Run the fast checks first and stop if one fails; check types and imports while the tests run."""
    prepare("dev")
    for command in (LINT, FORMATTING):
        if not passed(command, start(command)):
            return 1
    in_parallel = {
        command: start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for command in (TYPES, IMPORT_RULES)
    }
    good = [
        passed(TESTS, start(TESTS)),
        *(passed(command, process) for command, process in in_parallel.items()),
    ]
    print("── all good" if all(good) else "── failed")
    return 0 if all(good) else 1


def start(command: Command, **streams: int) -> subprocess.Popen[bytes]:
    # Many tests start the program, which compiled modules make fast.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    tool, *options = command
    return subprocess.Popen([SCRIPTS / tool, *options], cwd=ROOT, env=env, **streams)


def passed(command: Command, process: subprocess.Popen[bytes]) -> bool:
    print(f"── {' '.join(command)}", flush=True)
    output, _ = process.communicate()
    if output:
        sys.stdout.buffer.write(output)
        sys.stdout.flush()
    if process.returncode:
        print(f"── {command[0]} failed", flush=True)
    return process.returncode == 0


def prepare(kind: str) -> None:
    """Make an environment with the project: `plain` to run it, `dev` to work on it."""
    if not works(PYTHON):
        print("Creating .venv …", flush=True)
        run(sys.executable, "-m", "venv", "--clear", VENV)
    wanted = fingerprint()
    if installed().get("dev") == wanted or installed().get(kind) == wanted:
        return
    print("Installing ctxview and its dependencies …", flush=True)
    project = f"{ROOT}[dev]" if kind == "dev" else str(ROOT)
    run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", project)
    STAMP.write_text(f"{kind} {wanted}\n")


def works(python: Path) -> bool:
    return python.exists() and subprocess.call([python, "-c", "import pip"], stderr=subprocess.DEVNULL) == 0


def installed() -> dict[str, str]:
    return dict([STAMP.read_text().split()]) if STAMP.exists() else {}


def fingerprint() -> str:
    """A hash that changes whenever the environment has to be installed again."""
    version = subprocess.check_output([PYTHON, "-VV"])
    return hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + version + str(ROOT).encode()).hexdigest()


def run(*command: str | Path) -> None:
    code = subprocess.call(command)
    if code:
        sys.exit(f"dev.py: {' '.join(map(str, command))} failed (exit {code})")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
