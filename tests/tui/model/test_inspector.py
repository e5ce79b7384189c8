from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Severity
from ctxview.formats import Lens
from ctxview.tui.model.change_marks import ChangeMark, ChangeMarks
from ctxview.tui.model.inspector import InspectorModel
from ctxview.tui.model.query import MODEL_ORDER, TIER_ORDER, parse_query
from ctxview.tui.model.reading_index import ItemId, ItemKind, ReadingIndex
from ctxview.tui.model.view_state import OpenProblem, ReadOptions, ViewState
from tests.tui.model.controls import FakeControl
from tests.tui.snapshot_stories import empty, huge, night


def night_model(profile: str | None = None) -> InspectorModel:
    model = InspectorModel(profile, ReadOptions("bytes/3"))
    model.add_sources([night(), empty(), huge(40)], [OpenProblem(Path("x.json"), "no such file")])
    return model


def read(model: InspectorModel) -> ViewState:
    source = model.source
    assert source is not None
    lens = Lens(ESTIMATES["bytes/3"], model.key.profile)
    view = model.take(model.key, ReadingIndex(source.reading(model.key.revision, lens)), draft=False)
    assert view is not None
    return view


def names(view: ViewState) -> list[str]:
    return [row.name for row in view.blocks]


def test_the_newest_revision_of_the_first_source_is_selected() -> None:
    model = night_model()
    assert (model.key.source, model.key.revision) == (0, 2)
    assert model.profile == "atom-0.17"


def test_sources_added_later_do_not_change_the_selection() -> None:
    model = night_model()
    model.go_to_revision(0)
    model.add_sources([huge(8)], [])
    assert model.key.revision == 0


def test_an_unknown_profile_is_not_used() -> None:
    assert night_model("strict").key.profile == "strict"
    assert night_model("unknown").key.profile is None
    assert night_model("mine/strict.toml").key.profile == "mine/strict.toml"


def test_revisions_stop_at_both_ends() -> None:
    model = night_model()
    assert not model.go_to_revision(7)
    assert model.go_to_revision(-3)
    assert model.key.revision == 0


def test_a_source_is_selected_again_as_it_was_left() -> None:
    model = night_model()
    model.go_to_revision(1)
    assert model.go_to_source(2)
    assert model.go_to_source(0)
    assert model.key.revision == 1
    assert not model.go_to_source(0)
    assert not model.go_to_source(9)


def test_a_reading_for_an_old_key_is_dropped() -> None:
    model = night_model()
    old = model.key
    model.go_to_revision(0)
    index = ReadingIndex(night().reading(2, Lens(ESTIMATES["bytes/3"])))
    assert model.take(old, index, draft=False) is None


def marked(model: InspectorModel) -> ViewState:
    """Read the selected revision and mark its changes, as the job does."""
    read(model)
    job = model.mark_job()
    assert job is not None
    view = model.take_marks(job.key, job.run(FakeControl()))
    assert view is not None
    return view


@pytest.mark.parametrize("way", [(1, 2), (0, 2), (1, 0, 2)], ids=str)
def test_a_revision_marks_the_changes_since_the_one_before_it_whatever_was_shown_before(
    way: tuple[int, ...],
) -> None:
    model = night_model()
    for number in way[:-1]:
        model.go_to_revision(number)
        read(model)
    model.go_to_revision(way[-1])
    view = marked(model)
    assert view.changes == {
        ItemId(ItemKind.BLOCK, "work-003", "working"): ChangeMark.CHANGED,
        ItemId(ItemKind.BLOCK, "work-009", "working"): ChangeMark.ADDED,
    }
    assert view.marks.text == "1 added, 1 changed since round 2"


def test_marks_of_a_revision_that_was_left_are_dropped() -> None:
    model = night_model()
    read(model)
    model.go_to_revision(1)
    read(model)
    left, marks = model.key, ChangeMarks(since="round 1")
    model.go_to_revision(0)
    read(model)
    assert model.take_marks(left, marks) is None


def test_another_profile_marks_changed_verdicts() -> None:
    model = night_model()
    read(model)
    assert model.next_profile()
    view = marked(model)
    assert set(view.changes.values()) == {ChangeMark.VERDICT}
    assert ItemId(ItemKind.BLOCK, "work-009", "working") in view.changes


def test_a_better_count_of_the_same_reading_keeps_the_marks() -> None:
    model = night_model()
    read(model)
    model.next_profile()
    first = marked(model)
    assert read(model).changes == first.changes != {}


def test_a_single_profile_cannot_be_switched() -> None:
    model = InspectorModel()
    model.add_sources([replace(night(), profiles=("only",))], [])
    assert not model.next_profile()


def test_each_order_has_its_first_block() -> None:
    model = night_model()
    read(model)
    first = {}
    for order in model.orders:
        if order != model.sort:
            model.sort_by(order)
        view = model.rearranged()
        assert view is not None
        first[model.sort] = names(view)[0]
    assert first == {
        TIER_ORDER: "core-001",
        MODEL_ORDER: "core-001",
        "quality": "core-001",
        "decay": "temp-003",
        "confidence": "temp-003",
        "age": "core-001",
        "tokens": "core-001",
    }


def test_the_model_order_ends_with_hidden_blocks() -> None:
    model = night_model()
    read(model)
    model.sort = MODEL_ORDER
    view = model.rearranged()
    assert view is not None
    assert names(view)[-3:] == ["core-004", "work-007", "temp-003"]


def test_sorting_by_the_same_column_again_reverses_the_order() -> None:
    model = night_model()
    read(model)
    model.sort_by("decay")
    model.sort_by("decay")
    view = model.rearranged()
    assert view is not None
    assert model.reverse
    assert names(view)[-1] == "temp-003"


def test_a_filter_selects_flagged_and_changed_blocks() -> None:
    model = night_model()
    model.go_to_revision(1)
    read(model)
    model.go_to_revision(2)
    model.query = parse_query("changed")
    assert names(marked(model)) == ["work-003", "work-009"]
    model.query = parse_query("flagged")
    view = model.rearranged()
    assert view is not None
    assert names(view) == ["core-004", "work-007", "temp-003"]


def test_a_search_is_repeated_in_a_new_reading() -> None:
    model = night_model()
    read(model)
    model.search_for("kettle")
    assert len(model.search.hits.found) == 1
    model.go_to_revision(0)
    read(model)
    assert len(model.search.hits.found) == 0


def test_findings_are_counted_by_severity() -> None:
    assert read(night_model()).counts == {Severity.ERROR: 1, Severity.WARNING: 4, Severity.INFO: 1}
