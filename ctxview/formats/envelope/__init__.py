"""Agent Context envelopes: what was available to an agent, chosen, put together, and shown to whom."""
