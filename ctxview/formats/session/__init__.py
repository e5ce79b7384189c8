"""Context Runtime ABI sessions: an agent's durable history and the context derived from it."""
