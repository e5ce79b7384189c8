"""The layouts a person made, one for each class of terminal size, kept in the user's state folder.

A file that cannot be understood is told and then does not count; it is replaced when a layout is made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from ctxview.files.own_files import put
from ctxview.files.reading import Unreadable, read_bytes
from ctxview.files.user_folders import state_folder
from ctxview.quick_dataclass import dataclass
from ctxview.tui.layout import Pane
from ctxview.tui.sizes import Sizes

VERSION: Final = 1
_LIMIT: Final = 64 * 1024
_LARGEST: Final = 10_000


@dataclass(frozen=True, slots=True)
class Arranged:
    """How somebody had the panes: their sizes, and which tabs were in front.

    What had the screen to itself is not kept: it would hide everything else of whatever is opened next.
    """

    sizes: Sizes = field(default_factory=Sizes)
    fronts: tuple[Pane, ...] = ()


class Layouts:
    """By class of size, as `layout.size_class` names it."""

    def __init__(self, file: Path, known: Mapping[str, Arranged], problem: str = "") -> None:
        self.problem = problem
        """Why what was there could not be used; empty when all is well."""
        self._file = file
        self._known = dict(known)

    @classmethod
    def load(cls, file: Path | None = None) -> Layouts:
        file = file or state_folder() / "layout.json"
        if not file.exists():
            return cls(file, {})
        try:
            return cls(file, _read(json.loads(read_bytes(file, _LIMIT))))
        except (Unreadable, ValueError, RecursionError, OSError) as error:
            return cls(file, {}, f"The layout kept in {file} does not count: {error}")

    def of(self, size: str) -> Arranged:
        return self._known.get(size, Arranged())

    def keep(self, size: str, arranged: Arranged) -> Callable[[], None] | None:
        """Remembers a layout; the answer writes it, and is None when nothing is new."""
        if self.of(size) == arranged:
            return None
        self._known[size] = arranged
        data = json.dumps(_written(self._known), indent=1).encode()
        return lambda: put(self._file, data)


def _written(known: Mapping[str, Arranged]) -> dict[str, object]:
    sizes = {
        name: {
            "widths": dict(each.sizes.widths),
            "heights": dict(each.sizes.heights),
            "sources": each.sizes.sources,
            "fronts": [*each.fronts],
        }
        for name, each in known.items()
    }
    return {"version": VERSION, "sizes": sizes}


def _read(value: object) -> dict[str, Arranged]:
    """Raises `ValueError` for what is not ours."""
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise ValueError(f"it is not of version {VERSION}")
    return {name: _arranged(_table(each)) for name, each in _table(value.get("sizes")).items()}


def _arranged(told: Mapping[str, object]) -> Arranged:
    fronts = told.get("fronts")
    if not isinstance(fronts, list) or not isinstance(told.get("sources"), bool):
        raise ValueError("something is missing in it")
    sizes = Sizes(_figures(told.get("widths")), _figures(told.get("heights")), told["sources"] is True)
    return Arranged(sizes, tuple(map(_pane, fronts)))


def _pane(name: object) -> Pane:
    found = next((pane for pane in Pane if pane == name), None)
    if found is None:
        raise ValueError(f"no pane is called {name!r}")
    return found


def _figures(value: object) -> dict[str, int]:
    figures = {name: each for name, each in _table(value).items() if isinstance(each, int)}
    return {name: min(max(each, 1), _LARGEST) for name, each in figures.items()}


def _table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("a table is expected where there is none")
    return value
