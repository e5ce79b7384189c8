"""States, findings and rules as text or JSON, for any command. Independent of files and formats."""

from __future__ import annotations
