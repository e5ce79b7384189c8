"""Reviews: the points to decide, the decisions, their signed record, and what is handed on. Draws nothing."""
