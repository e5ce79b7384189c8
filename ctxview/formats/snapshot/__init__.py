"""Context Protocol v3 snapshots: a reply, the separator, a JSON snapshot; saved logs; an agent's `.agent` folder."""
