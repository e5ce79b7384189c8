from __future__ import annotations

from dataclasses import replace

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Effect, Finding, Severity
from ctxview.core.origin import Origin
from ctxview.formats import Lens
from ctxview.tui.model.reading_index import TODO, WHOLE, ItemId, ItemKind, ReadingIndex, copy_text
from ctxview.tui.model.search import search_reading
from tests.tui.fakes import FakeSource, block, memory
from tests.tui.snapshot_stories import FILE, night

LENS = Lens(ESTIMATES["bytes/3"])


def index_of(source: FakeSource) -> ReadingIndex:
    return ReadingIndex(source.reading(len(source.documents) - 1, LENS))


def subject(index: ReadingIndex, rule: str) -> ItemId | None:
    return next(index.subject(each) for each in index.findings if each.name == rule)


def test_findings_come_worst_first() -> None:
    index = index_of(night())
    severities = [index.finding(each).severity for each in index.findings]
    assert severities == sorted(severities, key=lambda each: each.rank)


def test_the_subject_of_a_finding_is_the_innermost_item_around_its_pointer() -> None:
    index = index_of(night())
    assert subject(index, "SNP060") == ItemId(ItemKind.REF, "core-004", "tag_ref")
    assert subject(index, "SNP021") == ItemId(ItemKind.BLOCK, "core-004", "core")


def test_the_findings_about_a_block_include_those_about_its_fields() -> None:
    index = index_of(night())
    found = index.about(ItemId(ItemKind.BLOCK, "core-004", "core"))
    assert [each.name for each in found] == ["SNP060", "SNP021"]


def test_a_finding_about_a_todo_field_is_about_the_todo() -> None:
    assert subject(index_of(night()), "SNP029") == TODO


def test_a_finding_about_a_tier_has_no_subject() -> None:
    assert subject(index_of(night()), "SNP024") is None


def test_a_finding_without_a_pointer_is_located_by_its_bytes() -> None:
    source = night()
    blocks = source.reading(2, LENS).state.blocks()
    place = next(each for each in blocks if each.origin.pointer == "/memory/working/0")
    assert place.origin.start is not None
    inside = Origin(FILE, None, place.origin.start + 20, place.origin.start + 21)
    found = Finding("TXT001", Severity.WARNING, Effect.NONE, "odd", inside)
    assert subject(index_of(replace(source, more_findings=(found,))), "TXT001") == ItemId(
        ItemKind.BLOCK, "work-003", "working"
    )


def test_blocks_with_the_same_id_have_different_item_ids() -> None:
    index = index_of(FakeSource([memory(core=[block("a", "one"), block("a", "two")])]))
    assert [index.block(each).text for each in index.of(ItemKind.BLOCK)] == ["one", "two"]
    assert len({*index.of(ItemKind.BLOCK)}) == 2


def test_every_kind_of_item_has_a_text_to_copy() -> None:
    index = index_of(night())
    copied = {item.kind: copy_text(value) for item, value in index.items.items()}
    assert copied[ItemKind.FINDING] == f"{FILE}: working is not in the order of quality (SNP024)"
    assert all(copied.values())
    assert set(copied) == {
        ItemKind.BLOCK,
        ItemKind.TODO,
        ItemKind.ITEM,
        ItemKind.BUDGET,
        ItemKind.REF,
        ItemKind.GAP,
        ItemKind.FINDING,
        ItemKind.WHOLE,
    }


def test_a_search_finds_every_kind_of_item() -> None:
    hits = search_reading("horn", index_of(night()))
    assert hits.counts() == {ItemKind.BLOCK: 1, ItemKind.GAP: 1, ItemKind.REF: 1, ItemKind.FINDING: 1}


def test_a_lower_case_needle_matches_both_cases() -> None:
    index = index_of(night())
    assert len(search_reading("kestrel", index).found) == 2  # the block, and the title of the whole
    assert [hit.item.kind for hit in search_reading("Kestrel", index).found] == [ItemKind.BLOCK]


def test_a_search_includes_fields_of_the_whole_state() -> None:
    assert [hit.item for hit in search_reading("night watch", index_of(night())).found][-1] == WHOLE


def test_each_matching_line_of_a_text_is_a_hit() -> None:
    index = index_of(FakeSource([memory()], text="one lamp\nnone\ntwo lamps"))
    assert [hit.line for hit in search_reading("lamp", index).found] == [0, 2]


def test_stepping_through_hits_wraps_around() -> None:
    hits = search_reading("lamp", index_of(night()))
    first = hits.next_after(None, None)
    assert first == hits.found[0]
    assert hits.next_after(first, None, back=True) == hits.found[-1]
    assert hits.next_after(hits.found[-1], None) == first


def test_a_search_begins_at_the_selected_item() -> None:
    hits = search_reading("lamp", index_of(night()))
    selected = hits.found[2].item
    assert hits.next_after(None, selected) == hits.found[2]


def test_a_blank_needle_finds_nothing() -> None:
    assert search_reading("  ", index_of(night())).found == ()
