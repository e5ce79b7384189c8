"""Exact token counts from a separate process, so that the inspector can answer keys meanwhile.

Building an encoding from its table blocks all threads of a process for longer than a key press may wait. Run
as a module, this is the separate process.
"""

from __future__ import annotations

import atexit
import json
import sys
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock
from typing import BinaryIO

from ctxview.analysis.tokens import TokenCount, TokenCounter, local_counter

_LENGTH = 8


class ProcessError(Exception):
    """The process could not be started."""


class CountingProcess:
    """A `TokenCounter` that counts in another process, or in this one when the other has ended."""

    def __init__(self, encoding: str) -> None:
        """Start the process and wait until its table is loaded; raises `ProcessError`."""
        self._encoding = encoding
        self._lock = Lock()
        # -P: files in the current folder must not be imported as modules.
        command = [sys.executable, "-P", "-m", __spec__.name, encoding]
        try:
            self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True)
        except OSError as error:
            raise ProcessError(str(error)) from None
        atexit.register(self.close)
        greeting = self._answer()
        if not greeting:
            self.close()
            raise ProcessError("it ended at once")
        about = json.loads(greeting)
        self.name: str = about["name"]
        self.exact: bool = about["exact"]

    def count(self, text: str) -> int:
        return self.measure(text).value

    def measure(self, text: str) -> TokenCount:
        data = text.encode("utf-8", "surrogatepass")
        with self._lock:
            try:
                value, exact = self._ask(data).split()
            except (OSError, ValueError):
                return local_counter(self._encoding).measure(text)
        return TokenCount(int(value), exact == b"1")

    def close(self) -> None:
        atexit.unregister(self.close)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # the process has already ended
        self._process.wait()

    def _ask(self, data: bytes) -> bytes:
        assert self._process.stdin is not None, "Popen was given a pipe"
        self._process.stdin.write(len(data).to_bytes(_LENGTH, "big") + data)
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> bytes:
        assert self._process.stdout is not None, "Popen was given a pipe"
        return self._process.stdout.readline()


def serve(counter: TokenCounter, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one request after the other until `requests` ends."""
    answers.write(json.dumps({"name": counter.name, "exact": counter.exact}).encode() + b"\n")
    answers.flush()
    while len(length := requests.read(_LENGTH)) == _LENGTH:
        text = requests.read(int.from_bytes(length, "big")).decode("utf-8", "surrogatepass")
        counted = counter.measure(text)
        answers.write(b"%d %d\n" % (counted.value, counted.exact))
        answers.flush()


if __name__ == "__main__":
    serve(local_counter(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer)
