"""Profiles of the draft: figures that the rules need and the draft leaves open, from `profiles/*.toml`.

This module defines the shape of the data; `ProfileLoader` loads it. Words are in `word_lists`.
"""

from __future__ import annotations

from msgspec import Struct

from ctxview.formats.kit.profiles import ProfileLoader


class Limits(Struct, frozen=True):
    """Limits of the rules; sizes in bytes."""

    foreign_bytes: int
    """A larger reference to an object of another standard is a copy of that object."""
    body_length: int
    """The number of characters from which a text in such a reference is a body, not a label."""
    surface_entries: int
    """A surface with more items and sources is a catalogue."""
    inline_bytes: int
    """Larger content should be a reference."""
    small_text: int
    """The token estimate of a shorter text is not checked."""
    fewest_bytes_per_token: float
    most_bytes_per_token: float
    token_tolerance: int
    """Per cent by which a sum of tokens may differ: separators and wrappers cost tokens too."""
    cut_share: int
    """A block that holds a smaller share of an item, in per cent of its tokens, was cut."""
    copied_length: int
    """The number of characters from which an equal text elsewhere is a copy, not a coincidence."""


class Profile(Struct, frozen=True):
    name: str
    title: str
    limits: Limits


PROFILES = ("draft-0.1.1",)
"""The names of the packaged profiles, the default first."""

load_profile = ProfileLoader(Profile, __package__, PROFILES).load
