"""The behaviour of the reference runtime: normalisation, projection and merge."""

from __future__ import annotations
