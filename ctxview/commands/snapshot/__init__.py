"""The commands for snapshots."""

from __future__ import annotations
