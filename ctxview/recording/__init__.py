"""Recordings: what happened to some files, kept in one file that only grows (`docs/recording.md`)."""
