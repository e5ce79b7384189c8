"""Redaction by an edit: what follows from it in the new revision, and what the preview shows of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ctxview.core.edits import Edit, EditRefused, SetValue
from ctxview.core.fields import Owner
from ctxview.formats.envelope.source import EnvelopeSource
from tests.formats.envelope.bundles import changed, good, named
from tests.formats.envelope.publishing import (
    LENS,
    WHY,
    Json,
    edited,
    new_events,
    one_file,
    publish,
    record,
    setting,
    several_files,
    values_of,
)

FACTS = {
    "redaction_method": "deletion",
    "redacted_by": "reviewer",
    "redaction_reason": "a private plan",
    "policy_refs": ["policy-7"],
}


def redacting(source: EnvelopeSource, id_: str, state: str) -> list[tuple[str, Edit]]:
    """The edits that redact an item, with all the facts that belong to a redaction."""
    facts = [setting(source, id_, name, value) for name, value in FACTS.items()]
    return [setting(source, id_, "redaction_state", state), *facts]


def problems(source: EnvelopeSource) -> list[tuple[str, str]]:
    return [(each.rule, each.message) for each in source.findings(LENS) if each.severity != "info"]


def marks(values: list[Json], assembly: str = "assembly-model") -> list[Any]:
    return [each.get("redaction_state") for each in named(values, assembly)["ordered_blocks"]]


@pytest.mark.parametrize("state", ["removed", "masked", "summarized", "encrypted_ref"])
@pytest.mark.parametrize("layout", ["one file", "lines", "several files"])
def test_an_injected_item_is_redacted_without_a_new_finding(tmp_path: Path, state: str, layout: str) -> None:
    name = "handoff.jsonl" if layout == "lines" else "handoff.json"
    source = several_files(tmp_path) if layout == "several files" else one_file(tmp_path, name=name)
    before = problems(source)
    made = publish(source, *redacting(source, "item-goal", state))
    lines = made.data.splitlines()
    values = [json.loads(each) for each in lines] if layout == "lines" else values_of(made)
    assert marks(values) == ["none", state, "none", "masked"]
    content = named(good(), "item-goal")["content"]
    assert named(values, "item-goal")["digest"] == f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"
    assert {subject for _, subject in new_events(values)} == {"item-goal"}
    assert problems(EnvelopeSource(made.file)) == before == []


def test_a_summary_marks_its_block_too(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    made = publish(source, setting(source, "summary-1", "redaction_state", "removed"))
    assert marks(values_of(made)) == ["removed", "none", "none", "masked"]


def test_a_block_that_hides_less_than_its_item_is_marked_again(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    made = publish(source, setting(source, "item-note", "redaction_state", "removed"), editor="model")
    assert marks(values_of(made)) == ["none", "none", "none", "removed"]


def test_a_redaction_allows_no_other_change_of_blocks(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    file, edit = setting(source, "item-goal", "redaction_state", "removed")
    policy = source.policy_of(file, "reviewer")
    assert policy is not None
    before = source.bytes_of(file)
    after = json.loads(policy.apply(before, edit))
    assert policy.tampering(before, json.dumps(after).encode()) is None
    blocks = named(after, "assembly-model")["ordered_blocks"]
    for at, name, value in ((0, "redaction_state", "masked"), (1, "wrapper", "xml"), (3, "hash", "x")):
        kept = blocks[at][name]
        blocks[at][name] = value
        assert "ordered_blocks" in (policy.tampering(before, json.dumps(after).encode()) or "")
        blocks[at][name] = kept
    with pytest.raises(EditRefused, match="ordered_blocks"):
        policy.apply(before, SetValue(record(source, "assembly-model").at("ordered_blocks", 1, "hash"), "x"))


def test_a_digest_is_not_written_by_hand(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    file, edit = setting(source, "item-goal", "redaction_state", "removed")
    policy = source.policy_of(file, "reviewer")
    assert policy is not None
    before = source.bytes_of(file)
    after = json.loads(policy.apply(before, edit))
    named(after, "item-goal")["digest"] = "sha256:" + "0" * 64
    assert "digest" in (policy.tampering(before, json.dumps(after).encode()) or "")


def test_findings_that_the_publication_answers_do_not_remain(tmp_path: Path) -> None:
    source = several_files(tmp_path)
    drafts = edited(source, setting(source, "item-goal", "redaction_state", "removed"))
    found = source.reading(0, LENS, drafts).findings
    made = source.publication(0, drafts, WHY)
    assert made.remaining is not None
    assert {each.rule for each in found} & {"ENV077", "ENV080", "ENV083"} == {"ENV077"}
    assert {each.rule for each in made.remaining(found, LENS)} & {"ENV077", "ENV080", "ENV083"} == {"ENV077"}


@pytest.mark.parametrize("lifecycle", ["injected", "draft"])
def test_a_draft_shows_the_blocks_of_other_files_that_saving_it_leaves_unmarked(
    tmp_path: Path, lifecycle: str
) -> None:
    """A publication marks them; a draft that is edited in place changes no other file."""
    source = several_files(tmp_path, changed("ctx-1", lifecycle=lifecycle))
    drafts = edited(source, setting(source, "item-goal", "redaction_state", "removed"))
    for findings in (source.reading(0, LENS, drafts).findings, source.findings_of(0, LENS, drafts)):
        assert bool([each for each in findings if each.rule == "ENV080"]) == (lifecycle == "draft")


def test_a_draft_shows_a_block_whose_mark_it_takes_away(tmp_path: Path) -> None:
    source = several_files(tmp_path)
    assert [each for each in source.findings(LENS) if each.rule == "ENV080"] == []
    file = record(source, "assembly-model").file
    rest = json.loads(source.bytes_of(file))
    named(rest, "assembly-model")["ordered_blocks"][3]["redaction_state"] = "none"
    drafts = {file: json.dumps(rest).encode()}
    assert [each for each in source.reading(0, LENS, drafts).findings if each.rule == "ENV080"]


@pytest.mark.parametrize("lifecycle", ["injected", "draft"])
def test_a_draft_lacks_no_event_that_saving_it_writes(tmp_path: Path, lifecycle: str) -> None:
    """A fixed revision gets the event with the save; a draft that is edited in place does not."""
    source = one_file(tmp_path, changed("ctx-1", lifecycle=lifecycle))
    drafts = edited(source, setting(source, "item-goal", "redaction_state", "removed"))
    for findings in (source.reading(0, LENS, drafts).findings, source.findings_of(0, LENS, drafts)):
        lacking = [each for each in findings if each.rule == "ENV083" and "item-goal" in each.message]
        assert len(lacking) == (lifecycle == "draft")


def test_a_draft_shows_the_events_that_its_file_lacks_already(tmp_path: Path) -> None:
    source = one_file(tmp_path, changed("item-goal", redaction_state="removed", content="[removed]"))
    drafts = edited(source, setting(source, "item-plan", "title", "Another title"))
    assert [each for each in source.reading(0, LENS, drafts).findings if each.rule == "ENV083"]


def test_a_redacted_field_makes_an_item_masked_with_its_blocks_and_keeps_the_content(tmp_path: Path) -> None:
    source = one_file(tmp_path, changed("item-goal", metadata={"mail": "ada@orchard.example"}, **FACTS))
    before = {rule for rule, _ in problems(source)}
    made = publish(source, setting(source, "item-goal", "redacted_fields", ["metadata.mail"]), editor="model")
    item = named(values_of(made), "item-goal")
    assert (item["redaction_state"], item["metadata"]) == ("masked", {"mail": "[masked]"})
    assert item["content"] == named(good(), "item-goal")["content"]
    assert marks(values_of(made)) == ["none", "masked", "none", "masked"]
    assert new_events(values_of(made)) == [("context.redaction.applied", "item-goal")]
    after = {rule for rule, _ in problems(EnvelopeSource(made.file))}
    # Only a person knows where the original of a field is kept.
    assert after - before == {"ENV079"}


def test_a_redacted_field_that_is_not_there_is_not_a_redaction(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    made = publish(source, setting(source, "item-goal", "redacted_fields", ["nope"]))
    assert named(values_of(made), "item-goal")["redaction_state"] == "none"
    assert new_events(values_of(made)) == [("context.item.updated", "item-goal")]


def test_a_state_that_is_not_known_redacts_and_says_so(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    made = publish(source, setting(source, "item-goal", "redaction_state", "shredded"))
    assert named(values_of(made), "item-goal")["content"] == "[removed]"
    assert new_events(values_of(made)) == [("context.redaction.applied", "item-goal")]
    rules = {rule for rule, _ in problems(EnvelopeSource(made.file))}
    assert not rules & {"ENV078", "ENV080", "ENV083"}


def test_a_title_that_repeats_the_content_is_taken_out_with_it(tmp_path: Path) -> None:
    content = "Ada moves to Lisbon in May. The keys are under the third flowerpot."
    values = changed(
        "item-goal",
        title="ADA moves to Lisbon in May",
        content=content,
        byte_size=len(content),
        metadata={"note": {"first": f"It says: {content}"}, "owner": "the desk of Ada"},
    )
    source = one_file(tmp_path, values)
    made = publish(source, *redacting(source, "item-goal", "removed"))
    item = named(values_of(made), "item-goal")
    assert (item["title"], item["sensitivity"]) == ("[removed]", "internal")
    assert item["metadata"] == {"note": {"first": "[removed]"}, "owner": "the desk of Ada"}
    assert problems(EnvelopeSource(made.file)) == []


def test_a_withheld_field_is_not_marked_as_writable(tmp_path: Path) -> None:
    secret = "Ada moves to Lisbon in May"
    source = one_file(tmp_path, changed("item-goal", redaction_state="removed", content=secret, title=secret))
    place = record(source, "item-goal").pointer
    blocks = (block for tier in source.reading(0, LENS).state.tiers for block in tier.blocks)
    form = next(each.form for each in blocks if each.form and each.form.pointer == place)
    fields = {field.name: field for field in form.fields}
    for name in ("title", "content"):
        assert (fields[name].shape, fields[name].owner) == (None, Owner.SYSTEM)
    assert fields["language"].owner is Owner.MODEL


def test_a_field_that_is_locked_now_is_not_marked_as_writable(tmp_path: Path) -> None:
    source = one_file(tmp_path)
    place = record(source, "item-goal").pointer
    blocks = [block for tier in source.reading(0, LENS).state.tiers for block in tier.blocks]
    form = next(each.form for each in blocks if each.form and each.form.pointer == place)
    owners = {field.name: field.owner for field in form.fields}
    assert (owners["content"], owners["byte_size"]) == (Owner.SYSTEM, Owner.DERIVED)
    assert owners["title"] is Owner.MODEL
