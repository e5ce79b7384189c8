from __future__ import annotations

import pytest

from ctxview.formats import all_rules

# As when a real source was read: a finding's rule is known and explained, whichever test runs first.
all_rules()


@pytest.fixture(autouse=True)
def _plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person has set for their own terminal must not change what the tests see."""
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
