"""The formats: how each is recognised, and the interface that all of them implement.

A format is a module with a `FORMAT` object (see `Format`). The built-in ones are listed without being
imported; other packages add theirs through the entry point group `ctxview.formats`.
"""

from __future__ import annotations

from ctxview.formats.discovery import DiscoveredSource, Discovery, discover
from ctxview.formats.interface import (
    Abilities,
    Format,
    FormatMatch,
    FormatSpec,
    Hurry,
    Lens,
    LensOption,
    OpenError,
    Progress,
    Reading,
    Revision,
    Source,
)
from ctxview.formats.peek import Peek
from ctxview.formats.registry import FORMATS, all_rules, detect, lens_options, open_source, rule_families

__all__ = [
    "FORMATS",
    "Abilities",
    "DiscoveredSource",
    "Discovery",
    "Format",
    "FormatMatch",
    "FormatSpec",
    "Hurry",
    "Lens",
    "LensOption",
    "OpenError",
    "Peek",
    "Progress",
    "Reading",
    "Revision",
    "Source",
    "all_rules",
    "detect",
    "discover",
    "lens_options",
    "open_source",
    "rule_families",
    "with_history",
]


def with_history(source: Source) -> Source:
    """Return `source` with the revisions that are seen while it is open.

    Its files are read and recorded at once, so call this in a worker thread.
    """
    from ctxview.formats.recording import observed_source

    return observed_source.with_history(source)
