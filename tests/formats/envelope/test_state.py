"""The state of an envelope: tiers, reach, budgets, references, gaps, timeline and flow."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.state import Block, Budget, ContextState, Gap, Reach, Ref, RefStatus
from ctxview.formats import Lens
from ctxview.formats.envelope.source import open_envelopes
from ctxview.formats.peek import Peek
from ctxview.reports.json_output import state_as_json
from tests.formats.envelope import builders as b

LENS = Lens(ESTIMATES["bytes/4"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def state(folder: Path, records: list[b.Members], revision: int = -1) -> ContextState:
    source = open_envelopes(Peek(b.write(folder, b.as_array(records))))
    return source.reading(revision % len(source.revisions), LENS).state


def block(result: ContextState, name: str) -> Block:
    return next(each for each in result.blocks() if each.id == name)


def ref(result: ContextState, name: str, kind: str | None = None) -> Ref:
    return next(each for each in result.refs if each.id == name and kind in (None, each.kind))


def gap(result: ContextState, name: str) -> Gap:
    return next(each for each in result.missing if each.id == name)


def budget(result: ContextState, target: str, unit: str = "tokens") -> Budget:
    return next(each for each in result.budgets if (each.target, each.unit) == (target, unit))


# -- tiers -------------------------------------------------------------------------------------------------


def test_items_are_in_the_tier_of_their_outcome(folder: Path) -> None:
    tiers = {
        tier.name: [each.id for each in tier.blocks] for tier in state(folder, b.turn()).tiers if tier.blocks
    }
    assert tiers == {
        "injected": ["talk", "key", "tool", "sum-1"],
        "omitted": ["wiki", "chart"],
        "compacted": ["old-1", "old-2"],
    }


def test_a_block_says_whether_the_model_is_shown_it_and_why_not(folder: Path) -> None:
    result = state(folder, b.turn())
    assert {each.id: each.rank for each in result.blocks() if each.visible} == {
        "key": 0,
        "sum-1": 1,
        "talk": 2,
    }
    reasons = {each.id: each.why for each in result.blocks() if not each.visible}
    assert reasons == {
        "tool": "injected for tool, not for the model",
        "wiki": "omitted by sel-1: low_relevance",
        "chart": "omitted by sel-1: budget_limit",
        "old-1": "compacted into sum-1 by cmp-1",
        "old-2": "compacted into sum-1 by cmp-1",
    }


@pytest.mark.parametrize(
    ("records", "reason"),
    [
        ([b.selection(["a"], {})], "selected by sel-1, but in no assembly"),
        ([b.assembly([["a"]])], "assembled for model; no injection is recorded"),
        ([b.assembly([["a"]], target="ui")], "assembled for ui; no injection is recorded"),
        ([b.surface(["a"])], "available, and no selection considered it"),
        (
            [b.selection([], {}, candidate_item_refs=["a"])],
            "a candidate of sel-1, neither selected nor omitted",
        ),
        ([b.selection([], {}, omitted_item_refs=["a"])], "omitted by sel-1: no reason given"),
        ([], "on no surface"),
    ],
)
def test_every_hidden_item_has_its_reason(folder: Path, records: list[b.Members], reason: str) -> None:
    found = block(state(folder, [b.envelope(), b.item("a"), *records]), "a")
    assert (found.visible, found.why) == (False, reason)


def test_without_an_envelope_or_an_injection_visibility_is_unknown(folder: Path) -> None:
    assert block(state(folder, [b.item("a")]), "a").visible is None


def test_the_reach_of_an_item_differs_by_target(folder: Path) -> None:
    result = state(folder, [*b.turn(), b.assembly([["wiki"]], "asm-9", "robot")])
    assert block(result, "talk").reach["model"] is Reach.INJECTED
    assert block(result, "talk").reach["ui"] is Reach.ALLOWED
    assert block(result, "talk").reach["tool"] is Reach.DENIED
    assert block(result, "tool").reach["tool"] is Reach.INJECTED
    assert block(result, "wiki").reach["robot"] is Reach.ASSEMBLED
    assert block(result, "sum-1").reach["ui"] is Reach.UNKNOWN
    assert len(block(result, "talk").reach) == 9


def test_tokens_are_counted_from_content_and_else_taken_from_the_record(folder: Path) -> None:
    here = b.item("here", "x" * 40, token_estimate=999)
    away = b.item("away", None, content_mode="ref", content_ref="vault://1", token_estimate=70)
    result = state(folder, [b.envelope(), here, away, b.assembly([["here", "away"]]), b.injection()])
    assert (block(result, "here").tokens, block(result, "away").tokens) == (10, 70)
    assert "tokens as recorded" in block(result, "away").tags
    assert (result.counts.tokens_exact, result.counts.estimator) == (False, "bytes/4 and recorded")
    assert "content at vault://1" in block(result, "away").text


@pytest.mark.parametrize("figures", [{"tokens_before": 10, "tokens_after": 4}, {"removed_tokens": 6}])
def test_truncated_tokens_are_not_counted(folder: Path, figures: dict[str, int]) -> None:
    cut = {"item_ref": "a", **figures}
    limited = b.budget(
        max_tokens=9,
        actual_tokens=4,
        truncation_records=[cut],
        window_segments=[
            {"segment_id": "s", "actual_tokens": 4, "item_refs": ["a"], "truncation_records": [cut]}
        ],
    )
    result = state(folder, [b.envelope(), b.item("a", "x" * 40), limited, b.assembly([["a"]]), b.injection()])
    assert (result.counts.tokens, result.counts.estimator) == (4, "bytes/4 and recorded")
    assert (result.budgets[0].used, result.budgets[0].cut) == (4, 6)


def test_a_second_record_of_one_id_is_shown_as_a_duplicate(folder: Path) -> None:
    result = state(
        folder, [b.envelope(), b.item("a", "one"), b.item("a", "two"), b.assembly([["a"]]), b.injection()]
    )
    assert [(each.text, each.visible) for each in result.blocks()] == [("one", True), ("two", None)]


def test_an_item_that_is_only_named_is_shown_without_content(folder: Path) -> None:
    found = block(state(folder, [b.envelope(), b.selection([], {"ghost": "stale"})]), "ghost")
    assert found.text == ""
    assert found.state == "omitted, no record of it"
    assert found.origin.pointer == "/1/omitted_item_refs/0"


def test_trust_sensitivity_and_freshness_are_tags(folder: Path) -> None:
    more = {"trust_level": "high", "sensitivity": "private", "freshness": {"state": "stale"}}
    found = block(state(folder, [b.item("a", **more)]), "a")
    assert found.tags == ("trust high", "sensitivity private", "freshness stale")


# -- budgets -----------------------------------------------------------------------------------------------


def test_a_budget_has_its_segments_its_reserve_and_says_that_its_figures_are_recorded(folder: Path) -> None:
    result = state(folder, b.turn())
    found = budget(result, "model")
    assert (found.limit, found.used, found.reserved, found.over) == (600, 480, 100, 0)
    assert [(each.name, each.used, each.exact, each.estimator) for each in found.segments] == [
        ("system seg-1", 80, False, "recorded"),
        ("user seg-2", 400, False, "recorded"),
    ]
    assert result.extra["overflow of bud-1"] == "truncate_tail; truncated talk (removed tokens 12)"


def test_budgets_in_bytes_and_items_are_shown_beside_those_in_tokens(folder: Path) -> None:
    one = b.budget("bud-1", "tool", max_bytes=100, actual_bytes=120, max_items=1, actual_items=1)
    result = state(folder, [one, b.item("a"), b.assembly([["a"]], target="tool", budget_ref="bud-1")])
    assert budget(result, "tool", "bytes").over == 20
    assert budget(result, "tool", "items").segments[0].exact is True


def test_without_segments_the_blocks_of_the_assemblies_are_the_parts(folder: Path) -> None:
    made = b.assembly([["a"], ["b"]], budget_ref="bud-1")
    blocks = made["ordered_blocks"]
    assert isinstance(blocks, list)
    assert isinstance(blocks[0], dict)
    blocks[0]["token_estimate"] = 7
    result = state(folder, [b.budget(max_tokens=50), made, b.item("a", "x" * 8), b.item("b", "y" * 8)])
    found = budget(result, "model")
    assert [(each.name, each.used, each.estimator) for each in found.segments] == [
        ("asm-1-b0", 7, "recorded"),
        ("asm-1-b1", 2, "bytes/4"),
    ]
    assert found.used == 9


def test_two_budgets_for_one_target_are_labelled_with_their_ids(folder: Path) -> None:
    result = state(folder, [b.budget("one", max_tokens=1), b.budget("two", max_tokens=2)])
    assert [each.target for each in result.budgets] == ["model (one)", "model (two)"]


def test_a_window_without_a_budget_and_an_assembly_without_either_are_shown(folder: Path) -> None:
    window = {"window_id": "w", "target": "ui", "window_segments": [{"segment_id": "s", "actual_tokens": 5}]}
    result = state(folder, [window, b.assembly([["a"]], target="tool"), b.item("a", "x" * 8)])
    assert [(each.target, each.limit, each.used) for each in result.budgets] == [
        ("ui", None, 5),
        ("tool", None, 2),
    ]


# -- references --------------------------------------------------------------------------------------------


def test_references_are_resolved_external_broken_or_nameless(folder: Path) -> None:
    records = [*b.turn(), b.item("lonely", source_refs=["nowhere", {"kind": "?"}])]
    result = state(folder, records)
    assert ref(result, "talk").status is RefStatus.RESOLVED
    assert ref(result, "talk").used_by == ("ctx-1", "surf-1", "sel-1", "bud-1", "asm-1")
    assert ref(result, "talk").text == "Who has the key?"
    assert ref(result, "evidence://pack-7").status is RefStatus.EXTERNAL
    assert ref(result, "src-talk", "uri").status is RefStatus.EXTERNAL
    assert ref(result, "nowhere").status is RefStatus.DANGLING
    assert ref(result, "nowhere").used_by == ("lonely",)
    assert ref(result, "?").status is RefStatus.DANGLING
    assert ref(result, "lonely").status is RefStatus.ORPHAN


def test_an_embedded_record_is_resolved_and_its_kind_says_so(folder: Path) -> None:
    result = state(folder, [b.envelope(item_refs=[b.item("a")])])
    assert (ref(result, "a").kind, ref(result, "a").status) == ("item, embedded", RefStatus.RESOLVED)


def test_sibling_files_are_shown_and_compared_with_their_digest(folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes/plan.md").write_text("climb the stairs")
    good = f"sha256:{hashlib.sha256(b'climb the stairs').hexdigest()}"
    records = [
        b.envelope(item_refs=["a"]),
        b.item(
            "a", None, content_mode="ref", content_ref="notes/plan.md", source_refs=["one", "two", "three"]
        ),
        b.source("one", uri="notes/plan.md", digest=good),
        b.source("two", uri="file:notes/plan.md", digest=f"sha256:{'0' * 64}"),
        b.source("three", uri="./notes/plan.md", digest="sha256:example"),
    ]
    result = state(folder, records)
    assert ref(result, "notes/plan.md").text == "climb the stairs"
    statuses = [ref(result, name, "uri").status for name in ("one", "two", "three")]
    assert statuses == [RefStatus.RESOLVED, RefStatus.MISMATCH, RefStatus.RESOLVED]


@pytest.mark.parametrize(
    "uri", ["../secret.md", "/etc/hostname", "link.md", "https://x.example/a", "file:///etc/hostname"]
)
def test_references_that_leave_the_folder_are_not_followed(folder: Path, uri: str) -> None:
    (folder / "secret.md").write_text("outside")
    inside = folder / "inside"
    inside.mkdir()
    (inside / "link.md").symlink_to(folder / "secret.md")
    result = state(
        inside, [b.envelope(), b.source("s", uri=uri), b.item("a", None, content_ref=uri, source_refs=["s"])]
    )
    assert ref(result, "s", "uri").status is RefStatus.EXTERNAL
    assert ref(result, uri, "content").status is RefStatus.EXTERNAL
    assert all(each.text is None or "outside" not in each.text for each in result.refs)


# -- gaps and blocked actions ------------------------------------------------------------------------------


def test_gaps_come_by_severity_the_open_ones_first(folder: Path) -> None:
    records = [
        b.missing("low", severity="low"),
        b.missing("done", severity="blocking", status="resolved"),
        b.missing("odd", severity="dire"),
        b.missing("worst"),
        b.missing("high", severity="high", status="requested"),
    ]
    assert [each.id for each in state(folder, records).missing] == ["worst", "high", "low", "odd", "done"]


def test_a_gap_names_who_was_asked_where_to_look_and_what_it_blocks(folder: Path) -> None:
    found = gap(state(folder, b.turn()), "gap-1")
    assert (found.severity, found.status, found.blocks) == ("blocking", "open", ("open the lamp room",))
    assert found.why == "asked of user://keeper; may be found in file (the key book)"


def test_omissions_that_scored_as_high_as_a_selected_item_are_gaps(folder: Path) -> None:
    found = [each for each in state(folder, b.turn()).missing if each.status == "omitted"]
    assert [each.id for each in found] == ["chart"]
    assert "it scored 0.95; the lowest selected item scored 0.9" in found[0].why


def test_a_pinned_omission_is_a_gap_and_a_duplicate_is_not(folder: Path) -> None:
    pins = {"a": {"user_pin": 1}, "b": {"user_pin": 1}}
    chosen = b.selection([], {"a": "stale", "b": "duplicate"}, ranking_signals=pins)
    assert [each.id for each in state(folder, [chosen, b.item("a"), b.item("b")]).missing] == ["a"]


def test_unreadable_parts_come_before_all_gaps(folder: Path) -> None:
    path = b.write(folder, {"x.jsonl": b'{"missing_id": "m", "question": "?"}\n{"item_id"\n[]\n'})
    source = open_envelopes(Peek(path))
    missing = source.reading(0, LENS).state.missing
    assert [(each.id, each.status) for each in missing[:2]] == [
        ("line 2", "unreadable"),
        ("line 3", "unreadable"),
    ]
    assert missing[2].id == "m"


def test_blocked_actions_of_open_gaps_are_the_todo(folder: Path) -> None:
    closed = b.missing("gap-2", status="resolved", blocked_actions=["sleep"])
    todo = state(folder, [*b.turn(), closed]).todo
    assert todo is not None
    assert todo.summary == "1 action blocked by 1 open gap"
    assert [(each.title, each.status) for each in todo.items] == [
        ("open the lamp room (waits for gap-1)", "blocked")
    ]
    assert state(folder, [b.item("a")]).todo is None


# -- timeline and attempts ---------------------------------------------------------------------------------


def test_events_come_in_order_of_time_with_the_envelope_among_them(folder: Path) -> None:
    late = b.event("ev-0", "context.item.added", 1, time="2026-05-11T12:03:00+02:00", subject="a")
    timeline = state(folder, [late, b.event("ev-9", "odd", 0, time="soon"), *b.turn()]).timeline
    assert [each.label for each in timeline] == [
        "surface.created · surf-1",
        "selection.completed · sel-1",
        "item.added · a",
        "injection.applied · inj-1",
        "ctx-1 · injected",
        "odd · ev-9",
    ]


def test_each_attempt_is_shown_as_it_was(folder: Path) -> None:
    records = [
        b.envelope(),
        b.item("a"),
        b.selection(["a"], {}, "sel-1", attempt_id="1", created_at=b.at(2)),
        b.selection([], {"a": "stale"}, "sel-2", attempt_id="2", created_at=b.at(4)),
    ]
    first, last = state(folder, records, 0), state(folder, records)
    assert (block(first, "a").state, block(last, "a").state) == ("selected", "selected, omitted")
    assert block(first, "a").form is None
    assert block(last, "a").form is not None


# -- flow --------------------------------------------------------------------------------------------------


def test_the_flow_has_the_stages_of_the_draft_and_counts_items(folder: Path) -> None:
    flow = state(folder, b.turn()).flow
    assert flow is not None
    assert [(each.name, each.branch_of) for each in flow.stages] == [
        ("sources", None),
        ("surface", None),
        ("selection", None),
        ("missing", "selection"),
        ("budget", None),
        ("compaction", "budget"),
        ("assembly", None),
        ("injection", None),
        ("events", "injection"),
        ("evidence", None),
    ]
    assert flow.index.passed("surface", "selection") == 7
    assert flow.index.passed("selection", "budget") == 4
    assert flow.index.passed("budget", "assembly") == 3
    assert flow.index.passed("assembly", "injection") == 4
    assert [each.label for each in flow.index.into("context_budget:bud-1")] == [
        "3 items left out: wiki, chart, old-1"
    ]


def test_from_an_injected_block_two_steps_lead_to_the_item_and_its_source(folder: Path) -> None:
    result = state(folder, b.turn())
    assert result.flow is not None
    item = next(each for each in result.flow.index.nodes.values() if each.block == "talk")
    assert item.text == "Who has the key?"
    assert [each.start for each in result.flow.index.into(item.id)] == ["context_source_ref:src-talk"]
    assert item.id in {each.start for each in result.flow.index.into("context_injection:inj-1")}


def test_every_link_joins_two_nodes_and_no_two_nodes_share_an_id(folder: Path) -> None:
    records = [*b.turn(), *b.turn()[1:9], b.source("talk"), b.selection(["ghost"], {}, "sel-9")]
    flow = state(folder, records).flow
    assert flow is not None
    names = [each.id for each in flow.index.nodes.values()]
    assert len(names) == len(set(names))
    assert {end for link in flow.links for end in (link.start, link.end)} <= set(names)


def test_a_compaction_is_read_with_its_summary_and_what_was_lost(folder: Path) -> None:
    flow = state(folder, b.turn()).flow
    assert flow is not None
    node = flow.index.nodes.get("context_compaction:cmp-1")
    assert node is not None
    assert "2,000 → 140 tokens, lost: the wind" in node.detail
    assert "A storm, and a late boat." in str(node.text)


def test_the_printed_json_has_exactly_the_keys_of_its_contract(folder: Path) -> None:
    printed = json.loads(json.dumps(state_as_json(state(folder, b.turn()))))
    assert sorted(printed) == sorted(
        [
            "format",
            "title",
            "source",
            "revision",
            "tiers",
            "todo",
            "budget",
            "refs",
            "missing",
            "timeline",
            "counts",
            "assembly",
            "transcript",
        ]
    )
    assert printed["format"] == "envelope"
