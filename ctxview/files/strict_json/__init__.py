"""Strict JSON with the span of every value, and loss-free edits of it."""

from __future__ import annotations
