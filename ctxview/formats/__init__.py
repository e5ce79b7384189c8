"""The formats: how each is recognised, and the interface that all of them implement.

A format is described by the `SPEC` of its package (see `FormatSpec`), which names its code without importing
it. Other packages add theirs through the entry point group `ctxview.formats`.
"""

from __future__ import annotations

from ctxview.core.format_spec import CommandSpec, FormatMatch, FormatSpec, LensOption
from ctxview.formats.discovery import DiscoveredSource, Discovery, discover
from ctxview.formats.interface import (
    Abilities,
    Hurry,
    Lens,
    OpenError,
    Progress,
    Reading,
    Revision,
    Source,
)
from ctxview.formats.peek import Peek
from ctxview.formats.registry import (
    all_rules,
    detect,
    formats,
    lens_options,
    open_peek,
    open_source,
    rule_families,
)

__all__ = [
    "Abilities",
    "CommandSpec",
    "DiscoveredSource",
    "Discovery",
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
    "formats",
    "lens_options",
    "open_peek",
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
