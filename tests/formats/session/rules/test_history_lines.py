"""Lines, events and runs: ABI013 to ABI021."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.session.builders import RUN_1, sound
from tests.formats.session.rules.tables import expect, findings_for
from tests.formats.session.sources import DOCUMENT, read_facts

MESSAGES, EVENTS = "messages.jsonl", "events.jsonl"
TEXT = '{"type":"text","text":"x"}'
RESULT = '"role":"tool","content":[{"type":"tool_result","tool_call_id"'

CASES = [
    (13, f"{MESSAGES} += [1]", "error", "not an object", MESSAGES),
    (
        13,
        f'{EVENTS} += {{"type":"delta","run":"r","text":"a","text":"b"}}',
        "error",
        '"text" occurs twice',
        EVENTS,
    ),
    (13, f"{MESSAGES} (torn)", "error", "no line feed", MESSAGES),
    (13, f'{MESSAGES} += {{"role": ¶ {MESSAGES} (torn)', "error", "torn", MESSAGES),
    (14, f'{MESSAGES} += {{"content":"x"}}', "error", "no role", MESSAGES),
    (14, f'{MESSAGES} += {{"role":"user"}}', "error", "no content", MESSAGES),
    (14, f'{MESSAGES} += {{"role":"user","content":5}}', "error", "neither a string nor a list", MESSAGES),
    (14, f'{MESSAGES} += {{"role":"user","content":["x"]}}', "error", "not an object", MESSAGES),
    (
        14,
        f'{MESSAGES} += {{"role":"user","content":[{{"type":"provider_blob"}}]}}',
        "error",
        "provider_blob",
        MESSAGES,
    ),
    (
        14,
        f'{MESSAGES} += {{"role":"user","content":[{{"type":"image"}}]}}',
        "error",
        "lacks the string path",
        MESSAGES,
    ),
    (
        14,
        f'{MESSAGES} += {{{RESULT}:"c","content":[{{}}]}}]}}',
        "error",
        "in part 1",
        MESSAGES,
    ),
    (
        15,
        f'{EVENTS} += {{"type":"usage","run":"r","x":[{{"native_state":1}}]}}',
        "error",
        "native_state",
        EVENTS,
    ),
    (
        15,
        f'{EVENTS} += {{"type":"usage","run":"r","\\u0074hread_id":1}}',
        "error",
        "thread_id",
        EVENTS,
    ),
    (17, f'{EVENTS} += {{"type":"start","run":"r9"}}', "error", "there is no id", EVENTS),
    (17, f'{EVENTS} += {{"type":"start","run":null,"id":"r9"}}', "error", "run is null", EVENTS),
    (17, f'{EVENTS} += {{"type":"delta","run":"a/b","text":"x"}}', "error", 'run is "a/b"', EVENTS),
    (
        17,
        f'{EVENTS} += {{"type":"start","run":"r9","id":"r9","scope":"public"}}',
        "error",
        'scope is "public"',
        EVENTS,
    ),
    (16, f'{MESSAGES} += {{"role":"user","content":"(x * 16357)"}}', "warning", "16,385 bytes", MESSAGES),
    (
        16,
        f'{EVENTS} += {{"type":"delta","run":"r","text":"(x * 270000)"}}',
        "error",
        "the store takes no line",
        EVENTS,
    ),
    (16, f'{MESSAGES} += {{"role":"user","content":"a\\u0000b"}}', "error", "NUL", MESSAGES),
    (17, f'{EVENTS} += {{"run":"r"}}', "error", "no type", EVENTS),
    (17, f'{EVENTS} += {{"type":"pong","run":"r"}}', "warning", '"pong"', EVENTS),
    (17, f'{EVENTS} += {{"type":"delta","text":"x"}}', "error", "no run", EVENTS),
    (17, f'{EVENTS} += {{"type":"delta","run":"r"}}', "error", "no text", EVENTS),
    (17, f'{EVENTS} += {{"type":"start","run":"r","id":"q"}}', "error", 'the id is "q"', EVENTS),
    (17, f'{EVENTS} += {{"type":"start","run":"r","id":"r","cwd":5}}', "error", "cwd is 5", EVENTS),
    (17, f'{EVENTS} += {{"type":"message","run":"r","role":"bot","content":[]}}', "error", '"bot"', EVENTS),
    (17, f'{EVENTS} += {{"type":"message","run":"r","role":"user"}}', "error", "the content is null", EVENTS),
    (17, f'{EVENTS} += {{"type":"tool_call","run":"r","id":"a/b","name":"shell"}}', "error", '"a/b"', EVENTS),
    (
        17,
        f'{EVENTS} += {{"type":"usage","run":"r","input_tokens":-1,"output_tokens":1}}',
        "error",
        "-1",
        EVENTS,
    ),
    (
        17,
        f'{EVENTS} += {{"type":"error","run":"r","code":"EPERM","message":"x"}}',
        "error",
        '"EPERM"',
        EVENTS,
    ),
    (17, f'{EVENTS} += {{"type":"error","run":"r","code":"EIO"}}', "error", "no message", EVENTS),
    (
        17,
        f'{EVENTS} += {{"type":"approval_request","run":"r","id":"a","name":"n","args":"x"}}',
        "error",
        "not a list of strings",
        EVENTS,
    ),
    (
        17,
        f'{EVENTS} += {{"type":"approval_result","run":"r","id":"a","decision":"maybe"}}',
        "error",
        '"maybe"',
        EVENTS,
    ),
    (
        17,
        f'{EVENTS} += {{"type":"agent.child.cancel","parent":"a","child":"b"}}',
        "error",
        "parent_dead",
        EVENTS,
    ),
    (17, f'{EVENTS} += {{"type":"agent.stop","agent":"a","status":"done"}}', "error", "cancelled", EVENTS),
    (
        18,
        f'{EVENTS} += {{"type":"start","run":"{RUN_1}","id":"{RUN_1}"}}',
        "warning",
        "a second time",
        EVENTS,
    ),
    (
        18,
        f'{EVENTS} += {{"type":"done","run":"{RUN_1}","status":"ok"}}',
        "warning",
        "ends a second time",
        EVENTS,
    ),
    (18, f'{EVENTS} += {{"type":"delta","run":"{RUN_1}","text":"x"}}', "warning", "goes on after", EVENTS),
    (18, f'{EVENTS} += {{"type":"start","run":"r9","id":"r9"}}', "warning", "never ends", EVENTS),
    (
        18,
        f'{EVENTS} += {{"type":"start","run":"r9","id":"r9"}} ¶ '
        f'{EVENTS} += {{"type":"error","run":"r9","code":"EIO","message":"x"}} ¶ '
        f'{EVENTS} += {{"type":"done","run":"r9","status":"ok"}}',
        "warning",
        "had an error",
        EVENTS,
    ),
    (
        19,
        f'{EVENTS} += {{"type":"tool_call","run":"r9","id":"c9","name":"n"}}',
        "info",
        '"c9" was never',
        EVENTS,
    ),
    (
        20,
        f'{EVENTS} += {{"type":"start","run":"r9","id":"r9"}} ¶ '
        f'{MESSAGES} += {{"role":"user","run":"r9","content":"a"}} ¶ '
        f'{MESSAGES} += {{"role":"user","run":"r9","content":"b"}}',
        "warning",
        "another user message",
        MESSAGES,
    ),
    (
        20,
        f'{EVENTS} += {{"type":"start","run":"r9","id":"r9","client_id":"c"}} ¶ '
        f'{EVENTS} += {{"type":"start","run":"r8","id":"r8","client_id":"c"}} ¶ '
        f'{MESSAGES} += {{"role":"user","run":"r9","content":"a"}} ¶ '
        f'{MESSAGES} += {{"role":"user","run":"r8","content":"b"}}',
        "error",
        "used before",
        EVENTS,
    ),
    (21, f"{EVENTS} += (blank) ¶ {EVENTS} += (blank)", "warning", "2 blank lines", EVENTS),
]
NEAR_MISSES = [
    (15, f'{MESSAGES} += {{"role":"user","content":"\\u0074hread_id"}}'),
    (17, f'{EVENTS} += {{"type":"start","run":"r9","id":"r9","scope":"shared"}}'),
    (13, f'{MESSAGES} += {{"role": "user",  "content": "spaces are fine"}}'),
    (13, f"{MESSAGES} += (blank)"),
    (
        13,
        f'{MESSAGES} += {{"role":"user","content":"1e400 and \\ud800 are what JSON.parse takes","x":1e400}}',
    ),
    (13, f'{MESSAGES} += {{"role":"user","content":"x","a":{{"b":1}},"c":{{"b":2}}}}'),
    (
        14,
        f'{MESSAGES} += {{{RESULT}:"c","content":[{TEXT}]}}]}}',
    ),
    (14, f'{MESSAGES} += {{"role":"assistant","content":[]}}'),
    (14, f'{EVENTS} += {{"type":"delta","run":"r","text":"no role is needed here"}}'),
    (15, f'{MESSAGES} += {{"role":"user","content":"x","my_thread_ids":1,"xthread_id":2}}'),
    (15, f'{MESSAGES} += {{"role":"user","content":"\\"response_id\\": 5"}}'),
    (16, f'{MESSAGES} += {{"role":"user","content":"(x * 16356)"}}'),
    (16, f'{EVENTS} += {{"type":"delta","run":"r","text":"(x * 17000)"}}'),
    (16, f'{MESSAGES} += {{"role":"user","content":"a\\\\u0000b"}}'),
    (17, f'{EVENTS} += {{"type":"start","id":"r9"}}'),
    (17, f'{EVENTS} += {{"type":"agent.stop","agent":"coder","status":"cancelled"}}'),
    (17, f'{EVENTS} += {{"type":"start","run":"r","id":"r","client_id":"c","scope":"private","cwd":null}}'),
    (17, f'{EVENTS} += {{"type":"usage","run":"r","input_tokens":0,"output_tokens":0,"more":[]}}'),
    (18, f'{EVENTS} += {{"type":"start","run":"r9","id":"r9"}} ¶ state = active'),
    (
        18,
        f'{EVENTS} += {{"type":"start","run":"r9","id":"r9"}} ¶ '
        f'{EVENTS} += {{"type":"error","run":"r9","code":"EINTR","message":"x"}} ¶ '
        f'{EVENTS} += {{"type":"done","run":"r9","status":"cancelled"}}',
    ),
    (
        19,
        f'{MESSAGES} += {{{RESULT}:"call-1","content":""}}]}}',
    ),
    (20, f'{MESSAGES} += {{"role":"user","content":"an old message without a run"}}'),
    (
        20,
        f'{EVENTS} += {{"type":"start","run":"r9","id":"r9","client_id":"c"}} ¶ '
        f'{EVENTS} += {{"type":"start","run":"r8","id":"r8","client_id":"c"}} ¶ '
        f'{MESSAGES} += {{"role":"user","run":"r9","content":"a"}} ¶ '
        f'{MESSAGES} += {{"role":"user","run":"r8","content":"a"}}',
    ),
]


@pytest.mark.parametrize(("rule", "changes", "severity", "words", "file"), CASES)
def test_a_fault_gives_a_finding(
    rule: int, changes: str, severity: str, words: str, file: str, tmp_path: Path
):
    expect(rule, changes, severity, words, file, tmp_path)


@pytest.mark.parametrize(("rule", "changes"), NEAR_MISSES)
def test_a_near_miss_gives_no_finding(rule: int, changes: str, tmp_path: Path):
    assert findings_for(rule, changes, tmp_path) == []


def line_findings(root: Path, profile=None) -> list[tuple[str, str, int | None, str]]:
    survey = read_facts(root, profile).survey if profile else read_facts(root).survey
    assert survey is not None
    return [(each.rule, each.severity.value, each.origin.line, each.message) for each in survey.findings]


def test_bytes_that_are_not_utf_8_are_reported_with_their_line(tmp_path: Path):
    build = sound(tmp_path)
    build.files[MESSAGES] += b'{"role":"user","content":"\xff"}\n'
    ((rule, severity, line, message),) = line_findings(build.write())
    assert (rule, severity, line) == ("ABI013", "error", 7)
    assert "0xFF" in message


def test_a_carriage_return_at_the_end_of_a_line_is_only_a_warning(tmp_path: Path):
    build = sound(tmp_path)
    build.files[MESSAGES] = build.files[MESSAGES].replace(b"\n", b"\r\n", 2)
    assert [each[:3] for each in line_findings(build.write())] == [
        ("ABI013", "warning", 1),
        ("ABI013", "warning", 2),
    ]


def test_a_tail_of_nuls_is_reported_as_nul_bytes(tmp_path: Path):
    build = sound(tmp_path)
    build.files[MESSAGES] += b"\0" * 4096
    ((rule, _, line, message),) = line_findings(build.write())
    assert (rule, line) == ("ABI013", 7)
    assert "4,096 NUL bytes" in message


def test_a_line_of_a_hundred_megabytes_is_reported_and_not_parsed(tmp_path: Path):
    root = sound(tmp_path).write()
    with (root / MESSAGES).open("ab") as file:
        file.write(b'{"role":"user","content":"')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n')
    ((rule, severity, line, message),) = line_findings(root)
    assert (rule, severity, line) == ("ABI016", "error", 7)
    assert "not parsed" in message


def test_many_bad_lines_are_reported_a_hundred_times_and_then_counted(tmp_path: Path):
    build = sound(tmp_path)
    build.files[MESSAGES] += b"nonsense\n" * 1000
    found = line_findings(build.write())
    assert len(found) == 101
    assert "900 more" in found[-1][3]


def test_the_document_profile_has_no_limits_and_no_vocabulary(tmp_path: Path):
    build = sound(tmp_path)
    build.add(EVENTS, {"type": "heartbeat"}).add(MESSAGES, {"role": "user", "content": "x" * 300_000})
    assert line_findings(build.write(), DOCUMENT) == []


def test_a_value_inside_a_line_has_its_exact_origin(tmp_path: Path):
    build = sound(tmp_path)
    bad = '{"role":"developer","content":"x"}'
    before = len(build.files[MESSAGES])
    survey = read_facts(build.add(MESSAGES, bad).write()).survey
    assert survey is not None
    origin = survey.findings[0].origin
    assert origin.pointer == "/6/role"
    assert (origin.start, origin.end) == (before + 8, before + 19)
    assert (origin.line, origin.column) == (7, 9)
