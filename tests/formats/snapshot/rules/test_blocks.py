"""The fields of memory blocks: SNP015 to 020."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from tests.formats.snapshot.builders import block, snapshot
from tests.formats.snapshot.rules.checking import BARE, of_snapshot, of_value, with_block


@pytest.mark.parametrize("value", [None, 3, "text", [], True])
def test_an_element_that_is_not_an_object_is_dropped(value):
    (finding,) = of_snapshot(15, snapshot(core=[value]))
    assert finding.effect is Effect.DROPPED
    assert finding.origin.pointer == "/memory/core/0"


@pytest.mark.parametrize("name", ["id", "type", "decay", "content"])
def test_without_this_field_the_block_is_dropped(name: str):
    (finding,) = of_value(15, with_block("core", **{name: ...}))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.DROPPED
    assert finding.origin.pointer == "/memory/core/0"


@pytest.mark.parametrize("name", ["confidence", "round", "tags"])
def test_without_this_field_the_runtime_fills_it_in(name: str):
    (finding,) = of_value(15, with_block("core", **{name: ...}))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.REPAIRED


def test_the_bare_protocol_defaults_no_confidence():
    (finding,) = of_value(15, with_block("core", confidence=...), profile=BARE)
    assert finding.effect is Effect.DROPPED


def test_all_missing_fields_are_named_in_one_message():
    (finding,) = of_value(15, with_block("core", id=..., tags=...))
    assert finding.message == "core[0]: no id and no tags; the block will be dropped"


@pytest.mark.parametrize("name", ["id", "type", "content"])
@pytest.mark.parametrize("value", ["", " \n", "\ufeff", None, 7, ["x"]])
def test_a_block_with_a_blank_text_is_dropped(name: str, value):
    (finding,) = of_value(16, with_block("core", **{name: value}))
    assert finding.effect is Effect.DROPPED
    assert finding.origin.pointer == f"/memory/core/0/{name}"


@pytest.mark.parametrize("name", ["decay", "confidence"])
@pytest.mark.parametrize("value", ["much", None, True, [], "NaN"])
def test_a_block_with_a_measure_that_is_not_a_number_is_dropped(name: str, value):
    (finding,) = of_value(16, with_block("core", **{name: value}))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.DROPPED


@pytest.mark.parametrize(("value", "end"), [(1.7, 1), (-0.01, 0), (1.0000001, 1)])
def test_a_measure_out_of_range_is_clamped(value: float, end: int):
    (finding,) = of_value(16, with_block("core", decay=value))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.REPAIRED
    assert finding.message.endswith(f"it is set to {end}")


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0])
def test_both_ends_of_the_range_are_valid(value: float):
    assert of_value(16, with_block("core", decay=value, confidence=value)) == []


def test_a_number_in_quotes_is_a_warning():
    (finding,) = of_value(16, with_block("core", decay="0.2"))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.REPAIRED


@pytest.mark.parametrize("value", [0, -1, 1.5, "1", None, True])
def test_a_round_that_is_not_a_positive_integer_is_an_error(value):
    (finding,) = of_value(17, with_block("core", round=value))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.REPAIRED
    assert finding.origin.pointer == "/memory/core/0/round"


def test_a_future_round_is_a_warning_and_the_present_one_is_fine():
    (finding,) = of_snapshot(17, snapshot(core=[block(round=8)], round=7))
    assert finding.severity is Severity.WARNING
    assert of_snapshot(17, snapshot(core=[block(round=7), block("b", round=7.0)], round=7)) == []


@pytest.mark.parametrize(
    ("tags", "pointer"),
    [
        ("a", "/tags"),
        (None, "/tags"),
        ([3], "/tags/0"),
        (["a", " "], "/tags/1"),
        (["a", "b", " a"], "/tags/2"),
        (list("abcdefghi"), "/tags"),
        (["x" * 33], "/tags/0"),
        (["😀" * 17], "/tags/0"),
    ],
)
def test_irregular_tags_are_a_warning(tags, pointer: str):
    (finding,) = of_value(18, with_block("core", tags=tags))
    assert finding.severity is Severity.WARNING
    assert finding.origin.pointer == f"/memory/core/0{pointer}"


@pytest.mark.parametrize("tags", [[], list("abcdefgh"), ["x" * 32], ["😀" * 16], [f" {'x' * 32} "]])
def test_tags_at_their_limits_are_fine(tags):
    assert of_value(18, with_block("core", tags=tags)) == []


def test_cut_tags_are_truncated_and_others_repaired():
    assert of_value(18, with_block("core", tags=["x" * 33]))[0].effect is Effect.TRUNCATED
    assert of_value(18, with_block("core", tags=[1]))[0].effect is Effect.REPAIRED


@pytest.mark.parametrize("content", ["x" * 513, "😀" * 257, "x" + "😀" * 256])
def test_content_over_512_utf16_units_is_cut(content: str):
    (finding,) = of_value(19, with_block("core", content=content))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.TRUNCATED
    assert finding.origin.pointer == "/memory/core/0/content"


@pytest.mark.parametrize("content", ["x" * 512, "😀" * 256, "长" * 512, f"  {'x' * 512}\n"])
def test_content_of_512_utf16_units_is_fine(content: str):
    assert of_value(19, with_block("core", content=content)) == []


def test_the_bare_protocol_limits_neither_tags_nor_content():
    value = with_block("core", content="x" * 9999, tags=[f"{'long' * 20}{n}" for n in range(99)])
    assert of_value(19, value, profile=BARE) == []
    assert of_value(18, value, profile=BARE) == []


def test_a_duplicate_id_in_one_tier_is_an_error_that_names_the_kept_copy():
    (finding,) = of_snapshot(20, snapshot(core=[block("a", confidence=0.8), block("b"), block("a")]))
    assert finding.severity is Severity.ERROR
    assert finding.effect is Effect.DROPPED
    assert finding.origin.pointer == "/memory/core/2/id"
    assert "element 2 is kept" in finding.message


def test_the_same_id_in_two_tiers_is_a_warning():
    (finding,) = of_snapshot(20, snapshot(core=[block("a")], longterm=[block("a")]))
    assert finding.severity is Severity.WARNING
    assert finding.effect is Effect.STORED
    assert finding.origin.pointer == "/memory/longterm/0/id"


def test_ids_that_differ_only_in_surrounding_spaces_are_the_same():
    assert len(of_snapshot(20, snapshot(core=[block("a"), block(" a ")]))) == 1


def test_different_ids_are_fine():
    assert of_snapshot(20, snapshot(core=[block("a"), block("A")], working=[block("b")])) == []


def test_messages_show_untrusted_names_safely():
    (finding,) = of_snapshot(19, snapshot(core=[block("evil\x1b[2J\u202e" + "x" * 99, content="x" * 600)]))
    assert "\x1b" not in finding.message
    assert "\u202e" not in finding.message
    assert "…" in finding.message
