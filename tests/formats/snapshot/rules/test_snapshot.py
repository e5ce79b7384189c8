"""A snapshot as a whole: SNP011 to 014, 034."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from ctxview.formats.snapshot.model import SnapshotRole
from tests.formats.snapshot.rules.checking import changed, of_value, with_runtime
from tests.formats.snapshot.rules.template import template


@pytest.mark.parametrize("version", [4, 3.1, "three", None, True, [], {}, "0.9"])
def test_an_unknown_version_is_an_error(version):
    (finding,) = of_value(11, changed(version=version))
    assert finding.severity is Severity.ERROR
    assert finding.origin.pointer == "/version"


def test_a_missing_version_is_an_error_at_the_snapshot():
    (finding,) = of_value(11, changed(version=...))
    assert finding.severity is Severity.ERROR
    assert finding.origin.pointer == ""


@pytest.mark.parametrize("version", [3, 3.0])
def test_every_spelling_of_3_is_correct(version):
    assert of_value(11, changed(version=version)) == []


@pytest.mark.parametrize("version", ["3.0", "3"])
def test_the_right_version_as_a_string_is_a_warning(version):
    (finding,) = of_value(11, changed(version=version))
    assert finding.severity is Severity.WARNING
    assert "must be the number" in finding.message


def test_a_known_older_version_is_a_warning_that_offers_migration():
    old = changed(version=2.4)
    del old["memory"]["longterm"]
    (finding,) = of_value(11, old)
    assert finding.severity is Severity.WARNING
    assert "migrate" in finding.message


def test_a_version_that_the_shape_contradicts_is_a_warning():
    messages = [finding.message for finding in of_value(11, changed(version=2.3))]
    assert any("version and shape disagree" in message for message in messages)
    assert {finding.severity for finding in of_value(11, changed(version=2.3))} == {Severity.WARNING}


def test_a_wrong_version_in_a_reply_is_restored():
    assert of_value(11, changed(version=4), role=SnapshotRole.EMITTED)[0].effect is Effect.RESTORED
    assert of_value(11, changed(version=4))[0].effect is Effect.NONE


@pytest.mark.parametrize("runtime", [..., None, [], "x", 3])
def test_a_runtime_that_is_not_an_object_is_one_error(runtime):
    (finding,) = of_value(12, changed(runtime=runtime))
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("round", ...),
        ("round", "7"),
        ("round", 0),
        ("round", 1.5),
        ("round", True),
        ("workspace", ...),
        ("workspace", 3),
        ("workspace", ""),
        ("datetime", ...),
        ("datetime", 1700000000000),
        ("startup_at", ...),
        ("startup_at", "2026-02-25T10:00:00.000Z"),
        ("startup_at", 1.5),
    ],
)
def test_a_missing_or_invalid_runtime_field_is_an_error(name: str, value):
    (finding,) = of_value(12, with_runtime(**{name: value}))
    assert finding.severity is Severity.ERROR
    assert f"runtime.{name}" in finding.message
    assert finding.origin.pointer == ("/runtime" if value is ... else f"/runtime/{name}")


def test_an_integer_by_value_is_a_round():
    assert of_value(12, with_runtime(round=2.0)) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workspace", "/no/slash"),
        ("datetime", "2026-02-25 10:00:00"),
        ("datetime", "2026-02-25T10:00:00+08:00"),
        ("datetime", "2026-02-30T10:00:00.000Z"),
        ("startup_at", 1700000000),
        ("startup_at", 99999999999999),
        ("startup_at", -170000000000),
        ("datetime", "2020-01-01T00:00:00.000Z"),
    ],
)
def test_an_implausible_runtime_field_is_a_warning(name: str, value):
    (finding,) = of_value(13, with_runtime(**{name: value}))
    assert finding.severity is Severity.WARNING
    assert finding.origin.pointer == f"/runtime/{name}"


@pytest.mark.parametrize(
    "fields",
    [
        {"workspace": "C:\\work\\"},
        {"datetime": "2026-02-25T10:00:00Z"},
        {"datetime": "2023-11-14T22:13:20.000Z"},
        {"datetime": "2023-11-14T22:13:20.500Z", "startup_at": 1700000000400},
    ],
)
def test_plausible_runtime_fields_are_fine(fields):
    assert of_value(13, with_runtime(**fields)) == []


@pytest.mark.parametrize("memory", [..., None, [], "x"])
def test_memory_that_is_not_an_object_is_one_error(memory):
    (finding,) = of_value(14, changed(memory=memory))
    assert finding.severity is Severity.ERROR


def test_an_unknown_tier_and_a_tier_that_is_not_an_array_are_errors():
    value = template()
    value["memory"]["longterm"] = {}
    value["memory"]["notes"] = []
    findings = of_value(14, value)
    assert [finding.severity for finding in findings] == [Severity.ERROR] * 2
    assert [finding.effect for finding in findings] == [Effect.IGNORED] * 2
    assert [finding.origin.pointer for finding in findings] == ["/memory/longterm", "/memory/notes"]


def test_an_absent_tier_is_a_warning_in_storage_but_fine_in_a_reply():
    value = template()
    del value["memory"]["core"]
    (finding,) = of_value(14, value)
    assert finding.severity is Severity.WARNING
    assert of_value(14, value, role=SnapshotRole.EMITTED) == []


def test_version_2_3_had_no_longterm():
    value = changed(version=2.3, todo=...)
    del value["memory"]["longterm"]
    assert of_value(14, value) == []


def test_a_version_1_2_file_is_checked_by_its_own_layout():
    block = {"id": "a", "type": "note", "decay": 0.1, "round": 1, "tags": []}
    value = {
        "version": "1.2",
        "round": 3,
        "task": "x",
        "memory": {"core": [block], "working": [], "ephemeral": []},
    }
    assert {rule for rule in range(12, 36) if of_value(rule, value)} == set()


def test_an_unknown_top_level_key_is_a_warning():
    (finding,) = of_value(34, changed(project={"name": "x"}))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.STORED
    assert finding.origin.pointer == "/project"


def test_every_known_top_level_key_is_fine():
    known = {"active_task_meta": None, "last_task": {}, "task_checkpoint": None}
    assert of_value(34, changed(**known)) == []
