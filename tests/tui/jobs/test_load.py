from __future__ import annotations

from pathlib import Path

import pytest

from ctxview import samples
from ctxview.tui.model.jobs.load import PathOpener
from ctxview.tui.model.view_state import OpenProblem


def titles(*paths: Path, as_format: str | None = None) -> list[str]:
    return [found.title for found in PathOpener(paths, as_format)() if not isinstance(found, OpenProblem)]


def reasons(*paths: Path, as_format: str | None = None) -> list[str]:
    return [found.reason for found in PathOpener(paths, as_format)() if isinstance(found, OpenProblem)]


@pytest.fixture
def lighthouse() -> Path:
    return samples.samples_folder() / "snapshot" / "lighthouse"


def test_a_folder_gives_its_sources(lighthouse: Path) -> None:
    assert titles(lighthouse) == ["lighthouse"]
    assert "lighthouse" in titles(lighthouse.parent)


def test_a_missing_path_is_a_problem_and_the_others_are_opened(lighthouse: Path) -> None:
    missing = lighthouse / "nowhere"
    assert titles(missing, lighthouse) == ["lighthouse"]
    assert "no such file" in reasons(missing, lighthouse)[0]


def test_an_empty_folder_is_a_problem(tmp_path: Path) -> None:
    assert reasons(tmp_path) == ["this folder is empty"]


def test_a_given_format_is_not_detected(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    assert reasons(tmp_path / "a.json", as_format="no-such-format")
