"""The inspector draws a `ContextState` in the terminal and sends `Edit`s back. Knows no particular format."""

from __future__ import annotations
