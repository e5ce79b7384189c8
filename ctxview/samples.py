"""Where the bundled samples are: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

STORY = "lighthouse"
"""The sample to begin with: a whole night, round by round."""

STORIES = (STORY, "coder", "handoff", "damaged", "agent-workspace")
"""The samples in which something happens over time, in the order to show them in."""

_PACKAGE = Path(__file__).parent


def folder() -> Path:
    installed = _PACKAGE / "sample_sessions"
    return installed if installed.is_dir() else _PACKAGE.parent / "sample_sessions"


def sample_paths() -> list[Path]:
    """Every sample, the story first. `sample_sessions` has a folder a format, and in it a folder a sample."""
    found = [path for path in folder().glob("*/*") if path.is_dir()]
    return sorted(found, key=lambda path: (path.name != STORY, path))
