"""The rules about workspaces: every example is true, and near misses give no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.core.findings import REGISTRY, Finding
from tests.formats.workspace.builders import (
    HISTORY,
    changed_home,
    findings,
    lines,
    rules_of,
    sound_home,
    write,
)
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


@pytest.mark.parametrize(
    ("after", "without"),
    [
        ([], []),
        (["a"], []),
        (["user"], ["a", "b"]),
        (["a", "user"], ["b"]),
        (["a", "b", "user"], []),
    ],
)
def test_a_call_without_a_result_is_reported_unless_it_may_still_get_one(
    after: list[str], without: list[str], tmp_path: Path
) -> None:
    asked = {"role": "assistant", "content": "", "tool_calls": [{"id": "a"}, {"id": "b"}]}
    rest = [
        {"role": "user", "content": "Go on."}
        if each == "user"
        else {"role": "tool", "content": "ok", "tool_call_id": each}
        for each in after
    ]
    files = sound_home()
    files[HISTORY] += lines(asked, *rest)
    found = [each.message for each in findings(write(tmp_path, files)) if each.rule == "HIS002"]
    assert found == [f'the call "{each}" has no result' for each in without]
