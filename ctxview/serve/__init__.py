"""The inspector in a browser, on loopback. Needs the extra `serve`."""
