"""Search through time: every item once, at the newest revision that has it, with its ending."""

from __future__ import annotations

from ctxview.analysis.revisions.facts import KnownRevisions
from ctxview.analysis.revisions.search import hit_ending, search_revisions
from tests.analysis.revisions.builders import known, memory, state
from tests.analysis.revisions.test_why import lighthouse as lighthouse


def test_a_text_of_the_past_is_found_with_what_removed_it(lighthouse: KnownRevisions) -> None:
    found = search_revisions(lighthouse, "h1-time").found
    block = next(each for each in found if each.name == "h1-time-zone")

    assert hit_ending(lighthouse, block) == (
        "last seen in round 9; the reply erases all 12 working blocks (SNP043); hidden since round 6"
    )


def test_hits_are_newest_first_and_each_item_occurs_once() -> None:
    facts = known(state(memory("a"), memory("b")), state(memory("a")), state(memory("a"), memory("c")))

    found = search_revisions(facts, "says").found

    assert [(each.name, each.number) for each in found] == [("a", 2), ("c", 2), ("b", 0)]


def test_a_capital_letter_makes_the_search_case_sensitive() -> None:
    facts = known(state(memory("a", text="Ledger")))

    assert len(search_revisions(facts, "ledger").found) == 1
    assert search_revisions(facts, "LEDGER").found == ()
    assert search_revisions(facts, "Ledger").found != ()


def test_a_blank_needle_finds_nothing_and_a_pattern_is_plain_text() -> None:
    facts = known(state(memory("a", text="a.c")), state(memory("a", text="abc")))

    assert search_revisions(facts, "  ").found == ()
    assert [each.number for each in search_revisions(facts, "a.c").found] == [0]


def test_a_cancelled_search_says_how_far_it_came() -> None:
    facts = known(state(memory("a")), state(memory("b")))

    assert search_revisions(facts, "says", cancelled=lambda: True).searched == 0
    assert search_revisions(facts, "says").searched == 2


def test_the_withheld_text_of_an_envelope_is_not_found() -> None:
    from ctxview.samples import samples_folder
    from tests.analysis.revisions.test_why import read

    facts = read(samples_folder() / "envelope" / "handoff")
    texts = [block.text for each in facts.in_order for block in (each.blocks or {}).values()]

    assert any("[name masked]" in text for text in texts)
    planted = read(samples_folder() / "envelope" / "planted")
    kept = [block.text for each in planted.in_order for block in (each.blocks or {}).values()]
    kept += [text.text for each in planted.in_order for text in each.texts]
    raw = (samples_folder() / "envelope" / "planted").rglob("*.json")
    secret = next(
        line.split('"raw": "')[1].rsplit('"', 1)[0]
        for file in raw
        for line in file.read_text("utf-8").splitlines()
        if '"raw": "' in line
    )
    assert not any(secret in text for text in kept)
