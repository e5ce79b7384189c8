"""The commands of the memory format: the server and trimming."""

from __future__ import annotations
