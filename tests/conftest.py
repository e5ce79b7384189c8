"""Settings of every test: a temporary home and user folders, no writing to histories, no time limits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ctxview.cli import main
from tests import history_guard
from tests.running import Ran, Run

history_guard.watch()

# A busy machine must not fail a test: no test has a time limit. Each run tries only a few examples.
settings.register_profile("unhurried", deadline=None, max_examples=15)
settings.load_profile("unhurried")


@pytest.fixture(scope="session", autouse=True)
def temporary_user_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name)))
        yield


@pytest.fixture(autouse=True)
def histories_are_not_written() -> Iterator[None]:
    yield
    assert history_guard.breaches == []


@pytest.fixture
def ctxview(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command as in a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def run(*arguments: str | Path) -> Ran:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        return Ran(code, *capsys.readouterr())

    return run
