"""Recordings (`.ctxrec`) as a format: their moments are revisions, read by the format they had then."""
