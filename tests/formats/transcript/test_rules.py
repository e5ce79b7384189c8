"""The rules about transcripts: every example is true, and near misses give no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.core.findings import REGISTRY, Finding
from tests.formats.transcript.builders import findings_of, write
from tests.rule_examples import assert_examples_are_true, rules_of


@pytest.mark.parametrize("name", rules_of("TRF", "TRC", "TRW", "TRM", "TRA"))
def test_the_examples_of_a_rule_are_true(name: str, tmp_path: Path) -> None:
    numbers = iter(range(9))

    def of(example: str) -> list[Finding]:
        return findings_of(write(tmp_path / str(next(numbers)), example))

    assert_examples_are_true(REGISTRY[name], of)
