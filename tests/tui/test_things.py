from __future__ import annotations

from dataclasses import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.findings import Effect, Finding, Severity
from ctxview.formats import Lens
from ctxview.state import Origin
from ctxview.tui.search import search
from ctxview.tui.things import TODO, WHOLE, Index, Kind, Thing, words_of
from tests.tui.fakes import FakeSource, block, memory
from tests.tui.stories import FILE, night

LENS = Lens(ESTIMATES["bytes/3"])


def index_of(source: FakeSource) -> Index:
    return Index(source.reading(len(source.documents) - 1, LENS))


def subject(index: Index, rule: str) -> Thing | None:
    return next(index.subject(each) for each in index.findings if each.name == rule)


def test_findings_come_worst_first() -> None:
    index = index_of(night())
    severities = [index.finding(each).severity for each in index.findings]
    assert severities == sorted(severities, key=lambda each: each.rank)


def test_a_finding_leads_to_the_innermost_thing_around_its_pointer() -> None:
    index = index_of(night())
    assert subject(index, "SNP060") == Thing(Kind.REF, "core-004", "tag_ref")
    assert subject(index, "SNP021") == Thing(Kind.BLOCK, "core-004", "core")


def test_a_block_knows_what_is_wrong_with_it_and_inside_it() -> None:
    index = index_of(night())
    found = index.about(Thing(Kind.BLOCK, "core-004", "core"))
    assert [each.name for each in found] == ["SNP060", "SNP021"]


def test_a_finding_about_a_field_of_the_todo_leads_there() -> None:
    assert subject(index_of(night()), "SNP029") == TODO


def test_a_finding_about_no_one_thing_leads_nowhere() -> None:
    assert subject(index_of(night()), "SNP024") is None


def test_a_finding_without_a_pointer_is_placed_by_its_bytes() -> None:
    source = night()
    blocks = source.reading(2, LENS).state.blocks()
    place = next(each for each in blocks if each.origin.pointer == "/memory/working/0")
    assert place.origin.start is not None
    inside = Origin(FILE, None, place.origin.start + 20, place.origin.start + 21)
    found = Finding("TXT001", Severity.WARNING, Effect.NONE, "odd", inside)
    assert subject(index_of(replace(source, more_findings=(found,))), "TXT001") == Thing(
        Kind.BLOCK, "work-003", "working"
    )


def test_blocks_of_one_name_are_told_apart() -> None:
    index = index_of(FakeSource([memory(core=[block("a", "one"), block("a", "two")])]))
    assert [index.block(each).text for each in index.of(Kind.BLOCK)] == ["one", "two"]
    assert len({*index.of(Kind.BLOCK)}) == 2


def test_every_kind_of_thing_has_words_to_copy() -> None:
    index = index_of(night())
    copied = {thing.kind: words_of(value) for thing, value in index.things.items()}
    assert copied[Kind.FINDING] == f"{FILE}: working is not in the order of quality (SNP024)"
    assert all(copied.values())
    assert set(copied) == {
        Kind.BLOCK,
        Kind.TODO,
        Kind.ITEM,
        Kind.BUDGET,
        Kind.REF,
        Kind.GAP,
        Kind.FINDING,
        Kind.WHOLE,
    }


def test_a_search_finds_every_kind_of_thing() -> None:
    hits = search("horn", index_of(night()))
    assert hits.counts() == {Kind.BLOCK: 1, Kind.GAP: 1, Kind.REF: 1, Kind.FINDING: 1}


def test_small_letters_find_both_cases_and_a_capital_only_its_own() -> None:
    index = index_of(night())
    assert len(search("kestrel", index).found) == 2  # the block, and the title of the whole
    assert [hit.thing.kind for hit in search("Kestrel", index).found] == [Kind.BLOCK]


def test_a_search_looks_into_fields_of_the_whole() -> None:
    assert [hit.thing for hit in search("night watch", index_of(night())).found][-1] == WHOLE


def test_lines_of_a_text_are_hits_of_their_own() -> None:
    index = index_of(FakeSource([memory()], text="one lamp\nnone\ntwo lamps"))
    assert [hit.line for hit in search("lamp", index).found] == [0, 2]


def test_hits_go_round_in_both_directions() -> None:
    hits = search("lamp", index_of(night()))
    first = hits.next_after(None, None)
    assert first == hits.found[0]
    assert hits.next_after(first, None, back=True) == hits.found[-1]
    assert hits.next_after(hits.found[-1], None) == first


def test_a_search_begins_at_what_is_selected() -> None:
    hits = search("lamp", index_of(night()))
    selected = hits.found[2].thing
    assert hits.next_after(None, selected) == hits.found[2]


def test_a_blank_needle_finds_nothing() -> None:
    assert search("  ", index_of(night())).found == ()
