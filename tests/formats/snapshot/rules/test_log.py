"""Saved logs: SNP036 to 041."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Severity
from ctxview.files.strict_json.document import parse
from ctxview.formats.snapshot.rules.log import compact_size
from tests.formats.snapshot.builders import block, full_log_value, log_of, snapshot_value
from tests.formats.snapshot.rules.checking import of_log
from tests.formats.snapshot.rules.template import full_log, lite_log


def test_a_record_of_another_round_is_a_warning():
    envelope = full_log()
    envelope["projectionDebug"]["round"] = 2
    (finding,) = of_log(36, log_of(envelope))
    assert finding.severity is Severity.WARNING
    assert finding.origin.pointer == "/projectionDebug/round"


def test_a_lite_log_is_compared_with_the_injected_copy():
    envelope = lite_log()
    envelope["meta"]["projectionDebug"]["round"] = 2
    (finding,) = of_log(36, log_of(envelope))
    assert finding.origin.pointer == "/meta/projectionDebug/round"


@pytest.mark.parametrize(("name", "tier"), [("rawCounts", "core"), ("injectedCounts", "longterm")])
def test_a_count_that_is_not_the_number_of_blocks_is_a_warning(name: str, tier: str):
    envelope = full_log()
    envelope["projectionDebug"][name][tier] = 2
    (finding,) = of_log(37, log_of(envelope))
    assert finding.origin.pointer == f"/projectionDebug/{name}/{tier}"


def test_raw_counts_include_invalid_and_duplicate_blocks():
    envelope = full_log_value(snapshot_value(core=[block("a"), block("a"), 7]))
    assert envelope["projectionDebug"]["rawCounts"]["core"] == 3
    assert of_log(37, log_of(envelope)) == []


def test_more_drops_than_missing_blocks_are_a_warning():
    envelope = full_log()
    envelope["projectionDebug"]["droppedByReason"] = {"threshold_decay": 1}
    assert of_log(38, log_of(envelope))[0].severity is Severity.WARNING


def test_fewer_drops_than_missing_blocks_are_duplicates_and_fine():
    envelope = full_log_value(snapshot_value(core=[block("a"), block("a"), block("b", decay=0.9)]))
    envelope["projectionDebug"]["droppedByReason"] = {"threshold_decay": 1}
    assert of_log(38, log_of(envelope)) == []


def test_a_projection_that_keeps_a_hidden_block_differs():
    envelope = full_log_value(snapshot_value(core=[block("a"), block("b", decay=0.9)]))
    envelope["injectedContext"]["memory"]["core"].append(block("b", decay=0.9))
    (finding,) = of_log(39, log_of(envelope))
    assert "b should not be shown" in finding.message
    assert finding.origin.pointer == "/injectedContext/memory/core"


def test_a_projection_that_lacks_a_block_differs():
    envelope = full_log()
    envelope["injectedContext"]["memory"]["core"] = []
    assert "core-001 should be shown" in of_log(39, log_of(envelope))[0].message


def test_a_projection_in_another_order_or_with_another_content_differs():
    value = snapshot_value(core=[block("a", confidence=0.8), block("b")])
    envelope = full_log_value(value)
    envelope["injectedContext"]["memory"]["core"].reverse()
    assert "order" in of_log(39, log_of(envelope))[0].message
    envelope = full_log_value(value)
    envelope["injectedContext"]["memory"]["core"][0]["content"] = "other"
    assert "content" in of_log(39, log_of(envelope))[0].message


def test_blocks_that_the_budget_trimmed_are_not_reported_as_missing():
    value = snapshot_value(working=[block("a"), block("b")])
    value["runtime"]["budget"] = {"degrade_stage": "trim_memory_working"}
    envelope = full_log_value(value)
    del envelope["injectedContext"]["memory"]["working"][1]
    assert of_log(39, log_of(envelope)) == []
    value["runtime"]["budget"] = {"degrade_stage": "trim_memory_ephemeral"}
    assert len(of_log(39, log_of({**envelope, "context": value}))) == 1


def test_a_lite_log_must_survive_its_own_projection():
    envelope = lite_log()
    envelope["modelContext"]["memory"]["core"][0]["decay"] = 0.9
    assert len(of_log(39, log_of(envelope))) == 1


def test_more_than_five_samples_for_one_reason_are_mentioned():
    envelope = full_log()
    envelope["projectionDebug"]["droppedSamples"] = {"threshold_decay": [{}] * 6, "invalid_block": [{}] * 5}
    (finding,) = of_log(40, log_of(envelope))
    assert finding.severity is Severity.INFO
    assert finding.origin.pointer == "/projectionDebug/droppedSamples/threshold_decay"


def test_a_recorded_size_that_is_wrong_by_one_is_a_warning():
    envelope = lite_log()
    envelope["meta"]["modelContextBytes"] += 1
    (finding,) = of_log(41, log_of(envelope))
    assert finding.origin.pointer == "/meta/modelContextBytes"


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (3.0, 1),
        (1e21, 5),
        (1e-7, 4),
        (1.5e-5, 8),
        (float("inf"), 4),
        (-0.0, 1),
        ("😀", 6),
        ("\ud800", 8),
        ({}, 2),
    ],
)
def test_the_compact_size_is_that_of_json_stringify(value, size: int):
    assert compact_size(value) == size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (
            r'{"a": 3.0, "b": [1e21, 1e-7, 1.5e-5, 0.1, -0.0, 123456789012345680000, 1e16, 1.5e300,'
            r' 123456.789, 5e-324], "c": "长\u2028\"\\\n\u0007😀\u007f\u0080"}',
            138,
        ),
        (r'{"": [], "x": {}, "y": [{}, [], null, true, false]}', 42),
        (r'["\ud800", "a\udc00b", "\u0000\u001f\b\t"]', 40),
    ],
)
def test_the_compact_size_is_what_node_writes(text: str, size: int):
    assert compact_size(parse(text.encode()).value) == size


@pytest.mark.parametrize(
    ("name", "value"), [("decay", 0.3), ("confidence", 0.99), ("tags", ["other"]), ("round", 0), ("more", 1)]
)
def test_any_field_of_the_injected_copy_that_differs_is_found(name: str, value: object):
    envelope = full_log_value(snapshot_value(core=[block("a")]))
    envelope["injectedContext"]["memory"]["core"][0][name] = value
    (finding,) = of_log(39, log_of(envelope))
    assert name in finding.message


def test_another_spelling_of_a_number_in_the_injected_copy_is_no_difference():
    envelope = full_log_value(snapshot_value(core=[block("a", decay=0.10, confidence=1)]))
    envelope["injectedContext"]["memory"]["core"][0]["confidence"] = 1.0
    assert of_log(39, log_of(envelope)) == []
