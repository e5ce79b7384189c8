"""From paths on the command line to sources, one after the other. Runs in a worker thread; draws nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.tui.session_view import Problem

if TYPE_CHECKING:
    from ctxview.formats import Source


def opener(paths: Sequence[Path], as_format: str | None) -> Iterator[Source | Problem]:
    """Everything in `paths` that can be recognised; what cannot be opened comes as a problem."""
    for path in paths:
        yield from _below(path, as_format)


def _below(path: Path, as_format: str | None) -> Iterator[Source | Problem]:
    from ctxview.formats import CannotOpen, discover, open_source

    if as_format is not None:
        yield from _opened(path, as_format)
        return
    try:
        discovery = discover(path)
    except CannotOpen as error:
        yield Problem(path, str(error))
        return
    for found in discovery.found:
        try:
            yield open_source(found.path)
        except CannotOpen as error:
            yield Problem(found.path, str(error))
    if not discovery.found:
        yield Problem(path, f"nothing was recognised in {discovery.looked_at:,} files and folders")
    for note in (discovery.capped, *discovery.notes):
        if note is not None:
            yield Problem(path, note)


def _opened(path: Path, as_format: str) -> Iterator[Source | Problem]:
    from ctxview.formats import CannotOpen, open_source

    try:
        yield open_source(path, as_format)
    except CannotOpen as error:
        yield Problem(path, str(error))
