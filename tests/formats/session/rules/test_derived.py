"""Records, sources, packs, swap, dedup and collection: ABI022 to ABI049."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.formats.session import rules
from tests.formats.session.builders import sha256, sound
from tests.formats.session.rules.derived_records import (
    DECISIONS,
    DEDUP,
    FACTS,
    GC,
    PACK,
    REFS,
    SWAP,
    decision,
    fact,
    messages_of,
    pack_item,
    ref,
    shared,
    swapped,
)
from tests.formats.session.rules.tables import expect, findings_for
from tests.formats.session.sources import DOCUMENT, facts_before_survey, read_facts

HASH_OF_OK, HASH_OF_LOG, HASH_OF_RESULT = (
    f"sha256-{sha256(text)}" for text in ("ok", "1 failed: test_blank_lines", "All good.\n")
)

RESULT = "child:rev-1/result.md"

CASES = [
    (22, f"{FACTS} += {fact()} and more", "error", "not JSON", FACTS),
    (22, f'{FACTS} += "text"', "error", "not an object", FACTS),
    (22, f"{FACTS} += {fact(id='bad/id')}", "error", "not a valid name", FACTS),
    (22, f"{FACTS} += {fact(source=5)}", "error", "source is 5", FACTS),
    (
        22,
        f'{FACTS} += {{"id":"f9","id":"f8","text":"x","source":"y"}}',
        "error",
        '"id" occurs twice here',
        FACTS,
    ),
    (22, f'{DECISIONS} += {{"id":"d9","source":"y"}}', "error", "no decision", DECISIONS),
    (22, f"{REFS} += {ref(kind='patch')}", "error", '"patch"', REFS),
    (22, f"{REFS} += {ref(path=None)}", "error", "path is null", REFS),
    (22, f"context/child/rev-1/refs.jsonl += {ref(id=1)}", "error", "id is 1", "rev-1/refs.jsonl"),
    (22, f"{SWAP} += {swapped(id='md5-abc')}", "error", "not a content address", SWAP),
    (22, f"{SWAP} += {swapped(kind='memory')}", "error", '"memory"', SWAP),
    (22, f"{SWAP} += {swapped(source='/etc/passwd')}", "error", "absolute", SWAP),
    (22, f"{SWAP} += {swapped(tokens=-1)}", "error", "tokens is -1", SWAP),
    (22, f"{DEDUP} += {shared(bytes='1')}", "error", 'bytes is "1"', DEDUP),
    (22, f"{DEDUP} += {shared(refs=[1])}", "error", "list of strings", DEDUP),
    (
        23,
        f"{DECISIONS} += {decision('d1')}",
        "warning",
        "line 1",
        DECISIONS,
    ),
    (24, f"{FACTS} += {fact(text=chr(27) + 'x')}", "error", "control character", FACTS),
    (24, f"{FACTS} += {fact(text=chr(0x9B) + 'x')}", "error", "control character", FACTS),
    (24, f"{REFS} += {ref(summary='')}", "error", "summary is empty", REFS),
    (25, f"{FACTS} += {fact(source='messages:4-3')}", "error", "ends before it begins", FACTS),
    (25, f"{FACTS} += {fact(source='messages:0-3')}", "error", "begins at 1", FACTS),
    (25, f"{FACTS} += {fact(source='messages:6-7')}", "error", "only 6 messages", FACTS),
    (25, f"{FACTS} += {fact(source='events:10')}", "error", "only 9 events", FACTS),
    (25, f"{FACTS} += {fact(source='messages:seven')}", "warning", "not a range", FACTS),
    (25, f"{FACTS} += {fact(source='messages:3')}", "info", "neither a user nor", FACTS),
    (
        25,
        f"messages.jsonl (empty) ¶ {FACTS} += {fact(source='user:latest')}",
        "error",
        "there is no user message",
        FACTS,
    ),
    (26, f"{REFS} += {ref(path='context/../x')}", "error", ". or ..", REFS),
    (26, f"{REFS} += {ref(path='context/gone.md')}", "error", "there is no", REFS),
    (26, f"{REFS} += {ref(path='notes/gone.md')}", "warning", "there is no", REFS),
    (26, f"{REFS} += {ref(path='/work/DESIGN.md')}", "info", "is absolute, outside", REFS),
    (26, f"{REFS} += {ref(path='~/.ssh/id')}", "info", "is absolute, outside", REFS),
    (26, f"{REFS} += {ref(path='https://example.org/x')}", "info", "outside", REFS),
    (26, f"{REFS} += {ref(path='mailto:person')}", "info", "is an address, outside", REFS),
    (
        26,
        f"context/child/rev-1/refs.jsonl += {ref(path='artifact/no.md')}",
        "warning",
        "there is no",
        "refs.jsonl",
    ),
    (27, f"{REFS} += {ref(kind='child_result', path='context/child/x/result.md')}", "warning", '"x"', REFS),
    (27, f"{REFS} += {ref(kind='child_result')}", "warning", "not the result of a child", REFS),
    (
        28,
        f"{DECISIONS} += {decision('d9', 'The  parser counted blank lines.')}",
        "info",
        "d9 says the same as f1 on line 1 of facts.jsonl",
        DECISIONS,
    ),
    (
        28,
        f"{DECISIONS} += {decision('d1', 'Blank lines are skipped, not refused.')}",
        "info",
        "d1 says the same as d1 on line 1 of decisions.jsonl",
        DECISIONS,
    ),
    (29, f"{PACK} = {{", "error", "not JSON", PACK),
    (29, f'{PACK} = {{"items": {{}}}}', "error", "not a list", PACK),
    (29, f'{PACK} = {{"session": "default"}}', "error", "no items", PACK),
    (29, f'{PACK} = {{"items": []}}', "error", "there is no session", PACK),
    (29, f'{PACK} = {{"session": 5, "items": []}}', "error", "session is 5", PACK),
    (29, f'{PACK} = {{"items": [], "items": []}}', "error", "occurs twice", PACK),
    (29, f'{PACK} = {{"items": [5]}}', "error", "item 1 is 5", PACK),
    (29, f"{PACK} = {pack_item(source=42)}", "error", "the source is 42", PACK),
    (29, f"{PACK} = {pack_item(source='context/../x')}", "error", "a part ..", PACK),
    (
        29,
        f"{PACK} = {pack_item(source='context/swap/chunk/sha256-a')}",
        "error",
        "not the place of a pack source",
        PACK,
    ),
    (30, "context/todo.md (empty)", "warning", "is empty", PACK),
    (31, f'{PACK} = {{"agent": "other", "items": []}}', "warning", 'the agent "other"', PACK),
    (32, "context/budget = 92", "warning", "budget_tokens is 0", PACK),
    (32, "context/budget = 91", "error", "1 more than the budget", PACK),
    (33, f"{PACK} = {pack_item(tokens=15)}", "info", "bytes/4", PACK),
    (33, f"{PACK} = {pack_item(tokens=999)}", "warning", "no other estimate", PACK),
    (34, f"{PACK} = {pack_item(source='messages.jsonl')}", "error", "tail:40", PACK),
    (34, f"{PACK} = {pack_item(source='messages.jsonl', range='last 5')}", "error", "last 5", PACK),
    (
        34,
        'messages.jsonl += {"role":"user","content":"new"}',
        "warning",
        "others than those in pack.md",
        PACK,
    ),
    (35, f"{PACK} = {pack_item()}", "warning", "the builder would take them now", PACK),
    (
        35,
        f"{PACK} = {pack_item()} ¶ {FACTS} += []",
        "warning",
        f"no pack at all now: {FACTS}: line 3 is broken",
        PACK,
    ),
    (35, f"{PACK} = {pack_item()} ¶ context/child/a b/status = done", "warning", "a bad child name", PACK),
    (36, "context/child/rev-1/status = active", "warning", "not finished", PACK),
    (37, "context/pack.md = # another text", "warning", "does not show", "pack.md"),
    (37, "context/summary.md = a ¶ context/summary.md += ```", "warning", "text fence", PACK),
    (38, f"{PACK} = {pack_item(hash='sha256-a')}", "info", "expanded in pack.md", PACK),
    (39, f"{SWAP} += {swapped(id='sha256-abc')}", "warning", "no whole SHA-256", SWAP),
    (39, f"{DEDUP} += {shared(hash='sha256-def')}", "warning", "no whole SHA-256", DEDUP),
    (40, f"{DEDUP} += {shared(hash=HASH_OF_OK)}", "error", "nothing that its line names", DEDUP),
    (40, f"{DEDUP} += {shared(hash=HASH_OF_LOG, refs=['tool:call-1'])}", "warning", "tool:call-1", DEDUP),
    (40, f"{DEDUP} += {shared(hash=HASH_OF_LOG, refs=['messages:3'])}", "warning", "messages:3", DEDUP),
    (
        40,
        f"{DEDUP} += {shared(hash=HASH_OF_RESULT, refs=['child:rev-1/result.md'])}",
        "warning",
        "rev-1",
        DEDUP,
    ),
    (40, f"{DEDUP} += {shared()}", "warning", "no copy of its content can be recognised", DEDUP),
    (44, f"{DEDUP} += {shared(refs=['tool:other'])}", "warning", "no call and no event", DEDUP),
    (44, f"{DEDUP} += {shared(refs=['file:context/gone.md'])}", "warning", "no such file", DEDUP),
    (44, f"{DEDUP} += {shared(refs=['file:../x'])}", "warning", "no such file", DEDUP),
    (44, f"{DEDUP} += {shared(refs=['child:rev-1/gone.md'])}", "warning", "no such file", DEDUP),
    (44, f"{DEDUP} += {shared(refs=['memory:1'])}", "warning", "this names neither", DEDUP),
    (40, f"{SWAP} += {swapped()}", "warning", "no copy of its content can be recognised", SWAP),
    (40, f"{SWAP} += {swapped(range='1-99')}", "error", "cannot be rebuilt", SWAP),
    (42, f"{SWAP} += {swapped(range='2-1')}", "error", "ends before it begins", SWAP),
    (42, f"{SWAP} += {swapped(range='all')}", "error", "not a range", SWAP),
    (44, f"{DEDUP} += {shared(refs=[])}", "error", "nothing refers", DEDUP),
    (44, f"{DEDUP} += {shared()} ¶ {DEDUP} += {shared()}", "warning", "already listed on line 2", DEDUP),
    (44, f"{GC} = dedup_min_refs=2 ¶ {DEDUP} += {shared()}", "warning", "1 reference", DEDUP),
    (44, f"{DEDUP} += {shared(refs=['child:unknown'])}", "warning", "no such child", DEDUP),
    (44, f"{DEDUP} += {shared(refs=['swap:unknown'])}", "warning", "no such entry", DEDUP),
    (47, f"{GC} = keep_messages=yes", "warning", "not 0 or 1", GC),
    (47, f"{GC} = keep_events=0", "warning", "permits", GC),
    (47, f"{GC} = everything", "warning", "key=value", GC),
    (47, f"{GC} = compact=1", "warning", '"compact"', GC),
    (47, f"{GC} = dedup_min_refs=few", "warning", "not a number", GC),
    (48, "delete events.jsonl", "error", "the history itself", "events.jsonl"),
    (48, "delete context/child/rev-1/result.md", "error", "still used by", "result.md"),
    (48, "delete .store/wal.jsonl", "error", "the history itself", "wal.jsonl"),
    (49, f"{DEDUP} += {shared(refs=['child:gone'])}", "error", "the dedup index refers", DEDUP),
]
NEAR_MISSES = [
    (24, f"{FACTS} += {fact(text=chr(0xA0) + 'x')}"),
    (22, f"{FACTS} += {fact(extra=[1, 2])}"),
    (22, f"{REFS} += {ref(kind='tool_output')}"),
    (22, f"{SWAP} += {swapped(id='sha256_' + 'a' * 64, kind='file', source='context/summary.md')}"),
    (23, f"{DECISIONS} += {decision('f1')}"),
    (24, f"{FACTS} += {fact(text='é 漢 😀')}"),
    (25, f"{FACTS} += {fact(source='messages:1-6')}"),
    (25, f"{FACTS} += {fact(source='events:9')}"),
    (25, f"{FACTS} += {fact(source='the person next door')}"),
    (25, f"messages.jsonl += (blank) ¶ {FACTS} += {fact(source='messages:6')}"),
    (26, f"{REFS} += {ref(path='latest.md')}"),
    (27, f"{REFS} += {ref(kind='artifact', path='context/child/x/result.md')}"),
    (28, "context/summary.md = The parser counted."),
    (29, f"{PACK} (empty)"),
    (29, f"{PACK} = {pack_item(source='context/dedup/sha256-' + 'a' * 64)}"),
    (31, f'{PACK} = {{"items": []}}'),
    (32, f"{PACK} = {pack_item()} ¶ context/budget = 10"),
    (33, f"{PACK} = {pack_item(tokens=10)}"),
    (33, f"{PACK} = {pack_item(source='context/gone.md')}"),
    (35, f'{PACK} = {{"items": []}}'),
    (35, f"{FACTS} += []"),
    (36, "context/child/rev-1/status = error"),
    (37, "context/pack.md (empty)"),
    (39, "context/dedup/blob/sha256-(hash) = text"),
    (40, f"{SWAP} (empty)"),
    (42, f"{SWAP} += {swapped(source='context/summary.md')}"),
    (44, f"{DEDUP} += {shared(refs=['tool:call-1', 'child:rev-1', 'swap:the beginning', 'events:1-2'])}"),
    (44, f"{DEDUP} += {shared(refs=['file:context/todo.md', 'child:rev-1/result.md', 'file:/work/x'])}"),
    (39, f"{SWAP} (empty) ¶ {DEDUP} (empty)"),
    (40, f"{DEDUP} (empty)"),
    (
        45,
        " ¶ ".join(['messages.jsonl += {"role":"user","content":"short"}'] * 2),
    ),
    (46, "context/swap/index.jsonl (empty)"),
    (47, f"{GC} = # a comment ¶ {GC} += swap_ttl=2w ¶ {GC} += keep_messages=1"),
    (48, "delete context/pack.md"),
    (49, "context/plan.json (absent)"),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words", "file"), CASES)
def test_a_fault_gives_a_finding(
    rule: int, changes: str, severity: str, words: str, file: str, tmp_path: Path
):
    expect(rule, changes, severity, words, file, tmp_path)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_a_near_miss_gives_no_finding(rule: int, changes: str, tmp_path: Path):
    assert findings_for(rule, changes, tmp_path) == []


def test_a_finding_has_the_exact_origin_of_the_wrong_value(tmp_path: Path):
    build = sound(tmp_path)
    before = len(build.files[FACTS])
    root = build.add(FACTS, fact(source="messages:90")).write()
    (found,) = (each for each in rules.check_session(read_facts(root)) if each.rule == "ABI025")
    assert found.origin.pointer == "/2/source"
    assert found.origin.line == 3
    text = (root / FACTS).read_bytes()[found.origin.start : found.origin.end]
    assert text == b'"messages:90"'
    assert found.origin.start is not None
    assert found.origin.start > before


def test_ranges_are_not_checked_before_the_histories_are_read(tmp_path: Path):
    root = sound(tmp_path).add(FACTS, fact(source="messages:90")).write()
    assert "ABI025" not in {each.rule for each in rules.check_session(facts_before_survey(root))}


def test_the_document_profile_has_no_estimate_no_order_and_no_kinds(tmp_path: Path):
    build = sound(tmp_path).add(REFS, ref(kind="patch"))
    root = build.set(PACK, pack_item(tokens=999)).write()
    assert [messages_of(root, rule, DOCUMENT) for rule in (22, 33, 35)] == [[], [], []]
