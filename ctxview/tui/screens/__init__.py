"""The screens and dialogs. Only the inspector is loaded at the start."""

from __future__ import annotations
