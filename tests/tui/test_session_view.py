from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ctxview.analysis.tokens import ESTIMATES
from ctxview.findings import Severity
from ctxview.formats import Lens
from ctxview.tui.marks import Change
from ctxview.tui.query import parse
from ctxview.tui.session_view import Problem, SessionView, Shown, Sort
from ctxview.tui.things import Index, Kind, Thing
from tests.tui.stories import empty, huge, night


def view_of_night(profile: str | None = None) -> SessionView:
    view = SessionView(profile)
    view.found([night(), empty(), huge(40)], [Problem(Path("x.json"), "no such file")])
    return view


def read(view: SessionView) -> Shown:
    source = view.source
    assert source is not None
    lens = Lens(ESTIMATES["bytes/3"], view.look.profile)
    shown = view.take(view.look, Index(source.reading(view.look.revision, lens)), draft=False)
    assert shown is not None
    return shown


def names(shown: Shown) -> list[str]:
    return [row.name for row in shown.blocks]


def test_the_newest_revision_of_the_first_source_is_looked_at() -> None:
    view = view_of_night()
    assert (view.look.source, view.look.revision) == (0, 2)
    assert view.profile == "atom-0.17"


def test_sources_found_later_do_not_move_the_look() -> None:
    view = view_of_night()
    view.go_to_revision(0)
    view.found([huge(8)], [])
    assert view.look.revision == 0


def test_a_profile_the_source_does_not_know_is_not_asked_for() -> None:
    assert view_of_night("strict").look.profile == "strict"
    assert view_of_night("nobody").look.profile is None
    assert view_of_night("mine/strict.toml").look.profile == "mine/strict.toml"


def test_revisions_stop_at_both_ends() -> None:
    view = view_of_night()
    assert not view.go_to_revision(7)
    assert view.go_to_revision(-3)
    assert view.look.revision == 0


def test_a_source_is_found_again_where_it_was_left() -> None:
    view = view_of_night()
    view.go_to_revision(1)
    assert view.go_to_source(2)
    assert view.go_to_source(0)
    assert view.look.revision == 1
    assert not view.go_to_source(0)
    assert not view.go_to_source(9)


def test_a_reading_that_comes_too_late_is_dropped() -> None:
    view = view_of_night()
    old = view.look
    view.go_to_revision(0)
    index = Index(night().reading(2, Lens(ESTIMATES["bytes/3"])))
    assert view.take(old, index, draft=False) is None


def test_another_revision_marks_what_changed() -> None:
    view = view_of_night()
    view.go_to_revision(1)
    read(view)
    view.go_to_revision(2)
    shown = read(view)
    assert shown.changes == {
        Thing(Kind.BLOCK, "work-003", "working"): Change.CHANGED,
        Thing(Kind.BLOCK, "work-009", "working"): Change.ADDED,
    }
    view.go_to_revision(1)
    assert read(view).gone == (Thing(Kind.BLOCK, "work-009", "working"),)


def test_another_profile_marks_other_verdicts() -> None:
    view = view_of_night()
    read(view)
    assert view.next_profile()
    shown = read(view)
    assert set(shown.changes.values()) == {Change.VERDICT}
    assert Thing(Kind.BLOCK, "work-009", "working") in shown.changes


def test_a_better_count_of_the_same_reading_keeps_the_marks() -> None:
    view = view_of_night()
    read(view)
    view.next_profile()
    first = read(view)
    assert read(view).changes == first.changes != {}


def test_one_profile_cannot_be_switched() -> None:
    view = SessionView()
    view.found([replace(night(), profiles=("only",))], [])
    assert not view.next_profile()


def test_each_order_puts_first_what_one_sorts_for() -> None:
    view = view_of_night()
    read(view)
    first = {}
    for _ in Sort:
        view.next_sort()
        shown = view.rearranged()
        assert shown is not None
        first[view.sort] = names(shown)[0]
    assert first == {
        Sort.FILE: "core-001",
        Sort.MODEL: "core-001",
        Sort.QUALITY: "core-001",
        Sort.DECAY: "temp-003",
        Sort.CONFIDENCE: "temp-003",
        Sort.AGE: "core-001",
        Sort.TOKENS: "core-001",
    }


def test_the_model_order_ends_with_what_the_model_is_not_shown() -> None:
    view = view_of_night()
    read(view)
    view.sort = Sort.MODEL
    shown = view.rearranged()
    assert shown is not None
    assert names(shown)[-3:] == ["core-004", "work-007", "temp-003"]


def test_the_same_column_again_turns_the_order_around() -> None:
    view = view_of_night()
    read(view)
    view.sort_by(Sort.DECAY)
    view.sort_by(Sort.DECAY)
    shown = view.rearranged()
    assert shown is not None
    assert view.reverse
    assert names(shown)[-1] == "temp-003"


def test_a_filter_knows_what_is_flagged_and_what_changed() -> None:
    view = view_of_night()
    view.go_to_revision(1)
    read(view)
    view.go_to_revision(2)
    view.query = parse("changed")
    assert names(read(view)) == ["work-003", "work-009"]
    view.query = parse("flagged")
    shown = view.rearranged()
    assert shown is not None
    assert names(shown) == ["core-004", "work-007", "temp-003"]


def test_a_search_follows_the_reading() -> None:
    view = view_of_night()
    read(view)
    view.look_for("kettle")
    assert len(view.hits.found) == 1
    view.go_to_revision(0)
    read(view)
    assert len(view.hits.found) == 0


def test_findings_are_counted_by_severity() -> None:
    assert read(view_of_night()).counts == {Severity.ERROR: 1, Severity.WARNING: 4, Severity.INFO: 1}
