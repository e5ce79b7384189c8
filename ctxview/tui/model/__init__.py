"""The state of the inspector, without the toolkit: what is open, how it is viewed, and what is drafted."""
