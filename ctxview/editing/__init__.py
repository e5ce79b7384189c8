"""Editing: drafts of files, and the input that a person types into a form."""

from __future__ import annotations
