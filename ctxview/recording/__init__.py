"""Recordings: the changes of some files over time, in one append-only file (`docs/recording.md`)."""

from __future__ import annotations

MAGIC = b"\x93CTXREC1"
"""The first bytes of a recording."""
