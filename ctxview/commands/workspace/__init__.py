"""The commands of the workspace format."""
