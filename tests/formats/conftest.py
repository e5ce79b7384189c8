from __future__ import annotations

import pytest

from tests.formats.watching import Time


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)
