"""Where ctxview keeps what is its own, never near the files it looks at. Nothing is created here."""

from __future__ import annotations

from pathlib import Path


def state_folder() -> Path:
    """For what must not get lost: undo copies and what was seen of a session."""
    import platformdirs

    return platformdirs.user_state_path("ctxview", appauthor=False)


def cache_folder() -> Path:
    """For what can be worked out again."""
    import platformdirs

    return platformdirs.user_cache_path("ctxview", appauthor=False)


def config_folder() -> Path:
    """For what a person prefers: the config file, and themes of their own."""
    import platformdirs

    return platformdirs.user_config_path("ctxview", appauthor=False)
