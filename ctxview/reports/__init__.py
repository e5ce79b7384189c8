"""States, findings and merges as text or JSON: what commands print. Nothing here reads a file."""
