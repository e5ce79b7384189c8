"""Where the bundled samples are: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def folder() -> Path:
    installed = _PACKAGE / "sample_sessions"
    return installed if installed.is_dir() else _PACKAGE.parent / "sample_sessions"


def sample_paths() -> list[Path]:
    """One path a format, in alphabetical order."""
    return sorted(path for path in folder().iterdir() if path.is_dir() and not path.name.startswith("."))
