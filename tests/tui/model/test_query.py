from __future__ import annotations

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.state import ContextState
from ctxview.formats import Lens
from ctxview.tui.model.query import BlockFacts, QueryError, completions, parse_query
from tests.tui.snapshot_stories import night


@pytest.fixture(scope="module")
def state() -> ContextState:
    return night().reading(2, Lens(ESTIMATES["bytes/3"])).state


NO_FACTS = BlockFacts()


FIGURES = ("quality", "decay", "confidence")


def ids(text: str, state: ContextState, facts: BlockFacts = NO_FACTS) -> list[str]:
    query = parse_query(text, FIGURES)
    return [block.id for block in state.blocks() if query.accepts(block, facts)]


def test_the_empty_filter_accepts_every_block(state: ContextState) -> None:
    assert len(ids("  ", state)) == 12
    assert not parse_query("")


def test_words_are_joined_by_and(state: ContextState) -> None:
    assert ids("tier:working tag:task hidden decay>0.5", state) == ["work-007"]


def test_a_comma_means_either(state: ContextState) -> None:
    assert ids("tier:core,ephemeral hidden", state) == ["core-004", "temp-003"]


def test_an_exclamation_mark_means_not(state: ContextState) -> None:
    assert ids("tier:core !hidden !tag:rule", state) == ["core-001", "core-003"]


def test_numbers_compare_at_their_limits(state: ContextState) -> None:
    assert ids("decay>=0.95", state) == ["temp-003"]
    assert ids("decay>0.95", state) == []
    assert ids("conf<=0.4 decay<0.9", state) == ["temp-002"]
    assert ids("round=1", state) == ["core-001"]


def test_a_bare_word_is_searched_in_text_id_type_and_tags(state: ContextState) -> None:
    assert ids("trawler", state) == ["work-003"]
    assert ids("LT-01", state) == ["lt-014", "lt-015"]
    assert ids("语言", state) == ["core-003"]


def test_quotes_keep_spaces_and_key_words_together(state: ContextState) -> None:
    assert ids('"fog horn"', state) == ["core-004"]
    assert ids('!"hidden" tier:core', state) == ["core-001", "core-002", "core-003", "core-004"]


def test_facts_come_from_outside_the_block(state: ContextState) -> None:
    assert ids("changed", state) == []
    assert len(ids("changed flagged", state, BlockFacts(changed=True, flagged=True))) == 12


@pytest.mark.parametrize(
    ("text", "message", "piece"),
    [
        ("decay>high", "decay> needs a number, for example decay>0.5", "decay>high"),
        ("tier:", "tier: needs a word after the colon", "tier:"),
        ("hidden teir:core", "unknown field teir: (did you mean tier?)", "teir:core"),
        ("decoy>0.2", "decoy is not a number of a block; use decay", "decoy>0.2"),
        (
            "decay",
            'decay needs a value, for example decay>0.5; "decay" searches for the word itself',
            "decay",
        ),
        ("!tag", 'tag needs a value, for example tag:word; "tag" searches for the word itself', "tag"),
    ],
)
def test_an_error_names_the_invalid_piece_and_its_position(text: str, message: str, piece: str) -> None:
    with pytest.raises(QueryError) as error:
        parse_query(text, FIGURES)
    assert str(error.value) == message
    assert text[error.value.start : error.value.end] == piece


def test_a_colon_in_ordinary_text_is_text(state: ContextState) -> None:
    assert ids("03:00", state) == ["work-007"]
    assert ids("[tag:lt-014]", state) == ["lt-014"]


def test_completions_offer_the_values_of_the_state(state: ContextState) -> None:
    assert completions("tier:w", state) == ["tier:working"]
    assert completions("hidden tag:ra", state) == ["tag:radar", "tag:radio"]
    assert completions("tier:core,l", state) == ["tier:core,longterm"]
    assert completions("!tier:w", state) == ["!tier:working"]
    assert "confidence>" in completions("conf", state)
    assert "hidden" in completions("", state)
