"""Tests of `ctxview.files`."""
