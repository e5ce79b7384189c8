"""A bundle as a source: recognition, state, revisions, lineage, edits, growth, prompt."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxview.core.edits import DeleteValue, EditRefused, SetValue
from ctxview.core.state import ContextState, RefStatus
from ctxview.formats import open_source
from ctxview.formats.memory import files as bundle_files
from ctxview.formats.memory.policy import AppendPolicy
from ctxview.formats.memory.profile import load_profile
from ctxview.formats.memory.records import FILES
from ctxview.formats.memory.source import MemorySource
from ctxview.formats.registry import detect
from tests.formats.memory.bundles import lens, opened, state_of, write_bundle

USER = '"tags": {"role": "user"}'
LAUNCH = f'"rawEntry": "The launch moved to May", "summary": "Ada postponed the premiere.", {USER}'
BUDGET = f'"rawEntry": "The budget is 84,000 euros", "summary": "Ada set the budget.", {USER}'
FIRST = json.dumps(
    "# Facts\nThe launch moved to May\nAda postponed the premiere\nNorway doubled its revenue\n"
    "# Notes\n- [ ] Call Sam\n- [x] Call Ada"
)
SCRIPT = f"""\
context: PLACEHOLDER
entry: {{{LAUNCH}}}
context: {FIRST}
entry: {{{BUDGET}}}
context: "# Facts\\nThe launch moved to May\\nThe budget is 84,000 euros"
entry: {{{BUDGET.replace("84", "85")}}}
"""


def block(state: ContextState, name: str):
    return next(each for each in state.blocks() if each.id == name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("entries.jsonl", {"entryId": "e", "rawEntry": "x", "summary": "s"}),
        ("anything.jsonl", {"entry_id": "e", "raw_entry": "x", "summary": "s"}),
        ("contexts.jsonl", {"contextId": "c", "memoryId": "m", "context": "x"}),
        (
            "run.jsonl",
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "mcp__m__add_entry", "input": {}}],
            },
        ),
        ("server.log", {"level": "debug", "message": "handling put_context request"}),
    ],
)
def test_a_single_file_is_recognised_by_its_lines(name: str, line: object, tmp_path: Path) -> None:
    (tmp_path / name).write_text(json.dumps(line) + "\n")
    assert detect(tmp_path / name)[0].format == "memory"
    assert isinstance(open_source(tmp_path / name), MemorySource)


@pytest.mark.parametrize(
    "line",
    [{"role": "user", "content": "hello"}, {"rawEntry": 7}, {"title": "x"}, {"message": "handling requests"}],
)
def test_other_lines_are_not_taken(line: object, tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text(json.dumps(line) + "\n")
    assert [match.format for match in detect(tmp_path)] == []


def test_the_state_shows_sections_entries_budgets_and_tasks(tmp_path: Path) -> None:
    state = state_of(opened(tmp_path, SCRIPT), 1)
    assert [(tier.name, len(tier.blocks)) for tier in state.tiers] == [
        ("Facts", 3),
        ("Notes", 2),
        ("entries", 1),
    ]
    assert [each.id for each in state.tiers[0].blocks][:2] == ["launch-moved-may", "ada-postponed-premiere"]
    assert state.todo is not None
    assert [(item.title, item.status) for item in state.todo.items] == [
        ("Call Sam", "open"),
        ("Call Ada", "done"),
    ]
    document, summaries, cadence = state.budgets
    assert (document.limit, document.used) == (5000, sum(each.used for each in document.segments))
    assert (summaries.limit, summaries.used) == (512, len("Ada postponed the premiere."))
    assert (cadence.limit, cadence.used) == (6, 0)


def test_revisions_are_snapshots_and_show_only_the_entries_of_their_time(tmp_path: Path) -> None:
    source = opened(tmp_path, SCRIPT)
    assert [each.label for each in source.revisions] == ["snapshot 1", "snapshot 2", "snapshot 3", "now"]
    counts = [len(state_of(source, number).tiers[-1].blocks) for number in range(4)]
    assert counts == [0, 1, 2, 3]


def test_each_line_has_its_raw_entry_its_summary_or_no_support(tmp_path: Path) -> None:
    refs = {ref.id: ref for ref in state_of(opened(tmp_path, SCRIPT), 1).refs}
    assert refs["launch-moved-may"].status is RefStatus.RESOLVED
    assert "raw entry: The launch moved to May" in (refs["launch-moved-may"].text or "")
    assert (refs["ada-postponed-premiere"].kind, refs["ada-postponed-premiere"].status) == (
        "from summary",
        RefStatus.MISMATCH,
    )
    assert (refs["norway-doubled-revenue"].target, refs["norway-doubled-revenue"].status) == (
        "no raw entry",
        RefStatus.DANGLING,
    )


def test_missing_names_what_a_snapshot_lost_and_what_has_no_support(tmp_path: Path) -> None:
    source = opened(tmp_path, SCRIPT)
    assert {(gap.question, gap.status) for gap in state_of(source, 1).missing} >= {
        ("Ada postponed the premiere", "from a summary"),
        ("Norway doubled its revenue", "unsupported"),
    }
    assert {gap.question for gap in state_of(source, 2).missing if gap.status == "lost"} >= {
        "Norway doubled its revenue",
        "[ ] Call Sam",
    }


def test_the_ten_newest_entries_are_visible_and_older_ones_say_why_not(tmp_path: Path) -> None:
    state = state_of(
        opened(tmp_path, "\n".join(f"entry: {{{LAUNCH.replace('May', str(n))}}}" for n in range(12)))
    )
    entries = state.tiers[-1].blocks
    assert [each.visible for each in entries] == [True] * 10 + [False] * 2
    assert entries[0].text.startswith("The launch moved to 11\nsummary (27 characters): ")
    assert entries[-1].reason is not None
    assert state.transcript is not None
    assert len(state.transcript) == 12


def test_several_memories_have_tiers_and_budgets_of_their_own(tmp_path: Path) -> None:
    write_bundle(tmp_path, SCRIPT)
    with (tmp_path / "contexts.jsonl").open("a") as file:
        file.write(json.dumps({"contextId": "z", "memoryId": "m2", "context": "Other"}) + "\n")
    (tmp_path / "memories.jsonl").write_text(
        json.dumps({"memoryId": "m2", "title": "Boats", "memoryType": "chat"}) + "\n"
    )
    source = MemorySource(tmp_path)
    assert [tier.name for tier in state_of(source).tiers] == [
        "Facts · m1",
        "entries · m1",
        "context · Boats",
        "entries · Boats",
    ]
    assert source.targets == ("Boats", "m1")
    assert "Other" in source.prompt(3, lens(), "Boats").text


def test_the_prompt_is_what_a_session_loads_first(tmp_path: Path) -> None:
    source = opened(tmp_path, SCRIPT)
    prompt = source.prompt(len(source.revisions) - 1, lens())
    assert [message.role for message in prompt.messages] == [
        "system",
        "tool get_context",
        "tool list_entries",
    ]
    assert prompt.messages[1].text == "# Facts\nThe launch moved to May\nThe budget is 84,000 euros\n"
    listed = json.loads(prompt.messages[2].text)
    assert listed["entries"][0]["rawEntry"] == "The budget is 85,000 euros"
    assert not prompt.complete


EMPTY = """\
{
  "applied_limit": 10,
  "count": 0,
  "entries": [],
  "next_after": null,
  "next_before": null
}"""


def test_the_literal_text_of_the_worked_examples(tmp_path: Path) -> None:
    first = opened(tmp_path / "a", 'context: "# Facts\\nTea."')
    assert first.prompt(1, lens()).text == f"# Facts\nTea.\n{EMPTY}"

    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "memories.jsonl").write_text('{"memoryId": "m", "title": "t", "memoryType": "chat"}\n')
    second = MemorySource(tmp_path / "b").prompt(0, lens())
    assert second.text == EMPTY
    assert "context not found" in [cut.reason for cut in second.cuts()]


def test_the_entries_of_the_prompt_are_written_as_the_service_writes_them(tmp_path: Path) -> None:
    raw = (
        '"rawEntry": "a < b & c > d \\u2028", "summary": "Ada said it.", "tags": {"z": true, "role": "user"}'
    )
    source = opened(tmp_path, f'context: PLACEHOLDER\nentry: {{{raw}, "vaultId": "v"}}')
    context, listed = (message.text for message in source.prompt(1, lens()).messages[1:])
    assert context.startswith('{"activeContext":"This is default context that\'s created')
    entry = json.loads(listed)["entries"][0]
    time = entry["creationTime"]
    assert list(entry) == ["entryId", "memoryId", "vaultId", "creationTime", "rawEntry", "summary", "tags"]
    assert '      "rawEntry": "a \\u003c b \\u0026 c \\u003e d \\u2028",\n      "summary"' in listed
    assert '      "tags": {\n        "role": "user",\n        "z": true\n      }\n    }\n  ],\n' in listed
    assert listed.endswith(f'"next_after": "{time}",\n  "next_before": null\n}}')


def test_half_of_a_surrogate_pair_does_not_stop_the_prompt(tmp_path: Path) -> None:
    source = opened(tmp_path, 'entry: {"rawEntry": "half \\ud83d", "summary": "Ada said half."}')
    assert "half \ud83d" in source.prompt(len(source.revisions) - 1, lens()).text


@pytest.mark.parametrize("name", ["vaults", "outbox"])
def test_any_part_of_a_bundle_is_a_bundle(name: str, tmp_path: Path) -> None:
    line = {"vaults": {"vault_id": "v", "title": "t"}, "outbox": {"aggregate_id": "e", "op": "upsert_entry"}}
    (tmp_path / f"{name}.jsonl").write_text(json.dumps(line[name]) + "\n")
    source = open_source(tmp_path)
    assert source.format == "memory"
    assert source.findings(lens()) == ()


def test_a_revision_has_the_findings_about_what_was_written_by_then(tmp_path: Path) -> None:
    long = json.dumps("# Facts\n" + "word " * 1100)
    script = (
        'context: "# Facts\\nTea."\nentry: {"rawEntry": "Tea is hot", "summary": ""}\n'
        f'context: {long}\nentry: {{"rawEntry": "Tea", "summary": ""}}'
    )
    source = opened(tmp_path, script)
    found = [{each.rule for each in source.reading(number, lens()).findings} for number in range(3)]
    assert "MEN001" in found[0]
    assert "MCX001" not in found[0]
    assert "MCX001" in found[1] & found[2]
    summaries = [each for each in source.findings_of(0, lens(), {}) if each.rule == "MEN001"]
    assert len(summaries) == 1


def policy_of(source: MemorySource, tmp_path: Path, name: str) -> AppendPolicy:
    policy = source.policy(str(tmp_path / name))
    assert isinstance(policy, AppendPolicy)
    return AppendPolicy(policy.name, policy.size, policy.profile, lambda: datetime(2026, 5, 12, tzinfo=UTC))


def test_an_edited_context_is_a_new_snapshot_and_every_byte_before_stays(tmp_path: Path) -> None:
    source = opened(tmp_path, SCRIPT)
    file = str(tmp_path / "contexts.jsonl")
    before = source.bytes_of(file)
    policy = policy_of(source, tmp_path, "contexts.jsonl")
    form = state_of(source).form
    assert form is not None
    pointer = form.fields[0].pointer
    once = policy.apply(before, SetValue(pointer, "# Facts\nThe launch is in May"))
    twice = policy.apply(once, SetValue("/3/context", "# Facts\nThe launch is in June"))
    assert once.startswith(before)
    assert twice.startswith(before)
    assert len(twice.splitlines()) == len(before.splitlines()) + 1
    reading = source.reading(3, lens(), {file: twice})
    assert reading.state.revision == "now"
    assert [each.text for each in reading.state.tiers[0].blocks] == ["The launch is in June"]
    added = json.loads(twice.splitlines()[-1])
    assert added["creationTime"].startswith("2026-05-12T00:00:00.00000")
    assert added["contextId"] != json.loads(before.splitlines()[-1])["contextId"]


def test_edited_tags_are_a_new_line(tmp_path: Path) -> None:
    source = opened(tmp_path, SCRIPT)
    file = str(tmp_path / "entries.jsonl")
    before = source.bytes_of(file)
    after = policy_of(source, tmp_path, "entries.jsonl").apply(
        before, SetValue("/0/tags", {"role": "keeper"})
    )
    assert after.startswith(before)
    entries = source.reading(3, lens(), {file: after}).state.tiers[-1].blocks
    assert entries[-1].type == "keeper"


@pytest.mark.parametrize(
    ("file", "edit", "reason"),
    [
        ("entries.jsonl", SetValue("/0/rawEntry", "x"), "Only the latest context and the tags"),
        ("entries.jsonl", SetValue("/0/summary", "x"), "Only the latest context and the tags"),
        ("entries.jsonl", DeleteValue("/0"), "Only the latest context and the tags"),
        ("entries.jsonl", SetValue("/0/tags", "x"), "Tags are an object"),
        ("entries.jsonl", SetValue("/9/tags", {}), "There is no line 9"),
        ("contexts.jsonl", SetValue("/0/contextId", "x"), "Only the latest context and the tags"),
        ("contexts.jsonl", SetValue("/0/context", "x" * 5001), "the cap is 5,000"),
        ("contexts.jsonl", SetValue("/0/context", " "), "must not be blank"),
    ],
)
def test_nothing_else_can_be_edited(
    file: str, edit: SetValue | DeleteValue, reason: str, tmp_path: Path
) -> None:
    source = opened(tmp_path, SCRIPT)
    with pytest.raises(EditRefused, match=reason):
        policy_of(source, tmp_path, file).apply(source.bytes_of(str(tmp_path / file)), edit)


def test_changed_or_removed_lines_are_tampering() -> None:
    policy = AppendPolicy("entries.jsonl", 4, load_profile())
    assert policy.tampering(b"abc\n", b"abc\ndef\n") is None
    assert policy.tampering(b"abc\n", b"abX\ndef\n") is not None
    assert policy.tampering(b"abc\n", b"abc") is not None


def test_the_locked_fields_say_why_and_only_now_can_be_edited(tmp_path: Path) -> None:
    source = opened(tmp_path, SCRIPT)
    fields = {each.name: each for each in state_of(source).tiers[-1].blocks[0].form.fields}  # type: ignore[union-attr]
    assert fields["tags"].shape is not None
    assert "immutable" in fields["rawEntry"].why
    assert "immutable" in fields["summary"].why
    past = state_of(source, 1).tiers[0].blocks[0].form
    assert past is not None
    assert not past.editable


def test_a_grown_bundle_finds_the_same_as_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also a large one, of which a first look reads only the end."""
    monkeypatch.setattr(bundle_files, "SMALL", 0)
    monkeypatch.setattr("ctxview.formats.memory.analysis.SMALL", 0)
    source = opened(tmp_path, SCRIPT)
    assert [each.label for each in source.revisions] == ["now"]
    assert source.has_work(lens())
    assert not source.reading(0, lens()).judged
    source.findings(lens())
    assert len(source.revisions) == 4
    for number in range(3):
        with (tmp_path / "entries.jsonl").open("a") as file:
            row = {
                "entryId": f"n{number}",
                "memoryId": "m1",
                "rawEntry": f"She said {number}",
                "summary": "She said so",
            }
            file.write(json.dumps({**row, "creationTime": f"2026-05-12T09:00:0{number}Z"}) + "\n")
        grown = source.again()
        assert grown is not source
        source = grown
        assert source.findings(lens()) == MemorySource(tmp_path).findings(lens())
    assert source.again() is source


def test_a_rewritten_bundle_is_read_anew(tmp_path: Path) -> None:
    source = opened(tmp_path, SCRIPT)
    state_of(source)
    write_bundle(tmp_path, 'entry: {"rawEntry": "Another memory", "summary": "Ada began anew."}')
    source = source.again()
    assert [each.text[:14] for each in state_of(source).tiers[-1].blocks] == ["Another memory"]


def test_broken_files_give_findings_with_their_places(tmp_path: Path) -> None:
    write_bundle(tmp_path, SCRIPT)
    with (tmp_path / "entries.jsonl").open("ab") as file:
        file.write(b'\xff\xfe\n{"entryId": "torn", "rawE')
    (tmp_path / "trace.jsonl").mkdir()
    found = {(each.rule, each.origin.line) for each in MemorySource(tmp_path).findings(lens())}
    assert ("JSN001", 4) in found
    assert ("JSN001", 5) in found
    assert any(rule == "RAW002" for rule, _ in found)


def test_secrets_in_entries_are_found(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    source = opened(tmp_path, f'entry: {{"rawEntry": "The key is {key}", "summary": "Ada shared a key."}}')
    assert any(each.rule.startswith("SEC") for each in source.findings(lens()))
    assert all(key not in each.message for each in source.findings(lens()))


def test_broken_lines_of_every_file_are_findings(tmp_path: Path) -> None:
    write_bundle(tmp_path, SCRIPT)
    for name in FILES:
        with (tmp_path / name).open("ab") as file:
            file.write(b"torn\n")
    found = {each.origin.file for each in MemorySource(tmp_path).findings(lens()) if each.rule == "JSN001"}
    assert found == {str(tmp_path / name) for name in FILES}


def test_hostile_names_and_blank_or_broken_contexts_have_a_state(tmp_path: Path) -> None:
    write_bundle(tmp_path, SCRIPT)
    names = ("../../etc/passwd", "\x1b[31m", "a\u202eb", "x" * 5000, "")
    rows = [{"contextId": name, "memoryId": name, "context": name and None} for name in names]
    (tmp_path / "contexts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = MemorySource(tmp_path)
    state = state_of(source)
    assert max(len(tier.name) for tier in state.tiers) < 80
    assert all(len(each.message) < 400 and each.message.isprintable() for each in source.findings(lens()))


def test_one_line_can_be_edited_or_deleted_in_a_new_snapshot(tmp_path: Path) -> None:
    script = SCRIPT + f"context: {FIRST}\n"
    source = opened(tmp_path, script)
    before = source.bytes_of(str(tmp_path / "contexts.jsonl"))
    policy = policy_of(source, tmp_path, "contexts.jsonl")
    form = block(state_of(source), "call-sam").form
    assert form is not None
    changed = policy.apply(before, SetValue(form.fields[0].pointer, "[x] Call Sam"))
    assert json.loads(changed.splitlines()[-1])["context"].endswith("# Notes\n- [x] Call Sam\n- [x] Call Ada")
    deleted = policy.apply(before, DeleteValue(form.pointer))
    assert json.loads(deleted.splitlines()[-1])["context"].endswith("# Notes\n- [x] Call Ada")
    assert changed.startswith(before)


def test_a_line_keeps_its_support_when_it_moves(tmp_path: Path) -> None:
    contexts = 'context: "The launch moved to May"\ncontext: "Norway won\\nThe launch moved to May"'
    script = f"entry: {{{LAUNCH}}}\n{contexts}"
    source = opened(tmp_path, script)
    lines = {each.id: each.figure("support") for each in state_of(source).tiers[0].blocks}
    assert lines == {"norway-won": 0.0, "launch-moved-may": 1.0}
    gaps = [gap.id for gap in state_of(source).missing]
    assert gaps == ["norway-won"]


def test_a_context_over_its_cap_may_become_shorter_but_not_longer(tmp_path: Path) -> None:
    source = opened(tmp_path, 'context: "first\\nsecond\\n<5200 characters>"')
    before = source.bytes_of(str(tmp_path / "contexts.jsonl"))
    policy = policy_of(source, tmp_path, "contexts.jsonl")
    shorter = policy.apply(before, DeleteValue("/0/context/1"))
    assert json.loads(shorter.splitlines()[-1])["context"].startswith("second")
    with pytest.raises(EditRefused, match="the cap is 5,000"):
        policy.apply(before, SetValue("/0/context/1", "a longer line"))


@pytest.mark.parametrize(("memories", "said"), [(20, False), (21, True)])
def test_memories_that_are_not_shown_are_a_row_and_a_finding(
    tmp_path: Path, memories: int, *, said: bool
) -> None:
    entries = [f'entry: {{{LAUNCH}, "memoryId": "memory-{number}"}}' for number in range(memories)]
    source = opened(tmp_path, "\n".join(entries))
    rows = [gap.why for gap in state_of(source).missing if gap.status == "left out"]
    assert rows == (["only 20 of 21 memories are shown"] if said else [])
    assert ("RAW003" in {each.rule for each in source.findings(lens())}) is said


def test_facts_that_a_trim_had_to_delete_are_only_a_note(tmp_path: Path) -> None:
    rest = "".join(f"\nLamp {number} hangs over the quay of hall {number * 7}" for number in range(130))
    full = json.dumps(f"# Facts\nTea is hot{rest}\n# Decisions\nUse Postgres for storage")
    trimmed = json.dumps(f"# Facts{rest}")
    source = opened(tmp_path, f"context: {full}\ncontext: {trimmed}")
    lost = {each.message: each.severity.value for each in source.findings(lens()) if each.rule == "MCX015"}
    assert lost == {
        '"Facts" lost "Tea is hot"': "info",
        '"Decisions" lost "Use Postgres for storage"': "warning",
    }
