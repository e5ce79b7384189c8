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

# Long enough for a loaded machine: reaching it means that the program hangs, not that it is slow.
PATIENCE = 60.0


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
    ) -> None:
        self.output = b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env={**_without_size(os.environ if env is None else env), "TERM": "xterm-256color"},
            start_new_session=True,
            # A new session has no controlling terminal until it takes one; closing ours then hangs up.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0) and None,
        )
        os.close(slave)

    def __enter__(self) -> PtySession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.hang_up()

    def wait_for(self, marker: str) -> float:
        """Wait until `marker` is in the output; return the seconds since the start."""
        wanted = marker.encode()
        while wanted not in self.output:
            if not self._read():
                raise AssertionError(
                    f"{marker!r} never appeared; the end of the output: {self.output[-2000:]!r}"
                )
        return time.perf_counter() - self.started

    def wait_for_more(self, seconds: float | None = None) -> None:
        """Wait for more output, at most for `seconds`."""
        if seconds is not None and not select.select([self.master], [], [], seconds)[0]:
            return
        if not self._read():
            raise AssertionError(f"the program ended; the end of the output: {self.output[-2000:]!r}")

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def finish(self) -> int:
        """Read the remaining output and return the exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE)

    def hang_up(self) -> None:
        """Close the terminal, as closing its window does."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def _read(self) -> bool:
        readable, _, _ = select.select([self.master], [], [], PATIENCE)
        if not readable:
            raise AssertionError(f"nothing for {PATIENCE} s; the end of the output: {self.output[-2000:]!r}")
        try:
            chunk = os.read(self.master, 65536)
        except OSError:  # Linux reports the closed other side this way
            return False
        self.output += chunk
        return bool(chunk)


def _without_size(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` without the size, which programs prefer to that of the terminal."""
    return {name: value for name, value in env.items() if name not in ("COLUMNS", "LINES")}
