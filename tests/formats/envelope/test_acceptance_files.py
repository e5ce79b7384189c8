"""Acceptance tests about files: round trips, sparse and odd files, and published revisions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import main
from ctxview.core.edits import MoveItem, SetValue
from ctxview.core.state import ContextState, RefStatus
from ctxview.formats import Lens, open_source
from ctxview.formats.envelope.model import Record
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.formats.interface import Signature
from ctxview.reports.json_output import state_as_json
from ctxview.samples import samples_folder
from tests.formats.envelope import builders as b
from tests.formats.envelope.bundles import good, named
from tests.formats.envelope.sound_records import Json
from tests.formats.envelope.whole_turn import EDITABLE, examples, whole_turn

LENS = Lens(ESTIMATES["bytes/4"])
WHY = Signature("reviewer", "Sable asked for it")
UNKNOWN = {"zebra": {"stripes": [1, 1.0, 1e2]}, "apple": None, "": "nameless", "über": "ü\u2028"}
"""Unknown members, not in alphabetical order."""


def opened(path: Path) -> EnvelopeSource:
    source = open_source(path)
    assert isinstance(source, EnvelopeSource)
    return source


def record(source: EnvelopeSource, id_: str) -> Record:
    return next(each for each in source.bundle.records if each.id == id_)


def edited(source: EnvelopeSource, *edits: SetValue | MoveItem) -> dict[str, bytes]:
    file = str(source.bundle.files[0].file)
    policy = source.policy_of(file, "reviewer")
    assert policy is not None
    data = source.bytes_of(file)
    for edit in edits:
        data = policy.apply(data, edit)
    return {file: data}


def pairs(data: bytes) -> Any:
    """Parse JSON with every object as a list of members, so that order counts."""
    return json.loads(data, object_pairs_hook=list)


@pytest.fixture
def handoff(tmp_path: Path) -> EnvelopeSource:
    """A writable copy of the sample."""
    shutil.copytree(samples_folder() / "envelope" / "handoff", tmp_path / "handoff")
    return opened(tmp_path / "handoff" / "handoff.json")


# -- round trip ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", examples())
def test_an_edit_keeps_everything_else_and_the_order_of_all_members(tmp_path: Path, name: str) -> None:
    members = list((examples()[name] | UNKNOWN).items())
    value = dict(members[::2] + members[1::2])
    value.setdefault(EDITABLE[name], [])
    value["lifecycle" if name == "envelope" else "note"] = "draft"
    file = tmp_path / "record.json"
    file.write_text(json.dumps(value, ensure_ascii=name == "item", indent=3))

    after = edited(opened(file), SetValue(f"/{EDITABLE[name]}", ["new"] if name == "envelope" else "new"))

    data = after[str(file)]
    assert json.loads(data)[EDITABLE[name]] in ("new", ["new"])
    expected = [
        (key, old if key != EDITABLE[name] else dict(pairs(data))[key])
        for key, old in pairs(file.read_bytes())
    ]
    assert pairs(data) == expected


def test_a_new_revision_of_a_whole_bundle_keeps_every_record_and_unknown_member(tmp_path: Path) -> None:
    values = whole_turn()
    for value in values:
        value |= UNKNOWN
    file = tmp_path / "turn.json"
    file.write_text(json.dumps(values, ensure_ascii=False, indent=1))
    source = opened(file)

    drafts = edited(source, SetValue(record(source, "item-plan").at("title"), "The plan"))
    new = source.publication(0, drafts, WHY)

    before, after = pairs(file.read_bytes()), pairs(new.data)
    differ = [old for old, now in zip(before, after, strict=False) if old != now]
    assert [dict(each).get("context_id", dict(each).get("item_id")) for each in differ] == [
        "ctx-1",
        "item-plan",
    ]
    assert [key for key, _ in after[0]] == [key for key, _ in before[0]]
    assert len(after) == len(before) + 1


# -- odd files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", examples())
def test_sparse_examples_are_opened_and_lacking_fields_are_reported(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps(examples()[name]))
    found = {each.rule for each in opened(file).findings(LENS)}
    assert ("ENV002" in found) is (name != "envelope")
    assert ("ENV085" in found) is (name == "envelope")
    assert main(["show", str(file)]) == 0
    assert "envelope" in capsys.readouterr().out


def test_all_examples_in_one_folder_are_one_bundle(tmp_path: Path) -> None:
    for name, value in examples().items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    result = opened(tmp_path).reading(0, LENS).state
    assert {each.id: each.tier for each in result.blocks()} == {
        "item-timetable": "selected",
        "item-prices": "omitted",
        "turn-1": "compacted",
        "turn-2": "compacted",
    }
    assert [each.id for each in result.refs if each.status is RefStatus.DANGLING] == [
        "surface-ferry",
        "item-wish",
        "injection-ferry",
        "turn-1",
        "turn-2",
        "item-prices",
    ]
    assert result.missing[0].blocks == ("book a place",)


def test_records_inside_an_envelope_give_the_same_view_and_one_finding(tmp_path: Path) -> None:
    by_reference = opened(b.write(tmp_path / "refs", b.as_array(good())))
    inside = opened(b.write(tmp_path / "inside", b.as_embedded(good())))

    assert comparable(inside.reading(0, LENS).state) == comparable(by_reference.reading(0, LENS).state)
    assert [each.rule for each in by_reference.findings(LENS)] == []
    assert [each.rule for each in inside.findings(LENS)] == ["ENV018"]


def comparable(state: ContextState) -> Json:
    """The state without origins and without order."""
    result = state_as_json(state)
    flow = state.flow
    assert flow is not None
    blocks = {each.id: (each.tier, each.state, each.reason, each.text, each.reach) for each in state.blocks()}
    return {
        "blocks": blocks,
        "budget": sorted(map(str, state.budgets)),
        "counts": result["counts"],
        "missing": [(each.id, each.severity, each.status, each.why) for each in state.missing],
        "timeline": [(each.label, each.time) for each in state.timeline],
        "stages": {stage.name: sorted(each.label for each in stage.nodes) for stage in flow.stages},
        "links": sorted((each.start, each.end, each.count, each.label) for each in flow.links),
    }


# -- new revisions -------------------------------------------------------------------------------------------


def moved_to_selected(source: EnvelopeSource, selection: str, item: str) -> dict[str, bytes]:
    old = record(source, selection)
    place = next(each.path[-1] for each in old.refs("omitted_item_refs") if each.id == item)
    return edited(source, MoveItem(old.at("omitted_item_refs", place), old.at("selected_item_refs", "-")))


def test_an_item_that_is_moved_to_selected_makes_a_selection_an_envelope_and_events(
    handoff: EnvelopeSource,
) -> None:
    before = handoff.path.read_bytes()
    new = handoff.publication(2, moved_to_selected(handoff, "selection-2", "item-ci-runs"), WHY)
    new.file.write_bytes(new.data)
    values = json.loads(new.data)

    assert handoff.path.read_bytes() == before
    selection, envelope = named(values, "selection-2.r2"), named(values, "ctx-handoff.r2")
    assert "item-ci-runs" in selection["selected_item_refs"]
    assert envelope["selection_refs"] == ["selection-1", "selection-2", "selection-2.r2"]
    assert envelope["metadata"]["ctxview"]["revision_of"] == "ctx-handoff"
    assert envelope["metadata"]["ctxview"]["reason"] == WHY.reason
    events = [each["event_type"] for each in values if each.get("source") == "ctxview"]
    assert events == ["context.selection.started", "context.selection.completed"]

    together = opened(handoff.path.parent)
    assert together.revisions[-1].label == "ctx-handoff.r2"
    reading = together.reading(len(together.revisions) - 1, LENS)
    chosen = next(each for each in reading.state.blocks() if each.id == "item-ci-runs")
    assert chosen.tier == "selected"
    assert [each.rule for each in reading.findings] == ["ENV075"]
    assert {each.rule for each in together.findings(LENS)} == {"ENV075"}


def test_the_budget_is_checked_again_in_the_new_revision(tmp_path: Path) -> None:
    values = whole_turn()
    named(values, "budget-model").update(actual_items=7, max_items=5)
    file = tmp_path / "turn.json"
    file.write_text(json.dumps(values))
    source = opened(file)

    new = source.publication(0, moved_to_selected(source, "selection-1", "item-extra"), WHY)
    new.file.write_bytes(new.data)
    following = opened(file)

    found = {each.rule for each in following.reading(1, LENS).findings if each.origin.file == str(new.file)}
    # Seven of five items are counted; six are assembled, as before: selecting an item does not inject it.
    assert found == {"ENV045", "ENV046"}
    assert [each.rule for each in following.reading(0, LENS).findings] == ["ENV045", "ENV046"]


def test_a_limit_that_is_changed_in_a_draft_is_checked_before_it_is_saved(tmp_path: Path) -> None:
    values = whole_turn()
    named(values, "ctx-1")["lifecycle"] = "draft"
    file = tmp_path / "turn.json"
    file.write_text(json.dumps(values))
    source = opened(file)
    drafts = edited(source, SetValue(record(source, "budget-model").at("max_items"), 5))

    assert [each.rule for each in source.reading(0, LENS).findings] == []
    assert [each.rule for each in source.reading(0, LENS, drafts).findings] == ["ENV045"]


def test_id_002_two_attempts_are_separate_and_kept_unchanged(
    handoff: EnvelopeSource, capsys: pytest.CaptureFixture[str]
) -> None:
    attempts = [each.label for each in handoff.revisions if each.kind == "attempt"]
    assert attempts == ["attempt-1 of ctx-handoff", "attempt-2 of ctx-handoff"]
    assert main(["diff", str(handoff.path), "--at", *attempts]) == 1
    output = capsys.readouterr().out
    assert "item-report" in output
    assert "item-guide" in output

    first, second = record(handoff, "selection-1"), record(handoff, "selection-2")
    old = first.document.literal(first.pointer)
    drafts = edited(handoff, SetValue(second.at("rationale"), "The report is why there is a doubt."))
    after = opened_bytes(handoff, handoff.publication(2, drafts, WHY).data)
    copied = record(after, "selection-1")
    assert copied.document.literal(copied.pointer) == old


def opened_bytes(source: EnvelopeSource, data: bytes) -> EnvelopeSource:
    file = source.path.parent / "apart" / "new.json"
    file.parent.mkdir()
    file.write_bytes(data)
    return opened(file)
