"""Publishing: fresh ids in the whole source, events that say what happened, several files, and forks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import main
from ctxview.core.edits import EditRefused, InsertItem, MoveItem
from ctxview.core.fields import TagsShape
from ctxview.files.strict_json.tree import split
from ctxview.formats import Lens
from ctxview.formats.envelope.parser import kind_of
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.formats.envelope.vocabulary import KNOWN, OWN_ID, WordList
from tests.formats.envelope.bundles import changed, good, named
from tests.formats.envelope.publishing import (
    LENS,
    WHY,
    Json,
    edited,
    moving,
    new_events,
    one_file,
    publish,
    record,
    setting,
    several_files,
    values_of,
    write,
)

# -- several files -------------------------------------------------------------------------------------------


def test_publishing_into_a_folder_of_several_files_adds_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = several_files(tmp_path)
    assert main(["check", str(tmp_path)]) == 0
    made = publish(source, setting(source, "item-plan", "title", "Agreed"))
    publish(source.again(), setting(source.again(), "item-plan", "title", "Settled"))
    capsys.readouterr()
    assert made.file.name == "envelope.r2.json"
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("ENV") == 0


def test_each_revision_of_several_files_shows_its_own_records(tmp_path: Path) -> None:
    source = several_files(tmp_path)
    publish(source, setting(source, "item-plan", "title", "Agreed"))
    groups = EnvelopeSource(tmp_path).bundle.groups
    titles = [[each.text("title") for each in group.records if each.id == "item-plan"] for group in groups]
    assert titles == [["about item-plan"], ["Agreed"]]
    sizes = [Counter(each.kind for each in group.records) for group in groups]
    assert sizes[1] - sizes[0] == Counter({"context_event": 1})


def test_a_loose_record_that_no_revision_has_still_belongs_to_all(tmp_path: Path) -> None:
    source = several_files(tmp_path)
    publish(source, setting(source, "item-plan", "title", "Agreed"))
    window = {**named(good(), "window-1"), "window_id": "window-2"}
    write(tmp_path / "window.json", window)
    groups = EnvelopeSource(tmp_path).bundle.groups
    assert [any(each.id == "window-2" for each in group.records) for group in groups] == [True, True]


# -- fresh ids -----------------------------------------------------------------------------------------------


def test_an_envelope_whose_id_is_numbered_already_gets_the_next_number(tmp_path: Path) -> None:
    values = json.loads(json.dumps(good()).replace('"ctx-1"', '"ctx-7.r2"'))
    source = one_file(tmp_path, values, "plan.json")
    made = publish(source, setting(source, "item-plan", "title", "Agreed"))
    assert made.file.name == "plan.r2.json"
    assert values_of(made)[0]["context_id"] == "ctx-7.r3"
    assert {each.severity for each in EnvelopeSource(tmp_path).findings(LENS)} <= {"info"}


@pytest.mark.parametrize("opened", ["file", "folder"])
def test_ids_of_other_files_are_not_used_again(tmp_path: Path, opened: str) -> None:
    one_file(tmp_path)
    taken = [
        {**named(good(), "ctx-1"), "context_id": "ctx-1.r2"},
        {**named(good(), "selection-1"), "selection_id": "selection-1.r2"},
        {**named(good(), "event-1"), "event_id": "ctx-1.r3-1", "context_id": "ctx-1.r2"},
        {**named(good(), "item-goal"), "item_id": "ctx-1.r3-2"},
    ]
    write(tmp_path / "other.json", taken)
    source = EnvelopeSource(tmp_path / "handoff.json" if opened == "file" else tmp_path)
    number = next(at for at, each in enumerate(source.revisions) if each.label == "ctx-1")
    drafts = edited(source, moving(source, "item-extra", "omitted", "selected"))
    values = values_of(source.publication(number, drafts, WHY))
    assert values[0]["context_id"] == "ctx-1.r3"
    assert values[0]["selection_refs"] == ["selection-1", "selection-1.r3"]
    assert [each["event_id"] for each in values if each.get("source") == "ctxview"] == [
        "ctx-1.r3-3",
        "ctx-1.r3-4",
    ]


def test_a_new_note_gets_an_id_that_no_file_of_the_source_has(tmp_path: Path) -> None:
    one_file(tmp_path)
    other = [
        {**named(good(), "ctx-1"), "context_id": "ctx-0", "created_at": "2026-05-10T09:00:00Z"},
        {**named(good(), "item-goal"), "item_id": "note-1"},
    ]
    write(tmp_path / "other.json", other)
    source = EnvelopeSource(tmp_path)
    state = source.reading(len(source.revisions) - 1, LENS).state
    form = next(each.new for each in state.tiers if each.new is not None)
    assert next(each.value for each in form.fields if each.name == "item_id") == "note-2"
    note = {**named(good(), "item-goal"), "item_id": "note-1", "context_kind": "manual_note"}
    with pytest.raises(EditRefused, match="note-1 is taken"):
        publish(source, (str(tmp_path / "handoff.json"), InsertItem("/-", note)))


# -- events --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id_", "before", "name", "new", "expected"),
    [
        ("missing-1", {"status": "waiting"}, "status", "declined", "custom.missing.declined"),
        ("missing-1", {"status": "waiting"}, "status", "expired", "custom.missing.expired"),
        ("missing-1", {"status": "requested"}, "status", "waiting", "custom.missing.waiting"),
        ("missing-1", {"status": "open"}, "status", "requested", "context.missing.requested"),
        ("missing-1", {"status": "requested"}, "question", "Which?", "custom.missing.updated"),
        ("item-note", {}, "redaction_state", "none", "context.item.updated"),
        ("item-note", {}, "redaction_reason", "private", "context.item.updated"),
        ("item-plan", {}, "redaction_state", "masked", "context.redaction.applied"),
        ("item-note", {}, "redaction_state", "summarized", "context.redaction.applied"),
        ("item-plan", {}, "title", "Agreed", "context.item.updated"),
        ("selection-1", {}, "rationale", "Because.", "custom.selection.updated"),
        ("summary-1", {}, "refresh_policy", "weekly", "custom.summary.updated"),
        ("source-plan", {}, "license", "MIT", "custom.source.updated"),
        ("surface-1", {}, "surface_kind", "task_surface", "context.surface.updated"),
        ("ctx-1", {}, "policy_refs", ["policy-9"], "custom.envelope.updated"),
    ],
)
def test_an_event_says_what_happened(
    tmp_path: Path, id_: str, before: Json, name: str, new: Any, expected: str
) -> None:
    source = one_file(tmp_path, changed(id_, **before))
    made = publish(source, setting(source, id_, name, new))
    # An edited envelope is a new one.
    assert new_events(values_of(made)) == [(expected, "ctx-1.r2" if id_ == "ctx-1" else id_)]
    added = [each for each in EnvelopeSource(tmp_path).findings(LENS) if each.origin.file == str(made.file)]
    assert not {each.rule for each in added} & {"ENV010", "ENV019", "ENV020", "ENV082"}


def test_an_added_loss_note_is_not_a_completed_compaction(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    notes = [*record(source, "compaction-1").texts("loss_notes"), "the order of the replies"]
    made = publish(source, setting(source, "compaction-1", "loss_notes", notes))
    assert new_events(values_of(made)) == [("custom.compaction.updated", "compaction-1")]
    assert EnvelopeSource(tmp_path).findings(LENS) == ()


def test_a_listed_event_type_is_used_where_one_fits_and_any_other_is_named_custom(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    made = publish(source, setting(source, "selection-1", "rationale", "x"), write=False)
    types = [kind for kind, _ in new_events(values_of(made))]
    assert all(each in KNOWN[WordList.EVENT_TYPE] or each.startswith("custom.") for each in types)


def test_a_rationale_that_changes_with_a_move_belongs_to_the_new_selection(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    old = dict(record(source, "selection-1").value)
    move = moving(source, "item-extra", "omitted", "selected")
    values = values_of(publish(source, move, setting(source, "selection-1", "rationale", "It fits now.")))
    assert named(values, "selection-1") == old
    assert named(values, "selection-1.r2")["rationale"] == "It fits now."
    assert {subject for _, subject in new_events(values)} == {"selection-1.r2"}


# -- the note about a revision -------------------------------------------------------------------------------


def at_pointer(value: Any, pointer: str) -> Any:
    for part in split(pointer) or []:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def test_the_changed_pointers_lead_to_the_new_values_in_the_file_that_names_them(tmp_path: Path) -> None:
    source = several_files(tmp_path)
    made = publish(
        source,
        setting(source, "item-plan", "title", "Agreed"),
        setting(source, "missing-1", "question", "Which one?"),
        moving(source, "item-extra", "omitted", "selected"),
    )
    values = values_of(made)
    pointers = values[0]["metadata"]["ctxview"]["changed"]
    selection = named(values, "selection-1.r2")
    expected = (
        named(values, "item-plan")["title"],
        named(values, "missing-1")["question"],
        selection["selected_item_refs"],
        selection["omitted_item_refs"],
    )
    assert {id(at_pointer(values, each)) for each in pointers} == {id(each) for each in expected}


def test_an_embedded_record_that_changed_is_found_by_its_pointer(tmp_path: Path) -> None:
    values = good()
    gap = named(values, "missing-1")
    values.remove(gap)
    named(values, "ctx-1")["missing_context_refs"] = [gap]
    source = one_file(tmp_path, values)
    made = values_of(publish(source, setting(source, "missing-1", "question", "Which one?")))
    assert [at_pointer(made, each) for each in made[0]["metadata"]["ctxview"]["changed"]] == ["Which one?"]


def test_the_items_of_the_envelope_follow_a_move(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    before = named(good(), "ctx-1")["item_refs"]
    chosen = publish(source, moving(source, "item-extra", "omitted", "selected"))
    assert values_of(chosen)[0]["item_refs"] == [*before, "item-extra"]
    later = EnvelopeSource(tmp_path)
    selection = record(later, "selection-1.r2")
    entry = next(each for each in selection.refs("selected_item_refs") if each.id == "item-extra")
    step = MoveItem(selection.at(*entry.path), selection.at("omitted_item_refs", "-"))
    assert values_of(publish(later, (selection.file, step)))[0]["item_refs"] == before
    assert {each.rule for each in EnvelopeSource(tmp_path).findings(LENS)} <= {"ENV039", "ENV040"}


def test_an_injected_item_stays_in_the_envelope_when_it_is_left_out_later(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    made = publish(source, moving(source, "item-goal", "selected", "omitted"))
    assert "item-goal" in values_of(made)[0]["item_refs"]


@pytest.mark.parametrize("reason", ["policy_blocked", "permission_missing", "sensitive", "unheard of", ["x"]])
def test_a_model_does_not_select_what_was_left_out_to_protect_something(tmp_path: Path, reason: Any) -> None:
    source = one_file(
        tmp_path, changed("selection-1", omitted_item_refs=[{"item_ref": "item-extra", "reason": reason}])
    )
    move = moving(source, "item-extra", "omitted", "selected")
    with pytest.raises(EditRefused, match="only a reviewer"):
        edited(source, move, editor="model")
    milder = [{"item_ref": "item-extra", "reason": "budget_limit"}]
    with pytest.raises(EditRefused, match="only a reviewer"):
        edited(source, setting(source, "selection-1", "omitted_item_refs", milder), editor="model")
    assert edited(source, move, editor="reviewer")


@pytest.mark.parametrize("state", ["policy_blocked", "removed", "shredded"])
def test_a_model_does_not_select_a_blocked_item_that_was_left_out_for_another_reason(
    tmp_path: Path, state: str
) -> None:
    values = changed("item-extra", redaction_state=state)
    entry = {"item_ref": "item-extra", "reason": "budget_limit"}
    named(values, "selection-1")["omitted_item_refs"] = [entry]
    source = one_file(tmp_path, values)
    move = moving(source, "item-extra", "omitted", "selected")
    with pytest.raises(EditRefused, match="only a reviewer"):
        edited(source, move, editor="model")
    assert edited(source, move, editor="reviewer")
    milder = [{**entry, "reason": "stale"}]
    assert edited(source, setting(source, "selection-1", "omitted_item_refs", milder), editor="model")


def test_a_model_selects_what_only_lacked_room(tmp_path: Path) -> None:
    source = one_file(
        tmp_path,
        changed("selection-1", omitted_item_refs=[{"item_ref": "item-extra", "reason": "budget_limit"}]),
    )
    assert edited(source, moving(source, "item-extra", "omitted", "selected"), editor="model")


# -- forms ---------------------------------------------------------------------------------------------------


def test_forms_offer_reference_lists_that_are_absent(tmp_path: Path) -> None:
    values = changed("missing-1", resolution_refs=..., severity="low", status="open")
    named(values, "item-plan").pop("policy_refs", None)
    source = one_file(tmp_path, values)
    state = source.reading(0, Lens(ESTIMATES["bytes/4"], editor="reviewer")).state
    gap = next(each for each in state.missing if each.id == "missing-1")
    plan = next(each for each in state.blocks() if each.id == "item-plan")
    assert gap.form is not None
    assert plan.form is not None
    for form, name in ((gap.form, "resolution_refs"), (plan.form, "policy_refs")):
        field = next(each for each in form.fields if each.name == name)
        assert not field.present
        assert isinstance(field.shape, TagsShape)
    publish(
        source,
        setting(source, "missing-1", "resolution_refs", ["item-goal"]),
        setting(source, "missing-1", "status", "resolved"),
    )
    assert EnvelopeSource(tmp_path).findings(LENS) == ()


def test_a_model_is_not_offered_an_absent_list_that_only_a_reviewer_writes(tmp_path: Path) -> None:
    values = good()
    named(values, "item-plan").pop("policy_refs", None)
    state = one_file(tmp_path, values).reading(0, LENS).state
    plan = next(each for each in state.blocks() if each.id == "item-plan")
    assert plan.form is not None
    assert "policy_refs" not in {each.name for each in plan.form.fields}


# -- forks ---------------------------------------------------------------------------------------------------


def test_a_revision_that_was_published_meanwhile_stops_another_from_the_same_one(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    theirs = publish(EnvelopeSource(source.path), setting(source, "item-plan", "title", "Theirs"))
    with pytest.raises(EditRefused, match=r"ctx-1\.r2 in handoff\.r2\.json is a newer revision of ctx-1"):
        publish(source, setting(source, "item-goal", "title", "Mine"))
    assert {each.name for each in tmp_path.iterdir()} == {"handoff.json", theirs.file.name}


def test_a_file_that_changed_on_disk_is_not_published_from_its_old_bytes(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    drafts = edited(source, setting(source, "item-plan", "title", "Mine"))
    write(source.path, changed("item-goal", title="Theirs"))
    with pytest.raises(EditRefused, match=r"handoff\.json changed on disk"):
        source.publication(0, drafts, WHY)


def test_changes_are_carried_over_to_the_newer_revision(tmp_path: Path) -> None:
    source = several_files(tmp_path)
    drafts = edited(
        source,
        setting(source, "item-goal", "title", "Mine"),
        setting(source, "summary-1", "content", "A shorter summary."),
        moving(source, "item-extra", "omitted", "selected"),
    )
    theirs = publish(EnvelopeSource(tmp_path), setting(source, "item-plan", "title", "Theirs"))
    now = source.again()
    fork = now.fork(0, drafts, "reviewer")
    assert fork is not None
    assert (fork.file, fork.refused) == (theirs.file, None)
    assert b"Theirs" in fork.theirs
    assert b"Theirs" not in fork.mine
    (file, edits), *more = fork.edits.items()
    assert (file, more) == (str(theirs.file), [])
    data = edited(now, *((file, edit) for edit in edits))
    values = values_of(now.publication(1, data, WHY))
    assert [named(values, name)["title"] for name in ("item-goal", "item-plan")] == ["Mine", "Theirs"]
    assert named(values, "summary-1")["content"] == "A shorter summary."
    assert "item-extra" in named(values, "selection-1.r2")["selected_item_refs"]
    assert values[0]["metadata"]["ctxview"]["revision_of"] == "ctx-1.r2"


def test_a_new_note_is_carried_over_too(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    note = {**named(good(), "item-goal"), "item_id": "note-1", "context_kind": "manual_note"}
    drafts = edited(source, (str(source.path), InsertItem("/-", note)))
    publish(EnvelopeSource(source.path), setting(source, "item-plan", "title", "Theirs"))
    fork = source.again().fork(0, drafts, "reviewer")
    assert fork is not None
    assert [*fork.edits.values()] == [(InsertItem("/-", note),)]


def test_a_field_that_both_changed_is_not_carried_over(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    drafts = edited(source, setting(source, "item-plan", "title", "Mine"))
    publish(EnvelopeSource(source.path), setting(source, "item-plan", "title", "Theirs"))
    fork = source.again().fork(0, drafts, "reviewer")
    assert fork is not None
    assert fork.refused == "Both changed title of item-plan."


def test_without_a_newer_revision_there_is_no_fork(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    publish(source, setting(source, "item-plan", "title", "Agreed"))
    now = source.again()
    drafts = edited(now, setting(now, "item-plan", "title", "Settled"))
    assert now.fork(1, drafts, "reviewer") is None


def forked(folder: Path, base: str) -> list[str]:
    """The messages about two revisions of which the later one is a revision of `base`."""
    source = one_file(folder)
    made = publish(source, setting(source, "item-plan", "title", "Agreed"))
    third = json.loads(json.dumps(values_of(made)).replace("ctx-1.r2", "ctx-1.r3"))
    third[0]["metadata"]["ctxview"]["revision_of"] = base
    (folder / "handoff.r3.json").write_text(json.dumps(third))
    return [each.message for each in EnvelopeSource(folder).findings(LENS) if each.rule == "ENV019"]


def test_a_fork_on_disk_is_a_finding(tmp_path: Path) -> None:
    (message,) = forked(tmp_path, "ctx-1")
    assert "are both revisions of" in message
    assert "ctx-1.r2" in message
    assert main(["check", str(tmp_path)]) == 1


def test_revisions_that_follow_each_other_are_not_a_fork(tmp_path: Path) -> None:
    assert forked(tmp_path, "ctx-1.r2") == []


def test_a_copy_of_a_revision_is_not_a_fork(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    made = publish(source, setting(source, "item-plan", "title", "Agreed"))
    (tmp_path / "copy.json").write_bytes(made.data)
    assert [each for each in EnvelopeSource(tmp_path).findings(LENS) if each.rule == "ENV019"] == []


# -- a property ----------------------------------------------------------------------------------------------

STEPS = {
    "title": lambda source: setting(source, "item-plan", "title", f"title {len(source.revisions)}"),
    "gap": lambda source: setting(source, "missing-1", "question", f"question {len(source.revisions)}?"),
    "rationale": lambda source: setting(
        source, "selection-1", "rationale", f"rationale {len(source.revisions)}"
    ),
    "select": lambda source: moving(source, "item-extra", "omitted", "selected"),
}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, unique=True), min_size=1, max_size=3),
    layout=st.sampled_from(["one", "lines", "several"]),
)
def test_any_chain_of_revisions_has_unique_ids_and_no_new_problem(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[str]], layout: str
) -> None:
    folder = tmp_path_factory.mktemp("chain")
    if layout == "several":
        several_files(folder)
    else:
        one_file(folder, name="handoff.json" if layout == "one" else "handoff.jsonl")
    for names in steps:
        source = EnvelopeSource(folder)
        made = publish(source, *(STEPS[name](source) for name in names))
        lines = made.data.splitlines() if made.file.suffix == ".jsonl" else []
        values = [json.loads(line) for line in lines] if lines else values_of(made)
        uses = Counter((kind, each[OWN_ID[kind]]) for each in values if (kind := kind_of(each)) is not None)
        assert [name for name, number in uses.items() if number > 1] == []
    found = EnvelopeSource(folder).findings(LENS)
    assert [each.message for each in found if each.severity != "info"] == []
