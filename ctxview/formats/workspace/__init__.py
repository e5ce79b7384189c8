"""Workspaces of agents: Markdown files that reach the model in every turn, and the histories."""
