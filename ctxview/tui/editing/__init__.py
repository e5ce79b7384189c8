"""Typed editing: text a person types, read as values of a shape, and a filled form read as edits."""
