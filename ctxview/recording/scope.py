"""Which files make up a source, as a scope to record."""

from __future__ import annotations

from pathlib import Path

from ctxview.formats.interface import MadeOf, Source
from ctxview.recording.tree import Scope


def scope_of(source: Source) -> Scope:
    """All that a source is made of below its path; a file's own folder is where it is looked for."""
    path = source.path.resolve()
    if not path.is_dir():
        return Scope(path.parent, (path.name,))
    made_of = source.made_of if isinstance(source, MadeOf) else (path,)
    below = [each.resolve() for each in made_of if each.resolve().is_relative_to(path)]
    parts = {"" if each == path else str(each.relative_to(path)) for each in below}
    return Scope(path, ("",) if "" in parts or not parts else tuple(sorted(parts)))


def scope_of_path(path: Path) -> Scope:
    """All of a folder, or one file."""
    path = path.resolve()
    return Scope(path) if path.is_dir() else Scope(path.parent, (path.name,))


def holds(scope: Scope, path: Path) -> bool:
    """Whether a file at `path`, there or not, would be recorded."""
    real = path.parent.resolve() / path.name
    return any(real.is_relative_to(scope.root / part) for part in scope.parts)
