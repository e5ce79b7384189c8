"""Recognise workspaces by their files: of a nanobot, of its home, or the instructions of a repository."""

from __future__ import annotations

from pathlib import Path

from ctxview.core.format_spec import FormatMatch
from ctxview.formats.peek import Peek
from ctxview.formats.workspace.layout import (
    CONTEXT,
    LIKELY,
    REPOSITORY_FILES,
    SESSION,
    WorkspaceLayout,
    layout_of,
)

NAME = "workspace"
_FILES = frozenset(("SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", *REPOSITORY_FILES))
_HIGHEST = 3
"""How many folders above one of its files a workspace may be."""


def recognise(peek: Peek) -> FormatMatch | None:
    if peek.is_folder:
        found = layout_of(peek)
        if found is None:
            return None
        return FormatMatch(NAME, found.score, found.why, flat=not found.is_home)
    home = home_of(peek.path)
    return FormatMatch(NAME, LIKELY, f"a file of the workspace {home[0]}") if home is not None else None


def home_of(file: Path) -> tuple[Path, WorkspaceLayout] | None:
    """Return the workspace that a file of a known name belongs to."""
    name = file.name
    if name not in _FILES and not CONTEXT.fullmatch(name) and not SESSION.fullmatch(name):
        return None
    for folder in list(file.parents)[: _HIGHEST + 1]:
        found = layout_of(Peek(folder))
        if found is not None and (found.is_home or folder == file.parent):
            return folder, found
    return None
