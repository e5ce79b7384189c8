"""The packaged profiles of the session format, and loading them or a person's own."""

from __future__ import annotations

from ctxview.formats.profile_shelf import Shelf
from ctxview.formats.session.profile import Profile

PROFILES = ("cortexfs", "document")
"""The names of the packaged profiles, the default first."""

_SHELF = Shelf(Profile, __package__, PROFILES)


def load_profile(name_or_path: str | None = None) -> Profile:
    """The profile of that name, or of that TOML file; the default for None. Raises `ProfileError`."""
    return _SHELF.load(name_or_path)
