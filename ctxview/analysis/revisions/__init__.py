"""Facts over the revisions of a source: overview, skyline, log, and the life of a block."""
