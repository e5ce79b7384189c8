"""Sessions of OpenCode: its store, exports and folders."""
