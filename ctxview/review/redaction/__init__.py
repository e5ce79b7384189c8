"""Redacted copies of sources."""
