"""Recordings (`.ctxrec`) as a format: each moment is a revision, read by the format it had then."""

from __future__ import annotations
