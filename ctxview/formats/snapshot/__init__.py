"""Context Protocol v3 snapshots: replies with a JSON snapshot, saved logs, an agent's `.agent` folder."""

from __future__ import annotations
