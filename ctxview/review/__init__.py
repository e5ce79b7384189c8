"""Reviews: the points to decide, the decisions, and the signed record of them. Draws and prints nothing."""
