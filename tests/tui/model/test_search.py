from __future__ import annotations

import pytest

from ctxview.analysis.revisions import search as time_search
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.transcript import END
from ctxview.formats import Lens
from ctxview.tui.model.jobs.facts import FindInRevisions
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex, message_id
from ctxview.tui.model.search import (
    FindInHistory,
    HistorySearch,
    Search,
    SearchHit,
    SearchHits,
    next_history_search,
)
from tests.analysis.revisions.builders import known, memory, state
from tests.tui.fakes import FakeSource, block
from tests.tui.fakes import memory as document
from tests.tui.model.controls import FakeControl
from tests.tui.transcripts import FakeTranscript

FIRST, LAST = SearchHit(ItemId(ItemKind.BLOCK, "a", "core")), SearchHit(ItemId(ItemKind.BLOCK, "b", "core"))
HITS = SearchHits("gull", (FIRST, LAST))
HISTORY = FakeTranscript(50, {10: "a gull", 30: "two gulls"})


def find_hit(search: HistorySearch) -> SearchHit | None:
    return FindInHistory(HISTORY, search).run(FakeControl()).hit


def test_loaded_items_come_before_the_history() -> None:
    assert next_history_search(HITS, None, None, HISTORY, back=False) is None
    assert next_history_search(HITS, FIRST, FIRST.item, HISTORY, back=False) is None


def test_the_history_comes_after_the_last_loaded_hit() -> None:
    assert next_history_search(HITS, LAST, LAST.item, HISTORY, back=False) == HistorySearch(
        "gull", 0, False, False
    )
    assert next_history_search(HITS, FIRST, FIRST.item, HISTORY, back=True) == HistorySearch(
        "gull", END, True, False
    )


def test_the_first_step_may_stay_and_later_ones_move_on() -> None:
    assert next_history_search(HITS, None, message_id(10), HISTORY, back=False) == HistorySearch(
        "gull", 10, False, False
    )
    assert next_history_search(
        HITS, SearchHit(message_id(10)), message_id(10), HISTORY, back=False
    ) == HistorySearch("gull", 11, False, False)
    assert next_history_search(
        HITS, SearchHit(message_id(10)), message_id(10), HISTORY, back=True
    ) == HistorySearch("gull", 10, True, False)


def test_without_a_history_only_loaded_items_are_searched() -> None:
    assert next_history_search(SearchHits("gull"), None, None, None, back=False) is None


def test_a_search_with_hits_only_in_the_history_wraps_around() -> None:
    around = next_history_search(
        SearchHits("gull"), SearchHit(message_id(30)), message_id(30), HISTORY, back=False
    )
    assert around == HistorySearch("gull", 31, False, True)
    assert find_hit(around) == SearchHit(message_id(10))
    assert find_hit(HistorySearch("gull", 10, True, True)) == SearchHit(message_id(30))


def test_a_search_that_may_not_wrap_around_ends() -> None:
    assert find_hit(HistorySearch("gull", 31, False, False)) is None


def test_a_search_through_time_that_ended_early_says_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_search, "MOST_HITS", 2)
    few, many = (known(state(*[memory(f"lamp-{at}") for at in range(count)])) for count in (2, 4))
    for facts, more in ((few, "(1 more in"), (many, "(at least 1 more in")):
        job = FindInRevisions(facts, "lamp")
        assert more in job.notice(job.run(FakeControl()))


def test_a_hit_that_left_the_file_is_no_place_among_the_hits() -> None:
    before = FakeSource([document(core=[block("one", "the lamp is lit"), block("two", "the lamp is out")])])
    after = FakeSource([document(core=[block("two", "the lamp is out")])])
    lens = Lens(ESTIMATES["bytes/3"])
    search = Search()
    search.begin("lamp", ReadingIndex(before.reading(0, lens)))
    search.step(None, None, back=False)
    assert search.status == "hit 1 of 2"
    search.update(ReadingIndex(after.reading(0, lens)))
    assert search.status == ""
    search.step(None, None, back=False)
    assert search.status == "hit 1 of 1"
    search.hit = SearchHit(message_id(6))
    search.update(ReadingIndex(after.reading(0, lens)))
    assert search.status == "hit in message 7"
