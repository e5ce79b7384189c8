"""The semantic difference of two states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ctxview.analysis.diff import diff
from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind, StateDiff
from ctxview.analysis.diff.report import json_of, lines_of
from ctxview.core.fields import Field, Form, Owner
from ctxview.core.origin import JsonValue, Origin
from ctxview.core.state import (
    Block,
    Budget,
    CompactionRecord,
    ContextState,
    Counts,
    Cursor,
    Gap,
    Limit,
    Ref,
    RefStatus,
    Segment,
    Tier,
    Todo,
    TodoItem,
)
from ctxview.formats.snapshot.state.tiers import tier_of
from tests.figures import changed, figures

HERE = Origin("a.json")
TIERS = ("core", "working", "longterm")


def block(name: str, tier: str = "working", **parts: object) -> Block:
    plain = Block(
        id=name,
        tier=tier,
        type="task",
        text="read the plan",
        figures=figures(decay=0.4, confidence=0.8, quality=0.7),
        round=3,
        age=1,
        tags=("a",),
        tokens=4,
        visible=True,
        state="open",
        origin=HERE,
    )
    return changed(plain, **parts)


def state(*blocks: Block, **parts: object) -> ContextState:
    tiers = tuple(tier_of(name, tuple(each for each in blocks if each.tier == name)) for name in TIERS)
    counts = Counts(len(blocks), 0, 0, 0, True, "bytes/4")
    plain = ContextState(
        format="snapshot", title="a", source="a.json", revision="1", tiers=tiers, counts=counts
    )
    return replace(plain, **parts)  # type: ignore[arg-type]


def fields(owner: Owner = Owner.SYSTEM, **values: JsonValue) -> Form:
    return Form("a.json", "", tuple(Field(name, value, owner, f"/{name}") for name, value in values.items()))


def ref(name: str, status: RefStatus, **parts: object) -> Ref:
    return replace(Ref(name, "tag_ref", "tag:1", status, 3, 10, ("w1",), HERE), **parts)  # type: ignore[arg-type]


def gap(name: str, status: str = "open", why: str = "dropped") -> Gap:
    return Gap(name, "where is it?", "blocking", status, (), why, HERE)


def only(found: StateDiff) -> Change:
    assert len(found.changes) == 1, json_of(found)
    return found.changes[0]


def names(change: Change) -> list[str]:
    return [delta.name for delta in change.deltas]


# -- blocks ------------------------------------------------------------------------------------------------


def test_an_added_and_a_removed_block_are_changes() -> None:
    found = diff(state(block("old")), state(block("new")))
    assert [(each.kind, each.name) for each in found.changes] == [
        (ChangeKind.ADDED, "working/new"),
        (ChangeKind.REMOVED, "working/old"),
    ]


def test_a_block_in_another_tier_has_moved_and_keeps_its_deltas() -> None:
    change = only(diff(state(block("w1")), state(block("w1", "longterm", confidence=0.9))))
    assert (change.kind, change.came_from, change.place, names(change)) == (
        ChangeKind.MOVED,
        "working",
        "longterm",
        ["confidence"],
    )


def test_a_move_up_is_a_promotion_and_a_move_down_a_demotion() -> None:
    here, there = state(block("w1", "working")), state(block("w1", "longterm"))

    assert only(diff(here, there)).course == "promoted"
    assert only(diff(there, here)).course == "demoted"


def test_a_move_between_tiers_of_different_ladders_has_no_course() -> None:
    there = replace(state(), tiers=(Tier("pinned", (block("w1", "pinned"),)),))

    assert only(diff(state(block("w1")), there)).course is None


def test_a_removed_block_without_a_summary_counts_as_lost() -> None:
    kept = block("f1", text="the parser rejects a BOM")
    lost = block("f2", text="file 17 holds 168 rows")
    summary = block(
        "s1", "longterm", type="summary", text="The parser rejects a file that has a BOM, rows or not."
    )

    found = {each.subject: each.loss for each in diff(state(kept, lost), state(summary)).changes}

    assert found == {"f1": None, "f2": "inferred", "s1": None}


def test_a_block_that_a_compaction_names_is_a_recorded_loss() -> None:
    lost = block("f2", text="file 17 holds 168 rows")
    record = CompactionRecord("c1", "s1", ("f2",), ("all figures",), HERE)

    found = diff(state(lost), state(compactions=(record,)))

    assert {each.subject: (each.group, each.kind, each.loss) for each in found.changes} == {
        "f2": (ChangeGroup.BLOCKS, ChangeKind.REMOVED, "recorded"),
        "c1": (ChangeGroup.COMPACTIONS, ChangeKind.ADDED, None),
    }
    assert "all figures" in "".join(lines_of(found))


def test_an_emptied_block_that_a_compaction_names_is_lost() -> None:
    record = CompactionRecord("c1", "s1", ("f2",), (), HERE)
    here, there = block("f2", text="file 17 holds 168 rows"), block("f2", text="")

    assert (
        only(diff(state(here, compactions=(record,)), state(there, compactions=(record,)))).loss == "recorded"
    )


def test_across_formats_blocks_with_equal_texts_are_paired_and_none_is_lost() -> None:
    here = state(block("w1", text="the parser  rejects a BOM"), block("w2", text="file 17 holds 168 rows"))
    summary = block("s1", "longterm", type="summary", text="another thing altogether")
    there = state(block("item-9", "core", text="the parser rejects a BOM"), summary, format="envelope")

    found = {each.subject: each for each in diff(here, there).of(ChangeGroup.BLOCKS)}

    assert {name: each.kind for name, each in found.items()} == {
        "item-9": ChangeKind.MOVED,
        "s1": ChangeKind.ADDED,
        "w2": ChangeKind.REMOVED,
    }
    assert (found["item-9"].deltas[0].before, found["w2"].loss) == ("w1", None)


def test_a_delta_says_which_limit_it_crossed_even_if_the_block_is_hidden_anyway() -> None:
    def at(confidence: float) -> ContextState:
        hidden = block("w1", confidence=confidence, visible=False, reason="decay 0.70 > 0.65")
        tier = Tier("working", (hidden,), limits=(Limit("confidence", least=0.55),))
        return replace(state(), tiers=(tier,))

    there, back = only(diff(at(0.9), at(0.1))), only(diff(at(0.1), at(0.9)))

    assert there.deltas[0].crossed == "now under the limit 0.55 of working"
    assert back.deltas[0].crossed == "no longer under the limit 0.55 of working"
    assert only(diff(at(0.9), at(0.8))).deltas[0].crossed == ""


def test_a_message_that_left_the_window_is_not_lost() -> None:
    form = Form("m.jsonl", "/1", (Field("message", "so it was", Owner.APPEND_ONLY, ""),))
    message = block("message 1", text="so it was", form=form)
    summary = block("s1", "longterm", type="summary", text="another thing")

    change = next(
        each for each in diff(state(message), state(summary)).changes if each.kind is ChangeKind.REMOVED
    )

    assert (change.loss, change.in_history) == (None, True)


def _owned(owner: Owner, value: str) -> Block:
    fields = (Field("tag_id", value, owner, ""), Field("content", "read the plan", Owner.MODEL, ""))
    return block("w1", form=Form("a.json", "/w1", fields))


def test_a_reply_that_changes_a_system_field_of_a_block_tampers_with_it() -> None:
    before, after = _owned(Owner.SYSTEM, "tag:1"), _owned(Owner.SYSTEM, "tag:2")

    in_reply = only(diff(state(before), state(after, written_by=Owner.MODEL)))
    elsewhere = only(diff(state(before), state(after)))

    (found,) = in_reply.tampered
    assert (found.name, found.before, found.after) == ("tag_id", "tag:1", "tag:2")
    assert elsewhere.deltas[0].system
    assert not elsewhere.tampered


def test_a_rewritten_history_counts_as_tampered() -> None:
    def message(text: str) -> Block:
        return block("m1", text=text, form=Form("m", "/1", (Field("message", text, Owner.APPEND_ONLY, ""),)))

    change = only(diff(state(message("so it was")), state(message("so it was not"))))

    assert [each.name for each in change.tampered] == ["text"]


def test_a_removed_block_is_not_lost_without_a_new_summary() -> None:
    summary = block("s1", "longterm", type="summary", text="nothing of it")

    assert only(diff(state(block("f1"), summary), state(summary))).loss is None


def test_a_newly_hidden_block_has_the_reason_and_the_direction() -> None:
    after = block("w1", decay=0.7, visible=False, reason="decay 0.70 > 0.65")
    change = only(diff(state(block("w1")), state(after)))
    assert (change.kind, change.visibility, change.why) == (ChangeKind.HIDDEN, "hidden", "decay 0.70 > 0.65")
    assert [(each.name, each.word) for each in change.deltas] == [("decay", "raised")]


def test_a_block_shown_again_has_the_former_reason() -> None:
    before = block("w1", visible=False, reason="age 13 > 12")
    change = only(diff(state(before), state(block("w1"))))
    assert (change.kind, change.why) == (ChangeKind.SHOWN, "was hidden: age 13 > 12")


def test_a_move_that_also_hides_says_both() -> None:
    change = only(diff(state(block("w1")), state(block("w1", "core", visible=False, reason="too decayed"))))
    assert (change.kind, change.visibility) == (ChangeKind.MOVED, "hidden")


def test_a_hidden_block_whose_age_merely_grew_has_not_changed() -> None:
    before = block("w1", visible=False, reason="age 13 > 12", age=13)
    assert not diff(state(before), state(changed(before, reason="age 14 > 12", age=14)))


def test_a_hidden_block_with_another_reason_has_changed() -> None:
    before = block("w1", visible=False, reason="age 13 > 12")
    change = only(diff(state(before), state(changed(before, reason="decay 0.9 > 0.65"))))
    assert names(change) == ["reason"]


def test_changed_text_is_compared_word_by_word() -> None:
    change = only(
        diff(
            state(block("w1", text="keep the old parser alive")),
            state(block("w1", text="keep the new parser alive")),
        )
    )
    changed = [(piece.side, piece.text) for piece in change.deltas[0].pieces if piece.side != "same"]
    assert changed == [("removed", "old"), ("added", "new")]


def test_type_tags_and_state_are_compared_and_tag_order_is_not() -> None:
    before = block("w1", tags=("a", "b"))
    change = only(diff(state(before), state(block("w1", type="fact", tags=("b", "c"), state="done"))))
    assert names(change) == ["type", "tags", "state"]
    assert not diff(state(before), state(block("w1", tags=("b", "a"))))


def test_a_field_of_the_format_has_its_own_name_and_owner() -> None:
    before = block("w1", state="open", form=fields(status="open", tag_id="t1"))
    after = block("w1", state="done", form=fields(status="done", tag_id="t2"))
    change = only(diff(state(before), state(after)))
    assert [(each.name, each.system) for each in change.deltas] == [("status", True), ("tag_id", True)]


def test_copies_of_one_id_are_paired_by_content() -> None:
    first, second, third = (block("w1", text=text) for text in ("one", "two", "three"))
    change = only(diff(state(first, second, third), state(third, second)))
    assert (change.kind, change.deltas[-1].before) == (ChangeKind.REMOVED, "one")


def test_blocks_without_an_id_never_move() -> None:
    found = diff(state(block(" ")), state(block(" ", "core")))
    assert [each.kind for each in found.changes] == [ChangeKind.ADDED, ChangeKind.REMOVED]


def test_order_counts_only_where_the_model_sees_it() -> None:
    first, second = block("a", rank=0), block("b", rank=1)
    assert not diff(state(first, second), state(second, first))
    change = only(diff(state(first, second), state(replace(first, rank=1), replace(second, rank=0))))
    assert (change.group, change.subject, change.deltas[0].after) == (
        ChangeGroup.ORDER,
        "working",
        ["b", "a"],
    )


def test_a_new_block_in_front_does_not_reorder_the_others() -> None:
    before = state(block("a", rank=0), block("b", rank=1))
    after = state(block("new", rank=0), block("a", rank=1), block("b", rank=2))
    assert only(diff(before, after)).kind is ChangeKind.ADDED


# -- other parts --------------------------------------------------------------------------------------------


def cursor(**parts: object) -> Cursor:
    return replace(Cursor("doing", "todo_complete", 2, None, HERE), **parts)  # type: ignore[arg-type]


def test_a_cursor_that_moved_says_where_from_and_to() -> None:
    before = state(todo=Todo("1/3", 3, 1, cursor()))
    after = state(todo=Todo("1/3", 3, 1, cursor(phase="verifying", target=3, note="check it")))
    change = only(diff(before, after))
    assert [(each.name, each.before, each.after) for each in change.deltas] == [
        ("phase", "doing", "verifying"),
        ("target", 2, 3),
        ("note", None, "check it"),
    ]


def test_a_cleared_cursor_is_removed_and_an_absent_todo_equals_an_empty_one() -> None:
    change = only(diff(state(todo=Todo(None, None, None, cursor())), state()))
    assert (change.group, change.kind) == (ChangeGroup.CURSOR, ChangeKind.REMOVED)
    assert not diff(state(todo=Todo(None, None, None, None)), state())


def test_todo_progress_and_items_are_compared() -> None:
    before = Todo("1/2", 2, 1, None, (TodoItem(1, "read", "open"), TodoItem(2, "write", "open")))
    after = Todo("2/2", 2, 2, None, (TodoItem(2, "write", "open"), TodoItem(1, "read", "done")))
    found = diff(state(todo=before), state(todo=after))
    assert [(each.subject, names(each)) for each in found.of(ChangeGroup.TODO)] == [
        ("progress", ["step", "summary"]),
        ("#1", ["status"]),
    ]


def test_progress_that_is_also_a_field_is_one_change_with_its_owner() -> None:
    before = state(todo=Todo("1/2", 2, 1, None), form=fields(**{"todo.step": 1}))
    change = only(diff(before, state(todo=Todo("1/2", 2, 2, None), form=fields(**{"todo.step": 2}))))
    assert (change.group, change.deltas[0].system) == (ChangeGroup.TODO, True)


def test_a_changed_system_field_is_marked_and_spelling_is_not_a_change() -> None:
    before = state(form=fields(version=3, round=12, flag=True))
    change = only(diff(before, state(form=fields(flag=True, version=3.0, round=13))))
    assert (change.subject, change.deltas[0].system, change.deltas[0].word) == ("round", True, "raised")
    assert only(diff(before, state(form=fields(version=3, round=12, flag=1)))).subject == "flag"


def test_a_counter_inside_an_object_has_its_own_change() -> None:
    before = state(form=fields(meta={"calls": {"used": 1, "limit": 9}, "id": "t"}))
    change = only(diff(before, state(form=fields(meta={"id": "t", "calls": {"limit": 9, "used": 2}}))))
    assert change.subject == "meta.calls.used"


def test_a_field_that_appeared_is_added_even_when_it_is_null() -> None:
    change = only(diff(state(form=fields(a=1)), state(form=fields(a=1, b=None))))
    assert (change.kind, change.subject) == (ChangeKind.ADDED, "b")


def test_values_nested_deeper_than_python_recurses_are_compared() -> None:
    deep: JsonValue = 1
    deeper: JsonValue = 2
    for _ in range(20_000):
        deep, deeper = [deep], [deeper]
    found = diff(state(form=fields(deep=deep)), state(form=fields(deep=deeper)))
    assert lines_of(found)
    assert json_of(found)


def budget(used: int, estimator: str = "bytes/4", limit: int = 100) -> Budget:
    return Budget("input", "tokens", limit, used, 10, (Segment("core", used, None, False, estimator),))


def test_a_budget_is_compared_by_segment_and_says_when_it_no_longer_fits() -> None:
    change = only(diff(state(budgets=(budget(90),)), state(budgets=(budget(120),))))
    assert (names(change), change.why) == (["used", "core"], "over by 20 tokens")


def test_another_estimator_is_not_another_budget() -> None:
    assert not diff(state(budgets=(budget(90),)), state(budgets=(budget(120, "o200k"),)))


def test_references_are_added_removed_broken_and_healed() -> None:
    before = (ref("a", RefStatus.RESOLVED), ref("b", RefStatus.DANGLING), ref("c", RefStatus.RESOLVED))
    after = (ref("b", RefStatus.RESOLVED), ref("a", RefStatus.MISMATCH), ref("d", RefStatus.RESOLVED))
    kinds = {each.subject: each.kind for each in diff(state(refs=before), state(refs=after)).changes}
    assert kinds == {
        "a": ChangeKind.BROKEN,
        "b": ChangeKind.HEALED,
        "c": ChangeKind.REMOVED,
        "d": ChangeKind.ADDED,
    }


def test_a_renamed_state_is_one_change_and_not_one_for_each_reference() -> None:
    before = (ref("a", RefStatus.RESOLVED, used_by=("c", "w1")), ref("b", RefStatus.RESOLVED, used_by=("c",)))
    after = (ref("a", RefStatus.RESOLVED, used_by=("c.r2", "w1")), ref("b", RefStatus.RESOLVED, used_by=()))
    found = diff(
        state(refs=before, form=fields(context_id="c")), state(refs=after, form=fields(context_id="c.r2"))
    )
    assert [change.subject for change in found.changes] == ["context_id", "b"]


def test_gaps_open_and_close() -> None:
    before = (gap("a"), gap("b"), gap("c", "resolved"), gap("e", why="age 3 > 2"))
    after = (gap("b", "resolved"), gap("c"), gap("d"), gap("e", why="age 4 > 2"))
    kinds = {each.subject: each.kind for each in diff(state(missing=before), state(missing=after)).changes}
    assert kinds == {
        "a": ChangeKind.CLOSED,
        "b": ChangeKind.CLOSED,
        "c": ChangeKind.OPENED,
        "d": ChangeKind.OPENED,
    }


def test_names_of_files_titles_revisions_and_tokens_do_not_count() -> None:
    before = state(block("w1"), form=fields(round=1))
    moved = Origin("b.json", "/memory/working/9", 5, 9, 1, 2)
    after = state(
        block("w1", tokens=99, origin=moved), form=fields(round=1), title="b", source="b.json", revision="2"
    )
    assert not diff(before, after)


# -- laws --------------------------------------------------------------------------------------------------

blocks = st.builds(
    block,
    st.sampled_from(["a", "b", "c", ""]),
    st.sampled_from(TIERS),
    text=st.sampled_from(["one two", "one three", ""]),
    decay=st.sampled_from([None, 0, 0.0, 0.5, 1]),
    visible=st.sampled_from([None, True, False]),
    rank=st.none() | st.integers(0, 3),
    form=st.none() | st.builds(fields, extra=st.sampled_from([1, 1.0, True, None])),
)
states = st.builds(
    lambda held, form, gaps: state(*held, form=form, missing=tuple(gaps)),
    st.lists(blocks, max_size=7),
    st.none() | st.builds(fields, x=st.sampled_from([1, 1.0, True, None, {"y": 1}, [1]])),
    st.lists(st.builds(gap, st.sampled_from("ab"), st.sampled_from(["open", "closed"])), max_size=4),
)
MIRROR = {
    ChangeKind.ADDED: ChangeKind.REMOVED,
    ChangeKind.OPENED: ChangeKind.CLOSED,
    ChangeKind.HIDDEN: ChangeKind.SHOWN,
    ChangeKind.BROKEN: ChangeKind.HEALED,
}
MIRROR |= {there: here for here, there in MIRROR.items()}


def kinds_of(found: StateDiff) -> Counter[tuple[ChangeGroup, ChangeKind]]:
    return Counter((each.group, each.kind) for each in found.changes)


def meaning_of(changes: Iterable[Change]) -> list[str]:
    return sorted(repr(each) for each in changes)


@given(states)
def test_a_state_does_not_differ_from_itself(one: ContextState) -> None:
    assert not diff(one, one)


@given(states, states)
@settings(max_examples=15)
def test_the_reverse_difference_mirrors_the_difference(one: ContextState, two: ContextState) -> None:
    there, back = kinds_of(diff(one, two)), kinds_of(diff(two, one))
    assert there == Counter({(group, MIRROR.get(kind, kind)): n for (group, kind), n in back.items()})


@given(states, states, st.randoms(use_true_random=False))
def test_the_order_of_blocks_in_the_file_changes_nothing(
    one: ContextState, two: ContextState, random: object
) -> None:
    shuffled = state(
        *sorted(two.blocks(), key=lambda _: random.random()),  # type: ignore[attr-defined]
        form=two.form,
        missing=two.missing,
    )
    assert kinds_of(diff(one, two)) == kinds_of(diff(one, shuffled))
    assert not [each for each in diff(two, shuffled).changes if each.group is not ChangeGroup.ORDER]


def test_a_cleared_cursor_is_not_the_same_as_none() -> None:
    absent, cleared = (state(todo=Todo("", 0, 0, None, cleared=each)) for each in (False, True))
    (change,) = diff(absent, cleared).changes
    assert (change.group, change.deltas[0].before, change.deltas[0].after) == (
        ChangeGroup.CURSOR,
        "not stated",
        "cleared",
    )
    assert not diff(state(todo=Todo(None, None, None, None)), state())


def test_a_block_that_the_model_renamed_is_one_block() -> None:
    old, new = (block(name, form=fields(Owner.MODEL, id=name, decay=0.4)) for name in ("a", "b"))
    (change,) = diff(state(old), state(new)).of(ChangeGroup.BLOCKS)
    assert (change.kind, change.subject) == (ChangeKind.CHANGED, "b")
    assert [(each.name, each.before, each.after) for each in change.deltas] == [("id", "a", "b")]


def test_equal_texts_are_not_one_block_where_ids_are_not_the_models() -> None:
    old, new = (block(name, form=fields(Owner.APPEND_ONLY, id=name)) for name in ("a", "b"))
    kinds = [change.kind for change in diff(state(old), state(new)).of(ChangeGroup.BLOCKS)]
    assert kinds == [ChangeKind.REMOVED, ChangeKind.ADDED]
