"""Commands on a large bundle, of which a first look reads only the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.formats.memory.bundles import write_bundle
from tests.running import LIMIT, Run

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


def test_a_line_finds_its_entry_among_very_many_with_the_same_common_word(tmp_path: Path) -> None:
    """In every process: the order of a set of words differs from one to the next."""
    rows = ({"entryId": f"e{number:05}", "rawEntry": f"lamp {number} hangs"} for number in range(8000))
    (tmp_path / "entries.jsonl").write_text(
        "".join(json.dumps({"memoryId": "m", "summary": "Ada hung it.", **row}) + "\n" for row in rows)
    )
    context = {"contextId": "c", "memoryId": "m", "context": "# Facts\nKeep lamp 38"}
    (tmp_path / "contexts.jsonl").write_text(json.dumps(context) + "\n")
    for seed in "12345678":
        command = [sys.executable, "-m", "ctxview", "show", str(tmp_path), "--json"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        ran = subprocess.run(command, capture_output=True, env=environment, check=True, timeout=LIMIT)
        assert json.loads(ran.stdout)["refs"][0]["target"] == "e00038"
