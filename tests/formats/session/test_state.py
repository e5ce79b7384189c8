"""The state of a session: its content for every pane, before and after the histories are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.fields import Owner
from ctxview.core.state import Block, ContextState, Ref, RefStatus
from ctxview.formats.interface import Lens
from ctxview.formats.session.source import SessionSource
from ctxview.formats.session.state import build_state
from ctxview.formats.session.state.inputs import SessionStateInputs
from ctxview.formats.session.state.timeline import build_timeline
from tests.formats.session.builders import Build, done, fresh, plan, sha256, sound, start, user, words
from tests.formats.session.sources import CORTEXFS, DOCUMENT, facts_before_survey, read_facts

WORDS = ESTIMATES["words"]


def state_of(build: Build, profile=CORTEXFS) -> ContextState:
    facts = read_facts(build.write(), profile)
    return build_state(SessionStateInputs(facts, WORDS), "now", build_timeline(facts))


def tier(state: ContextState, name: str) -> tuple[Block, ...]:
    return next(each.blocks for each in state.tiers if each.name == name)


def ref(state: ContextState, kind: str, name: str = "") -> Ref:
    return next(each for each in state.refs if each.kind == kind and name in each.id)


# -- tiers ---------------------------------------------------------------------------------------------------


def test_the_tiers_are_the_documented_ones(tmp_path: Path):
    state = state_of(sound(tmp_path))
    assert [(each.name, len(each.blocks)) for each in state.tiers] == [
        ("pinned", 1),
        ("summary", 1),
        ("facts", 2),
        ("decisions", 2),
        ("recent", 6),
        ("children", 1),
    ]
    assert all(block.visible for block in state.blocks())
    assert state.title == "coder/default"


def test_a_fresh_session_is_empty_and_has_no_gaps(tmp_path: Path):
    state = state_of(fresh(tmp_path))
    assert [len(each.blocks) for each in state.tiers] == [0, 1, 0, 0, 0, 0]
    assert state.missing == ()
    assert state.refs == ()
    assert [event.kind for event in state.timeline] == ["now"]


def test_blocks_outside_the_pack_are_hidden_from_the_model(tmp_path: Path):
    build = sound(tmp_path)
    state = state_of(build.set("context/pack.json", {"session": "default", "items": []}))
    assert {block.why for block in tier(state, "facts")} == {"it is not in the pack"}
    assert {block.visible for block in tier(state, "pinned")} == {False}


def test_without_a_pack_the_visibility_is_unknown(tmp_path: Path):
    state = state_of(sound(tmp_path).remove("context/pack.json"))
    assert {block.visible for block in tier(state, "facts")} == {None}


def test_a_broken_record_is_a_block_with_its_text_and_its_problem(tmp_path: Path):
    state = state_of(sound(tmp_path).add("context/facts.jsonl", '{"id":"f3",', {"id": "f4", "source": "x"}))
    *_, broken, incomplete = tier(state, "facts")
    assert (broken.id, broken.state, broken.text) == ("line 3", "broken", '{"id":"f3",')
    assert incomplete.why == "there is no text"
    assert broken.form is not None
    assert broken.form.removable


def test_recent_messages_have_their_cited_number_and_cannot_be_edited(tmp_path: Path):
    build = sound(tmp_path)
    block = tier(state_of(build.set("messages.jsonl", "\n" + build.text("messages.jsonl"))), "recent")[0]
    assert (block.id, block.type, block.origin.line) == ("message 1", "user", 2)
    assert block.form is not None
    (field,) = block.form.fields
    assert (field.owner, field.shape) == (Owner.APPEND_ONLY, None)
    assert "never opened for writing" in field.why


def test_a_message_that_cannot_reach_the_prompt_says_why(tmp_path: Path):
    state = state_of(sound(tmp_path).add("messages.jsonl", user("x" * 20000, None)))
    assert "never reach the prompt" in tier(state, "recent")[-1].why
    assert [(gap.id, gap.status) for gap in state.missing if gap.status == "hidden"] == [
        ("message 7", "hidden")
    ]


def test_a_child_shows_its_result_or_else_its_handoff(tmp_path: Path):
    build = sound(tmp_path).child("rev-2", "pending", "")
    one, two = tier(state_of(build), "children")
    assert (one.text, one.state, one.visible) == ("All good.\n", "done", True)
    assert (two.text, two.state, two.visible) == ("Review the patch.\n", "pending", False)
    assert two.type == "unused child"


# -- todo ----------------------------------------------------------------------------------------------------


def test_boxes_and_plan_nodes_are_one_list(tmp_path: Path):
    todo = state_of(sound(tmp_path)).todo
    assert todo is not None
    assert [(item.title, item.status, item.current) for item in todo.items] == [
        ("find the cause", "done", False),
        ("tell the user", "open", True),
        ("review: Review the patch.", "done", False),
        ("tell after review: coder", "ready", False),
    ]
    assert (todo.summary, todo.total, todo.done) == ("2 of 4 done", 4, 2)
    # A session states no position in its list.
    assert todo.step is None
    assert todo.form is not None
    assert todo.form.editable


def test_what_was_dropped_or_cancelled_is_not_done(tmp_path: Path):
    build = sound(tmp_path).set("context/todo.md", "- [x] one\n- [-] two\n- [ ] three\n")
    todo = state_of(build.set("context/child/rev-1/status", "cancelled\n")).todo
    assert todo is not None
    assert (todo.summary, todo.done) == ("1 of 5 done, 2 dropped", 1)
    assert [item.title for item in todo.items if item.current] == ["three"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("- [ ] open", [("open", "open")]),
        ("  * [X] done", [("done", "done")]),
        ("3. [~] doing it", [("doing it", "doing")]),
        ("+ [-] dropped  ", [("dropped", "dropped")]),
        ("- [] no box", []),
        ("[x] no list", []),
        ("- [x]glued", []),
    ],
)
def test_a_box_may_be_written_in_many_ways(line: str, found: list[tuple[str, str]], tmp_path: Path):
    build = sound(tmp_path).remove("context/plan.json").set("context/todo.md", f"# Todo\n{line}\n")
    todo = state_of(build).todo
    assert todo is not None
    assert [(item.title, item.status) for item in todo.items] == found
    assert all(item.origin is not None and item.origin.line == 2 for item in todo.items)


def test_a_node_is_blocked_until_its_dependencies_are_done(tmp_path: Path):
    nodes = [
        {"id": "a", "kind": "dag", "agent": "x", "child": "rev-1", "handoff": "Review the patch."},
        {"id": "b", "kind": "dag", "agent": "x", "deps": ["a"]},
        {"id": "c", "kind": "dag", "agent": "x", "deps": ["b"]},
    ]
    build = (
        sound(tmp_path).set("context/plan.json", plan(*nodes)).set("context/child/rev-1/status", "error\n")
    )
    todo = state_of(build).todo
    assert todo is not None
    assert [item.status for item in todo.items[2:]] == ["error", "blocked", "blocked"]


# -- budgets -------------------------------------------------------------------------------------------------


def test_the_budget_of_the_pack_is_shown_as_written_recounted_and_rebuilt(tmp_path: Path):
    build = sound(tmp_path).set("context/budget", "60\n").pack()
    budgets = {(each.target, each.unit): each for each in state_of(build).budgets}
    written = budgets["pack as written", "words"]
    assert (written.limit, written.used, written.over) == (60, 60, 0)
    assert [segment.name for segment in written.segments][:2] == ["pinned/system.md", "summary.md"]
    assert budgets["pack now", "words"].used == 60
    assert budgets["rebuilt, 1 left out", "words"].used == 60
    assert budgets["prompt history", "bytes"].limit == 8000


def test_a_stale_item_says_so_in_its_segment(tmp_path: Path):
    state = state_of(sound(tmp_path).set("context/summary.md", "Something new.\n"))
    written = next(each for each in state.budgets if each.target == "pack as written")
    assert written.unit == "tokens as recorded"
    names = [segment.name for segment in written.segments]
    assert "summary.md (stale)" in names
    assert ref(state, "pack", "summary").status is RefStatus.STALE


def test_without_a_budget_there_is_no_limit(tmp_path: Path):
    assert {each.limit for each in state_of(sound(tmp_path)).budgets if each.unit != "bytes"} == {None}


def test_the_document_profile_has_no_estimate(tmp_path: Path):
    targets = [each.target for each in state_of(sound(tmp_path), DOCUMENT).budgets]
    assert targets == ["pack now", "pack as written"]


def test_the_first_budget_counts_the_tokens_that_memory_shows(tmp_path: Path):
    build = sound(tmp_path).set("context/budget", "60\n")
    facts = read_facts(build.pack().write())
    state = build_state(SessionStateInputs(facts, ESTIMATES["bytes/3"]), "now", build_timeline(facts))
    first = state.budgets[0]
    assert (first.target, first.unit, first.limit) == ("pack now", "tokens (bytes/3)", 60)
    counted = {segment.name: segment.used for segment in first.segments}
    assert counted["summary.md"] == tier(state, "summary")[0].tokens
    assert first.over == sum(counted.values()) - 60 > 0


def test_a_source_that_is_too_long_to_be_counted_is_estimated_and_not_left_out(tmp_path: Path):
    build = sound(tmp_path).set("context/summary.md", "word " * 40_000).pack()
    segment = next(each for each in state_of(build).budgets[0].segments if each.name == "summary.md")
    assert (segment.exact, segment.estimator, segment.used) == (False, "bytes/4", 50_000)


def test_references_to_stored_content_show_tokens_and_never_the_recorded_words(tmp_path: Path):
    facts = read_facts(sound(tmp_path).write())
    counter = ESTIMATES["bytes/3"]
    state = build_state(SessionStateInputs(facts, counter), "now", build_timeline(facts))
    swapped, shared = ref(state, "swap", "sha256"), ref(state, "dedup")
    assert swapped.tokens == ref(state, "swap", "r1").tokens
    assert shared.tokens == counter.count("a test log that was printed twice\n" * 200)


# -- references ----------------------------------------------------------------------------------------------


def test_a_fact_refers_to_the_messages_it_cites(tmp_path: Path):
    found = ref(state_of(sound(tmp_path)), "source", "f1")
    assert (found.target, found.status) == ("messages:3-4", RefStatus.RESOLVED)
    assert found.text == (
        "3 tool: 1 failed: test_blank_lines\n4 assistant: Blank lines were counted; they are skipped now."
    )


def test_every_reference_has_its_status(tmp_path: Path):
    build = sound(tmp_path)
    chunk = next(name for name in build.files if name.startswith("context/swap/chunk/"))
    state = state_of(build)
    assert ref(state, "swap", "sha256").status is RefStatus.RESOLVED
    assert ref(state, "dedup").used_by == ("messages:3", "tool:call-1")
    assert ref(state, "child", "rev-1").used_by == (
        "the pack",
        "the reference r2",
        "the plan node review",
        "the summary",
    )
    assert ref(state, "swap", "sha256").used_by == ("r1",)
    build.set(chunk, "changed\n")
    assert ref(state_of(build), "swap", "sha256").status is RefStatus.MISMATCH
    build.remove(chunk)
    assert ref(state_of(build), "swap", "sha256").status is RefStatus.REBUILDABLE
    build.set("messages.jsonl", "")
    assert ref(state_of(build), "swap", "sha256").status is RefStatus.DANGLING


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("context/todo.md", RefStatus.RESOLVED),
        ("context/gone.md", RefStatus.DANGLING),
        ("/etc/passwd", RefStatus.EXTERNAL),
        ("context/../../x", RefStatus.EXTERNAL),
        ("https://example.org/x", RefStatus.EXTERNAL),
    ],
)
def test_a_reference_outside_the_session_is_shown_and_never_followed(
    path: str, status: RefStatus, tmp_path: Path
):
    record = {"id": "r9", "path": path, "kind": "file", "summary": "what it is"}
    found = ref(state_of(sound(tmp_path).add("context/refs.jsonl", record)), "file", "r9")
    assert found.status is status
    assert (found.text == "what it is") == (status is not RefStatus.RESOLVED)


def test_orphans_and_placeholders_have_their_status(tmp_path: Path):
    orphan = f"sha256-{'0' * 64}"
    build = sound(tmp_path).set(f"context/dedup/blob/{orphan}", "x").set("context/swap/chunk/sha256-abc", "y")
    record = {"id": "sha256-abc", "kind": "message_range", "source": "messages.jsonl", "range": "1-2"}
    build.add("context/swap/index.jsonl", {**record, "summary": "s", "tokens": 1})
    state = state_of(build)
    assert ref(state, "dedup", orphan).status is RefStatus.ORPHAN
    assert ref(state, "swap", "sha256-abc").status is RefStatus.PLACEHOLDER


def test_a_referring_chunk_has_the_size_of_its_target(tmp_path: Path):
    build = sound(tmp_path)
    target = "".join(build.text("messages.jsonl").splitlines(keepends=True)[2:4])
    reference = {"source": "messages.jsonl", "range": "3-4", "hash": f"sha256:{sha256(target)}"}
    build.set("context/swap/chunk/sha256-abc", reference)
    record = {"id": "sha256-abc", "kind": "message_range", "source": "messages.jsonl", "range": "3-4"}
    for listed in (False, True):
        if listed:
            build.add("context/swap/index.jsonl", {**record, "summary": "s", "tokens": 1})
        found = ref(state_of(build), "swap", "sha256-abc")
        assert found.status is (RefStatus.RESOLVED if listed else RefStatus.ORPHAN)
        assert (found.tokens, found.bytes) == (words(target), len(target))
        assert found.text == f"refers to messages 3-4, whose content is counted:\n{target}"


@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({"range": "3-99"}, RefStatus.DANGLING),
        ({"hash": f"sha256:{'0' * 64}"}, RefStatus.MISMATCH),
        ({"range": None, "start_event": "m3", "end_event": "m4"}, RefStatus.UNKNOWN),
    ],
)
def test_a_referring_chunk_without_a_target_has_no_size(members: dict, status: RefStatus, tmp_path: Path):
    build = sound(tmp_path)
    build.set("context/swap/chunk/sha256-abc", {"source": "messages.jsonl", "range": "3-4", **members})
    record = {"id": "sha256-abc", "kind": "message_range", "source": "messages.jsonl", "range": "3-4"}
    build.add("context/swap/index.jsonl", {**record, "summary": "s", "tokens": 1})
    found = ref(state_of(build), "swap", "sha256-abc")
    assert (found.status, found.tokens) == (status, None)
    assert (found.text or "").startswith("refers to content that cannot be found: ")


# -- revisions, and before the histories are read ------------------------------------------------------------


def test_before_the_histories_are_read_their_facts_are_unknown(tmp_path: Path):
    facts = facts_before_survey(sound(tmp_path).write())
    state = build_state(SessionStateInputs(facts, WORDS), "now", build_timeline(facts))
    assert ref(state, "source", "f1").status is RefStatus.UNKNOWN
    assert ref(state, "swap", "sha256").status is RefStatus.UNKNOWN
    assert state.extra["messages"] == "being read"
    assert [gap.status for gap in state.missing] == ["unknown"]
    assert tier(state, "recent")[-1].text == "The review found nothing more."
    assert tier(state, "recent")[-1].id == "message −1"


def test_runs_are_on_the_timeline_with_their_calls_and_tokens(tmp_path: Path):
    timeline = state_of(sound(tmp_path)).timeline
    assert [event.kind for event in timeline] == [
        "run",
        "tool call",
        "done",
        "run",
        "approval",
        "approval",
        "done",
        "now",
    ]
    assert timeline[2].label.endswith("ends: ok · 1 call · 900 in, 40 out")
    assert timeline[5].label == "allowed once: asked for"
    assert [event.revision for event in timeline] == [0, 0, 0, 1, 1, 1, 1, 2]


def test_a_past_run_shows_its_messages_and_no_later_fact(tmp_path: Path):
    build = sound(tmp_path)
    build.add("context/facts.jsonl", {"id": "f3", "text": "Reviewed.", "source": "messages:6"})
    source = SessionSource(build.write())
    assert [(each.kind, each.round) for each in source.revisions] == [
        ("run", 1),
        ("run", 2),
        ("session", None),
    ]
    past = source.reading(0, Lens(WORDS)).state
    assert [block.id for block in tier(past, "recent")] == [f"message {number}" for number in range(1, 5)]
    assert [block.id for block in tier(past, "facts")] == ["f1", "f2"]
    assert "as of" in past.extra
    assert len(tier(source.reading(2, Lens(WORDS)).state, "facts")) == 3


def test_old_messages_without_runs_are_split_at_user_messages(tmp_path: Path):
    build = sound(tmp_path)
    build.lines("messages.jsonl", *(user(text, None) for text in ("one", "two")), user("three", None))
    build.lines("events.jsonl", *(each for run in "abc" for each in (start(run), done(run))))
    source = SessionSource(build.write())
    recent = [tier(source.reading(place, Lens(WORDS)).state, "recent") for place in range(3)]
    assert [[block.text for block in blocks] for blocks in recent] == [
        ["one"],
        ["one", "two"],
        ["one", "two", "three"],
    ]


def test_the_whole_form_sets_the_budget_and_locks_the_rest(tmp_path: Path):
    form = state_of(sound(tmp_path)).form
    assert form is not None
    fields = {field.name: field for field in form.fields}
    assert fields["budget"].shape is not None
    assert fields["state"].shape is None
    assert "runtime writes" in fields["state"].why
    assert fields["meta.scope"].value == "private"


def test_unreadable_parts_are_gaps(tmp_path: Path):
    root = sound(tmp_path).remove("context/summary.md", "events.jsonl").write()
    (root / "context" / "summary.md").mkdir()
    facts = read_facts(root)
    state = build_state(SessionStateInputs(facts, WORDS), "now", build_timeline(facts))
    gaps = {(gap.id, gap.status) for gap in state.missing}
    assert {("events.jsonl", "absent"), ("context/summary.md", "unreadable")} <= gaps
