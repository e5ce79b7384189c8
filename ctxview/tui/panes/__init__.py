"""One file a pane: what it draws of the state, line by line."""
