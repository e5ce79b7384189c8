"""Exact token counts from a process of their own, for whoever has to answer keys meanwhile.

Building an encoding from its table is one step that no other thread of the same program gets in between, and
takes longer than a person may be kept waiting. Run as a module, this is that process.
"""

from __future__ import annotations

import atexit
import json
import sys
from subprocess import DEVNULL, PIPE, Popen
from threading import Lock
from typing import BinaryIO

from ctxview.analysis.tokens import Count, TokenCounter, counter_here

_LENGTH = 8


class NotStarted(Exception):
    """There can be no such process here."""


class CountingProcess:
    """A `TokenCounter`. Should its process go away, it goes on counting in this one."""

    def __init__(self, encoding: str) -> None:
        """Waits until the table is loaded; raises `NotStarted`."""
        self._encoding = encoding
        self._turn = Lock()
        # -P: whatever lies in the folder that is looked at is not to be taken for a part of the program.
        command = [sys.executable, "-P", "-m", __spec__.name, encoding]
        try:
            self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True)
        except OSError as error:
            raise NotStarted(str(error)) from None
        atexit.register(self.close)
        greeting = self._answer()
        if not greeting:
            self.close()
            raise NotStarted("it ended at once")
        told = json.loads(greeting)
        self.name: str = told["name"]
        self.exact: bool = told["exact"]

    def count(self, text: str) -> int:
        return self.measure(text).value

    def measure(self, text: str) -> Count:
        data = text.encode("utf-8", "surrogatepass")
        with self._turn:
            try:
                value, exact = self._ask(data).split()
            except (OSError, ValueError):
                return counter_here(self._encoding).measure(text)
        return Count(int(value), exact == b"1")

    def close(self) -> None:
        atexit.unregister(self.close)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # it was gone before us
        self._process.wait()

    def _ask(self, data: bytes) -> bytes:
        assert self._process.stdin is not None, "it was asked for"
        self._process.stdin.write(len(data).to_bytes(_LENGTH, "big") + data)
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> bytes:
        assert self._process.stdout is not None, "it was asked for"
        return self._process.stdout.readline()


def serve(counter: TokenCounter, asked: BinaryIO, answers: BinaryIO) -> None:
    """Counts one text after the other until nobody asks any more."""
    answers.write(json.dumps({"name": counter.name, "exact": counter.exact}).encode() + b"\n")
    answers.flush()
    while len(length := asked.read(_LENGTH)) == _LENGTH:
        text = asked.read(int.from_bytes(length, "big")).decode("utf-8", "surrogatepass")
        counted = counter.measure(text)
        answers.write(b"%d %d\n" % (counted.value, counted.exact))
        answers.flush()


if __name__ == "__main__":
    serve(counter_here(sys.argv[1]), sys.stdin.buffer, sys.stdout.buffer)
