"""References that are not shown because there are too many are a row of what is missing and a finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.state import RefStatus
from ctxview.formats import Lens
from ctxview.formats.envelope import bundle as bundle_module
from ctxview.formats.envelope import caps
from ctxview.formats.envelope.source import open_envelopes
from ctxview.formats.envelope.state import references
from ctxview.formats.peek import Peek
from tests.formats.envelope import builders as b

LENS = Lens(ESTIMATES["bytes/4"])


def bundle(path: Path) -> Path:
    file = path / "bundle.json"
    file.write_text(json.dumps([*b.turn(), b.item("lost", source_refs=["nowhere"])]))
    return file


def test_references_that_are_not_shown_are_a_row_and_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_envelopes(Peek(bundle(tmp_path)))
    count = len(source.reading(0, LENS).state.refs)
    for most in (count, count - 1, 3):
        for module in (caps, references):
            monkeypatch.setattr(module, "MOST_REFS", most)
        source = open_envelopes(Peek(bundle(tmp_path)))
        reading = source.reading(0, LENS)
        why = f"only {most} of {count} references are shown, problems first"
        expected = [why] if most < count else []
        assert len(reading.state.refs) == most
        assert [gap.why for gap in reading.state.missing if gap.status == "left out"] == expected
        for findings in (reading.findings, source.findings(LENS)):
            assert [each.message for each in findings if each.rule == "RAW003"] == expected
    assert RefStatus.DANGLING in {each.status for each in reading.state.refs}


def test_every_risky_omission_is_a_gap(tmp_path: Path) -> None:
    items = [f"i{number}" for number in range(300)]
    chosen = b.selection(["i0"], dict.fromkeys(items[1:], "budget_exceeded"))
    chosen["ranking_signals"] = {name: {"score": 1.0} for name in items}
    file = tmp_path / "bundle.json"
    file.write_text(json.dumps([b.envelope(), *map(b.item, items), b.surface(items), chosen]))
    gaps = open_envelopes(Peek(file)).reading(0, LENS).state.missing
    assert len([gap for gap in gaps if gap.status == "omitted"]) == 299


@pytest.mark.parametrize("others", [2, 3])
def test_files_beside_a_single_file_that_were_not_searched_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    monkeypatch.setattr(bundle_module, "MOST_BESIDE", 2)
    single = bundle(tmp_path)
    for number in range(others):
        (tmp_path / f"z{number}.json").write_text(json.dumps([b.item(f"other-{number}")]))
    reading = open_envelopes(Peek(single)).reading(0, LENS)
    rows = [gap.why for gap in reading.state.missing if gap.status == "left out"]
    found = [each.message for each in reading.findings if each.rule == "RAW003"]
    why = "only 2 of 3 files beside it were searched for records and redactions"
    assert rows == found == ([why] if others > 2 else [])
