"""The raw format: any file as a JSON tree, JSON lines, plain text, or its first bytes."""

from __future__ import annotations
