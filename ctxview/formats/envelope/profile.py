"""Profiles of the draft: the figures it leaves open and the rules need, as data from `profiles/*.toml`.

Only the shape of the data stands here; `profiles/__init__.py` loads it. Words are in `our_words`.
"""

from __future__ import annotations

from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on something is too large, too small or too different; sizes in bytes."""

    foreign_bytes: int
    """A reference to what another standard describes that takes more is that thing itself."""
    body_length: int
    """From how many characters on a text in such a reference is a body and not a label."""
    surface_entries: int
    """A surface that lists more items and sources is a catalogue."""
    inline_bytes: int
    """Content that takes more should be referred to."""
    small_text: int
    """Below this an estimate of tokens is not held against the text."""
    fewest_bytes_per_token: float
    most_bytes_per_token: float
    token_tolerance: int
    """Per cent by which a sum of tokens may be off: separators and wrappers cost some too."""
    cut_share: int
    """A block that holds less of an item, in per cent of its tokens, was cut."""
    copied_length: int
    """From how many characters on the same text in two places is a copy and no coincidence."""


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    title: str
    limits: Limits
