"""Sessions of Claude Code."""
