"""Context Runtime ABI sessions: an agent's durable history and the context derived from it."""

from __future__ import annotations
