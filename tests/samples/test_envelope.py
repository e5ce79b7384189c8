"""The bundled envelopes: a handoff with correct sizes and hashes, and the same with twelve planted faults."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES, exact_counter
from ctxview.core.findings import Finding
from ctxview.core.state import Block, ContextState, Reach, RefStatus
from ctxview.formats import Lens, open_source
from ctxview.formats.envelope.parser import kind_of
from ctxview.formats.envelope.vocabulary import OWN_ID
from ctxview.reports.json_output import state_as_json
from ctxview.samples import samples_folder

SAMPLES = samples_folder() / "envelope"
HANDOFF = SAMPLES / "handoff"
PLANTED = SAMPLES / "planted"
LENS = Lens(ESTIMATES["bytes/4"])
OPEN_GAP = ("gap-senders", "ENV075")
"""The finding of both bundles: a blocking gap is open."""
HIDDEN = ("Hedwig Solvang", "2026-0417", "0555 0141 882")
"""The redacted words of the report; the planted bundle still has them."""

# Every planted fault: its description, the record of its finding, and the rule.
FAULTS = (
    ("a misspelt source", "item-guide", "ENV012"),
    ("a context record says that the task is done", "ctx-handoff", "ENV020"),
    ("injected before it was assembled", "injection-pytest", "ENV021"),
    ("a file that was altered", "source-ci", "ENV030"),
    ("left out without a reason", "selection-2", "ENV038"),
    ("two items counted, one assembled", "budget-tool", "ENV046"),
    ("shown to a target that may not see it", "assembly-sable", "ENV056"),
    ("three items covered of two", "compaction-hunt", "ENV067"),
    ("blocking, but blocks nothing", "gap-senders", "ENV072"),
    ("the redacted text is beside the mask", "item-report", "ENV078"),
    ("a masked text in an unmarked block", "assembly-sable", "ENV080"),
    ("an event of an unknown attempt", "event-19", "ENV084"),
)

Record = dict[str, Any]


def records(sample: Path) -> dict[str, Record]:
    values: list[Record] = json.loads((sample / f"{sample.name}.json").read_bytes())
    return {own_id(each): each for each in values}


def own_id(value: Record) -> str:
    kind = kind_of(value)
    assert kind is not None
    return str(value[OWN_ID[kind]])


def state(sample: Path, revision: int = -1, lens: Lens = LENS) -> ContextState:
    source = open_source(sample)
    return source.reading(revision % len(source.revisions), lens).state


def findings_by_record(sample: Path) -> list[tuple[str, str]]:
    """The record and the rule of each finding."""
    values = list(records(sample))
    return [(values[_record_index(each)], each.rule) for each in open_source(sample).findings(LENS)]


def _record_index(finding: Finding) -> int:
    return int((finding.origin.pointer or "").split("/")[1])


def block(state_: ContextState, name: str) -> Block:
    return next(each for each in state_.blocks() if each.id == name)


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def content(item: Record) -> bytes:
    """The content of an item or a summary, inline or in a file."""
    if "content_ref" in item:
        return (HANDOFF / item["content_ref"]).read_bytes()
    return str(item["content"]).encode()


def shown_in(block_: Record) -> bytes:
    """The text that a block shows to the target: its item, without the truncated end."""
    (name,) = block_["item_refs"]
    text = content(records(HANDOFF)[name])
    cuts = {each["item_ref"]: each for each in records(HANDOFF)["budget-model"]["truncation_records"]}
    return text[: -cuts[name]["bytes_removed"]] if name in cuts else text


@pytest.mark.parametrize("sample", [HANDOFF, PLANTED], ids=lambda path: path.name)
def test_reading_and_checking_a_sample_changes_nothing(sample: Path) -> None:
    before = {file: file.read_bytes() for file in sample.rglob("*") if file.is_file()}
    source = open_source(sample)

    readings = [source.reading(index, LENS) for index in range(len(source.revisions))]
    source.findings(LENS)

    assert len(readings) == 3
    assert {file: file.read_bytes() for file in sample.rglob("*") if file.is_file()} == before


# -- the story ---------------------------------------------------------------------------------------


def test_the_handoff_is_clean_but_for_its_open_gap() -> None:
    assert findings_by_record(HANDOFF) == [OPEN_GAP]


def test_of_five_candidates_three_were_chosen_and_two_left_out_with_reasons() -> None:
    selection = records(HANDOFF)["selection-2"]
    reasons = {each["item_ref"]: each["reason"] for each in selection["omitted_item_refs"]}

    assert len(selection["candidate_item_refs"]) == 5
    assert selection["selected_item_refs"] == ["item-patch", "item-report", "item-rerun"]
    assert reasons == {"item-ci-runs": "budget_limit", "item-guide": "low_relevance"}


def test_every_item_is_in_the_tier_of_its_outcome() -> None:
    tiers = {tier.name: [each.id for each in tier.blocks] for tier in state(HANDOFF).tiers if tier.blocks}

    assert tiers == {
        "injected": ["item-patch", "item-report", "item-rerun", "summary-hunt"],
        "selected": ["item-guide"],
        "omitted": ["item-ci-runs"],
        "compacted": ["item-hunt-1", "item-hunt-2"],
    }


def test_the_recipe_is_for_the_tool_alone_and_the_model_reads_the_rest_in_order() -> None:
    handoff = state(HANDOFF)

    assert block(handoff, "item-rerun").reach["tool"] is Reach.INJECTED
    assert block(handoff, "item-rerun").reach["model"] is Reach.DENIED
    order = sorted((each.rank, each.id) for each in handoff.blocks() if each.rank is not None)
    assert [name for _, name in order] == ["summary-hunt", "item-patch", "item-report"]


def test_the_first_attempt_omitted_the_report() -> None:
    source = open_source(HANDOFF)
    assert [each.label for each in source.revisions] == [
        "attempt-1 of ctx-handoff",
        "attempt-2 of ctx-handoff",
        "ctx-handoff",
    ]
    first = state(HANDOFF, 0)
    assert block(first, "item-report").tier == "omitted"
    assert "permission_missing" in block(first, "item-report").why
    assert block(state(HANDOFF, 1), "item-report").tier == "injected"


def test_later_records_cause_no_findings_in_an_earlier_attempt() -> None:
    first = open_source(HANDOFF).reading(0, LENS)
    assert [each.rule for each in first.findings] == ["ENV075"]
    assert {each.status for each in first.state.refs} == {RefStatus.RESOLVED, RefStatus.EXTERNAL}
    assert first.state.budgets == ()


def test_the_blocking_gap_comes_before_the_omitted_item() -> None:
    gaps = state(HANDOFF).missing

    assert [(each.id, each.severity) for each in gaps] == [
        ("gap-senders", "blocking"),
        ("item-ci-runs", "high"),
    ]
    assert gaps[0].blocks == ("say that the patch is good", "merge it into main")


def test_the_flow_counts_the_items_of_the_last_attempt() -> None:
    flow = state(HANDOFF).flow
    assert flow is not None
    stages = ("sources", "surface", "selection", "budget", "assembly", "injection", "evidence")
    assert [flow.index.passed(*each) for each in pairwise(stages)] == [8, 5, 3, 4, 4, 4]


def test_an_item_omitted_by_a_later_attempt_names_both_selections() -> None:
    reason = "selected by selection-1, but omitted by selection-2: low_relevance"
    assert block(state(HANDOFF), "item-guide").why == reason


def test_a_block_with_its_text_in_a_file_names_the_file() -> None:
    flow = state(HANDOFF).flow
    assert flow is not None
    text = next(str(each.text) for each in flow.index.nodes.values() if each.label == "injection-sable")
    assert "The patch: the sender is handed a clock [content at content/fix.patch]" in text


def test_every_step_has_an_event_and_times_never_decrease() -> None:
    found = records(HANDOFF)
    events = [each for each in found.values() if "event_id" in each]
    steps = {
        name
        for name, each in found.items()
        if any(
            f"{kind}_id" in each for kind in ("selection", "compaction", "assembly", "injection", "budget")
        )
    }

    assert steps | {"surface-handoff", "summary-hunt", "gap-senders", "item-report", "ctx-handoff"} <= {
        each["subject"] for each in events
    }
    times = [each["time"] for each in events]
    assert times == sorted(times)


# -- sizes and hashes -------------------------------------------------------------------------------


def test_sizes_tokens_and_digests_are_those_of_the_texts() -> None:
    counter = exact_counter()
    items = [each for each in records(HANDOFF).values() if "item_id" in each and "event_id" not in each]

    assert counter.exact
    for each in items:
        text = content(each)
        assert (each["byte_size"], each["token_estimate"]) == (len(text), counter.count(text.decode()))
        if each["redaction_state"] == "none":
            (source,) = each["source_refs"]
            assert records(HANDOFF)[source]["digest"] == each.get("digest", sha256(text)) == sha256(text)


def test_the_injected_text_equals_the_assembled_blocks() -> None:
    found, counter = records(HANDOFF), exact_counter()
    for target, name in (("sable", "budget-model"), ("pytest", "budget-tool")):
        blocks = found[f"assembly-{target}"]["ordered_blocks"]
        texts = [shown_in(each) for each in blocks]
        tokens = [counter.count(each.decode()) for each in texts]

        assert [each["hash"] for each in blocks] == [sha256(each) for each in texts]
        assert [each["token_estimate"] for each in blocks] == tokens
        assert found[f"injection-{target}"]["hash"] == sha256(b"\n\n".join(texts))
        assert found[name]["actual_tokens"] == sum(tokens)
        assert found[name]["actual_bytes"] == sum(map(len, texts))
        segments = [each["actual_tokens"] for each in found[name]["window_segments"]]
        assert [each for each in segments if each] == tokens
    prompt = (HANDOFF / found["injection-sable"]["final_ref"]).read_bytes()
    assert found["injection-sable"]["hash"] == sha256(prompt)


def test_the_summary_is_as_much_shorter_as_it_says() -> None:
    found, counter = records(HANDOFF), exact_counter()
    coverage = found["compaction-hunt"]["coverage"]
    sources = [content(found[name]).decode() for name in found["compaction-hunt"]["source_item_refs"]]

    assert coverage["estimated_tokens_before"] == sum(map(counter.count, sources))
    assert coverage["estimated_tokens_after"] == counter.count(found["summary-hunt"]["content"])
    assert coverage == found["summary-hunt"]["coverage"]


def test_no_reference_of_the_handoff_is_broken() -> None:
    statuses = {each.status for each in state(HANDOFF).refs}
    assert statuses == {RefStatus.RESOLVED, RefStatus.EXTERNAL}


# -- the planted faults ------------------------------------------------------------------------------


def test_every_planted_fault_is_found_by_its_own_rule_and_nothing_else_is() -> None:
    planted = [(where, rule) for _, where, rule in FAULTS]

    assert sorted(findings_by_record(PLANTED)) == sorted([*planted, OPEN_GAP])
    assert len({rule for _, rule in planted}) == len(planted) == 12


def test_the_readme_lists_the_planted_faults() -> None:
    readme = (samples_folder() / "README.md").read_text()
    rows = [line.split("|") for line in readme.splitlines() if line.startswith("| ENV")]

    assert [(row[2].strip(" `"), row[1].strip()) for row in rows] == [
        (where, rule) for _, where, rule in FAULTS
    ]


def test_the_planted_story_is_otherwise_the_same() -> None:
    clean, faulty = records(HANDOFF), records(PLANTED)
    differ = {name for name in clean if clean[name] != faulty[name]}

    # The file of source-ci was altered, not its record; the patch is what the assembly may not show.
    assert differ == {where for _, where, _ in FAULTS} - {"source-ci"} | {"item-patch"}


def test_redacted_words_are_in_no_state_and_no_message() -> None:
    source = open_source(PLANTED)
    redactor = source.abilities.redactor
    assert redactor is not None
    data = (PLANTED / "planted.json").read_bytes()
    for start, end in reversed(redactor.withheld(str(PLANTED / "planted.json"))):
        data = data[:start] + data[end:]
    views = [
        json.dumps(state_as_json(source.reading(index, LENS).state)) for index in range(len(source.revisions))
    ]
    messages = " ".join(each.message for each in source.findings(LENS))

    assert not [word for word in HIDDEN for text in (*views, messages, data.decode()) if word in text]
