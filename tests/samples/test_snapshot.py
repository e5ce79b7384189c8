"""The bundled snapshots: the good ones are clean, and each broken one has the findings of its name."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Severity
from ctxview.core.origin import JsonValue
from ctxview.core.state import RefStatus
from ctxview.formats import Lens, Source, open_source
from ctxview.formats.snapshot.model import TIERS, Snapshot
from ctxview.formats.snapshot.parser import parse_file
from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.runtime.merge import MergeResult, merge
from ctxview.formats.snapshot.runtime.merge_fields import MergeEffect
from ctxview.samples import ABOUT, sample_paths, samples_folder

SNAPSHOTS = samples_folder() / "snapshot"
NIGHT = SNAPSHOTS / "lighthouse"
WORKSPACE = SNAPSHOTS / "agent-workspace"
BROKEN = SNAPSHOTS / "broken"
LENS = Lens(ESTIMATES["bytes/3"])

# The findings of each broken file when it is opened alone.
EXPECTED = {
    "bad-blocks.json": "SNP014 SNP015 SNP016 SNP017 SNP018 SNP019 SNP020",
    "bad-runtime.json": "SNP013",
    "bad-todo.json": "SNP028 SNP029 SNP030",
    "bidi.json": "TXT002 TXT003 TXT005",
    "bom.json": "JSN004",
    "commented-json.txt": "SNP006",
    "deep.json": "JSN006 SNP034",
    "duplicate-keys.json": "JSN002",
    "empty.txt": "RAW001",
    "escape-sequences.json": "TXT001",
    "fenced-json.txt": "SNP006",
    "forged-tag-ref.json": "SNP026",
    "list-instead-of-object.txt": "SNP005",
    "nan.txt": "SNP002",
    "near-miss-separator.txt": "SNP001 SNP007",
    "no-separator.txt": "RAW001",
    "not-utf8.txt": "SNP002",
    "numbers-too-big.txt": "SNP009",
    "quoted-separator.txt": "SNP004",
    "secret.json": "SEC001 SEC002 SEC006",
    "trailing-comma.txt": "SNP002",
    "trailing-text.txt": "SNP003",
    "truncated.txt": "SNP002",
    "two-separators.txt": "SNP004",
    "v1.2.txt": "SNP011",
    "v2.1.json": "SNP011",
    "wiped-tier.received.json": "",
    "wiped-tier.reply.txt": "SNP029",
    "wrong-counts.log.json": "SNP033 SNP036 SNP037 SNP039",
}

# The findings of the night beside its one careless reply: hidden blocks, one reopened, one in two tiers.
EXPECTED_WARNINGS = {"SNP020", "SNP021", "SNP022", "SNP025", "SNP046", "SNP047"}


def test_every_sample_has_a_description() -> None:
    assert {path.name for path in sample_paths()} == ABOUT.keys()


def rules_by_file(source: Source, severity: Severity | None = None) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for finding in source.findings(LENS):
        if severity in (None, finding.severity):
            found[Path(finding.origin.file).name].add(finding.rule)
    return dict(found)


def files_below(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}


@pytest.mark.parametrize("path", [NIGHT, WORKSPACE, BROKEN], ids=lambda path: path.name)
def test_every_revision_of_a_sample_can_be_read_and_reading_changes_nothing(path: Path) -> None:
    before = files_below(path)
    source = open_source(path)

    readings = [source.reading(index, LENS) for index in range(len(source.revisions))]
    source.findings(LENS)

    assert len(readings) > 1
    assert files_below(path) == before


# -- the night -------------------------------------------------------------------------------------


def test_the_rounds_are_in_order_and_each_has_a_reply() -> None:
    revisions = open_source(NIGHT).revisions

    names = [revision.file.name for revision in revisions]
    assert names == sorted(names)
    assert {revision.round for revision in revisions if "reply" not in revision.file.name} == set(
        range(2, 16)
    )
    assert sum("reply" in name for name in names) == 14


def test_only_the_careless_reply_of_round_nine_breaks_the_protocol() -> None:
    errors = rules_by_file(open_source(NIGHT), Severity.ERROR)

    assert errors == {"round-09.reply.txt": {"SNP030", "SNP042", "SNP043"}}


def test_the_other_rounds_have_only_the_expected_warnings() -> None:
    warnings = rules_by_file(open_source(NIGHT), Severity.WARNING)
    warnings.pop("round-09.reply.txt")

    assert set().union(*warnings.values()) == EXPECTED_WARNINGS


@pytest.mark.parametrize("number", range(2, 15))
def test_the_next_round_is_the_merge_of_the_reply(number: int) -> None:
    """Except for the changes of the system between two rounds, see `with_system_changes`."""
    merged = merged_reply(number)

    following = stored(number + 1)
    for tier in TIERS:
        expected = with_system_changes(number, tier, blocks_by_id(merged.value["memory"], tier))
        assert blocks_by_id(following.value["memory"], tier) == expected
    assert following.todo.get("cursor") == cursor_of(merged)


def test_an_empty_list_wipes_the_working_tier_but_not_the_promoted_block() -> None:
    assert [change.name for change in merged_reply(9).of(MergeEffect.WIPED)] == ["working"]
    assert stored(10).tier("working") == ()
    assert "h2-page-tie" in {block.id for block in stored(10).tier("longterm")}


def test_a_block_goes_into_cold_storage_and_comes_back() -> None:
    states = {
        number: next(block for block in stored(number).tier("longterm") if block.id == "lt-dunning-calendar")
        for number in (8, 9, 10, 11)
    }

    assert [states[number].content_state for number in states] == ["active", "tag_ref", "tag_ref", "active"]
    assert states[11].content == states[8].content
    assert "rehydrated_at" in states[11].members


def test_tokens_add_up_over_the_night() -> None:
    usages = [
        usage for number in range(3, 16) if isinstance(usage := stored(number).runtime["token_usage"], dict)
    ]

    total = 0
    for usage in usages:
        total += as_integer(usage["total_tokens"])
        assert as_integer(usage["input_tokens"]) + as_integer(usage["output_tokens"]) == usage["total_tokens"]
        assert usage["cumulative_total_tokens"] == total


# -- the workspace ---------------------------------------------------------------------------------


def test_the_workspace_has_a_dangling_reference_an_orphan_and_a_cut_line() -> None:
    source = open_source(WORKSPACE)

    assert rules_by_file(source, Severity.ERROR) == {"memory.db": {"SNP060"}, "memory-queue.wal": {"SNP064"}}
    assert rules_by_file(source, Severity.WARNING) == {}
    refs = source.reading(len(source.revisions) - 1, LENS).state.refs
    by_status = {status: [ref.target for ref in refs if ref.status is status] for status in RefStatus}
    assert len(by_status[RefStatus.DANGLING]) == 1
    assert len(by_status[RefStatus.ORPHAN]) == 1
    assert by_status[RefStatus.RESOLVED]


# -- the broken ones -------------------------------------------------------------------------------


def test_every_broken_file_has_an_expectation() -> None:
    assert {file.name for file in BROKEN.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_broken_file_has_the_findings_of_its_name(name: str) -> None:
    found = rules_by_file(open_source(BROKEN / name)).get(name, set())

    assert set(EXPECTED[name].split()) <= found


@pytest.mark.parametrize("name", ["empty.txt", "no-separator.txt"])
def test_a_text_read_as_a_reply_lacks_its_separator(name: str) -> None:
    source = open_source(BROKEN / name, as_format="snapshot")

    assert rules_by_file(source)[name] == {"SNP001"}


def test_a_wiped_tier_is_found_only_beside_the_received_snapshot() -> None:
    alone = rules_by_file(open_source(BROKEN / "wiped-tier.reply.txt"))
    together = rules_by_file(open_source(BROKEN))

    assert "SNP043" not in alone["wiped-tier.reply.txt"]
    assert {"SNP042", "SNP043"} <= together["wiped-tier.reply.txt"]


def test_the_other_samples_have_no_secrets() -> None:
    for path in (NIGHT, WORKSPACE):
        rules = set().union(*rules_by_file(open_source(path)).values())
        assert not {rule for rule in rules if rule.startswith(("SEC", "TXT", "PTH"))}


# -- reading single rounds -------------------------------------------------------------------------


def stored(number: int) -> Snapshot:
    """The snapshot of the runtime in a round, from the plain file or the full log."""
    file = next(
        path
        for kind in ("received", "full-log")
        if (path := NIGHT / f"round-{number:02d}.{kind}.json").exists()
    )
    found = parse_file(str(file), file.read_bytes()).snapshot
    assert found is not None
    return found


def merged_reply(number: int) -> MergeResult:
    file = NIGHT / f"round-{number:02d}.reply.txt"
    emitted = parse_file(str(file), file.read_bytes()).snapshot
    assert emitted is not None
    return merge(stored(number), emitted, load_profile())


def blocks_by_id(memory: JsonValue, tier: str) -> dict[str, dict[str, JsonValue]]:
    assert isinstance(memory, dict)
    blocks = memory[tier]
    assert isinstance(blocks, list)
    return {str(block["id"]): block for block in blocks if isinstance(block, dict)}


def with_system_changes(
    number: int, tier: str, blocks: dict[str, dict[str, JsonValue]]
) -> dict[str, dict[str, JsonValue]]:
    """Apply the changes of the system: closed blocks of a finished task, a trimmed tier, cold blocks."""
    following = blocks_by_id(stored(number + 1).value["memory"], tier)
    if tier == "working" and number in (2, 13):
        closed = {"status", "task_id", "closed_at"}
        return {
            name: {**block, **{key: following[name][key] for key in closed}} for name, block in blocks.items()
        }
    if tier == "ephemeral" and number == 8:
        budget = stored(9).runtime["budget"]
        assert isinstance(budget, dict)
        assert budget["degrade_stage"] == "trim_memory_ephemeral"
        return dict(list(blocks.items())[: len(following)])
    if tier == "longterm" and number in (4, 8, 10):
        return {**blocks, "lt-dunning-calendar": following["lt-dunning-calendar"]}
    return blocks


def cursor_of(merged: MergeResult) -> JsonValue:
    todo = merged.value["todo"]
    assert isinstance(todo, dict)
    return todo.get("cursor")


def as_integer(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value
