from __future__ import annotations

import pytest

from ctxview.formats import all_rules

# Load all rules, so that findings have explanations whichever test runs first.
all_rules()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the terminal settings of the person who runs the tests."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
