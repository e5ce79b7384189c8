"""The formats: how each is recognised, and the interface that all of them implement.

A format is a module with a `FORMAT` object (see `Format`). The built-in ones are listed without being
imported; other packages add theirs through the entry point group `ctxview.formats`.
"""

from __future__ import annotations

from ctxview.formats.discovery import DiscoveredSource, Discovery, discover
from ctxview.formats.interface import (
    Editors,
    Format,
    FormatMatch,
    FormatSpec,
    LastLook,
    Lens,
    LongWork,
    OpenError,
    Progress,
    Reading,
    Redactor,
    Revision,
    Source,
)
from ctxview.formats.peek import Peek
from ctxview.formats.registry import FORMATS, all_rules, detect, open_source, rule_families

__all__ = [
    "FORMATS",
    "DiscoveredSource",
    "Discovery",
    "Editors",
    "Format",
    "FormatMatch",
    "FormatSpec",
    "LastLook",
    "Lens",
    "LongWork",
    "OpenError",
    "Peek",
    "Progress",
    "Reading",
    "Redactor",
    "Revision",
    "Source",
    "all_rules",
    "detect",
    "discover",
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
