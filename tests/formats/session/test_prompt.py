"""The system message of a session is the runtime's, byte for byte; what no file holds is a placeholder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.prompt import CutKind, Prompt, PromptError, PromptPart
from ctxview.formats import Lens, open_source
from ctxview.formats.session.profile import load_profile
from ctxview.formats.session.prompt import _filled
from ctxview.formats.session.prompt_history import prompt_text
from tests.formats.session.builders import RUN_1, RUN_2, Build, assistant, done, fresh, lines, start, user

CORTEXFS = load_profile("cortexfs")
CONTROL = "home/1000/agent/coder.d"
WARNING = "WARNING: historical messages exceeded the 8000 character budget; oldest messages were omitted."


def prompt_of(build: Build, revision: int = -1, **lens: Any) -> Prompt:
    source = open_source(build.write())
    ability = source.abilities.prompt
    assert ability is not None
    return ability.prompt(range(len(source.revisions))[revision], Lens(ESTIMATES["bytes/4"], **lens))


def history_of(build: Build) -> str:
    """Return the history in the system message."""
    return prompt_of(build).text.partition("## History Messages\n\n")[2].removesuffix("\n")


def session(tmp_path: Path, *messages: Any) -> Build:
    return fresh(tmp_path).set("messages.jsonl", lines(messages))


EXAMPLE = r"""{"role":"user","content":"  Why is the clock late?  ","run":"ctx-01"}
{"role":"assistant","content":[{"type":"text","text":"I look.\nOne moment."},{"type":"image","path":"a.png"}],"run":"ctx-01"}
{"role":"tool","content":[{"type":"tool_result","tool_call_id":"c1","content":"12:00:07"}],"name":"tsh"}
{"role":"tool","content":[{"type":"tool_result","tool_call_id":"c2","content":[{"type":"text","text":"nested"}]}]}
{"role":"user","content":null}
not json
{"role":"assistant","content":"Seven seconds."}
"""  # noqa: E501 - lines of a file
EXAMPLE_TEXT = """# CortexFS Agent System Prompt

Time: {{current_time_unix}}
Agent: coder

## Runtime Contract

{{runtime_contract}}

## AGENT Instructions

{{agent_instructions}}

## Rules

{{rules}}

## Skills

{{skills}}

## Tool Injection

{{tool_injection}}

## History Messages

- user: Why is the clock late?
- assistant: I look.
One moment.
- tool: 12:00:07
- user: null
- assistant: Seven seconds.
"""


def test_the_worked_example_of_the_runtime(tmp_path: Path) -> None:
    prompt = prompt_of(fresh(tmp_path).set("messages.jsonl", EXAMPLE))
    assert prompt.text == EXAMPLE_TEXT
    system, asked = prompt.messages
    assert system.role == "system"
    assert asked.absent is not None
    assert [cut.what for cut in prompt.cuts() if cut.kind is CutKind.ABSENT] == [
        *("current_time_unix", "runtime_contract", "agent_instructions", "rules", "skills"),
        *("tool_injection", "user input"),
    ]
    assert [part.block for part in system.parts if part.tier == "recent" and part.text] == [
        *("message 1", "message 2", "message 3", "message 5", "message 7")
    ]
    assert [part.cut.what for part in system.parts if part.tier == "recent" and part.cut is not None] == [
        *("message 4", "message 6")
    ]


@pytest.mark.parametrize(
    ("length", "history"),
    [
        (7883, f"- user: {'b' * 7883}\n{WARNING}"),
        (7992, f"- user: {'b' * 7992}"),
        (7993, WARNING),
        (7890, f"- user: {'b' * 7890}\n{WARNING}"),
        (7897, f"- user: {'b' * 7897}\n{WARNING}"),
        (7898, f"- user: {'b' * 7898}\n{WARNING[:-1]}"),
        (7991, f"- user: {'b' * 7991}"),
    ],
)
def test_the_warning_stands_last_and_is_cut_at_the_budget(tmp_path: Path, length: int, history: str) -> None:
    build = session(tmp_path, user("a" * 200), user("b" * length))
    assert history_of(build) == history


def test_one_message_more_than_fits(tmp_path: Path) -> None:
    fits = session(tmp_path, user("a" * 100), user("b" * 7883))
    assert history_of(fits) == f"- user: {'a' * 100}\n- user: {'b' * 7883}"
    over = session(tmp_path, user("a" * 101), user("b" * 7883))
    assert len(history_of(over)) == 7986


def test_the_first_message_that_does_not_fit_ends_the_history(tmp_path: Path) -> None:
    build = session(tmp_path, user("small"), user("x" * 7950), user("newest " * 10))
    assert history_of(build) == f"- user: {('newest ' * 10).strip()}\n{WARNING}"


def test_no_messages(tmp_path: Path) -> None:
    assert history_of(session(tmp_path)) == "(no historical messages injected)"
    assert history_of(session(tmp_path, user(" \n\x85"))) == "(no historical messages injected)"


def test_a_line_that_starts_exactly_at_the_window_is_lost(tmp_path: Path) -> None:
    last = lines([user("the last")])
    filler = lines(['{"role":"user","content":" ","p":"%s"}' % ("x" * 16000)])
    exact = lines([user("at the window")])
    rest = 65536 - len(last) - 3 * len(filler) - len(exact)
    blank = lines(['{"role":"user","content":" ","p":"%s"}' % ("x" * (rest - 37))])
    window = exact + blank + filler * 3 + last
    assert len(window) == 65536
    assert history_of(fresh(tmp_path).set("messages.jsonl", window)).startswith("- user: at the window\n")
    build = fresh(tmp_path).set("messages.jsonl", lines([user("earlier")]) + window)
    assert history_of(build) == "- user: the last"


@pytest.mark.parametrize(
    "line",
    [
        r'{"role":"user","content":"\ud800"}',
        '{"role":"user","content":1e400}',
        '{"role":"user","content":NaN}',
        '{"role":"user","content":"x","deep":%s1%s}' % ("[" * 127, "]" * 127),  # noqa: UP031
        '{"role":1,"content":"x"}',
        '{"role":"user"}',
        '{"role":"user","content":"%s"}' % ("x" * 16384),
        '["role"]',
    ],
)
def test_a_line_that_the_runtime_skips(tmp_path: Path, line: str) -> None:
    build = session(tmp_path, line, user("kept"))
    assert history_of(build) == "- user: kept"


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ('{"role":"","content":"x"}', "- : x"),
        ('{"role":"user","content":"x","deep":%s1%s}' % ("[" * 126, "]" * 126), "- user: x"),  # noqa: UP031
        (b'{"role":"user","content":"a\xffb"}', "- user: a\ufffdb"),
        ('{"role":"user","content":5}', "- user: 5"),
        ('{"role":"user","content":{"b":1e21,"a":[0.1,"e+05"]}}', '- user: {"a":[0.1,"e+05"],"b":1e21}'),
        ('{"role":"user","content":[{"text":5,"content":"c"},{"text":"t","content":"c"}]}', "- user: c\nt"),
        ('{"role":"user","content":"\\u001c x \\ufeff"}', "- user: \x1c x \ufeff"),
        ('{"role":"user","content":"x"}\r', "- user: x"),
    ],
)
def test_how_a_message_is_written(tmp_path: Path, line: str | bytes, written: str) -> None:
    data = line if isinstance(line, bytes) else line.encode()
    assert history_of(fresh(tmp_path).set("messages.jsonl", data + b"\n")) == written


def test_a_session_that_summarises(tmp_path: Path) -> None:
    build = session(tmp_path, user("é" * 4500), user("b" * 1500), user("c" * 6900))
    build.around[f"{CONTROL}/compact.strategy"] = b" summarize\n"
    shown = f"- user: {'c' * 6900}"
    summary = f"- user: {'é' * 4500}".encode()[: 8000 - len(shown) - 30].decode(errors="ignore")
    assert history_of(build) == f"Summary of earlier context:\n{summary}\n\n{shown}"


def test_a_summary_without_room_is_left_out(tmp_path: Path) -> None:
    build = session(tmp_path, user("early"), user("c" * 7985))
    build.around[f"{CONTROL}/compact.strategy"] = b"summarize"
    assert history_of(build) == f"- user: {'c' * 7985}"
    nothing = session(tmp_path)
    nothing.around = build.around
    assert history_of(nothing) == "(empty)"


def test_a_program_that_summarises_is_not_run(tmp_path: Path) -> None:
    build = session(tmp_path, user("a" * 4000), user("b" * 5000))
    build.around[f"{CONTROL}/compact.strategy"] = b"mine"
    build.around[f"{CONTROL}/compact.d/mine"] = b"#!/bin/sh\ntouch ran\n"
    prompt = prompt_of(build)
    assert prompt.text.endswith(f"## History Messages\n\n- user: {'b' * 5000}\n")
    (summary,) = [cut for cut in prompt.cuts() if cut.what == "summary of earlier messages"]
    assert summary.reason == "up to 2,962 bytes by compact.d/mine, which is never run here"
    absent = session(tmp_path / "absent", user("a" * 4000), user("b" * 5000))
    absent.around[f"{CONTROL}/compact.strategy"] = b"mine"
    assert history_of(absent).endswith(f"\n{WARNING}")


def test_the_values_of_files_fill_the_template(tmp_path: Path) -> None:
    build = session(tmp_path, user("hi {{agent}} {{runtime_contract}}"))
    build.set("AGENTS.md", "  Be {{skills}}.\n").set("SKILLS.md", "\n")
    build.around[f"{CONTROL}/system.md"] = "You are {{agent}}; {{rules}}\u200b\n".encode()
    build.around[f"{CONTROL}/prompt.template.md"] = (
        b"{{ agent }}|{{agent}}|{{agent_instructions}}|{{unknown}}|{{history_messages}}|\n"
    )
    prompt = prompt_of(build)
    assert prompt.text == (
        "{{ agent }}|coder|You are {{agent}}; Be (empty).\u200b|{{unknown}}"
        "|- user: hi {{agent}} {{runtime_contract}}|\n"
    )
    rules = next(part for part in prompt.messages[0].parts if part.tier == "rules")
    assert rules.text == "Be "
    assert rules.origin is not None
    assert rules.origin.file.endswith("AGENTS.md")


def test_a_control_folder_of_all_users(tmp_path: Path) -> None:
    build = session(tmp_path)
    build.around["agent/coder.d/other"] = b""
    assert "## AGENT Instructions\n\n(empty)\n" in prompt_of(build).text


def test_the_last_user_line_of_an_active_session_is_the_input_of_its_call(tmp_path: Path) -> None:
    build = session(tmp_path, user("first"), assistant("answer"), user("second"), assistant("working"))
    build.set("state", "active\n")
    prompt = prompt_of(build)
    assert prompt.text.endswith("\n- user: first\n- assistant: answer\n")
    assert prompt.messages[1].text == "second"


def test_a_past_run_has_the_messages_of_then(tmp_path: Path) -> None:
    build = session(tmp_path, user("one"), assistant("1"), user("two", RUN_2), assistant("2", RUN_2))
    build.lines("events.jsonl", start(RUN_1), done(RUN_1), start(RUN_2), done(RUN_2))
    prompt = prompt_of(build, 0)
    assert prompt.text.endswith("## History Messages\n\n- user: one\n- assistant: 1\n")
    assert prompt.notes[-1] == "The instructions, rules and skills are those of now."


def test_a_profile_without_a_runtime_has_no_prompt(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="describes no runtime"):
        prompt_of(session(tmp_path), profile="document")


@given(st.lists(st.text("ab{}", max_size=8), max_size=4), st.text("a{}b", min_size=1, max_size=3))
def test_filling_parts_is_filling_their_text(texts: list[str], value: str) -> None:
    parts = [PromptPart(text=text) for text in texts]
    filled = list(_filled(parts, "{a}", [PromptPart(text=value)]))
    assert "".join(part.text for part in filled) == "".join(texts).replace("{a}", value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    )
)
def test_any_content_gives_a_text_or_nothing(content: Any) -> None:
    text = prompt_text({"content": content})
    assert isinstance(text, str)
