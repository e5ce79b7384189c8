"""Commands that run in the process of the tests, and programs that run beside it."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from threading import Timer
from typing import IO, Any, AnyStr, Protocol

LIMIT = 180.0
"""Seconds after which a wait fails. It means that a program hangs: no slow machine needs so long."""


@dataclass(frozen=True)
class Ran:
    code: int | str | None
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def complaint(self) -> str:
        """The only line on stderr; fails when there are more or fewer."""
        (line,) = self.err.splitlines()
        assert line.startswith("ctxview: ")
        assert line.isprintable()
        return line.removeprefix("ctxview: ")


class Run(Protocol):
    def __call__(self, *arguments: str | Path) -> Ran: ...


def line_of(process: Popen[AnyStr], pipe: IO[AnyStr] | None) -> AnyStr:
    """Return the next line that a program writes to a pipe; end the program if it comes too late."""
    assert pipe is not None
    too_late = Timer(LIMIT, process.kill)
    too_late.start()
    try:
        line = pipe.readline()
    finally:
        too_late.cancel()
    assert line, f"{process.args}: it ended, or wrote no line within {LIMIT:.0f} s"
    return line


def default_signals() -> None:
    """Give a new process the default handlers: under nohup and some CI runners, signals are ignored."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


class Program:
    """A program with pipes. As a context manager it always ends the program."""

    def __init__(self, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> None:
        self.command = [str(part) for part in command]
        self.output = b""
        self.process = subprocess.Popen(
            self.command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            preexec_fn=default_signals,
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate(timeout=LIMIT)

    def read_until(self, words: str) -> str:
        """Return the output up to the end of the line with these words."""
        assert self.process.stdout is not None
        end = time.monotonic() + LIMIT
        start = len(self.output)
        while (found := self.output.find(words.encode(), start)) < 0 or b"\n" not in self.output[found:]:
            left = max(0.0, end - time.monotonic())
            ready, _, _ = select.select([self.process.stdout], [], [], left)
            chunk = self.process.stdout.read1() if ready else b""
            assert chunk, f"{self.command}: waited for {words!r}, but the output was {self.output.decode()!r}"
            self.output += chunk
        stop = self.output.index(b"\n", found) + 1
        text, self.output = self.output[:stop], self.output[stop:]
        return text.decode()

    def finish(self) -> Ran:
        """Wait for the end; return the exit code and the output that was not read yet."""
        try:
            rest, errors = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(
                f"{self.command} did not end within {LIMIT:.0f} s: {error.output!r}"
            ) from None
        return Ran(self.process.returncode, (self.output + (rest or b"")).decode(), errors.decode())
