from __future__ import annotations

import pytest
from textual.app import App
from textual.widgets import Input

from ctxview.formats import all_rules
from tests.tui.settling import handle_messages

# Load all rules, so that findings have explanations whichever test runs first.
all_rules()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the terminal settings of the person who runs the tests."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _independent_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the toolkit wait for messages instead of processor time; let notices stay and no cursor blink."""
    monkeypatch.setattr("textual.app.wait_for_idle", handle_messages)
    monkeypatch.setattr("textual.pilot.wait_for_idle", handle_messages)
    monkeypatch.setattr(Input, "_toggle_cursor", lambda self: None)
    monkeypatch.setattr(App, "NOTIFICATION_TIMEOUT", 3600.0)
