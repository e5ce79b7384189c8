"""Functions that draw values as styled lines, without the toolkit."""
