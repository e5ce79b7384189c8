"""The rules about workspaces: every example is true, and near misses give no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.core.findings import REGISTRY, Finding
from tests.formats.workspace.builders import changed_home, findings, rules_of, sound_home, write
from tests.rule_examples import assert_examples_are_true
from tests.rule_examples import rules_of as rules_in_families

FAMILIES = ("DOC", "WMF", "WSP", "HIS")


@pytest.mark.parametrize("name", rules_in_families(*FAMILIES))
def test_the_examples_of_a_rule_are_true(name: str, tmp_path: Path) -> None:
    numbers = iter(range(9))

    def of(example: str) -> list[Finding]:
        return findings(write(tmp_path / str(next(numbers)), changed_home(example)))

    assert_examples_are_true(REGISTRY[name], of)


def test_a_sound_home_of_era_b_only_injects_its_document_twice(tmp_path: Path) -> None:
    assert rules_of(findings(write(tmp_path, sound_home()))) == {"WSP017"}
