"""The blocks that the model sees, the exact limits, and the order."""

from __future__ import annotations

import pytest

from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.runtime.projection import DropReason, Projection, project
from tests.formats.snapshot.builders import block, snapshot

ATOM = load_profile("atom-0.17")
BARE = load_profile("protocol-3.0")

LIMITS = {
    "core": (0.35, 0.70, 24, None),
    "working": (0.65, 0.55, 48, 12),
    "ephemeral": (0.80, 0.40, 24, 3),
    "longterm": (0.45, 0.60, 48, None),
}


def shown(projection: Projection, tier: str) -> list[str]:
    return [each.normal.id for each in projection.tier(tier).shown]


def reason(tier: str, current_round: int = 20, **fields: object) -> str | None:
    found = project(snapshot(**{tier: [block("a", **{"round": 20, **fields})]}, round=current_round), ATOM)
    return next((hidden.verdict.text for hidden in found.hidden()), None)


@pytest.mark.parametrize("tier", LIMITS)
def test_a_value_equal_to_its_limit_passes(tier: str) -> None:
    decay, confidence, _, age = LIMITS[tier]
    limit = block("a", decay=decay, confidence=confidence, round=20 - (age or 19))
    assert shown(project(snapshot(**{tier: [limit]}, round=20), ATOM), tier) == ["a"]


@pytest.mark.parametrize("tier", LIMITS)
def test_a_block_just_beyond_a_limit_is_hidden_with_that_reason(tier: str) -> None:
    decay, confidence, _, age = LIMITS[tier]
    assert reason(tier, decay=decay + 0.01) == f"decay {decay + 0.01:.2f} > {decay:.2f}"
    assert (
        reason(tier, confidence=confidence - 0.01) == f"confidence {confidence - 0.01:.2f} < {confidence:.2f}"
    )
    expired = None if age is None else f"age {age + 1} > {age} rounds"
    assert reason(tier, round=20 - (age or 18) - 1) == expired


def test_a_figure_is_never_rounded_onto_its_limit() -> None:
    assert reason("working", decay=0.6501) == "decay 0.6501 > 0.65"


@pytest.mark.parametrize("tier", LIMITS)
def test_a_tier_shows_blocks_up_to_its_cap(tier: str) -> None:
    most = LIMITS[tier][2]
    blocks = [block(f"b{index:03}") for index in range(most + 2)]
    found = project(snapshot(**{tier: blocks}), ATOM)
    assert shown(found, tier) == [f"b{index:03}" for index in range(most)]
    over = [hidden.verdict.text for hidden in found.hidden()]
    assert over == [f"over the {most} shown"] * 2


@pytest.mark.parametrize("status", ["done", "failed", "cancelled", " done "])
def test_finished_working_blocks_are_hidden(status: str) -> None:
    assert reason("working", status=status) == f"status {status.strip()}"


@pytest.mark.parametrize("tier", ["core", "ephemeral", "longterm"])
def test_a_status_hides_nothing_outside_working(tier: str) -> None:
    assert reason(tier, status="done") is None


def test_reasons_are_checked_in_the_order_of_the_runtime() -> None:
    worst = block("a", decay=0.9, confidence=0.1, round=1, status="done")
    drops = []
    for repaired in ({}, {"status": "open"}, {"decay": 0.1}, {"confidence": 0.9}):
        worst = {**worst, **repaired}
        found = project(snapshot(working=[worst], round=20), ATOM)
        drops += [hidden.verdict.drop for hidden in found.hidden()]
    assert drops == [DropReason.TERMINAL, DropReason.DECAY, DropReason.CONFIDENCE, DropReason.EXPIRED]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (7, "not an object"),
        (block(id=...), "no id"),
        (block("  "), "id is not a non-blank string"),
        (block(type=3), "type is not a non-blank string"),
        (block(content=""), "content is not a non-blank string"),
        (block(decay=...), "no decay"),
        (block(decay="high"), "decay is not a number"),
        (block(decay=True), "decay is not a number"),
        (block(confidence=None), "confidence is not a number"),
    ],
)
def test_an_invalid_block_is_dropped_with_its_first_fault(bad: object, why: str) -> None:
    found = project(snapshot(core=[bad, block("good")]), ATOM)
    assert [hidden.verdict.text for hidden in found.hidden()] == [f"invalid: {why}"]
    assert shown(found, "core") == ["good"]


def test_missing_fields_get_the_defaults_of_the_runtime() -> None:
    found = project(snapshot(ephemeral=[block("a", confidence=..., round=..., tags=...)], round=9), ATOM)
    normal = found.tier("ephemeral").shown[0].normal
    assert (normal.confidence, normal.round, normal.tags) == (0.5, 9, ())


def test_irregular_values_are_normalised() -> None:
    odd = block(" a ", decay="0.2", confidence=7, round=99, tags=[" x ", "x", "", 3, "y" * 40], content=" c ")
    normal = project(snapshot(core=[odd], round=5), ATOM).tier("core").shown[0].normal
    assert (normal.id, normal.decay, normal.confidence, normal.round) == ("a", 0.2, 1, 5)
    assert normal.tags == ("x", "y" * 32)
    assert normal.content == "c"


def test_content_is_cut_in_utf16_units() -> None:
    normal = project(snapshot(core=[block(content="😀" * 300)]), ATOM).tier("core").shown[0].normal
    assert normal.content == "😀" * 256


def test_better_quality_comes_first_then_newer_then_by_id() -> None:
    blocks = [
        block("b", round=1),
        block("old", round=1),
        block("a", round=1),
        block("new", round=2),
        block("best", decay=0.0),
    ]
    assert shown(project(snapshot(core=blocks, round=3), ATOM), "core") == ["best", "new", "a", "b", "old"]


def test_ids_are_compared_as_localecompare_does() -> None:
    names = ["item-10", "Item-2", "item_1", "item-2", "é", "e", "f", "_", "1"]
    expected = ["_", "1", "e", "é", "f", "item_1", "item-10", "item-2", "Item-2"]
    assert shown(project(snapshot(core=[block(name) for name in names]), ATOM), "core") == expected


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        ({"decay": 0.2}, {"decay": 0.1}, 1),
        ({"decay": 0.1}, {"decay": 0.2}, 0),
        ({"round": 2}, {"round": 1}, 0),
        ({"round": 1}, {"round": 2}, 1),
        ({}, {}, 1),
    ],
)
def test_of_two_copies_the_better_then_newer_then_later_one_is_shown(
    first: dict[str, object], second: dict[str, object], winner: int
) -> None:
    found = project(snapshot(core=[block("a", **first), block("a", **second)], round=5), ATOM)
    assert [each.block.index for each in found.tier("core").shown] == [winner]
    assert [hidden.verdict.drop for hidden in found.hidden()] == [DropReason.DUPLICATE]


def test_a_hidden_copy_does_not_compete() -> None:
    found = project(snapshot(core=[block("a", decay=0.3), block("a", decay=0.0, confidence=0.1)]), ATOM)
    assert [each.block.index for each in found.tier("core").shown] == [0]


def test_the_bare_protocol_hides_only_invalid_blocks() -> None:
    weak = block("weak", decay=1, confidence=0, round=1, status="done")
    found = project(snapshot(working=[weak, block("no", confidence=...)], round=500), BARE)
    assert shown(found, "working") == ["weak"]
    assert [hidden.verdict.text for hidden in found.hidden()] == ["invalid: no confidence"]


def test_blocks_in_an_unknown_tier_are_hidden() -> None:
    found = project(snapshot(memory={"core": [], "semantic": [block("a")]}), ATOM)
    assert [hidden.verdict.text for hidden in found.hidden()] == ["the tier semantic is unknown"]


def test_without_a_round_the_runtime_drops_every_block() -> None:
    bare = snapshot(ephemeral=[block("a", round=1)], runtime={})
    assert [hidden.verdict.text for hidden in project(bare, ATOM).hidden()] == ["runtime.round is missing"]
    assert shown(project(bare, load_profile("protocol-3.0")), "ephemeral") == ["a"]


def test_ranks_count_through_all_tiers() -> None:
    found = project(snapshot(core=[block("a")], longterm=[block("b")]), ATOM)
    assert found.rank_of("/memory/core/0") == 0
    assert found.rank_of("/memory/longterm/0") == 1
