"""The folders for ctxview's own files, never near the files it reads. Nothing is created here."""

from __future__ import annotations

from pathlib import Path


def state_folder() -> Path:
    """Return the folder for data that must not be lost: undo copies and observations of sessions."""
    import platformdirs

    return platformdirs.user_state_path("ctxview", appauthor=False)


def cache_folder() -> Path:
    """Return the folder for data that can be computed again."""
    import platformdirs

    return platformdirs.user_cache_path("ctxview", appauthor=False)


def config_folder() -> Path:
    """Return the folder for a person's settings: the config file and their own themes."""
    import platformdirs

    return platformdirs.user_config_path("ctxview", appauthor=False)
