"""States, findings and rules as text or JSON, for any command. Reads no file and knows no format."""
