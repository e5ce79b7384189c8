"""The window over time, for a few revisions and for thousands."""

from __future__ import annotations

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.skyline import build_skyline, growth_at, next_event, unchanged_text
from tests.analysis.revisions.builders import known, memory, segments, state, window
from tests.analysis.revisions.test_why import lighthouse as lighthouse


def test_prompts_are_columns_and_replies_are_not(lighthouse: KnownRevisions) -> None:
    skyline = build_skyline(lighthouse, 60)

    assert len(skyline.columns) == 14
    assert (skyline.limit, skyline.each) == (24_720, 1)
    assert skyline.fullest is not None
    fullest = skyline.columns[skyline.fullest]
    assert lighthouse.names[fullest.number].name == "round 9"
    assert [event.kind for event in fullest.events] == ["stage", "loss"]
    assert fullest.events[1].text == "the reply to round 9 erases 12 working blocks"


def test_many_revisions_share_a_column_that_shows_the_fullest() -> None:
    uses = [window((number * 37) % 100, segments=segments(a=1)) for number in range(250)]
    facts = known(*(state(budgets=[each]) for each in uses))

    skyline = build_skyline(facts, 60)

    assert (len(skyline.columns), skyline.each) == (50, 5)
    for column in skyline.columns:
        inside = [uses[number].used or 0 for number in range(column.first, column.last + 1)]
        assert column.used == max(inside)
    assert [column.first for column in skyline.columns] == list(range(0, 250, 5))


def test_the_series_is_one_budget_in_one_unit() -> None:
    prompts = [state(budgets=[window(5, target="history", unit="bytes")]) for _ in range(3)]
    newest = state(budgets=[window(9, target="pack"), window(6, target="history", unit="bytes")])

    skyline = build_skyline(known(*prompts, newest), 60)

    assert skyline.budget is not None
    assert (skyline.budget.target, [column.used for column in skyline.columns]) == ("history", [5, 5, 5, 6])


def test_revisions_that_are_not_read_yet_are_empty_columns() -> None:
    whole = known(*[state(budgets=[window(5)])] * 3)

    skyline = build_skyline(KnownRevisions(whole.names, {2: whole.facts[2]}), 60)

    assert ([column.used for column in skyline.columns], skyline.pending) == ([None, None, 5], 2)


def test_without_figures_there_is_no_fullest_column() -> None:
    skyline = build_skyline(known(state(), state()), 60)

    assert (skyline.fullest, skyline.limit, skyline.budget) == (None, None, None)


def test_the_largest_cause_of_growth_is_first(lighthouse: KnownRevisions) -> None:
    first = growth_at(lighthouse, 14)[0]

    assert first.name == "not in this file"
    assert first.amount > 9_000
    assert growth_at(lighthouse, 0) == ()


def test_events_can_be_stepped_through(lighthouse: KnownRevisions) -> None:
    skyline = build_skyline(lighthouse, 60)

    assert next_event(skyline, 0) == skyline.fullest
    assert next_event(skyline, 13) is None
    assert next_event(skyline, 13, back=True) == 12


def test_a_loss_is_an_event_of_the_column_where_it_happened() -> None:
    facts = known(state(memory("a"), memory("b")), state(memory("a")), state(memory("a")))

    assert [len(each.events) for each in build_skyline(facts, 60).columns] == [0, 1, 0]
    assert len(build_skyline(facts, 1).columns[0].events) == 1


def test_a_revision_without_growth_says_what_changed() -> None:
    before, after = memory("a"), memory("a", text="what a says now")
    sizes = [window(10, segments=segments(a=10))]
    found = known(state(before, budgets=sizes), state(after, budgets=sizes), state(after, budgets=sizes))

    assert unchanged_text(found, 0) == "Nothing to compare yet."
    assert unchanged_text(found, 1) == "~ 1 since round 1; no size changed"
    assert unchanged_text(found, 2) == "Since round 2 no size changed"
    assert unchanged_text(known(state(before), state(after)), 1).endswith("the sizes cannot be compared")
