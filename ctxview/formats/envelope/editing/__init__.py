"""Editing envelopes: who may write which field, forms, checked changes, and new revisions as new files."""
