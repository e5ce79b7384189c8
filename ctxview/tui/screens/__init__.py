"""Whole screens. Only the inspector is loaded at the start."""
