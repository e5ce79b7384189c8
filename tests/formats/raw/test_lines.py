"""Large files of JSON lines of no known format: read when shown, checked in the background."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.formats.raw.lines import RawLinesSource
from ctxview.formats.raw.source import RawSource

LENS = Lens(ESTIMATES["bytes/4"])


@pytest.fixture(autouse=True)
def _small_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxview.formats.raw.source.LARGE", 100)


def _file(folder: Path, *odd: str) -> Path:
    path = folder / "log.jsonl"
    lines = [f'{{"n":{at},"text":"row {at}"}}' for at in range(40)]
    path.write_text("\n".join([*lines[:20], *odd, *lines[20:]]) + "\n")
    return path


def _rules(path: Path) -> list[tuple[str, int | None]]:
    found = open_source(path).findings(LENS)
    return sorted((each.rule, each.origin.line) for each in found if each.rule != "RAW001")


def test_every_line_is_a_row_of_the_history(tmp_path: Path) -> None:
    source = open_source(_file(tmp_path, "[1, 2]"))
    assert isinstance(source, RawLinesSource)
    rows = source.reading(0, LENS).state.transcript
    assert rows is not None
    assert len(rows) == 41
    assert rows.row(20).kind == "array"
    assert "row 39" in rows.row(40).text


def test_a_broken_line_is_a_finding_at_its_place_and_a_gap(tmp_path: Path) -> None:
    path = _file(tmp_path, '{"n": 1')
    assert _rules(path) == [("JSN001", 21)]
    source = open_source(path)
    source.findings(LENS)
    (gap,) = source.reading(0, LENS).state.missing
    assert (gap.id, gap.severity) == ("line 21", "error")


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('{"a": 1, "a": 2}', "JSN002"),
        ('{"a": 9007199254740993}', "JSN003"),
        (r'{"a": "cut \ud83d"}', "JSN005"),
    ],
)
def test_rules_about_json_run_on_each_line(tmp_path: Path, line: str, rule: str) -> None:
    assert _rules(_file(tmp_path, line)) == [(rule, 21)]


@pytest.mark.parametrize("line", ['{"a": 9007199254740991}', '{"a": "}{"}', "17", ""])
def test_near_misses_give_no_finding(tmp_path: Path, line: str) -> None:
    assert _rules(_file(tmp_path, line)) == []


@pytest.mark.parametrize("line", ['{"redaction": {"fields": ["text"]}}', r'{"re\u0064acted": true}'])
def test_a_file_that_may_name_a_redaction_is_read_whole(tmp_path: Path, line: str) -> None:
    assert isinstance(open_source(_file(tmp_path, line)), RawSource)


def test_new_lines_are_read_and_a_new_redaction_opens_the_file_anew(tmp_path: Path) -> None:
    path = _file(tmp_path)
    source = open_source(path)
    assert source.findings(LENS)
    with path.open("a") as file:
        file.write('{"n": 2\n')
    grown = source.again()
    assert [each.rule for each in grown.findings(LENS) if each.rule != "RAW001"] == ["JSN001"]
    with path.open("a") as file:
        file.write('{"redacted": true}\n')
    assert isinstance(grown.again(), RawSource)
