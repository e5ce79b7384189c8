# ruff: noqa: E501 - bodies of real shapes are long
"""Files of request bodies: how they are recognised, and what is shown of them."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.tokens import counter_named
from ctxview.core.origin import Origin
from ctxview.core.state import ContextState, RefStatus
from ctxview.formats.interface import Lens, Source
from ctxview.formats.registry import detect, open_source
from ctxview.formats.transcript.requests.log import PlacedRequest, RequestLog
from ctxview.formats.transcript.requests.shapes import requests_in
from tests.formats.transcript.builders import LENS
from tests.formats.transcript.request_builders import request_pair, requests_text, write_requests

SESSION = """
tool shell: Run a command | cached
tool search: Search the files
system: You are a helper | cached
user: Find it
assistant: thinking sig Where | call t1 search {"pattern": "it"}
user: result t1 found*900 | cached
said: Here it is
usage sent=5000 out=40 cached=4000
"""


def opened(folder: Path, text: str, name: str = "request.json") -> Source:
    path = folder / name
    path.write_text(text)
    return open_source(path)


def last_state(source: Source) -> ContextState:
    return source.reading(len(source.revisions) - 1, LENS).state


def tiers(state: ContextState) -> dict[str, list[str]]:
    return {tier.name: [block.id for block in tier.blocks] for tier in state.tiers}


@pytest.mark.parametrize(
    ("body", "api"),
    [
        ({"messages": [], "system": "x"}, "Anthropic Messages"),
        (
            {"messages": [{"role": "user", "content": "x"}], "tools": [{"input_schema": {}}]},
            "Anthropic Messages",
        ),
        ({"messages": [], "tools": [{"type": "bash_20250124", "name": "bash"}]}, "Anthropic Messages"),
        ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "Anthropic Messages"),
        (
            {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]},
            "Anthropic Messages",
        ),
        ({"model": "a/claude-x", "messages": [{"role": "user", "content": "x"}]}, "OpenAI chat"),
        ({"model": "claude-x", "messages": [], "tools": [{"function": {"name": "f"}}]}, "OpenAI chat"),
        ({"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}]}, "OpenAI chat"),
        ({"model": "gpt-5", "input": "x"}, "OpenAI Responses"),
        (
            {"model": "gpt-5", "input": [{"type": "message", "role": "user", "content": "x"}]},
            "OpenAI Responses",
        ),
        ([{"role": "user", "content": "x"}], "messages"),
    ],
)
def test_the_interface_is_recognised_by_the_shape(body: Any, api: str, tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    path.write_text(json.dumps(body))
    (match,) = detect(path)
    assert match.format == "transcript"
    assert api in match.why


@pytest.mark.parametrize(
    "value",
    [
        {"model": "text-embedding-3-large", "input": "x"},
        {"messages": ["x"], "model": "y"},
        {"input": [1, 2], "model": "y"},
        {"model": "x", "inputs": {}},
        {"log": {"entries": [{"request": {"url": "x"}}]}},
        [],
        [{"role": "user"}],
    ],
)
def test_other_json_is_not_taken_for_a_request(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps(value))
    assert [match.format for match in detect(path)] == []


def test_bare_messages_have_the_lowest_score(tmp_path: Path) -> None:
    path = tmp_path / "messages.json"
    path.write_text('[{"role": "user", "content": "x"}]')
    assert [match.score for match in detect(path)] == [40]


@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
def test_the_segments_sum_to_the_reported_size(api: str, tmp_path: Path) -> None:
    text = f"{api}\n{SESSION.strip()}".replace("thinking sig Where | ", "")
    state = last_state(opened(tmp_path, requests_text(text)))
    assert state.budgets[0].used == 5000 == sum(segment.used for segment in state.budgets[0].segments)
    assert state.log is not None
    assert (state.log.last_sent, state.log.output_tokens, state.log.calls) == (5000, 40, 1)
    assert state.budgets[0].reported == "reported by the provider"
    assert all("reported sum" in (segment.estimator or "") for segment in state.budgets[0].segments)


def test_sizes_without_an_answer_are_estimates(tmp_path: Path) -> None:
    state = last_state(opened(tmp_path, requests_text("limit 900\nsystem: word*90\nuser: Hi")))
    assert not state.counts.tokens_exact
    assert state.budgets[0].reserved == 900
    assert "estimated" in (state.budgets[0].note or "")
    assert (state.budgets[0].reported, state.budgets[0].compacts) == ("", False)


def test_the_tiers_are_in_the_order_of_the_prompt_and_the_answer_is_not_sent(tmp_path: Path) -> None:
    state = last_state(opened(tmp_path, requests_text(SESSION)))
    assert tiers(state) == {
        "tools": ["tools/0", "tools/1"],
        "system": ["system"],
        "conversation": ["messages/0", "messages/1#0", "messages/1#1"],
        "tool results": ["messages/2"],
        "answer": ["answer"],
    }
    ranks = [block.rank for block in state.blocks() if block.visible]
    assert ranks == list(range(7))
    assert [block.visible for block in state.tiers[-1].blocks] == [False]


def test_cache_breakpoints_say_how_much_is_before_them(tmp_path: Path) -> None:
    state = last_state(opened(tmp_path, requests_text(SESSION)))
    marked = [block for block in state.blocks() if block.state == "cached 5 minutes"]
    assert [block.id for block in marked] == ["tools/0", "system", "messages/2"]
    assert marked[-1].why == "cache breakpoint for 5 minutes: 5,000 tokens up to here"
    assert state.extra["cache breakpoints"].startswith("tools/0 at ")


def test_origins_are_the_bytes_of_the_messages(tmp_path: Path) -> None:
    source = opened(tmp_path, requests_text(SESSION))
    data = source.bytes_of(str(source.path))
    for block in last_state(source).blocks():
        assert block.origin.start is not None
        assert isinstance(json.loads(data[block.origin.start : block.origin.end]), dict | list | str)
        assert block.origin.pointer is not None


def test_lines_of_pairs_are_a_timeline(tmp_path: Path) -> None:
    first, second = "user: Hi\nusage sent=900", "user: Hi\nassistant: Yes\nuser: Go\nusage sent=950"
    other = "user: Another talk\nusage sent=500"
    system = "system: Help\n"
    text = requests_text(f"{system}{first}\n---\n{system}{other}\n---\n{system}{second}")
    source = opened(tmp_path, text, "trace.jsonl")
    assert [each.label for each in source.revisions] == ["call 1", "call 2", "call 3"]
    assert source.revisions[2].follows == "call 1"
    state = last_state(source)
    assert state.log is not None
    assert (state.log.calls, state.log.peak_sent) == (3, 950)
    assert [event.label for event in state.timeline][-1] == "call 3: 950 tokens sent, +50"
    assert tiers(source.reading(0, LENS).state)["conversation"] == ["messages/0"]


def test_the_same_text_has_the_same_size_in_the_next_request(tmp_path: Path) -> None:
    first = "system: word*900\nuser: Hi"
    second = f"{first}\nassistant: call t1 shell\nuser: result t1 found*400"
    third = f"{second}\nassistant: Done"
    text = f"{first}\nusage sent=2000\n---\n{second}\nusage sent=2600\n---\n{third}\nusage sent=2609"
    source = opened(tmp_path, text=requests_text(text), name="trace.jsonl")
    sizes = [
        {block.id: block.tokens for block in source.reading(at, LENS).state.blocks() if block.visible}
        for at in range(3)
    ]
    assert sum(size or 0 for size in sizes[0].values()) == 2000
    assert sizes[1] == sizes[0] | {name: sizes[1][name] for name in ("messages/1", "messages/2")}
    assert sizes[2] == sizes[1] | {"messages/3": 9}
    budget = source.reading(2, LENS).state.budgets[0]
    assert sum(segment.used for segment in budget.segments) == budget.used == 2609
    assert {segment.name: segment.exact for segment in budget.segments}["assistant"]


def test_one_body_is_one_moment(tmp_path: Path) -> None:
    source = opened(tmp_path, requests_text("system: Help\nuser: Hi"))
    assert len(source.revisions) == 1
    assert last_state(source).timeline == ()


def har(entries: list[tuple[str, str, str | None]]) -> str:
    found = [
        {
            "startedDateTime": "2026-08-01T10:00:00Z",
            "request": {"method": "POST", "postData": {"mimeType": "application/json", "text": body}},
            "response": {"content": {"text": answer, **({"encoding": encoding} if encoding else {})}},
        }
        for body, answer, encoding in entries
    ]
    page: dict[str, Any] = {"request": {"method": "GET"}, "response": {}}
    return json.dumps({"log": {"version": "1.2", "entries": [page, *found]}})


def test_requests_are_found_in_har_files(tmp_path: Path) -> None:
    pair = request_pair(SESSION)
    body, answer = json.dumps(pair["request"]), json.dumps(pair["response"])
    text = har([(body, answer, None), (body, b64encode(answer.encode()).decode(), "base64")])
    source = opened(tmp_path, text, "calls.har")
    assert len(source.revisions) == 2
    for revision in range(2):
        state = source.reading(revision, LENS).state
        assert state.budgets[0].used == 5000
        assert tiers(state)["answer"] == ["answer"]


STREAM = """event: message_start
data: {"type": "message_start", "message": {"model": "claude-x", "usage": {"input_tokens": 7, "cache_read_input_tokens": 90}}}

data: {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}

data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}

data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}}

data: {"type": "message_delta", "usage": {"output_tokens": 3}}
"""


def test_an_answer_that_was_streamed_is_put_together(tmp_path: Path) -> None:
    body = json.dumps(request_pair("system: Help\nuser: Hi")["request"])
    state = last_state(opened(tmp_path, har([(body, STREAM, None)])))
    assert state.budgets[0].used == 97
    assert [block.text for block in state.tiers[-1].blocks] == ["Hello"]


def test_lines_of_messages_are_one_conversation(tmp_path: Path) -> None:
    text = '{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Yes"}\n'
    source = opened(tmp_path, text, "chat.jsonl")
    assert tiers(last_state(source)) == {"conversation": ["messages/0", "messages/1"]}
    assert [block.origin.line for block in last_state(source).blocks()] == [1, 2]


def test_the_prompt_has_tools_system_and_messages_in_this_order(tmp_path: Path) -> None:
    source = opened(tmp_path, requests_text(SESSION))
    ability = source.abilities.prompt
    assert ability is not None
    prompt = ability.prompt(0, LENS)
    assert [message.role for message in prompt.messages] == ["tools", "system", "user", "assistant", "user"]
    assert (
        prompt.text.index("Run a command")
        < prompt.text.index("You are a helper")
        < prompt.text.index("Find it")
    )
    assert "messages/2 at 5,000." in prompt.notes[0]


def test_images_files_and_stored_context_are_references(tmp_path: Path) -> None:
    text = requests_text("responses\nprevious resp_1\nuser: Hi")
    state = last_state(opened(tmp_path, text))
    assert [(ref.kind, ref.target, ref.status) for ref in state.refs] == [
        ("previous_response_id", "resp_1", RefStatus.EXTERNAL)
    ]
    assert [gap.status for gap in state.missing] == ["on the server"]
    shown = last_state(opened(tmp_path, requests_text("user: image https://a.example/x.png\nsystem: Help")))
    assert [(ref.kind, ref.target) for ref in shown.refs] == [("image", "https://a.example/x.png")]


def test_todo_calls_make_the_list(tmp_path: Path) -> None:
    todos = {
        "todos": [{"content": "Test", "status": "in_progress"}, {"content": "Ship", "status": "pending"}]
    }
    text = f"system: Help\nuser: Go\nassistant: call t1 TodoWrite {json.dumps(todos)}\nuser: result t1 ok"
    todo = last_state(opened(tmp_path, requests_text(text))).todo
    assert todo is not None
    assert [(item.title, item.status, item.current) for item in todo.items] == [
        ("Test", "doing", True),
        ("Ship", "open", False),
    ]


def test_a_torn_and_a_broken_line_are_findings_and_the_rest_is_shown(tmp_path: Path) -> None:
    good = json.dumps(request_pair("system: Help\nuser: Hi\nusage sent=90"))
    text = "\n".join([*[good] * 20, '{"request": {"mess', good, good[:40]])
    source = opened(tmp_path, text, "trace.jsonl")
    assert len(source.revisions) == 21
    found = {each.rule for each in source.findings(LENS)}
    assert {"TRF001", "TRF002"} <= found


def test_a_secret_in_an_argument_is_found_once_for_all_requests(tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "a1B2" * 20
    pair = request_pair(f"system: Help\nuser: My key is {key}")
    text = "".join(json.dumps(pair) + "\n" for _ in range(5))
    found = [each for each in opened(tmp_path, text, "t.jsonl").findings(LENS) if each.rule.startswith("SEC")]
    assert len(found) == 1


def test_data_in_base64_never_counts_as_text(tmp_path: Path) -> None:
    data = {"type": "base64", "media_type": "x", "data": "QUJD" * 9000}
    blocks = [{"type": "image", "source": data}, {"type": "document", "source": data}]
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [*blocks, {"type": "text", "text": "seen"}],
    }
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 9000}}
    bodies = [
        {"system": "x", "messages": [{"role": "user", "content": [*blocks, result]}]},
        {"model": "gpt-4o", "messages": [{"role": "user", "content": [url]}]},
        {
            "model": "gpt-5",
            "input": [{"role": "user", "content": [{"type": "input_file", "file_data": "QUJD" * 9000}]}],
        },
    ]
    for body in bodies:
        state = last_state(opened(tmp_path, json.dumps(body)))
        assert "QUJD" not in "".join(block.text for block in state.blocks())
        assert state.counts.tokens < 9000


@pytest.mark.parametrize("lead", ["\ufeff", "\n\n  ", "\ufeff\r\n"])
@pytest.mark.parametrize(
    "notation", ["system: Help\nuser: Hi", "system: A\nuser: Hi\n---\nsystem: B\nuser: Hi"]
)
def test_a_byte_order_mark_and_blank_lines_are_skipped(lead: str, notation: str, tmp_path: Path) -> None:
    text = requests_text(notation).replace("\n", "\r\n")
    source = opened(tmp_path, lead + text)
    assert source.format == "transcript"
    assert tiers(last_state(source))["conversation"] == ["messages/0"]


def test_a_file_that_is_no_request_any_more_is_shown_as_empty(tmp_path: Path) -> None:
    path = write_requests(tmp_path, "system: Help\nuser: Hi")
    source = open_source(path)
    path.write_text('{"other": 1}')
    later = source.again()
    assert last_state(later).tiers == ()
    later.findings(LENS)


def test_a_request_to_a_model_with_a_published_table_is_counted_with_it(tmp_path: Path) -> None:
    source = opened(tmp_path, requests_text("chat\nsystem: You are a helper\nuser: Hello there"))
    state = source.reading(0, Lens(counter_named("o200k_base"))).state
    assert {block.id: block.tokens for block in state.blocks()} == {"messages/0": 4, "messages/1": 2}
    assert state.counts.estimator == "o200k_base, without the frame of the provider"
    other = opened(tmp_path, requests_text("system: You are a helper\nuser: Hello there"), "claude.json")
    assert "characters" in other.reading(0, Lens(counter_named("o200k_base"))).state.counts.estimator


def test_a_half_written_file_keeps_the_last_good_state(tmp_path: Path) -> None:
    path = write_requests(tmp_path, "system: Help\nuser: Hi")
    source = open_source(path)
    path.write_text(path.read_text()[:50])
    later = source.again()
    assert tiers(last_state(later))["conversation"] == ["messages/0"]


HOSTILE: list[Any] = [
    {"system": None, "tools": None, "model": "m", "messages": [{"role": "user", "content": None}]},
    {"system": [1, None, {}], "messages": [{"role": "user", "content": [None, 7, {"type": 3}, "x"]}]},
    {"system": "x", "tools": [None, {"input_schema": 3}], "messages": [{"role": "x", "content": {"a": 1}}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"function": None}, {}], "content": 1}]},
    {"model": "m", "input": [{"type": "function_call"}, {"type": "reasoning"}, 7, {"role": "user"}]},
    {
        "request": {"model": "m", "input": "x"},
        "response": {"usage": {"input_tokens": "9"}, "output": [1, {}]},
    },
    {"request": {"model": "m", "input": "x"}, "response": "data: {\ndata: [DONE]"},
    {"system": "x", "messages": [{"role": "user", "content": [{"type": "tool_result", "content": [3]}]}]},
]


@pytest.mark.parametrize("body", HOSTILE)
def test_odd_values_are_shown_and_raise_nothing(body: Any, tmp_path: Path) -> None:
    source = opened(tmp_path, json.dumps(body))
    assert source.format == "transcript"
    source.findings(LENS)
    state = last_state(source)
    assert state.budgets[0].used == sum(segment.used for segment in state.budgets[0].segments)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                (
                    "role",
                    "content",
                    "type",
                    "text",
                    "tool_use_id",
                    "id",
                    "name",
                    "input",
                    "tool_calls",
                    "function",
                )
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from(("content", "type", "tool_calls")), JSON_VALUES), max_size=4))
def test_any_content_can_be_read(messages: list[dict[str, Any]]) -> None:
    for names in (("messages", "system"), ("messages", "model"), ("input", "model")):
        kinds = [{**each, "role": "user"} for each in messages]
        body = {names[0]: kinds, names[1]: "x"}
        held = RequestLog("x.json")
        for found in requests_in(body):
            held.add(PlacedRequest(found, lambda pointer: Origin("x.json", pointer)))
        assert len(held.values) == len(held.log.rows)


def test_a_message_that_is_nested_deeply_does_not_stop_the_reading(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    deep = "[" * 2000 + "]" * 2000
    path.write_text(
        f'{{"model": "claude-x", "max_tokens": 9, "messages": [{{"role": "user", "content": {deep}}}]}}'
    )
    state = open_source(path).reading(0, LENS).state
    assert [block.id for tier in state.tiers for block in tier.blocks] == ["messages/0"]
