from __future__ import annotations

from pathlib import Path

import pytest

from ctxview import samples
from ctxview.tui.opening import Opening
from ctxview.tui.session_view import Problem


def titles(*paths: Path, as_format: str | None = None) -> list[str]:
    return [found.title for found in Opening(paths, as_format)() if not isinstance(found, Problem)]


def reasons(*paths: Path, as_format: str | None = None) -> list[str]:
    return [found.reason for found in Opening(paths, as_format)() if isinstance(found, Problem)]


@pytest.fixture
def lighthouse() -> Path:
    return samples.folder() / "snapshot" / "lighthouse"


def test_a_folder_gives_what_is_recognised_in_it(lighthouse: Path) -> None:
    assert titles(lighthouse) == ["lighthouse"]
    assert "lighthouse" in titles(lighthouse.parent)


def test_what_is_not_there_is_a_problem_and_not_the_end(lighthouse: Path) -> None:
    missing = lighthouse / "nowhere"
    assert titles(missing, lighthouse) == ["lighthouse"]
    assert "no such file" in reasons(missing, lighthouse)[0]


def test_a_folder_without_anything_says_so(tmp_path: Path) -> None:
    assert reasons(tmp_path) == ["this folder is empty"]


def test_a_named_format_is_not_second_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert reasons(tmp_path / "a.json", as_format="no-such-format")
