"""The runtime profiles of this format: which there are, and how a person's own one is loaded.

Reading and checking TOML is the shelf's work; here only the todo wording is tried, which no type can check.
"""

from __future__ import annotations

from dataclasses import asdict

from ctxview.formats.profile_shelf import ProfileError, Shelf
from ctxview.formats.snapshot.profile import Profile

__all__ = ["PROFILES", "ProfileError", "load_profile"]

PROFILES = ("atom-0.17", "atom-context-log-save", "protocol-3.0")
"""The names of the packaged profiles, the default first."""

_SHELF = Shelf(Profile, __package__, PROFILES)


def load_profile(name_or_path: str | None = None) -> Profile:
    """The profile of that name, or of that TOML file; the default for None. Raises `ProfileError`."""
    profile = _SHELF.load(name_or_path)
    if name_or_path not in (None, *PROFILES):
        _try_wording(str(name_or_path), profile)
    return profile


def _try_wording(file: str, profile: Profile) -> None:
    templates = asdict(profile.todo) if profile.todo is not None else {}
    for name, template in templates.items():
        try:
            template.format(done=1, total=2, step=2)
        except (LookupError, ValueError, AttributeError):
            known = "only {done}, {total} and {step} can be filled in"
            raise ProfileError(f"{file}: todo.{name}: {known}, found {template!r}") from None
