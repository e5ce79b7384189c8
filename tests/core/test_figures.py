from __future__ import annotations

import pytest

from ctxview.core.figures import Figure, Reason, ReasonKind, figure_text
from tests.figures import above, below, finished, too_old


@pytest.mark.parametrize(
    ("reason", "group", "clause", "brief"),
    [
        (above("decay", 0.7, 0.65), "decay above 0.65", "its decay 0.70 is over 0.65", "decay too high"),
        (
            below("confidence", 0.4, 0.5),
            "confidence below 0.50",
            "its confidence 0.40 is under 0.50",
            "confidence too low",
        ),
        (too_old(5, 3), "older than 3 rounds", "it is 5 rounds old, and 3 is the limit", "too old"),
        (finished("done"), "status is done", "it is done", "done"),
        (Reason(ReasonKind.NOT_CHOSEN, "not in the pack"), *["not in the pack"] * 3),
    ],
)
def test_a_reason_has_a_group_and_words_for_sentences(
    reason: Reason, group: str, clause: str, brief: str
) -> None:
    assert (reason.group, reason.clause, reason.brief) == (group, clause, brief)


def test_reasons_of_one_limit_are_one_group_and_those_of_another_are_not() -> None:
    assert above("decay", 0.7, 0.65).group == above("decay", 0.9, 0.65).group
    assert above("decay", 0.7, 0.65).group != above("decay", 0.7, 0.6).group


def test_a_bound_names_the_limit_and_its_side() -> None:
    assert below("confidence", 0.4, 0.55).bound == "minimum is 0.55"
    assert above("decay", 0.7, 0.65).bound == "limit is 0.65"
    assert finished("done").bound == ""


def test_a_figure_is_a_share_of_its_scale() -> None:
    assert Figure("heat", 15, scale=(10, 20)).share == 0.5
    assert Figure("decay", 0.3, scale=(0, 1)).share == 0.3
    assert Figure("odd", 3, scale=(2, 2)).share == 3


@pytest.mark.parametrize(("value", "text"), [(3, "3"), (0.5, "0.50"), (0.6501, "0.6501"), (1.0, "1.00")])
def test_a_figure_has_two_decimals_or_as_many_as_it_needs(value: float, text: str) -> None:
    assert figure_text(value) == text
