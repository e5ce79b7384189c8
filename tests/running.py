"""The result of a command that ran in the process of the tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


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
