"""Old versions are read by their layout, and a version that contradicts the shape is reported."""

from __future__ import annotations

import pytest

from ctxview.formats.snapshot.versions import (
    LAYOUTS,
    declared_version,
    disagreement,
    layout_of,
    shape_version,
    task_of,
)
from tests.formats.snapshot.builders import block, snapshot, snapshot_of, snapshot_value

V1_2 = {"version": "1.2", "round": 5, "task": "write", "memory": {"core": [block("a", confidence=...)]}}
V2_1 = {
    "version": "2.1",
    "runtime": {"round": 2, "datetime": "", "startup_at": "2026-02-25T10:00:00.000Z"},
    "memory": {"core": [block("a", confidence=...)], "working": [], "ephemeral": []},
}
V2_3 = {
    **snapshot_value(todo=...),
    "version": 2.3,
    "memory": {"core": [block("a")], "working": [], "ephemeral": []},
}


@pytest.mark.parametrize(
    ("value", "shape"),
    [(V1_2, "1.2"), (V2_1, "2.1"), (V2_3, "2.3"), ({**V2_3, "todo": {}}, "2.4"), (snapshot_value(), "3.0")],
)
def test_the_shape_shows_the_version(value: dict[str, object], shape: str) -> None:
    assert shape_version(snapshot_of(value)) == shape
    assert disagreement(snapshot_of({**value, "version": shape})) is None


@pytest.mark.parametrize(
    ("version", "declared"),
    [
        (3, "3.0"),
        (3.0, "3.0"),
        ("3.0", "3.0"),
        (2.3, "2.3"),
        ("1.2", "1.2"),
        (3.14, "3.14"),
        (None, None),
        (True, None),
    ],
)
def test_a_declared_version_is_the_same_for_every_spelling(version: object, declared: str | None) -> None:
    assert declared_version(snapshot(version=version)) == declared


def test_version_1_2_keeps_round_and_task_at_the_top_level() -> None:
    old = snapshot_of(V1_2)
    assert old.round == 5
    assert task_of(old) == "write"


def test_the_newer_of_shape_and_number_decides_the_layout() -> None:
    mixed = snapshot_of({**snapshot_value(), "version": 2.3})
    assert layout_of(mixed).version == "3.0"
    assert disagreement(mixed) == "it declares 2.3, but has features of 3.0"


def test_a_top_level_round_under_a_new_number_is_a_contradiction() -> None:
    assert (
        disagreement(snapshot_of({**V1_2, "version": 3}))
        == "it declares 3.0, but has its round at the top level, as in 1.2"
    )


def test_each_version_adds_to_the_one_before() -> None:
    assert list(LAYOUTS) == ["1.2", "2.1", "2.2", "2.3", "2.4", "3.0"]
    assert "confidence" not in LAYOUTS["2.2"].block_fields
    assert "confidence" in LAYOUTS["2.3"].block_fields
    assert LAYOUTS["2.4"].has_todo
    assert LAYOUTS["2.4"].tiers == ("core", "working", "ephemeral")


@pytest.mark.parametrize("version", ["2.1", "2.2", 2.2])
def test_a_workspace_does_not_make_2_2_a_2_3(version: object) -> None:
    value = {**V2_1, "version": version, "runtime": {**V2_1["runtime"], "workspace": "/w/"}}  # type: ignore[dict-item]
    found = snapshot_of(value)
    assert layout_of(found).version == str(version)
    assert disagreement(found) is None


def test_confidence_makes_a_2_2_a_2_3() -> None:
    found = snapshot_of({**V2_1, "version": "2.2", "memory": {"core": [block("a")]}})
    assert layout_of(found).version == "2.3"
