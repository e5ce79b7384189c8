from __future__ import annotations

from ctxview.state import END
from ctxview.tui.hunt import Trail, find, trail
from ctxview.tui.search import Hit, Hits
from ctxview.tui.things import Kind, Thing, message
from tests.tui.transcripts import FakeTranscript

FIRST, LAST = Hit(Thing(Kind.BLOCK, "a", "core")), Hit(Thing(Kind.BLOCK, "b", "core"))
HITS = Hits("gull", (FIRST, LAST))
HISTORY = FakeTranscript(50, {10: "a gull", 30: "two gulls"})


def never() -> bool:
    return False


def test_what_is_loaded_comes_first() -> None:
    assert trail(HITS, None, None, HISTORY, back=False) is None
    assert trail(HITS, FIRST, FIRST.thing, HISTORY, back=False) is None


def test_after_the_last_loaded_hit_comes_the_history() -> None:
    assert trail(HITS, LAST, LAST.thing, HISTORY, back=False) == Trail("gull", 0, False, False)
    assert trail(HITS, FIRST, FIRST.thing, HISTORY, back=True) == Trail("gull", END, True, False)


def test_the_first_step_may_stay_and_later_ones_go_on() -> None:
    assert trail(HITS, None, message(10), HISTORY, back=False) == Trail("gull", 10, False, False)
    assert trail(HITS, Hit(message(10)), message(10), HISTORY, back=False) == Trail("gull", 11, False, False)
    assert trail(HITS, Hit(message(10)), message(10), HISTORY, back=True) == Trail("gull", 10, True, False)


def test_without_a_history_only_the_loaded_counts() -> None:
    assert trail(Hits("gull"), None, None, None, back=False) is None


def test_a_search_found_only_in_the_history_goes_around_it() -> None:
    around = trail(Hits("gull"), Hit(message(30)), message(30), HISTORY, back=False)
    assert around == Trail("gull", 31, False, True)
    assert find(HISTORY, around, never) == Hit(message(10))
    assert find(HISTORY, Trail("gull", 10, True, True), never) == Hit(message(30))


def test_a_search_that_may_not_go_around_ends() -> None:
    assert find(HISTORY, Trail("gull", 31, False, False), never) is None
