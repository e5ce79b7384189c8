"""Commands on a large bundle, of which a first look reads only the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.formats.memory.bundles import write_bundle
from tests.running import Run

SCRIPT = """\
context: "# Facts\\nThe launch moved to May\\nThe budget is 84,000 euros"
entry: {"rawEntry": "The launch moved to May", "summary": "She moved it."}
context: "# Facts\\nThe launch moved to May"
"""


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("ctxview.formats.memory.analysis.SMALL", 0)
    write_bundle(tmp_path, SCRIPT)
    return tmp_path


def test_show_tells_the_whole_truth(large: Path, ctxview: Run) -> None:
    shown = ctxview("show", large).out
    assert "revisions  3, this is the latest" in shown
    assert "findings  none" not in shown
    past = json.loads(ctxview("show", large, "--json", "--at", "snapshot 1").out)
    assert [each["id"] for each in past["tiers"][0]["blocks"]] == ["launch-moved-may", "budget-84-000-euros"]


def test_why_and_diff_know_the_versions_before(large: Path, ctxview: Run) -> None:
    assert "is gone since snapshot 2" in ctxview("why", large, "budget-84-000-euros").out
    assert "budget-84-000-euros  removed" in ctxview("diff", large, "--at", "snapshot 1", "snapshot 2").out
