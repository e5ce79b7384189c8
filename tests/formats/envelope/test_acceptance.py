"""The acceptance scenarios, runtime cases and failure cases of the draft, checked by what a person sees.

That two key presses lead from an injected block to its source is walked in `tests/tui/test_envelope_walk`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.revisions.reasons import is_shown_in_part
from ctxview.analysis.tokens import ESTIMATES
from ctxview.cli import main
from ctxview.core.findings import REGISTRY, Severity
from ctxview.core.state import Block, ContextState, Reach
from ctxview.formats import Lens, open_source
from ctxview.formats.envelope.source import EnvelopeSource
from ctxview.samples import samples_folder
from tests.formats.envelope.bundles import named
from tests.formats.envelope.whole_turn import whole_turn

LENS = Lens(ESTIMATES["bytes/4"])
PLANTED = samples_folder() / "envelope" / "planted"
SECRET = "Hedwig Solvang, invoice 2026-0417, call back on 0555 0141 882"
WAY = ("sources", "surface", "selection", "budget", "assembly", "injection")

Json = dict[str, Any]
Change = Callable[[list[Json]], object]


@pytest.fixture
def open_turn(tmp_path: Path) -> Callable[..., EnvelopeSource]:
    """Return a function that opens the whole turn after a change."""

    def opened(change: Change | None = None) -> EnvelopeSource:
        values = whole_turn()
        if change is not None:
            change(values)
        (tmp_path / "turn.json").write_text(json.dumps(values, indent=1))
        source = open_source(tmp_path / "turn.json")
        assert isinstance(source, EnvelopeSource)
        return source

    return opened


def state(source: EnvelopeSource) -> ContextState:
    return source.reading(len(source.revisions) - 1, LENS).state


def rules(source: EnvelopeSource) -> set[str]:
    return {each.rule for each in source.findings(LENS)}


def block(source: EnvelopeSource, name: str) -> Block:
    return next(each for each in state(source).blocks() if each.id == name)


def node_text(source: EnvelopeSource, name: str) -> str:
    flow = state(source).flow
    assert flow is not None
    return next(str(each.text) for each in flow.index.nodes.values() if each.label == name)


def setting(id_: str, **members: Any) -> Change:
    return lambda values: named(values, id_).update(members)


def dropping(id_: str, name: str) -> Change:
    return lambda values: named(values, id_).pop(name)


Open = Callable[..., EnvelopeSource]


# -- the seven acceptance scenarios --------------------------------------------------------------------------


def test_as1_a_turn_is_one_flow_from_eleven_items_to_two_injections(open_turn: Open) -> None:
    source = open_turn()
    flow = state(source).flow
    assert flow is not None
    assert rules(source) == set()
    stages = {stage.name: stage.nodes for stage in flow.stages}
    assert len([each for each in stages["surface"] if each.block]) == 11
    assert [flow.index.passed(*each) for each in pairwise(WAY)] == [11, 11, 7, 7, 7]
    assert len(stages["assembly"]) == len(stages["injection"]) == 2
    budgets = {(each.target, each.unit): (each.used, each.limit) for each in state(source).budgets}
    assert budgets["model", "tokens"] == (540, 600)
    assert budgets["model", "items"] == (6, 6)
    kinds = {each.type for each in state(source).blocks() if each.visible}
    assert {"durable_memory", "knowledge_pack_item", "user_message", "thread"} <= kinds


def test_as2_omitted_items_are_listed_with_their_reason(open_turn: Open) -> None:
    source = open_turn()
    reasons = {
        each.id: each.why for tier in state(source).tiers for each in tier.blocks if each.tier == "omitted"
    }
    assert reasons == {
        "item-extra": "omitted by selection-1: budget_limit",
        "item-wiki": "omitted by selection-1: low_relevance",
    }
    omitted = named(whole_turn(), "selection-1")["omitted_item_refs"]
    assert rules(open_turn(setting("selection-1", omitted_item_refs=omitted[:-1]))) == {"ENV037"}
    bare = [*omitted[:-1], "item-wiki"]
    assert rules(open_turn(setting("selection-1", omitted_item_refs=bare))) == {"ENV038"}


def test_as3_a_compaction_shows_its_sources_its_losses_and_its_refresh_policy(open_turn: Open) -> None:
    source = open_turn()
    text = node_text(source, "compaction-1")
    summary = named(whole_turn(), "summary-1")
    for part in ("item-old-1", "item-old-2", summary["content"], *summary["loss_notes"]):
        assert part in text
    assert "replace_in_model_window" in text
    assert f"refresh: {summary['refresh_policy']}" in text
    assert "2 items, 2,000 → 140 tokens, lost: " in state(source).extra["compaction compaction-1"]
    assert "ENV066" in rules(open_turn(dropping("compaction-1", "loss_notes")))
    lost = open_turn(lambda values: values.remove(named(values, "item-old-2")))
    assert "ENV064" in rules(lost)


def test_as4_an_item_for_the_tool_is_shown_only_to_the_tool(open_turn: Open) -> None:
    reach = block(open_turn(), "item-log").reach
    assert (reach["tool"], reach["model"]) == (Reach.INJECTED, Reach.DENIED)

    def leak(values: list[Json]) -> None:
        named(values, "assembly-model")["ordered_blocks"][1]["item_refs"].append("item-log")

    assert "ENV056" in rules(open_turn(leak))


def test_as5_a_blocking_gap_is_first_with_all_its_facts(open_turn: Open) -> None:
    def block_it(values: list[Json]) -> None:
        values.append({**named(values, "missing-1"), "missing_id": "missing-2", "severity": "blocking"})
        named(values, "ctx-1")["missing_context_refs"].append("missing-2")

    source = open_turn(block_it)
    first = state(source).missing[0]
    assert (first.id, first.severity, first.status) == ("missing-2", "blocking", "requested")
    assert first.blocks == ("publish the package",)
    assert "asked of user-1; may be found in file (pyproject.toml)" in (first.why or "")
    assert rules(source) == {"ENV075"}
    silent = open_turn(setting("missing-1", severity="blocking", blocked_actions=[]))
    assert rules(silent) == {"ENV072", "ENV075"}


def test_as6_a_masked_item_says_how_and_under_which_policy(open_turn: Open) -> None:
    source = open_turn()
    assert "masked" in (block(source, "item-note").state or "")
    assert "(address masked)" in block(source, "item-note").text
    form = block(source, "item-note").form
    assert form is not None
    fields = {each.name: each.value for each in form.fields}
    assert (fields["redaction_method"], fields["policy_refs"]) == ("pattern_mask", ["policy-7"])

    def unmark(values: list[Json]) -> None:
        named(values, "assembly-model")["ordered_blocks"][3]["redaction_state"] = "none"

    assert rules(open_turn(unmark)) == {"ENV080"}
    assert rules(open_turn(setting("item-note", policy_refs=[]))) == {"ENV077"}


def test_as7_an_envelope_names_only_its_runtime_ids(open_turn: Open) -> None:
    source = open_turn()
    facts = state(source).extra
    kinds = ("session", "thread", "turn", "task", "run", "attempt")
    assert [facts[kind] for kind in kinds] == [f"{kind}-1" for kind in kinds]
    assert rules(open_turn(setting("ctx-1", metadata={"turn_status": "completed"}))) == {"ENV020"}


# -- the cases of the runtime profile ------------------------------------------------------------------------


def runtime_without(*kinds: str) -> Change:
    refs = named(whole_turn(), "ctx-1")["runtime_refs"]
    return setting("ctx-1", runtime_refs=[each for each in refs if each["kind"] not in kinds])


@pytest.mark.parametrize("kind", ["session", "thread", "turn"])
def test_id_001_a_turn_keeps_its_session_thread_and_turn(open_turn: Open, kind: str) -> None:
    assert rules(open_turn(runtime_without(kind))) == {"ENV085"}


def test_id_001_a_turn_alone_is_not_enough(open_turn: Open) -> None:
    assert "ENV085" in rules(open_turn(runtime_without("session", "thread")))


def test_sel_001_selected_and_omitted_items_are_together_the_candidates(open_turn: Open) -> None:
    assert len([*state(open_turn()).blocks()]) == 11
    selection = named(whole_turn(), "selection-1")
    left = selection["omitted_item_refs"]
    assert len(selection["selected_item_refs"]) + len(left) == len(selection["candidate_item_refs"])
    assert rules(open_turn(setting("selection-1", omitted_item_refs=[]))) == {"ENV037"}
    unknown = open_turn(dropping("selection-1", "candidate_item_refs"))
    assert rules(unknown).isdisjoint({"ENV034", "ENV035", "ENV037"})


def test_budget_001_a_tight_window_shows_limit_use_strategy_segments_and_cuts(open_turn: Open) -> None:
    cut = {"item_ref": "item-plan", "removed_tokens": 100}
    over = open_turn(setting("budget-model", max_tokens=500))
    assert rules(over) == {"ENV045"}
    source = open_turn(setting("budget-model", max_tokens=500, truncation_records=[cut]))
    assert rules(source) == set()
    budget = next(each for each in state(source).budgets if (each.target, each.unit) == ("model", "tokens"))
    assert (budget.limit, budget.used, budget.over, budget.reserved) == (500, 540, 40, 100)
    assert sum(each.used for each in budget.segments) == 540
    overflow = "summarize_oldest; truncated item-plan (removed tokens 100)"
    assert state(source).extra["overflow of budget-model"] == overflow


def test_the_size_of_an_item_that_was_cut_is_what_got_through(open_turn: Open) -> None:
    whole = next(each for each in state(open_turn()).blocks() if each.id == "item-plan")
    cut = {"item_ref": "item-plan", "removed_tokens": 10}
    found = state(open_turn(setting("budget-model", truncation_records=[cut])))
    block = next(each for each in found.blocks() if each.id == "item-plan")
    assert (whole.tokens or 0) - (block.tokens or 0) == block.cut == 10
    assert block.state is not None
    assert "truncated by 10 tokens" in block.state
    assert is_shown_in_part(block)
    assert not is_shown_in_part(whole)
    assert found.counts.tokens == sum(each.tokens or 0 for each in found.blocks() if each.visible)


def test_asm_001_an_injected_item_leads_to_its_source(open_turn: Open) -> None:
    flow = state(open_turn()).flow
    assert flow is not None
    items = {each.start for each in flow.index.into("context_injection:injection-model")}
    assert "context_item:item-plan" in items
    assert "context_source_ref:source-plan" in {
        each.start for each in flow.index.into("context_item:item-plan")
    }
    assert "ENV062" in rules(open_turn(setting("item-plan", source_refs=[])))


def test_missing_001_a_gap_names_who_was_asked_where_to_look_and_blocked_actions(open_turn: Open) -> None:
    source = open_turn()
    gap = state(source).missing[0]
    assert gap.why == "needed for choosing the syntax; asked of user-1; may be found in file (pyproject.toml)"
    assert gap.blocks == ("publish the package",)
    without_owner = open_turn(dropping("missing-1", "owner"))
    assert {(each.rule, each.severity) for each in without_owner.findings(LENS)} == {
        ("ENV087", Severity.INFO)
    }


def test_compact_001_a_summary_is_shown_as_a_summary_of_its_sources(open_turn: Open) -> None:
    source = open_turn()
    assert block(source, "summary-1").type == "thread"
    assert block(source, "item-old-1").why == "compacted into summary-1 by compaction-1"
    assert "— the summary summary-1 —" in node_text(source, "compaction-1")
    assert "ENV064" in rules(open_turn(setting("compaction-1", source_item_refs=[])))


@pytest.mark.parametrize(
    "command",
    [
        ["show"],
        ["show", "--json"],
        ["check"],
        ["check", "--format", "json"],
        ["check", "--format", "sarif"],
        ["check", "--format", "github"],
        ["diff", "--at", "attempt-1 of ctx-handoff", "ctx-handoff"],
    ],
    ids=" ".join,
)
def test_policy_001_masked_content_is_never_printed(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main([command[0], str(PLANTED), *command[1:]])
    printed = "".join(capsys.readouterr())
    assert "item-report" in printed
    assert not [part for part in SECRET.split(", ") if part in printed]


def test_policy_001_the_reason_and_the_policy_of_a_redaction_are_shown(open_turn: Open) -> None:
    assert rules(open_turn(dropping("item-note", "redaction_reason"))) == {"ENV077"}
    removed = open_turn(setting("item-note", redaction_state="removed"))
    assert block(removed, "item-note").text == "[withheld: removed by policy-7]"
    assert "ENV078" in rules(removed)


def test_evid_001_reports_cite_ids_and_evidence_copies_nothing(
    open_turn: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = named(whole_turn(), "item-goal")["content"]
    copied = open_turn(setting("ctx-1", evidence_refs=[{"id": "evidence-1", "note": goal}]))
    assert rules(copied) == {"ENV086"}
    main(["check", str(copied.path), "--format", "sarif"])
    printed = capsys.readouterr().out
    assert "item-goal" in printed
    assert goal not in printed
    cited = open_turn(setting("ctx-1", evidence_refs=[{"id": "evidence-1", "cites": ["item-goal"]}]))
    assert rules(cited) == set()


@pytest.mark.parametrize("type_", ["turn.completed", "task.failed", "tool.succeeded", "permission.granted"])
def test_gov_001_an_event_of_the_runtime_is_not_a_context_event(open_turn: Open, type_: str) -> None:
    found = open_turn(setting("event-1", event_type=type_)).findings(LENS)
    assert [(each.rule, each.severity) for each in found] == [("ENV020", Severity.ERROR)]


@pytest.mark.parametrize("key", ["task_status", "toolSucceeded", "permission_granted", "policy_decision"])
@pytest.mark.parametrize("record", ["ctx-1", "item-plan", "selection-1", "injection-model", "event-1"])
def test_gov_001_no_record_states_an_outcome(open_turn: Open, record: str, key: str) -> None:
    assert rules(open_turn(setting(record, metadata={key: "yes"}))) == {"ENV020"}


# -- the five failure cases ----------------------------------------------------------------------------------


def test_fc1_a_context_event_does_not_end_a_turn(open_turn: Open) -> None:
    assert rules(open_turn(setting("event-12", event_type="turn.ended"))) == {"ENV020"}


def test_fc2_a_gap_is_not_an_approval(open_turn: Open) -> None:
    assert "ENV076" in rules(open_turn(setting("missing-1", metadata={"approved": True})))


def test_fc3_a_summary_as_the_answer_cannot_be_checked(open_turn: Open) -> None:
    rule = REGISTRY["ENV071"]
    assert "this cannot be checked" in (rule.check.__doc__ or "")
    assert "ENV071" not in rules(open_turn(setting("summary-1", summary_kind="final answer")))


def test_fc4_an_event_of_another_turn_is_reported(open_turn: Open) -> None:
    assert rules(open_turn(setting("event-12", turn_id="turn-9"))) == {"ENV084"}
    assert "ENV085" in rules(open_turn(dropping("selection-1", "run_id")))


def test_fc5_redacted_content_does_not_return_in_a_summary(open_turn: Open) -> None:
    sources = ["item-old-1", "item-note"]

    def summarise(values: list[Json]) -> None:
        named(values, "compaction-1")["source_item_refs"] = sources
        named(values, "summary-1")["source_item_refs"] = sources

    assert "ENV070" in rules(open_turn(summarise))

    def repeat(values: list[Json]) -> None:
        named(values, "item-note")["metadata"] = {"raw": "Ada, 12 Orchard Row"}
        named(values, "summary-1")["content"] += " The report goes to Ada, 12 Orchard Row."

    source = open_turn(repeat)
    assert {"ENV078", "ENV081"} <= rules(source)
    assert "Orchard" not in block(source, "summary-1").text
