"""Run a program in a new pseudo-terminal: wait for its output, press keys, and get its exit code."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.running import LIMIT, default_signals

PATIENCE = LIMIT


class PtySession:
    """A program in a pseudo-terminal. As a context manager it always ends the program."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        columns: int = 120,
        rows: int = 36,
        controlling: bool = True,
    ) -> None:
        """Without `controlling` the program gets no hang-up signal when the terminal goes away."""
        self.output = b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

        def prepare() -> None:
            default_signals()
            if controlling:
                # A new session has no controlling terminal until it takes one; closing ours then hangs up.
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**_without_size(os.environ if env is None else env), "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=prepare,
        )
        os.close(slave)

    def __enter__(self) -> PtySession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(LIMIT)
        self.hang_up()

    def wait_for(self, marker: str, seconds: float | None = None, *, after: int = 0) -> float:
        """Wait until `marker` is in the output behind `after` bytes; return the seconds since the start."""
        end = time.monotonic() + (PATIENCE if seconds is None else seconds)
        while marker.encode() not in self.output[after:]:
            if not self._read(end):
                raise AssertionError(f"waited for {marker!r}, but {self._seen}")
        return time.perf_counter() - self.started

    def wait_for_more(self, seconds: float | None = None) -> None:
        """Wait for more output, at most for `seconds`."""
        if seconds is not None and not select.select([self.master], [], [], seconds)[0]:
            return
        if not self._read(time.monotonic() + PATIENCE):
            raise AssertionError(f"waited for output, but {self._seen}")

    def press(self, keys: str) -> None:
        """Send keys in one write."""
        os.write(self.master, keys.encode())

    def finish(self) -> int:
        """Read the remaining output and return the exit code."""
        end = time.monotonic() + PATIENCE
        while self._read(end):
            pass
        try:
            return self.process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"waited for the end of the program, but {self._seen}") from None

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    @property
    def _seen(self) -> str:
        return f"the exit code is {self.process.poll()} and the output ends in {self.output[-2000:]!r}"

    def _read(self, end: float) -> bool:
        """Read more output; False when the program closed the terminal, or at the time `end`."""
        if not select.select([self.master], [], [], max(0.0, end - time.monotonic()))[0]:
            return False
        try:
            chunk = os.read(self.master, 65536)
        except OSError:  # Linux reports the closed other side this way
            return False
        self.output += chunk
        return bool(chunk)


def _without_size(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` without the size, which programs prefer to that of the terminal."""
    return {name: value for name, value in env.items() if name not in ("COLUMNS", "LINES")}
