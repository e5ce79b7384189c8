"""The fields that an editor may change in the records of an envelope, and how a save publishes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, MoveItem, SetValue
from ctxview.core.fields import Form
from ctxview.core.state import ContextState
from ctxview.formats import Lens, Source, open_source
from ctxview.formats.envelope.editing.change_checks import TRANSITIONS
from ctxview.formats.envelope.editing.write_rights import WriteRight, field_ownership
from ctxview.formats.envelope.field_specs import FIELDS
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.parser import RecordLayout
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.formats.envelope.vocabulary import KNOWN, OWN_ID, RecordKind, WordList
from ctxview.formats.interface import Signature
from ctxview.formats.masked_bytes import mask_bytes
from tests.formats.envelope.bundles import changed, good, named

LENS = Lens(ESTIMATES["bytes/4"])
WHY = Signature("reviewer", "the plan changed")


def opened(
    tmp_path: Path, values: list[dict[str, Any]] | None = None, name: str = "handoff.json"
) -> EnvelopeSource:
    path = tmp_path / name
    values = good() if values is None else values
    if name.endswith("jsonl"):
        path.write_text("".join(json.dumps(each) + "\n" for each in values))
    else:
        path.write_text(json.dumps(values, indent=2))
    source: Source = open_source(path)
    assert isinstance(source, EnvelopeSource)
    return source


def draft(values: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The bundle while its envelope is still being built."""
    values = good() if values is None else values
    named(values, "ctx-1")["lifecycle"] = "draft"
    return values


def at(source: EnvelopeSource, id_: str, *path: str | int) -> str:
    return record(source, id_).at(*path)


def record(source: EnvelopeSource, id_: str) -> Record:
    return next(each for each in source.bundle.records if each.id == id_)


def edited(source: EnvelopeSource, *edits: Edit, editor: str = "model") -> bytes:
    file = str(next(iter(source.bundle.files)).file)
    policy = source.policy_of(file, editor)
    assert policy is not None
    data = source.bytes_of(file)
    for edit in edits:
        data = policy.apply(data, edit)
    return data


def refusal(source: EnvelopeSource, edit: Edit, editor: str = "model") -> str:
    with pytest.raises(EditRefused) as caught:
        edited(source, edit, editor=editor)
    return str(caught.value)


def published(
    source: EnvelopeSource, data: bytes, signature: Signature = WHY
) -> tuple[Path, list[dict[str, Any]]]:
    file = str(source.bundle.files[0].file)
    found = source.publication(len(source.revisions) - 1, {file: data}, signature)
    text = found.data.decode()
    if found.file.suffix == ".jsonl":
        return found.file, [json.loads(line) for line in text.splitlines()]
    values: list[dict[str, Any]] = json.loads(text)
    return found.file, values


# -- the table -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(RecordKind))
def test_ids_versions_times_injections_and_events_are_locked(kind: RecordKind) -> None:
    for name in (OWN_ID[kind], "schema_version", "created_at", "time", "hash", "native_id"):
        assert field_ownership(kind, name).right is WriteRight.LOCKED
    if kind in (RecordKind.EVENT, RecordKind.INJECTION):
        assert {field_ownership(kind, name).right for name in FIELDS[kind]} == {WriteRight.LOCKED}


@pytest.mark.parametrize("kind", list(RecordKind))
def test_every_field_that_cannot_be_written_says_why(kind: RecordKind) -> None:
    for name in (*FIELDS[kind], "an_unknown_field"):
        owned = field_ownership(kind, name)
        assert owned.right is WriteRight.EDITABLE or owned.why.endswith(".")


def test_a_source_knows_its_editors_and_that_finished_envelopes_are_not_changed(tmp_path: Path) -> None:
    source = opened(tmp_path)
    assert source.abilities.editors is source.abilities.publisher is source
    assert list(source.editors) == ["model", "reviewer"]
    assert source.publishes(0)
    assert not opened(tmp_path, draft(), "draft.json").publishes(0)
    assert not opened(tmp_path, changed("ctx-1", lifecycle="available"), "available.json").publishes(0)


# -- edits ---------------------------------------------------------------------------------------------------


def test_an_edit_touches_only_the_bytes_of_its_value(tmp_path: Path) -> None:
    source = opened(tmp_path)
    file = str(source.bundle.files[0].file)
    before = source.bytes_of(file)
    after = edited(source, SetValue(at(source, "item-plan", "title"), "Another title"))
    old = json.dumps(record(source, "item-plan").value["title"]).encode()
    assert after == before.replace(old, b'"Another title"', 1)


def test_locked_derived_and_unknown_fields_are_refused_with_their_reason(tmp_path: Path) -> None:
    values = changed("item-plan", colour="blue")
    source = opened(tmp_path, values)
    assert "Where it comes from" in refusal(source, SetValue(at(source, "item-plan", "source_refs"), []))
    assert "counted" in refusal(source, SetValue(at(source, "item-plan", "byte_size"), 1))
    assert "does not know this field" in refusal(source, SetValue(at(source, "item-plan", "colour"), "red"))
    assert "The kind and the id" in refusal(source, SetValue(at(source, "item-plan", "item_id"), "x"))
    event = SetValue(at(source, "event-1", "subject"), "x")
    assert "An event records what happened and cannot be changed" in refusal(source, event, "reviewer")


def test_only_the_ctxview_part_of_the_metadata_is_editable(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("item-plan", metadata={"theirs": 1}))
    pointer = at(source, "item-plan", "metadata")
    assert b'"seen"' in edited(source, SetValue(pointer, {"theirs": 1, "ctxview": {"seen": True}}))
    assert "producer" in refusal(source, SetValue(pointer, {"theirs": 2}))


def test_a_model_narrows_visibility_and_a_reviewer_may_widen_it(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("item-plan", visibility=["model", "ui"]))
    pointer = at(source, "item-plan", "visibility")
    edited(source, SetValue(pointer, ["model"]))
    assert "show it to tool" in refusal(source, SetValue(pointer, ["model", "tool"]))
    edited(source, SetValue(pointer, ["model", "tool"]), editor="reviewer")


def test_redaction_is_tightened_by_a_model_and_loosened_by_a_reviewer(tmp_path: Path) -> None:
    source = opened(tmp_path)
    pointer = at(source, "item-note", "redaction_state")
    assert record(source, "item-note").text("redaction_state") == "masked"
    edited(source, SetValue(pointer, "removed"))
    assert "tighter" in refusal(source, SetValue(pointer, "none"))
    edited(source, SetValue(pointer, "none"), editor="reviewer")


def test_a_model_may_raise_sensitivity_and_lower_trust(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("item-plan", sensitivity="internal", trust_level="high"))
    sensitivity, trust = at(source, "item-plan", "sensitivity"), at(source, "item-plan", "trust_level")
    edited(source, SetValue(sensitivity, "secret"), SetValue(trust, "low"))
    assert "more sensitive" in refusal(source, SetValue(sensitivity, "public"))
    assert "less trusted" in refusal(source, SetValue(trust, "system"))
    assert "It is not known which" in refusal(source, SetValue(sensitivity, "burgundy"))
    edited(source, SetValue(sensitivity, "public"), SetValue(trust, "system"), editor="reviewer")


@pytest.mark.parametrize("before", KNOWN[WordList.MISSING_STATUS])
def test_a_gap_moves_along_its_transitions_only(tmp_path: Path, before: str) -> None:
    source = opened(tmp_path, changed("missing-1", status=before, severity="low"))
    for after in KNOWN[WordList.MISSING_STATUS]:
        edit = SetValue(at(source, "missing-1", "status"), after)
        if after == before or after in TRANSITIONS[before]:
            edited(source, edit)
        else:
            assert before in refusal(source, edit) or "new record" in refusal(source, edit)


def test_a_reviewer_may_take_several_steps_at_once_but_reopens_nothing(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("missing-1", status="requested", severity="blocking"))
    pointer = at(source, "missing-1", "status")
    for after in ("waiting", "resolved", "declined"):
        edited(source, SetValue(pointer, after), editor="reviewer")
    assert "it can only become waiting" in refusal(source, SetValue(pointer, "open"), "reviewer")
    closed = opened(tmp_path, changed("missing-1", status="declined"))
    assert "new record" in refusal(closed, SetValue(at(closed, "missing-1", "status"), "open"), "reviewer")


def test_a_model_cannot_clear_a_blocking_gap(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("missing-1", status="open", severity="blocking"))
    status, severity = at(source, "missing-1", "status"), at(source, "missing-1", "severity")
    assert "only a reviewer" in refusal(source, SetValue(status, "resolved"))
    assert "more severe" in refusal(source, SetValue(severity, "low"))
    edited(source, SetValue(status, "requested"))
    edited(source, SetValue(status, "resolved"), editor="reviewer")


def test_a_model_cannot_clear_a_blocking_gap_in_another_spelling(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("missing-1", severity="Blocking", status="waiting"))
    edit = SetValue(at(source, "missing-1", "status"), "declined")
    assert "only a reviewer" in refusal(source, edit)


def test_lists_that_only_grow_are_never_shortened(tmp_path: Path) -> None:
    source = opened(tmp_path)
    pointer = at(source, "compaction-1", "loss_notes")
    notes = record(source, "compaction-1").texts("loss_notes")
    edited(source, InsertItem(f"{pointer}/-", "the order of the tests"))
    assert "only be added" in refusal(source, DeleteValue(f"{pointer}/0"))
    assert "only be added" in refusal(source, SetValue(pointer, [*notes[1:], "other"]), "reviewer")


def test_policies_and_evidence_are_for_a_reviewer(tmp_path: Path) -> None:
    source = opened(tmp_path)
    pointer = at(source, "ctx-1", "policy_refs")
    assert "reviewer" in refusal(source, SetValue(pointer, ["policy-9"]))
    edited(source, SetValue(pointer, ["policy-9"]), editor="reviewer")
    evidence = at(source, "ctx-1", "evidence_refs")
    known = [each.value for each in record(source, "ctx-1").refs("evidence_refs")]
    edited(source, SetValue(evidence, [*known, "evidence-9"]), editor="reviewer")
    assert "reviewer" in refusal(source, SetValue(evidence, [*known, "evidence-9"]))


def test_limits_are_set_while_the_envelope_is_a_draft(tmp_path: Path) -> None:
    source = opened(tmp_path)
    assert "while the envelope is a draft" in refusal(
        source, SetValue(at(source, "budget-model", "max_tokens"), 9)
    )
    building = opened(tmp_path, draft(), "draft.json")
    edited(building, SetValue(at(building, "budget-model", "max_tokens"), 9))
    assert "measured" in refusal(building, SetValue(at(building, "budget-model", "actual_tokens"), 9))


def test_an_edit_of_a_note_updates_its_figures(tmp_path: Path) -> None:
    values = changed("item-plan", context_kind="manual_note", byte_size=3, token_estimate=1, digest=...)
    source = opened(tmp_path, values)
    after = json.loads(edited(source, SetValue(at(source, "item-plan", "content"), "größer")))
    item = named(after, "item-plan")
    assert (item["content"], item["byte_size"]) == ("größer", 8)
    assert item["token_estimate"] > 1
    assert "comes from a source" in refusal(
        opened(tmp_path), SetValue(at(source, "item-goal", "content"), "x")
    )


def test_a_rewritten_summary_counts_as_written_by_hand(tmp_path: Path) -> None:
    source = opened(tmp_path)
    after = json.loads(edited(source, SetValue(at(source, "summary-1", "content"), "What really happened.")))
    assert named(after, "compaction-1")["method"] == "human_curated_summary"
    assert named(after, "summary-1")["validation"] != record(source, "summary-1").value.get("validation")
    assert "compacted" in refusal(
        source, SetValue(at(source, "compaction-1", "method"), "human_curated_summary")
    )


def test_records_are_neither_removed_nor_added_except_notes(tmp_path: Path) -> None:
    source = opened(tmp_path)
    assert "would be removed" in refusal(source, DeleteValue(source.bundle.records[-1].pointer))
    note = {"item_id": "n", "context_kind": "manual_note", "content_mode": "inline", "visibility": ["model"]}
    assert named(json.loads(edited(source, InsertItem("/-", note))), "n")["item_id"] == "n"
    assert "Only notes" in refusal(source, InsertItem("/-", {**note, "context_kind": "system_prompt"}))


def test_an_item_moves_between_selected_and_omitted(tmp_path: Path) -> None:
    source = opened(tmp_path)
    omitted, selected = (
        at(source, "selection-1", "omitted_item_refs"),
        at(source, "selection-1", "selected_item_refs"),
    )
    place = next(
        entry.path[-1]
        for entry in record(source, "selection-1").refs("omitted_item_refs")
        if entry.id == "item-extra"
    )
    after = json.loads(edited(source, MoveItem(f"{omitted}/{place}", f"{selected}/-")))
    selection = named(after, "selection-1")
    assert selection["selected_item_refs"][-1] == "item-extra"
    assert all(each["item_ref"] != "item-extra" for each in selection["omitted_item_refs"])
    assert "each must be in one" in refusal(source, DeleteValue(f"{selected}/0"))


def test_blocks_are_arranged_before_they_are_injected_and_not_after(tmp_path: Path) -> None:
    source = opened(tmp_path)
    blocks = record(source, "assembly-model").value["ordered_blocks"]
    assert isinstance(blocks, list)
    turned = SetValue(at(source, "assembly-model", "ordered_blocks"), blocks[::-1])
    assert "before they are injected" in refusal(source, turned)
    values = [each for each in good() if "injection_id" not in each]
    named(values, "ctx-1").update(lifecycle="assembled", injection_refs=[])
    early = opened(tmp_path, values, "early.json")
    edited(early, SetValue(at(early, "assembly-model", "ordered_blocks"), blocks[::-1]))
    fewer = SetValue(at(early, "assembly-model", "ordered_blocks"), blocks[1:])
    assert "not added or removed" in refusal(early, fewer)


# -- a new revision ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["handoff.json", "handoff.jsonl"])
def test_a_save_makes_a_new_envelope_and_an_event_and_leaves_the_old_file_alone(
    tmp_path: Path, name: str
) -> None:
    source = opened(tmp_path, name=name)
    path = tmp_path / name
    before = path.read_bytes()
    data = edited(source, SetValue(at(source, "item-plan", "title"), "The plan, as agreed"))
    file, values = published(source, data)
    assert path.read_bytes() == before
    assert (file.parent, file.name) == (tmp_path, name.replace("handoff", "handoff.r2"))
    envelope = next(each for each in values if "scope" in each and "lifecycle" in each)
    assert envelope["context_id"] == "ctx-1.r2"
    pointer = at(source, "item-plan", "title")
    assert envelope["metadata"]["ctxview"] == {
        "revision_of": "ctx-1",
        "editor": "reviewer",
        "reason": "the plan changed",
        "changed": [pointer],
    }
    assert named(values, "item-plan")["title"] == "The plan, as agreed"
    new = [each for each in values if each.get("source") == "ctxview"]
    assert [(each["event_type"], each["subject"]) for each in new] == [("context.item.updated", "item-plan")]
    assert len(values) == len(good()) + 1


def test_a_new_revision_brings_no_error_and_is_found_beside_the_old_one(tmp_path: Path) -> None:
    source = opened(tmp_path)
    data = edited(source, SetValue(at(source, "item-plan", "title"), "Agreed"))
    found = source.publication(0, {str(source.path): data}, WHY)
    found.file.write_bytes(found.data)
    for path in (source.path, tmp_path):
        together = open_source(path)
        assert isinstance(together, EnvelopeSource)
        named_so = [(each.label, each.kind) for each in together.revisions]
        assert named_so == [("ctx-1", "envelope"), ("ctx-1.r2", "revision")]
        assert [each.message for each in together.findings(LENS) if each.severity == "error"] == []
        following = together.publication(1, {str(found.file): found.data.replace(b"Agreed", b"Settled")}, WHY)
        assert following.file.name == "handoff.r3.json"
        assert json.loads(following.data)[0]["metadata"]["ctxview"]["revision_of"] == "ctx-1.r2"


def test_moving_an_item_makes_a_new_selection_and_keeps_the_old_one(tmp_path: Path) -> None:
    source = opened(tmp_path)
    old = record(source, "selection-1")
    place = next(each.path[-1] for each in old.refs("omitted_item_refs") if each.id == "item-extra")
    move = MoveItem(old.at("omitted_item_refs", place), old.at("selected_item_refs", "-"))
    _, values = published(source, edited(source, move))
    assert named(values, "selection-1") == dict(old.value)
    new = named(values, "selection-1.r2")
    assert "item-extra" in new["selected_item_refs"]
    assert new["actor_ref"] == {"kind": "reviewer", "id": "reviewer"}
    assert named(values, "ctx-1.r2")["selection_refs"][-1] == "selection-1.r2"
    events = [each["event_type"] for each in values if each.get("source") == "ctxview"]
    assert events == ["context.selection.started", "context.selection.completed"]


def test_guarded_changes_ask_for_a_reason_and_are_not_published_without_one(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("item-plan", visibility=["model", "ui"]))
    file = str(source.bundle.files[0].file)
    free = {file: edited(source, SetValue(at(source, "item-plan", "title"), "x"))}
    guarded = {file: edited(source, SetValue(at(source, "item-plan", "visibility"), ["model"]))}
    assert source.asks_reason(0, free) is None
    assert "visibility of item-plan" in (source.asks_reason(0, guarded) or "")
    with pytest.raises(EditRefused, match="say why"):
        source.publication(0, guarded, Signature("model", "  "))
    source.publication(0, guarded, Signature("model", "the screen must not show it"))
    with pytest.raises(EditRefused, match="nothing to save"):
        source.publication(0, {}, WHY)


def test_gaps_and_redactions_have_their_own_events(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("missing-1", status="open", severity="low"))
    edits = (
        SetValue(at(source, "missing-1", "status"), "requested"),
        SetValue(at(source, "item-plan", "redaction_state"), "masked"),
    )
    _, values = published(source, edited(source, *edits))
    events = {each["event_type"] for each in values if each.get("source") == "ctxview"}
    assert events == {"context.missing.requested", "context.redaction.applied"}


def test_a_folder_of_files_becomes_one_file_with_all_records(tmp_path: Path) -> None:
    for value in good():
        own = (
            next(value[name] for name in OWN_ID.values() if name in value and name != "context_id")
            if "scope" not in value or "lifecycle" not in value
            else value["context_id"]
        )
        (tmp_path / f"{own}.json").write_text(json.dumps(value))
    source = open_source(tmp_path)
    assert isinstance(source, EnvelopeSource)
    item = record(source, "item-plan")
    policy = source.policy_of(item.file, "model")
    assert policy is not None
    data = policy.apply(source.bytes_of(item.file), SetValue(item.at("title"), "Agreed"))
    found = source.publication(0, {item.file: data}, WHY)
    assert found.file.name == "ctx-1.r2.json"
    values = json.loads(found.data)
    assert named(values, "item-plan")["title"] == "Agreed"
    assert len(values) == len(good()) + 1


# -- forms ---------------------------------------------------------------------------------------------------


def test_forms_offer_what_the_editor_may_write(tmp_path: Path) -> None:
    source = opened(tmp_path, changed("missing-1", status="open"))
    for editor, expected in (("model", False), ("reviewer", True)):
        state = source.reading(0, Lens(ESTIMATES["bytes/4"], editor=editor)).state
        whole = whole_form(state)
        policies = next(each for each in whole.fields if each.name == "policy_refs")
        assert (policies.shape is not None) is expected
        assert all(
            each.shape is None for each in whole.fields if each.name in ("scope", "context_id", "lifecycle")
        )
    gap = next(each for each in state.missing if each.id == "missing-1")
    assert gap.form is not None
    status = next(each for each in gap.form.fields if each.name == "status")
    assert getattr(status.shape, "words", None) == ("open", "requested", "resolved")


def whole_form(state: ContextState) -> Form:
    assert state.form is not None
    return state.form


def test_a_block_says_where_it_may_be_moved(tmp_path: Path) -> None:
    source = opened(tmp_path)
    state = source.reading(0, LENS).state
    block = next(each for each in state.blocks() if each.id == "item-extra")
    assert [each.tier for each in block.moves] == ["selected"]
    after = json.loads(edited(source, block.moves[0].edit))
    assert "item-extra" in named(after, "selection-1")["selected_item_refs"]
    assert source.bundle.files[0].layout is RecordLayout.ARRAY


# -- redaction -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("redacted_fields", []),
        ("redacted_fields", None),
        ("redacted_fields", ["title"]),
        ("redaction_reason", "none"),
        ("redaction_method", ""),
        ("redacted_by", None),
    ],
)
def test_a_model_never_loosens_a_redaction(name: str, value: Any, tmp_path: Path) -> None:
    values = changed(
        "item-note",
        redacted_fields=["content", "metadata.mail"],
        redaction_reason="privacy",
        redaction_method="mask",
        redacted_by="policy-service",
    )
    source = opened(tmp_path, values)
    edit = SetValue(at(source, "item-note", name), value)
    assert "only a reviewer" in refusal(source, edit)
    assert "only a reviewer" in refusal(source, DeleteValue(edit.pointer))
    edited(source, edit, editor="reviewer")


def test_a_model_may_name_more_redacted_fields_and_explain_a_redaction(tmp_path: Path) -> None:
    values = changed("item-note", redacted_fields=["content"], redaction_reason=..., title="Ada")
    source = opened(tmp_path, values)
    data = edited(
        source,
        SetValue(at(source, "item-note", "redacted_fields"), ["content", "title"]),
        SetValue(at(source, "item-note", "redaction_reason"), "privacy"),
    )
    assert named(json.loads(data), "item-note")["title"] == "[masked]"


@pytest.mark.parametrize("state", ["removed", "policy_blocked", "encrypted_ref", "masked", "summarized"])
@pytest.mark.parametrize("editor", ["model", "reviewer"])
def test_a_redaction_takes_the_content_out_of_the_new_revision(
    state: str, editor: str, tmp_path: Path
) -> None:
    secret = "the client is moving to Lisbon in May"
    values = changed("item-plan", content=secret, metadata={"raw": secret, "owner": "x"})
    for block in named(values, "assembly-model")["ordered_blocks"]:
        block["redaction_state"] = "masked"
    source = opened(tmp_path, values)
    assert source.publishes(0)
    data = edited(source, SetValue(at(source, "item-plan", "redaction_state"), state), editor=editor)
    file, new = published(source, data, Signature(editor, "privacy"))
    assert secret not in json.dumps(new)
    assert named(new, "item-plan")["metadata"]["owner"] == "x"
    file.write_text(json.dumps(new))
    findings = open_source(file).findings(LENS)
    assert [each for each in findings if each.rule in ("ENV078", "ENV081")] == []


def test_a_redaction_does_not_allow_other_changes(tmp_path: Path) -> None:
    source = opened(tmp_path)
    policy = source.policy_of(str(source.bundle.files[0].file), "model")
    assert policy is not None
    before = source.bytes_of(str(source.bundle.files[0].file))
    after = json.loads(edited(source, SetValue(at(source, "item-plan", "redaction_state"), "masked")))
    assert policy.tampering(before, json.dumps(after).encode()) is None
    named(after, "item-plan")["content"] = "something else"
    assert "locked" in (policy.tampering(before, json.dumps(after).encode()) or "")


def test_a_mask_that_was_written_in_the_same_draft_stays(tmp_path: Path) -> None:
    source = opened(tmp_path, draft(changed("item-plan", content="Ada lives in Lisbon")))
    data = edited(
        source,
        SetValue(at(source, "item-plan", "content"), "Ada lives in ███"),
        SetValue(at(source, "item-plan", "redaction_state"), "masked"),
    )
    assert named(json.loads(data), "item-plan")["content"] == "Ada lives in ███"


def test_a_draft_that_loosens_a_redaction_shows_nothing(tmp_path: Path) -> None:
    secret = "the client is moving to Lisbon in May"
    source = opened(
        tmp_path, changed("item-note", redacted_fields=["metadata.mail"], metadata={"mail": secret})
    )
    file = str(source.bundle.files[0].file)
    edits = (
        SetValue(at(source, "item-note", "redacted_fields"), []),
        SetValue(at(source, "item-note", "redaction_state"), "none"),
    )
    data = edited(source, *edits, editor="reviewer")
    reading = source.reading(0, LENS, {file: data})
    assert secret not in repr(reading)
    assert secret.encode() not in mask_bytes(data, source.withheld(file, data)).data
