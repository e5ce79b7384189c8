"""The prompt of a snapshot is the runtime's, byte for byte; content that no file holds is named."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.analysis.revisions.window import ELSEWHERE
from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.prompt import CutKind, Prompt, PromptError
from ctxview.formats import Lens, open_source
from ctxview.formats.snapshot.model import TIERS
from ctxview.formats.snapshot.parser import parse_file
from ctxview.formats.snapshot.profile import load_profile
from ctxview.formats.snapshot.prompt import PromptOptions, snapshot_prompt
from ctxview.formats.snapshot.runtime.projection import project
from ctxview.samples import samples_folder
from tests.formats.snapshot.builders import (
    at,
    block,
    full_log_value,
    reply_bytes,
    snapshot_of,
    snapshot_value,
    to_bytes,
)

COUNTER = ESTIMATES["bytes/4"]


def prompt_of(path: Path, revision: int = -1, **lens: Any) -> Prompt:
    source = open_source(path)
    ability = source.abilities.prompt
    assert ability is not None
    return ability.prompt(range(len(source.revisions))[revision], Lens(COUNTER, **lens))


def prompt_for(value: dict[str, Any]) -> Prompt:
    return snapshot_prompt(snapshot_of(value), PromptOptions(load_profile(), COUNTER))


FIRST = (
    '{"version":3.0,"runtime":{"round":9,"workspace":"/srv/agent/","datetime":"2026-02-28T10:00:00.000Z",'
    '"startup_at":1772272800000,"budget":{"degrade_stage":"none"}},"memory":{"core":[{"content":'
    '"  Deploys go out on Tuesday, 10:00 ","type":"fact","id":"c1","decay":0.10,"confidence":"0.90",'
    '"tags":["ops","a, b"," ops "],"source":{"file":"plan.md","lines":[3,9]}},{"id":"c2","type":"fact",'
    '"decay":0.2,"round":4,"tags":[],"content":"no confidence"}],"working":[{"id":"w1","type":"task",'
    '"decay":0.4,"confidence":0.6,"round":12,"tags":["x"],"content":"write\\nthe tests"},{"id":"w2",'
    '"type":"task","decay":0.1,"confidence":0.9,"round":9,"tags":[],"content":"done already",'
    '"status":"done"}],"ephemeral":[]},"todo":{"summary":"2/5","total":5,"step":3,"cursor":null},'
    '"active_task":"fix: the clock","active_task_meta":{"id":"t1","type":"http.input","status":"running",'
    '"retries":0,"attempt":1,"started_at":1772272800456},"capabilities":[{"name":"fs","scope":"rw"},'
    '{"scope":"read, only","name":"net"}],"last_task":{"id":"t0"},"project":{"a":1}}'
)
FIRST_TEXT = """<context>
version: 3
runtime:
  round: 9
  workspace: /srv/agent/
  datetime: "2026-02-28T10:00:00.000Z"
  startup_at: 1772272800000
memory:
  core[1]:
    - id: c1
      type: fact
      decay: 0.1
      confidence: 0.9
      round: 9
      tags[2]: ops,"a, b"
      content: "Deploys go out on Tuesday, 10:00"
      source:
        file: plan.md
        lines[2]: 3,9
  working[1]:
    - id: w1
      type: task
      decay: 0.4
      confidence: 0.6
      round: 9
      tags[1]: x
      content: "write\\nthe tests"
      status: open
  ephemeral[0]:
  longterm[0]:
todo:
  summary: 2/5
  total: 5
  step: 3
  cursor: null
active_task: "fix: the clock"
active_task_meta:
  id: t1
  type: http.input
  status: running
  retries: 0
  attempt: 1
capabilities[2]{name,scope}:
  fs,rw
  net,"read, only"
</context>"""
SECOND = (
    '{"version":"3.0","runtime":{"round":2,"datetime":"2026-02-28T10:00:00.000Z","startup_at":1772272800000},'
    '"memory":{"core":[{"id":"s1","type":"note","decay":0,"confidence":1,"round":1,"tags":["true","05","-x"],'
    '"content":"-0.40","content_state":"tag_ref","tag_id":"tag:s1:m5:ab","empty":{},"none":[],'
    '"mixed":[1.0,null,{"k":[]},["a",[]]],"rows":[{"b":1e-7,"a":1e21},{"a":-0,"b":0.30}],'
    '"with-dash":"a|b","":[1]}]},"active_task":null}'
)
SECOND_TEXT = """<context>
version: "3.0"
runtime:
  round: 2
  workspace: null
  datetime: "2026-02-28T10:00:00.000Z"
  startup_at: 1772272800000
memory:
  core[1]:
    - id: s1
      type: note
      decay: 0
      confidence: 1
      round: 1
      tags[3]: "true","05","-x"
      content: "-0.40"
      content_state: tag_ref
      tag_id: "tag:s1:m5:ab"
      empty:
      none[0]:
      mixed[4]:
        - 1
        - null
        - k[0]:
        - [2]:
          - a
          - [0]:
      rows[2]{b,a}:
        1e-7,1e+21
        0.3,0
      "with-dash": a|b
      [1]: 1
  working[0]:
  ephemeral[0]:
  longterm[0]:
active_task: null
</context>"""


@pytest.mark.parametrize(("document", "text"), [(FIRST, FIRST_TEXT), (SECOND, SECOND_TEXT)])
def test_the_block_is_the_text_that_the_runtime_wrote(tmp_path: Path, document: str, text: str) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(document)
    prompt = prompt_of(path)
    assert prompt.text == text
    assert prompt.exact


def test_each_line_names_its_block_and_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(FIRST)
    parts = prompt_of(path).messages[0].parts
    (content,) = [part for part in parts if "Deploys" in part.text]
    assert (content.block, content.tier, content.field) == ("c1", "core", None)
    assert content.origin is not None
    assert content.origin.pointer == "/memory/core/0/content"
    assert [part.field for part in parts if part.block == "w1"] == [
        *("id", "type", "decay", "confidence", "round", "tags", None, "status")
    ]
    assert [part.tier for part in parts if part.text.endswith("[1]:\n")] == ["core", "working"]


def test_hidden_blocks_are_cuts_after_their_tier(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(FIRST)
    parts = prompt_of(path).messages[0].parts
    cuts = [(index, part.cut) for index, part in enumerate(parts) if part.cut is not None]
    assert [(cut.kind, cut.what, cut.reason) for _, cut in cuts] == [
        (CutKind.HIDDEN, "c2", "confidence 0.50 < 0.70"),
        (CutKind.HIDDEN, "w2", "status done"),
    ]
    assert [parts[index + 1].text for index, _ in cuts] == ["  working[1]:\n", "  ephemeral[0]:\n"]
    assert [(cut.bytes, cut.tokens) for _, cut in cuts] == [(13, 3), (12, 3)]


def test_a_long_content_is_cut_at_512_units_and_the_rest_has_its_size() -> None:
    prompt = prompt_for(snapshot_value(core=[block("a", content="é" * 511 + "😀z")]))
    (cut,) = [part.cut for part in prompt.messages[0].parts if part.cut is not None]
    assert cut.kind is CutKind.SHORTENED
    assert cut.bytes == 1
    assert f"content: {'é' * 511}\ud83d\n" in prompt.text


def test_the_messages_of_a_running_task(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(FIRST)
    block, base, user = prompt_of(path).messages
    assert (block.role, block.in_text) == ("system", True)
    assert base.role == "system"
    assert base.absent is not None
    assert (base.absent.what, base.absent.tokens) == ("base prompt", None)
    assert (user.role, user.text, user.in_text) == ("user", "fix: the clock", False)


def test_the_rest_of_the_recorded_input_is_the_size_of_the_messages_that_are_not_here() -> None:
    value = snapshot_value(active_task="go", active_task_meta={"status": "done"})
    bare = prompt_for(value)
    own = -(-len(bare.text.encode()) // 3)
    value["runtime"]["budget"] = {"estimated_input_tokens": own + 5000}
    _, base, user = prompt_for(value).messages
    assert base.absent is not None
    assert base.absent.tokens == 5000
    assert base.absent.counted_by == "recorded by the runtime (UTF-8 bytes / 3), with all that is not here"
    assert user.absent is not None
    assert user.absent.tokens is None


def test_the_window_has_the_sizes_of_the_text_of_the_prompt() -> None:
    lens = Lens(ESTIMATES["bytes/3"])
    source = open_source(samples_folder() / "snapshot/lighthouse")
    ability = source.abilities.prompt
    assert ability is not None
    seen = 0
    for number in range(len(source.revisions)):
        first = source.reading(number, lens).state.budgets[0]
        used = {each.name: each.used for each in first.segments}
        if ELSEWHERE not in used:
            continue
        seen += 1
        prompt = ability.prompt(number, lens)
        absent = [each.absent.tokens for each in prompt.messages if each.absent is not None]
        assert used.pop(ELSEWHERE) == absent[0]
        said = next(each.text for each in prompt.messages if each.role == "user")
        assert used.pop("user message") == lens.counter.count(said)
        assert sum(used.values()) == lens.counter.count(prompt.text)
    assert seen == 14


def test_a_compressed_input_and_continuations_are_not_in_the_file() -> None:
    meta = {"status": "running", "execution": {"continuations": {"used": 2, "limit": 4}}}
    value = snapshot_value(active_task="go", active_task_meta=meta)
    value["runtime"]["budget"] = {"degrade_stage": "compress_user_input"}
    absent = [message.absent.what for message in prompt_for(value).messages if message.absent is not None]
    assert absent == ["base prompt", "user input", "continuation 1", "continuation 2"]


@pytest.mark.parametrize("runtime", [..., None])
def test_without_runtime_there_is_no_prompt(runtime: Any) -> None:
    with pytest.raises(PromptError, match="no `runtime`"):
        prompt_for(snapshot_value(runtime=runtime))


def test_without_a_round_every_block_is_hidden() -> None:
    prompt = prompt_for(snapshot_value(core=[block("a")], runtime={}))
    assert "  round: null\n" in prompt.text
    assert "  core[0]:\n" in prompt.text


@pytest.mark.parametrize(
    ("member", "written"),
    [
        (
            {"todo": {"summary": "s", "total": 2.9, "step": 7, "extra": 1}},
            "todo:\n  summary: s\n  total: 2\n  step: 2\n<",
        ),
        (
            {"todo": {"summary": "s", "total": -1, "step": 0, "cursor": {"v": 1}}},
            "total: 0\n  step: 0\n  cursor:\n    v: 1",
        ),
        ({"todo": {"summary": 1, "total": 2, "step": 1}}, "longterm[0]:\n</context>"),
        ({"todo": {"summary": "s", "total": "2", "step": 1}}, "longterm[0]:\n</context>"),
        ({"todo": ..., "active_task_meta": None}, "longterm[0]:\nactive_task_meta: null\n<"),
        ({"todo": ..., "active_task_meta": "x"}, "longterm[0]:\n</context>"),
        (
            {"todo": ..., "active_task_meta": {"status": 1, "retries": 1.5, "id": "t"}},
            "active_task_meta:\n  id: t\n  retries: 1\n<",
        ),
        ({"todo": ..., "capabilities": None, "active_task": 3}, "active_task: 3\ncapabilities: null\n<"),
        ({"todo": ..., "last_task": {}, "project": 1, "task_checkpoint": None}, "longterm[0]:\n</context>"),
    ],
)
def test_the_members_beside_memory(member: dict[str, Any], written: str) -> None:
    assert written in prompt_for(snapshot_value(**member)).text


def test_keys_of_a_block_are_in_the_order_of_the_runtime() -> None:
    value = {"zeta": 1, "status": "bad", "content": "c", "id": "a", "7": 0, "type": "t", "decay": 0}
    text = prompt_for(snapshot_value(working=[value | {"confidence": 1}])).text
    keys = [line.strip(" -").partition(":")[0] for line in text.split("working")[1].splitlines()[1:11]]
    assert keys == [
        '"7"',
        "id",
        "type",
        "decay",
        "confidence",
        "round",
        "tags[0]",
        "content",
        "zeta",
        "status",
    ]


def test_other_tiers_vanish_and_missing_ones_are_empty() -> None:
    value = snapshot_value(todo=...)
    value["memory"] = {"extra": [block("x")], "core": {"no": "list"}}
    prompt = prompt_for(value)
    assert prompt.text.endswith(
        "memory:\n  core[0]:\n  working[0]:\n  ephemeral[0]:\n  longterm[0]:\n</context>"
    )
    assert [cut.what for cut in prompt.cuts() if cut.kind is CutKind.HIDDEN] == ["x"]


# -- other files ---------------------------------------------------------------------------------------


def test_a_lite_log_has_the_copy_of_the_model_as_it_is(tmp_path: Path) -> None:
    model = {"memory": {"core": [block("low", confidence=0.1, tags=[])]}, "kept": True}
    path = tmp_path / "context_20260225100001.log"
    path.write_bytes(to_bytes({"modelContext": model, "meta": {}}))
    prompt = prompt_of(path)
    assert prompt.text.startswith("<context>\nmemory:\n  core[1]:\n    - id: low\n")
    assert prompt.text.endswith("\n      content: what low says\nkept: true\n</context>")
    assert {part.block for part in prompt.messages[0].parts} == {None, "low"}


def test_a_full_log_is_projected_from_its_stored_snapshot(tmp_path: Path) -> None:
    value = snapshot_value(core=[block("a"), block("b", confidence=0.1)])
    path = tmp_path / "context_20260225100001.log"
    path.write_bytes(to_bytes(full_log_value(value)))
    assert prompt_of(path).text == prompt_for(value).text


def test_a_reply_has_the_prompt_that_it_answers(tmp_path: Path) -> None:
    (tmp_path / "round-2.received.json").write_bytes(to_bytes(at(2, core=[block("a")])))
    (tmp_path / "round-2.reply.txt").write_bytes(reply_bytes(at(2, core=[block("b")])))
    prompt = prompt_of(tmp_path)
    assert prompt.text == prompt_of(tmp_path, 0).text
    assert prompt.notes[0] == "The prompt that this reply answers."


def test_a_reply_alone_is_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "reply.txt"
    path.write_bytes(reply_bytes(at(2, core=[block("b")])))
    prompt = prompt_of(path)
    assert "id: b\n" in prompt.text
    assert not prompt.exact
    assert prompt.notes[0].startswith("A guess")


def test_a_reply_without_a_snapshot_has_no_prompt(tmp_path: Path) -> None:
    path = tmp_path / "reply.txt"
    path.write_bytes(b"Done.\n<<<CONTEXT>>>\n{broken")
    with pytest.raises(PromptError):
        prompt_of(path)


def test_a_context_text_is_printed_as_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    block_text = FIRST_TEXT.replace("  round: 9\n", "  round:   9\n", 1)
    path.write_text(f"You are an agent.\n{block_text}\nBye.\n")
    prompt = prompt_of(path)
    assert prompt.text == block_text
    parts = prompt.messages[0].parts
    assert [part.field for part in parts if part.block == "w1"] == [
        *("id", "type", "decay", "confidence", "round", "tags", None, "status")
    ]
    (content,) = [part for part in parts if "Deploys" in part.text]
    assert (content.block, content.tier, content.field) == ("c1", "core", None)
    assert next(part for part in parts if part.text.startswith("todo")).tier is None


def test_saved_messages_are_all_in_the_messages_form(tmp_path: Path) -> None:
    path = tmp_path / "messages.json"
    messages = [
        {"role": "system", "content": FIRST_TEXT},
        {"role": "system", "content": "You are an agent."},
        {"role": "assistant", "content": None},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    ]
    path.write_bytes(to_bytes({"ok": True, "data": {"messages": messages}}))
    prompt = prompt_of(path)
    assert prompt.text == FIRST_TEXT
    assert [message.role for message in prompt.messages] == ["system", "system", "assistant", "user"]
    assert [message.text for message in prompt.messages[1:]] == [
        "You are an agent.",
        "",
        '[{"type": "text", "text": "hi"}]',
    ]


def agent_folder(tmp_path: Path, checksum: str) -> Path:
    log = tmp_path / ".agent" / "log"
    log.mkdir(parents=True)
    for number in (1, 2):
        name = f"context_2026022510000{number}.log"
        (log / name).write_bytes(
            to_bytes(full_log_value(at(number), saved_at=f"2026-02-25T10:00:0{number}Z"))
        )
    (tmp_path / ".agent" / "compiled_prompt.md").write_text("the base prompt")
    (tmp_path / ".agent" / "compiled_prompt.meta.json").write_text(json.dumps({"agentChecksum": checksum}))
    (tmp_path / "AGENT.md").write_text("be kind")
    return tmp_path


def test_the_compiled_base_prompt_is_used_when_it_is_proved(tmp_path: Path) -> None:
    folder = agent_folder(tmp_path, hashlib.sha256(b"be kind").hexdigest())
    assert prompt_of(folder).messages[1].text == "the base prompt"
    assert prompt_of(folder, 0).messages[1].absent is not None, "an earlier call may have had another one"


def test_a_base_prompt_of_another_agent_file_is_not_used(tmp_path: Path) -> None:
    base = prompt_of(agent_folder(tmp_path, hashlib.sha256(b"be cruel").hexdigest())).messages[1]
    assert base.absent is not None
    assert base.absent.reason == "compiled_prompt.md was made from another AGENT.md"


def test_a_profile_with_another_release_of_the_writer_is_not_exact(tmp_path: Path) -> None:
    profile = tmp_path / "newer.toml"
    profile.write_text('extends = "atom-0.17"\ntoon = "2.3.1"\n')
    path = tmp_path / "s.json"
    path.write_text(FIRST)
    prompt = prompt_of(path, profile=str(profile))
    assert not prompt.exact
    assert any("2.3.1" in note for note in prompt.notes)


def test_a_snapshot_is_for_the_model_only(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(FIRST)
    ability = open_source(path).abilities.prompt
    assert ability is not None
    assert ability.prompt(0, Lens(COUNTER), "model").text == FIRST_TEXT
    with pytest.raises(PromptError, match="to the model only"):
        ability.prompt(0, Lens(COUNTER), "tool")


BLOCKS = st.fixed_dictionaries(
    {"id": st.text(max_size=3), "type": st.just("t"), "content": st.text(max_size=600)},
    optional={
        "decay": st.floats(0, 1) | st.just("x"),
        "confidence": st.floats(0, 1),
        "round": st.integers(-1, 9),
        "tags": st.lists(st.text(max_size=3), max_size=9),
        "more": st.dictionaries(st.text(max_size=2), st.integers() | st.text(max_size=3), max_size=2),
    },
)


@given(st.lists(BLOCKS, max_size=4), st.lists(BLOCKS, max_size=4))
def test_the_block_reads_back_as_what_the_model_is_shown(core: list[Any], working: list[Any]) -> None:
    stored = snapshot_of(snapshot_value(core=core, working=working, round=5))
    prompt = prompt_for(stored.value)
    data = prompt.text.encode("utf-8", "replace")
    read = parse_file("prompt.txt", data)
    assert read.snapshot is not None
    projection = project(stored, load_profile())
    for tier in TIERS:
        shown = [(each.normal.id, each.normal.content) for each in projection.tier(tier).shown]
        found = [(each.id, each.content) for each in read.snapshot.tier(tier)]
        assert [(a.encode(errors="replace"), b.encode(errors="replace")) for a, b in shown] == [
            (str(a).encode(), str(b).encode()) for a, b in found
        ]
    assert not [part for part in prompt.messages[0].parts if bool(part.text) == (part.cut is not None)]
