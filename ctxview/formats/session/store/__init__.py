"""The stores of a session: chunks of swapped content, blobs of repeated content, and their collection."""

from __future__ import annotations
