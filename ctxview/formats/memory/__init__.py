"""Memory bundles: the entries, summaries and context documents of a memory service, and its server."""

from __future__ import annotations
