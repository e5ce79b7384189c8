"""The layouts that a person made, one for each class of terminal size, in the user's state folder.

An invalid file is reported and ignored; the next layout that a person makes replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from ctxview.files.reading import ReadError, read_bytes
from ctxview.files.undo_copies import write_state_file
from ctxview.files.user_folders import state_folder
from ctxview.tui.model.layout import Pane, PaneSizes

VERSION: Final = 1
_LARGEST_FILE: Final = 64 * 1024
_LARGEST_SIZE: Final = 10_000


class SavedLayout(Struct, frozen=True):
    """The sizes of the panes, and the tabs in front.

    A zoom is not saved: it would hide all other panes of the next source.
    """

    sizes: PaneSizes = field(default_factory=PaneSizes)
    fronts: tuple[Pane, ...] = ()


class SavedLayouts:
    """Saved layouts by size class, see `layout.size_class`."""

    def __init__(self, file: Path, known: Mapping[str, SavedLayout], problem: str = "") -> None:
        self.problem = problem
        """Why the file was ignored; empty when it was valid."""
        self._file = file
        self._known = dict(known)

    @classmethod
    def load(cls, file: Path | None = None) -> SavedLayouts:
        file = file or state_folder() / "layout.json"
        if not file.exists():
            return cls(file, {})
        try:
            return cls(file, _read(json.loads(read_bytes(file, _LARGEST_FILE))))
        except (ReadError, ValueError, RecursionError, OSError) as error:
            return cls(file, {}, f"{file} is ignored: {error}")

    def of(self, size: str) -> SavedLayout:
        return self._known.get(size, SavedLayout())

    def keep(self, size: str, layout: SavedLayout) -> Callable[[], None] | None:
        """Set a layout and return a function that writes the file; None when nothing changed."""
        if self.of(size) == layout:
            return None
        self._known[size] = layout
        data = json.dumps(_json(self._known), indent=1).encode()
        return lambda: write_state_file(self._file, data)


def _json(known: Mapping[str, SavedLayout]) -> dict[str, object]:
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


def _read(value: object) -> dict[str, SavedLayout]:
    """Read the content of the file; raises `ValueError` when it has another form."""
    if not isinstance(value, dict) or value.get("version") != VERSION:
        raise ValueError(f"its version is not {VERSION}")
    return {name: _layout(_table(each)) for name, each in _table(value.get("sizes")).items()}


def _layout(value: Mapping[str, object]) -> SavedLayout:
    fronts = value.get("fronts")
    if not isinstance(fronts, list) or not isinstance(value.get("sources"), bool):
        raise ValueError("fronts or sources is missing")
    sizes = PaneSizes(_sizes(value.get("widths")), _sizes(value.get("heights")), value["sources"] is True)
    return SavedLayout(sizes, tuple(map(_pane, fronts)))


def _pane(name: object) -> Pane:
    found = next((pane for pane in Pane if pane == name), None)
    if found is None:
        raise ValueError(f"unknown pane {name!r}")
    return found


def _sizes(value: object) -> dict[str, int]:
    sizes = {name: each for name, each in _table(value).items() if isinstance(each, int)}
    return {name: min(max(each, 1), _LARGEST_SIZE) for name, each in sizes.items()}


def _table(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("a table is missing")
    return value
