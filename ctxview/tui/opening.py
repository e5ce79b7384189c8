"""From paths on the command line to sources, one after the other. Runs in a worker thread; draws nothing."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.tui.session_view import Problem

if TYPE_CHECKING:
    from ctxview.formats import CannotOpen, Source


class Opening:
    """Everything in some paths that can be recognised; what cannot be opened comes as a problem."""

    def __init__(self, paths: Sequence[Path], as_format: str | None = None) -> None:
        self._paths = paths
        self._as_format = as_format
        self.folders: list[Path] = []
        """Those that were looked through: something else may appear there."""

    def __call__(self) -> Iterator[Source | Problem]:
        for path in self._paths:
            yield from self._below(path)

    def newcomers(self, known: Container[Path]) -> Iterator[Source | Problem]:
        """What is there now and was not when it was looked through before."""
        from ctxview.formats import CannotOpen, discover

        folders: list[Path] = []
        for path in self._paths if self._as_format is None else ():
            try:
                discovery = discover(path)
            except CannotOpen:
                continue
            folders += discovery.folders
            for found in discovery.found:
                if found.path not in known:
                    yield from _opened(found.path)
        self.folders = folders

    def _below(self, path: Path) -> Iterator[Source | Problem]:
        from ctxview.formats import CannotOpen, discover
        from ctxview.formats.nearest import nothing_in
        from ctxview.formats.peek import Peek

        if self._as_format is not None:
            yield from _opened(path, self._as_format)
            return
        try:
            discovery = discover(path)
        except CannotOpen as error:
            yield _problem(path, error)
            return
        self.folders += discovery.folders
        for found in discovery.found:
            yield from _opened(found.path)
        if not discovery.found:
            yield Problem(path, nothing_in(path, Peek(path).names))
        for note in (discovery.capped, *discovery.notes):
            if note is not None:
                yield Problem(path, note)
        yield from (Problem(folder, why) for folder, why in discovery.unread)


def _opened(path: Path, as_format: str | None = None) -> Iterator[Source | Problem]:
    from ctxview.formats import CannotOpen, open_source

    try:
        yield open_source(path, as_format)
    except CannotOpen as error:
        yield _problem(path, error)


def _problem(path: Path, error: CannotOpen) -> Problem:
    return Problem(path, str(error).removeprefix(f"{path}: "))
