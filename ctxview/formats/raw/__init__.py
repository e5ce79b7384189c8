"""Anything no format recognises, shown as it is: a JSON tree, JSON lines, plain text, or the first bytes."""
