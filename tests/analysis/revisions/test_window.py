"""How full the window is, in words: the figure, its counter and its limit are never left unsaid."""

from __future__ import annotations

import pytest

from ctxview.analysis.revisions.window import (
    ELSEWHERE,
    counter_of,
    growth_of,
    pressure_of,
    second_budget,
    segments_here,
    used_elsewhere,
    window_sentence,
    window_source,
)
from ctxview.core.state import Budget, Segment
from tests.analysis.revisions.builders import segments, window


@pytest.mark.parametrize(
    ("budget", "sentence"),
    [
        (window(24_655, 24_720), "Full: 65 of 24,720 tokens left"),
        (window(95, 100), "Full: 5 of 100 tokens left"),
        (window(94, 100), "94 % full: 6 of 100 tokens left"),
        (window(100, 100), "Full: 0 of 100 tokens left"),
        (window(145_312, 167_000), "87 % full: 21,688 of 167,000 tokens left"),
        (window(4_929, 1_600), "Over by 3,329: 4,929 tokens in a budget of 1,600"),
        (window(8, 100, partial=True), "8 of 100 tokens are in this file; the rest is not known"),
        (window(8, None), "8 tokens used; the limit is not known"),
        (window(8, 0), "8 tokens used; the limit is not known"),
        (None, "No figure is recorded"),
    ],
)
def test_the_sentence(budget: Budget | None, sentence: str) -> None:
    assert window_sentence(budget) == sentence


def test_an_estimate_says_so_and_a_recorded_figure_does_not() -> None:
    parts = (Segment("a", 50, exact=False, estimator="bytes/4"),)

    assert window_sentence(window(50, segments=parts)) == "50 % full: ≈50 of 100 tokens left"
    recorded = window(50, segments=parts, reported="recorded by the runtime")
    assert window_sentence(recorded) == "50 % full: 50 of 100 tokens left"
    assert window_source(recorded) == ", as recorded by the runtime"


def test_a_reserve_inside_the_limit_is_not_free() -> None:
    held = window(50, reserved=30, holds_reserve=True)
    assert window_sentence(held) == "50 % full: 50 of 100 tokens left, 30 of them reserved"
    used = window(82, reserved=30, holds_reserve=True)
    assert window_sentence(used) == "82 % full: 18 of 100 tokens left, all of it reserved"
    assert (held.free, held.reserve_left) == (20, 30)

    beside = window(50, reserved=30)
    assert window_sentence(beside) == "50 % full: 50 of 100 tokens left"
    assert (beside.free, beside.reserve_left) == (50, 30)


def test_the_room_of_a_session_ends_where_it_compacts() -> None:
    session = window(60, reserved=20, holds_reserve=True, compacts=True)
    assert window_sentence(session) == "75 % full: 20 tokens left before it compacts at 80"
    assert pressure_of(session) == "low"
    late = window(85, reserved=20, holds_reserve=True, compacts=True)
    assert window_sentence(late) == "Full: 0 tokens left before it compacts at 80"
    assert (late.free, late.reserve_left) == (0, 15)


def test_an_assumed_limit_is_named() -> None:
    assert window_source(window(1, limit_from="assumed by atom-0.17")) == "; limit assumed by atom-0.17"


@pytest.mark.parametrize(("used", "pressure"), [(79, "low"), (80, "high"), (95, "full"), (101, "over")])
def test_the_pressure_begins_at_its_share(used: int, pressure: str) -> None:
    assert pressure_of(window(used)) == pressure


def test_what_is_elsewhere_is_a_segment_of_its_own() -> None:
    budget = window(100, segments=(*segments(core=10, working=30), Segment(ELSEWHERE, 60)))

    assert used_elsewhere(budget) == 60
    assert [each.name for each in segments_here(budget)] == ["working", "core"]
    assert used_elsewhere(window(10)) is None


def test_growth_names_the_largest_cause_first_and_needs_the_same_budget() -> None:
    before, after = window(10, segments=segments(a=5, b=5)), window(18, segments=segments(a=6, c=12))

    assert [(each.name, each.amount) for each in growth_of(before, after)] == [("c", 12), ("a", 1), ("b", -5)]
    assert growth_of(window(10, target="other", segments=segments(a=5)), after) == ()
    assert growth_of(None, after) == ()


def test_the_counter_is_named_once() -> None:
    alike = tuple(Segment(name, 1, exact=False, estimator="UTF-8 bytes / 3") for name in "ab")

    assert counter_of(window(2, segments=alike)) == "bytes/3"
    assert counter_of(window(2, unit="tokens (o200k_base)")) == "o200k_base"


def test_words_are_never_called_tokens() -> None:
    words = window(1_411, 1_600, unit="words")

    assert second_budget([window(4_929, 1_600), words]) is words
    assert second_budget([window(4_929, 1_600), window(3, 1_600, target="tool", unit="bytes")]) is None
    assert "words" in window_sentence(words)
