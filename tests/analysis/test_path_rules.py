"""References that leave the session: PTH001."""

from __future__ import annotations

import pytest

from ctxview.analysis.path_rules import check_path
from ctxview.core.origin import Origin


def check(path: str) -> list[str]:
    return [finding.message for finding in check_path("refs.json", path, Origin("refs.json", "/0"))]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../x",
        "a/../../x",
        "..\\x",
        "C:\\x",
        "c:/x",
        "\\\\host\\x",
        "~/x",
        "file:///x",
        "..",
        "a/b/../../..",
    ],
)
def test_a_path_that_leaves_the_session_is_a_finding(path: str):
    assert len(check(path)) == 1


@pytest.mark.parametrize("path", ["x", "a/b", "a/../b", "./x", "a//b", "..a/b", "a/...", "", "a/b/../.."])
def test_a_path_inside_the_session_is_fine(path: str):
    assert check(path) == []


def test_a_nul_in_a_path_is_a_finding_that_shows_it():
    (message,) = check("a\x00b")
    assert "^@" in message


def test_the_message_names_the_path_and_the_file():
    (message,) = check("../secret")
    assert message == '"../secret" in refs.json climbs out of the session; it is shown but never opened'
