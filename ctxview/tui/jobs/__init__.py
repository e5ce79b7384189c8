"""Work in threads, and the controllers that start it and take its results."""
