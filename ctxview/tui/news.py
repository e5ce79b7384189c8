"""What happened on disk lately, in a few words. Knows no clock: somebody says when it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ctxview.files.following import News, What

MOST = 2


class Burst:
    """Things that happen one soon after the other are told together."""

    def __init__(self) -> None:
        self._lines: Counter[str] = Counter()
        self._happened: dict[str, What] = {}

    def lines(self, file: Path | None, more: int) -> None:
        """A file got so many lines more."""
        if file is not None:
            self._lines[file.name] += more

    def happened(self, news: Sequence[News]) -> None:
        for each in news:
            if each.sure and not each.path.name.startswith("."):
                self._happened.pop(each.path.name, None)
                self._happened[each.path.name] = each.what

    def end(self) -> None:
        self._lines.clear()
        self._happened.clear()

    @property
    def told(self) -> str:
        """Empty when nothing happened."""
        lines = [f"{name} +{more:,} {'line' if more == 1 else 'lines'}" for name, more in self._lines.items()]
        others = [
            f"{name} {what}"
            for name, what in reversed(self._happened.items())
            if not (name in self._lines and what is What.APPENDED)
        ]
        told = [*lines, *others]
        more = f" and {len(told) - MOST} more" if len(told) > MOST else ""
        return ", ".join(told[:MOST]) + more
