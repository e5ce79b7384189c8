"""States, findings and rules as text or JSON, for any command. Nothing here reads a file or knows a format."""
