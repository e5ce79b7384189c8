"""Every format keeps the promises of `Source`, tried on the bundled samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, Source, discover, lens_options, open_source
from ctxview.formats.interface import AS_ON_DISK
from ctxview.reports.json_output import state_as_json
from ctxview.samples import samples_folder

LENS = Lens(ESTIMATES["bytes/4"])


def sources() -> list[Path]:
    return [found.path for found in discover(samples_folder()).found]


@pytest.fixture(params=sources(), ids=lambda path: path.name)
def source(request: pytest.FixtureRequest) -> Source:
    return open_source(request.param)


def test_the_findings_of_a_revision_are_those_of_its_reading(source: Source) -> None:
    if (work := source.abilities.work) is not None:
        work.work(LENS, Patient())
    for revision in range(len(source.revisions)):
        assert source.findings_of(revision, LENS, AS_ON_DISK) == source.reading(revision, LENS).findings


def test_the_findings_of_a_draft_are_those_of_its_reading(source: Source) -> None:
    last = len(source.revisions) - 1
    file = str(source.revisions[last].file)
    if not Path(file).is_file():
        file = next(iter(map(str, (each for each in source.watched if each.is_file()))), file)
    drafts = {file: b'{"a": 1, "a": 2}'}
    assert source.findings_of(last, LENS, drafts) == source.reading(last, LENS, drafts).findings


def test_a_format_ignores_options_that_it_does_not_declare(source: Source) -> None:
    last = len(source.revisions) - 1
    odd = Lens(LENS.counter, options={"mode": "sideways", "budget": "lots", "unknown": 1})
    found, expected = source.reading(last, odd), source.reading(last, LENS)
    assert state_as_json(found.state) == state_as_json(expected.state)
    assert found.findings == expected.findings


def test_the_options_of_all_formats_have_a_name_and_a_help_text() -> None:
    assert {option.name for option in lens_options()} >= {"mode", "budget"}
    for option in lens_options():
        assert option.label
        assert option.help
        assert bool(option.choices) == (option.kind == "choice")


class Patient:
    cancelled = False

    def report(self, done: int, total: int, what: str) -> None: ...
