"""Tests of the parts that formats are built from."""
