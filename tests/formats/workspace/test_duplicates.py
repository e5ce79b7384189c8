"""The duplicate map: likeness of pairs, and the same result after a change as from the beginning."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.formats.workspace.duplicates import ComparedFile, DuplicateMap, is_cross_reference
from ctxview.formats.workspace.markdown import MarkdownDocument
from ctxview.formats.workspace.similarity import Likeness, compare, prepare


def likeness(first: str, second: str) -> Likeness | None:
    found = compare(prepare(first), prepare(second), lambda _: 1.0, 68)
    return found[0] if found is not None else None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Assumptions are forbidden.", "**Assumptions are forbidden**"),
        ("Always pass model to spawn", "ALWAYS pass `model` to spawn."),
    ],
)
def test_equal_words_are_exact_duplicates(first: str, second: str) -> None:
    assert likeness(first, second) is Likeness.EXACT


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Run the whole test suite before every commit", "Before each commit, run the full test suite"),
        ("The user prefers short answers without filler", "User prefers short answers, no filler"),
        ("Deploys go out on Tuesday morning from main", "Deploy from main on Tuesday mornings"),
        ("Use `<name>` as the key of the cache entry", "Use `{name}` as the key of the cache entries"),
    ],
)
def test_other_words_for_the_same_are_near_duplicates(first: str, second: str) -> None:
    assert likeness(first, second) is Likeness.NEAR


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Use 4 spaces for Python code", "Use 2 spaces for JavaScript code"),
        ("Run unit tests with `make test`", "Run lint checks with `make lint`"),
        ("`src/api/` contains the HTTP handlers", "`src/db/` contains the database models"),
        ("The build passes when all tests pass", "The build fails when any test fails"),
        ("Write tests for new features", "Write docs for new features"),
        ("The web client runs on port 3000", "The API runs on port 4000"),
    ],
)
def test_parallel_sentences_about_different_things_are_different(first: str, second: str) -> None:
    assert likeness(first, second) is None


def test_a_reference_to_another_file_is_no_duplicate() -> None:
    assert is_cross_reference("Tone and voice: see SOUL.md.")
    assert not is_cross_reference("Be kind.")


SENTENCES = (
    "The clock of the tower is late by a minute",
    "The clock of the tower is late by a minute.",
    "The tower clock runs late by one minute",
    "Boats are booked in the calendar of the club",
    "The club calendar is where boats are booked",
    "Port 5432 belongs to the database",
    "Port 5433 belongs to the database",
    "Nobody sails alone after sunset",
)
texts = st.lists(st.sampled_from(SENTENCES), max_size=4).map(
    lambda found: "".join(f"- {each}\n" for each in found)
)


def files(contents: list[str]) -> list[ComparedFile]:
    return [
        ComparedFile(f"{at}.md", MarkdownDocument(f"{at}.md", text.encode()), at)
        for at, text in enumerate(contents)
    ]


def places(found: tuple[object, ...]) -> set[tuple[str, str, str]]:
    return {(pair.keep.place, pair.drop.place, pair.likeness.value) for pair in found}  # type: ignore[attr-defined]


@settings(deadline=None)
@given(st.lists(texts, min_size=1, max_size=4), st.lists(texts, min_size=1, max_size=4))
def test_an_updated_map_finds_what_a_new_one_finds(before: list[str], after: list[str]) -> None:
    updated, fresh = DuplicateMap(), DuplicateMap()
    updated.update(files(before), 68)
    # The weights of words depend on all sentences, so only pairs of equal text are certain to be the same.
    for kind in ("exact",):
        now = {each for each in places(updated.update(files(after), 68)) if each[2] == kind}
        assert now == {each for each in places(fresh.update(files(after), 68)) if each[2] == kind}
    assert places(updated.update([], 68)) == set()


def test_the_file_that_comes_first_in_the_prompt_keeps_the_statement() -> None:
    found = DuplicateMap().update(files([f"- {SENTENCES[0]}\n", f"- {SENTENCES[0]}\n"]), 68)
    assert places(found) == {("0.md:1", "1.md:1", "exact")}


@pytest.mark.parametrize("unit", ["/", "[", "`", "a.", "a:", "a-", "a_", "[a](", "eyJa."])
def test_a_long_hostile_statement_is_prepared_in_one_pass(unit: str) -> None:
    """With a pattern that starts anew at each place this would take many minutes."""
    assert likeness(unit * 100_000, unit * 100_000 + "b") is not Likeness.EXACT
