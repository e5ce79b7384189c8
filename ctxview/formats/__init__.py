"""The formats: how each is recognised, and the one interface they all fill.

A format is a module with a `FORMAT` object (see `Format`). The built-in ones are listed without being
imported; other packages add theirs through the entry point group `ctxview.formats`.
"""

from __future__ import annotations

from ctxview.formats.discovery import Discovery, Found, discover
from ctxview.formats.interface import (
    CannotOpen,
    Format,
    FormatSpec,
    HasEditors,
    Lens,
    LongWork,
    Match,
    Progress,
    Reading,
    Remembers,
    Revision,
    Source,
    Withholding,
)
from ctxview.formats.peek import Peek
from ctxview.formats.registry import FORMATS, all_rules, detect, open_source, rule_families

__all__ = [
    "FORMATS",
    "CannotOpen",
    "Discovery",
    "Format",
    "FormatSpec",
    "Found",
    "HasEditors",
    "Lens",
    "LongWork",
    "Match",
    "Peek",
    "Progress",
    "Reading",
    "Remembers",
    "Revision",
    "Source",
    "Withholding",
    "all_rules",
    "detect",
    "discover",
    "open_source",
    "rule_families",
]
