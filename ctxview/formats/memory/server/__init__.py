"""The memory service as an MCP server, which stores into a bundle. The inspector does not load it."""

from __future__ import annotations
