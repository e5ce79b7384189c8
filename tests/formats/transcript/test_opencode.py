# ruff: noqa: E501 - rows of real shapes are long
"""Sessions of OpenCode: how they are found, and which messages are live."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.core.origin import Origin
from ctxview.core.revision_signs import COMPACTION
from ctxview.core.state import ContextState, RefStatus
from ctxview.formats.discovery import discover
from ctxview.formats.interface import OpenError, Source
from ctxview.formats.registry import detect, open_source
from ctxview.formats.transcript.opencode.reader import OpenCodeLog, live_context
from ctxview.formats.transcript.opencode.store import SessionRecord
from ctxview.formats.transcript.session_files import sessions_at_home
from tests.formats.transcript.builders import LENS
from tests.formats.transcript.opencode_builders import export, write_export, write_store, write_tree

TALK = """
m1 user: Fix the tests
m2 assistant sent=9000 out=40: On it | tool c1 read completed row*3000
m3 assistant sent=12000 out=20: Done
m4 user: More
m5 assistant sent=12100 out=30: Good
"""
COMPACTED = """
m1 user: Fix the tests
m2 assistant sent=150000 out=40: On it
m3 user: The port is 8080
m4 assistant sent=150100 out=40: Noted
m5 compact auto{tail}
m6 summary of=m5 sent=150200 out=900{state}: We fixed the tests
m7 user: Go on
m8 assistant sent=30000 out=20: Going on
"""


def state_of(source: Source, at: int = -1) -> ContextState:
    return source.reading(at % len(source.revisions), LENS).state


def live(state: ContextState) -> list[str]:
    assert state.log is not None
    return list(state.log.live_rows)


def tier(state: ContextState, name: str) -> list[str]:
    return [block.id for each in state.tiers if each.name == name for block in each.blocks]


def compacted(folder: Path, tail: str = "", state: str = "") -> ContextState:
    return state_of(open_source(write_export(folder, COMPACTED.format(tail=tail, state=state))))


def test_store_export_and_tree_show_the_same_session(tmp_path: Path) -> None:
    value = export(TALK)
    store = write_store(tmp_path / "store", value)
    tree = write_tree(tmp_path / "tree", value)
    paths = [
        write_export(tmp_path / "export", TALK),
        store / "ses_1",
        tree / "session" / "p1" / "ses_1.json",
    ]
    states = [state_of(open_source(path)) for path in paths]
    for state in states:
        assert state.log is not None
        assert live(state) == ["m1", "m2", "m3", "m4", "m5"]
        assert (state.log.dialect, state.log.calls, state.log.last_sent) == ("opencode", 3, 12100)
        assert state.budgets[0].used == 12130 == sum(segment.used for segment in state.budgets[0].segments)
    assert len({json.dumps([block.text for block in state.blocks()]) for state in states}) == 1


def test_every_session_of_a_store_is_a_source(tmp_path: Path) -> None:
    child = export(TALK, "ses_2", parentID="ses_1", title="The child")
    store = write_store(tmp_path, export(TALK), child)
    for path in (store, tmp_path):
        found = discover(path).found
        assert {each.path for each in found} == {store / "ses_1", store / "ses_2"}
        assert {each.open().title for each in found} == {"A session", "The child"}


def test_a_store_or_tree_with_several_sessions_opens_as_a_list(tmp_path: Path) -> None:
    child = export(TALK, "ses_2", parentID="ses_1", title="The child")
    store = write_store(tmp_path / "store", export(TALK), child)
    tree = write_tree(tmp_path / "tree", export(TALK), export(TALK, "ses_2", title="Another"))
    for path in (store, tree):
        (found,) = discover(path, into_lists=False).found
        assert found.path == path
        source = found.open()
        assert source.abilities.listing is not None
        blocks = {block.id: block for block in state_of(source).blocks()}
        assert len(blocks) == 2
        assert blocks["ses_1"].text.startswith("work: A session") if path == store else blocks
        assert {block.tokens for block in blocks.values()} == {12130}
        listed = source.abilities.listing.path_of(next(iter(blocks)))
        assert listed is not None
        assert live(state_of(open_source(listed)))[0].endswith("m1")


def test_the_store_at_home_is_offered_by_its_size(tmp_path: Path) -> None:
    store = write_store(tmp_path / ".local/share/opencode", export(TALK))
    (found,) = sessions_at_home(tmp_path)
    assert (found.path, found.name) == (store, "all of OpenCode")


def test_a_store_with_one_session_is_that_session(tmp_path: Path) -> None:
    store = write_store(tmp_path, export(TALK))
    for into_lists in (True, False):
        (found,) = discover(store, into_lists=into_lists).found
        assert found.path == store / "ses_1"
    assert open_source(store).path == store / "ses_1"
    tree = write_tree(tmp_path / "tree", export(TALK))
    assert open_source(tree).path.name == "ses_1.json"


def test_every_session_of_a_tree_is_a_source_and_no_other_file(tmp_path: Path) -> None:
    write_tree(tmp_path / "storage", export(TALK), export(TALK, "ses_2"))
    names = {each.path.name for each in discover(tmp_path).found}
    assert names == {"ses_1.json", "ses_2.json"}


def test_a_store_whose_rows_are_still_in_its_log_is_read(tmp_path: Path) -> None:
    store = write_store(tmp_path, export(TALK), wal=True)
    before = {each.name: each.read_bytes() for each in store.parent.iterdir()}
    assert live(state_of(open_source(store / "ses_1"))) == ["m1", "m2", "m3", "m4", "m5"]
    assert {each.name: each.read_bytes() for each in store.parent.iterdir()} == before


def test_nothing_of_the_accounts_of_a_store_is_read(tmp_path: Path) -> None:
    source = open_source(write_store(tmp_path, export(TALK)) / "ses_1")
    (file,) = {block.origin.file for block in state_of(source).blocks()}
    assert b"secret-token-of-the-account" not in source.bytes_of(file)


def test_the_bytes_behind_a_block_of_a_store_are_its_message(tmp_path: Path) -> None:
    source = open_source(write_store(tmp_path, export(TALK)) / "ses_1")
    block = next(each for each in state_of(source).blocks() if each.id == "m4")
    assert block.origin.start is not None
    found = json.loads(source.bytes_of(block.origin.file)[block.origin.start : block.origin.end])
    assert found["parts"][0]["text"] == "More"


def test_other_databases_are_not_taken_for_a_store(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.executescript("CREATE TABLE checkpoints (id text); CREATE TABLE writes (id text)")
    database.close()
    assert [match for match in detect(path) if match.format == "transcript"] == []


def test_a_store_without_a_table_column_of_newer_versions_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE session (id text); CREATE TABLE message (id text, session_id text, data text);"
            "CREATE TABLE part (id text, message_id text, data text);"
            "INSERT INTO session VALUES ('ses_1'); INSERT INTO message VALUES ('m1', 'ses_1', '{\"role\": \"user\"}');"
            "INSERT INTO part VALUES ('p1', 'm1', '{\"type\": \"text\", \"text\": \"Hi\"}'), ('p2', 'm1', 'broken');"
        )
    database.close()
    assert live(state_of(open_source(path / "ses_1"))) == ["m1"]


def test_text_of_a_store_that_is_not_utf8_is_a_finding_of_its_session(tmp_path: Path) -> None:
    store = write_store(tmp_path, export(TALK), export(TALK, id="ses_2"))
    bad = "CAST(replace(CAST(data AS BLOB), 'More', x'4DE9') AS TEXT)"
    with sqlite3.connect(store) as database:
        database.execute(f"UPDATE part SET data = {bad} WHERE session_id = 'ses_1'")
    database.close()
    found = {name: open_source(store / name).findings(LENS) for name in ("ses_1", "ses_2")}
    texts = [each.message for each in found["ses_1"] if each.rule == "RAW004"]
    assert texts == ["1 text of part is not UTF-8, and \ufffd replaces the invalid bytes"]
    assert "RAW004" not in {each.rule for each in found["ses_2"]}
    assert "m4" in live(state_of(open_source(store / "ses_1")))


def test_a_session_whose_id_is_not_utf8_is_listed_and_has_a_finding(tmp_path: Path) -> None:
    sessions = [export(TALK), export(TALK, "ses_2"), export(TALK, "ses_3", parentID="ses_2")]
    store = write_store(tmp_path, *sessions)
    with sqlite3.connect(store) as database:
        for table, column in (("session", "id"), ("session", "parent_id"), ("message", "session_id")):
            bad = f"{column} = CAST(x'7365735FFF' AS TEXT)"
            database.execute(f"UPDATE {table} SET {bad} WHERE {column} = 'ses_2'")
    database.close()
    names = {each.path.name: each for each in discover(store).found}
    (odd,) = set(names) - {"ses_1", "ses_3"}
    source = names[odd].open()
    assert len(live(state_of(source))) == 5
    assert "RAW004" in {each.rule for each in source.findings(LENS)}
    listed = next(iter(discover(store, into_lists=False).found)).open()
    assert {block.id for block in state_of(listed).blocks()} == {*names}
    extra = state_of(listed).extra
    assert (extra["sessions"], extra["sub-agents"]) == ("2", "1")


def test_parts_of_messages_whose_ids_are_not_utf8_stay_with_their_messages(tmp_path: Path) -> None:
    store = write_store(tmp_path, export(TALK))
    with sqlite3.connect(store) as database:
        for name, data in (("m1", "6DFE"), ("m3", "6DFF")):
            for table, column in (("message", "id"), ("part", "message_id")):
                database.execute(
                    f"UPDATE {table} SET {column} = CAST(x'{data}' AS TEXT) WHERE {column} = '{name}'"
                )
    database.close()
    texts = [block.text for block in state_of(open_source(store)).blocks()]
    expected = [block.text for block in state_of(open_source(write_export(tmp_path, TALK))).blocks()]
    assert texts == expected


def test_a_finished_compaction_replaces_what_came_before(tmp_path: Path) -> None:
    state = compacted(tmp_path)
    assert live(state) == ["m5", "m6", "m7", "m8"]
    assert tier(state, "compacted away") == ["m1", "m2", "m3", "m4"]
    assert tier(state, "summary") == ["m6"]
    assert state.log is not None
    (cut,) = state.log.compactions
    assert (cut.trigger, cut.before, cut.after) == ("auto", 150200, 30000)
    assert state.budgets[0].used == 30020


def test_a_kept_tail_stands_behind_the_summary(tmp_path: Path) -> None:
    assert live(compacted(tmp_path, " tail=m3")) == ["m5", "m6", "m3", "m4", "m7", "m8"]


def test_a_tail_at_the_compaction_keeps_nothing_before_it(tmp_path: Path) -> None:
    assert live(compacted(tmp_path, " tail=m5")) == ["m5", "m6", "m7", "m8"]


def test_a_tail_after_the_compaction_is_never_reached_on_the_way_back(tmp_path: Path) -> None:
    assert live(compacted(tmp_path, " tail=m7")) == ["m5", "m6", "m1", "m2", "m3", "m4", "m7", "m8"]


@pytest.mark.parametrize("state", [" error", " open"])
def test_a_compaction_without_a_finished_summary_does_not_count(state: str, tmp_path: Path) -> None:
    found = compacted(tmp_path, state=state)
    assert live(found)[:4] == ["m1", "m2", "m3", "m4"]
    assert found.log is not None
    assert found.log.compactions == ()


def test_the_context_of_the_call_that_wrote_the_summary_is_the_whole_history(tmp_path: Path) -> None:
    source = open_source(write_export(tmp_path, COMPACTED.format(tail="", state="")))
    assert live(state_of(source, 2)) == ["m1", "m2", "m3", "m4", "m5"]


def test_nothing_is_live_from_the_point_of_a_revert_on(tmp_path: Path) -> None:
    state = state_of(open_source(write_export(tmp_path, TALK, revert={"messageID": "m4"})))
    assert live(state) == ["m1", "m2", "m3"]
    assert tier(state, "reverted") == ["m4", "m5"]


def test_a_revert_to_a_part_keeps_the_parts_before_it(tmp_path: Path) -> None:
    revert = {"messageID": "m2", "partID": "prt_m2_1"}
    state = state_of(open_source(write_export(tmp_path, TALK, revert=revert)))
    assert tier(state, "conversation") == ["m1", "m2#0"]


def test_failed_answers_are_left_out_and_stopped_ones_are_not(tmp_path: Path) -> None:
    text = """
m1 user: Fix it
m2 assistant error: Half
m3 assistant aborted: Half an answer
m4 assistant aborted: reasoning Thinking
m5 user: Go on | ignored not sent
"""
    state = state_of(open_source(write_export(tmp_path, text)))
    assert live(state) == ["m1", "m3", "m5"]
    assert tier(state, "failed") == ["m2", "m4"]
    assert "not sent" not in "".join(block.text for block in state.blocks())


def test_a_cleared_result_is_live_as_a_note_and_swapped_out(tmp_path: Path) -> None:
    text = "m1 user: Read\nm2 assistant sent=9000 out=9: tool c1 read cleared row*900\n"
    state = state_of(open_source(write_export(tmp_path, text)))
    (shown,) = [block for block in state.blocks() if block.tier == "tool results"]
    assert shown.text == "[Old tool result content cleared]"
    (hidden,) = [block for block in state.blocks() if block.tier == "swapped out"]
    assert "2,700 characters" in hidden.text
    assert [gap.status for gap in state.missing] == ["cleared"]


def test_a_tool_that_runs_has_no_result(tmp_path: Path) -> None:
    text = "m1 user: Read\nm2 assistant sent=9000 out=9: tool c1 bash running\n"
    state = state_of(open_source(write_export(tmp_path, text)))
    assert state.log is not None
    assert state.log.calls_without_result == ("c1",)


def test_a_sub_agent_is_a_reference_to_its_session(tmp_path: Path) -> None:
    text = "m1 user: Go\nm2 assistant sent=9000 out=9: tool c1 task task ses_2\n"
    store = write_store(tmp_path, export(text), export(TALK, "ses_2", parentID="ses_1"))
    state = state_of(open_source(store / "ses_1"))
    (ref,) = [each for each in state.refs if each.kind == "sub-agent"]
    assert (ref.target, ref.status) == ("ses_2", RefStatus.RESOLVED)
    assert [budget.used for budget in state.budgets[1:]] == [12100]
    alone = state_of(open_source(write_export(tmp_path / "alone", text)))
    assert [each.status for each in alone.refs if each.kind == "sub-agent"] == [RefStatus.DANGLING]


def test_the_todo_table_is_the_present_list_and_the_calls_are_its_history(tmp_path: Path) -> None:
    text = (
        'm1 user: Go\nm2 assistant sent=9 out=1: todo [{"content": "Test", "status": "in_progress"}]\n'
        "m3 assistant sent=20 out=1: Done\n"
    )
    value = export(text) | {"todos": [{"content": "Ship", "status": "pending"}]}
    source = open_source(write_store(tmp_path, value) / "ses_1")
    now, before = state_of(source).todo, state_of(source, 1).todo
    assert now is not None
    assert before is not None
    assert [item.title for item in now.items] == ["Ship"]
    assert [item.title for item in before.items] == ["Test"]


def test_a_changed_store_is_read_again(tmp_path: Path) -> None:
    path = write_store(tmp_path, export(TALK))
    source = open_source(path / "ses_1")
    state_of(source)
    with sqlite3.connect(path) as database:
        data = json.dumps({"role": "user"})
        database.execute("INSERT INTO message VALUES ('m9', 'ses_1', 1785000900000, ?)", (data,))
        part = json.dumps({"type": "text", "text": "New"})
        database.execute("INSERT INTO part VALUES ('p9', 'm9', 'ses_1', 0, ?)", (part,))
    database.close()
    assert live(state_of(source.again()))[-1] == "m9"


def test_a_store_that_is_damaged_or_too_large_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_store(tmp_path, export(TALK))
    monkeypatch.setattr("ctxview.formats.transcript.opencode.store.STORE_LIMIT", 1000)
    with pytest.raises(OpenError, match="a store of OpenCode that cannot be read"):
        open_source(path)
    monkeypatch.undo()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(OpenError, match="damaged"):
        open_source(path / "ses_1").reading(0, LENS)


def test_ids_that_lead_out_of_the_store_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "ses_9.json"
    secret.parent.mkdir()
    secret.write_text(json.dumps({"id": "p9", "type": "text", "text": "secret"}))
    store = write_store(
        tmp_path / "store", export(TALK), export(TALK, str(secret)), export(TALK, "ses_/../../x")
    )
    found = [each.path for each in discover(store).found]
    assert {path.parent for path in found} == {store}
    assert [len(live(state_of(open_source(path)))) for path in found] == [5, 5, 5]
    tree = write_tree(tmp_path / "tree", export(TALK))
    message = tree / "message" / "ses_1" / "m9.json"
    message.write_text(json.dumps({"id": "../../secret", "role": "user", "time": {"created": 9**13}}))
    state = state_of(open_source(tree))
    assert "secret" not in "".join(block.text for block in state.blocks())


def test_a_session_that_is_gone_is_an_error_with_its_name(tmp_path: Path) -> None:
    path = write_store(tmp_path, export(TALK))
    with pytest.raises(OpenError, match="no such session"):
        open_source(path / "ses_9").reading(0, LENS)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    "type",
                    "text",
                    "state",
                    "status",
                    "input",
                    "output",
                    "time",
                    "tokens",
                    "id",
                    "tail_start_id",
                )
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"info": st.dictionaries(st.sampled_from(("role", "tokens", "error", "time")), ANY)}
        ),
        max_size=3,
    ),
    st.lists(ANY, max_size=3),
    st.sampled_from(("text", "tool", "compaction", "file", "reasoning", "patch")),
)
def test_any_message_can_be_read(messages: list[dict[str, Any]], parts: list[Any], kind: str) -> None:
    for role in ("user", "assistant"):
        given_parts = [{**part, "type": kind} if isinstance(part, dict) else part for part in parts]
        value: dict[str, Any] = {
            "info": {"id": "ses_1", "revert": {"messageID": "m1"}},
            "messages": [
                {"info": {**each["info"], "role": role, "id": f"m{at}"}, "parts": given_parts}
                for at, each in enumerate(messages)
            ],
        }
        held = OpenCodeLog("x", SessionRecord(value, lambda pointer: Origin("x", pointer), ()))
        for call in (None, *held.log.calls):
            live_context(held.log, call)


def test_a_compaction_explains_why_the_next_call_is_smaller(tmp_path: Path) -> None:
    source = open_source(write_export(tmp_path, COMPACTED.format(tail="", state="")))
    assert "TRW006" not in {each.rule for each in source.findings(LENS)}
    assert source.revisions[3].sign is COMPACTION


def test_the_call_that_writes_a_summary_may_be_smaller(tmp_path: Path) -> None:
    smaller = COMPACTED.replace("sent=150200", "sent=9000")
    source = open_source(write_export(tmp_path, smaller.format(tail="", state="")))
    assert not {"TRW006", "TRW009"} & {each.rule for each in source.findings(LENS)}


def test_the_prompt_has_the_summary_as_an_answer_and_then_the_tail(tmp_path: Path) -> None:
    source = open_source(write_export(tmp_path, COMPACTED.format(tail=" tail=m3", state="")))
    assert source.abilities.prompt is not None
    prompt = source.abilities.prompt.prompt(len(source.revisions) - 1, LENS)
    said = [(message.role, message.text) for message in prompt.messages if message.parts]
    assert said[:3] == [
        ("user", "What did we do so far?\n"),
        ("assistant", "We fixed the tests\n"),
        ("user", "The port is 8080\n"),
    ]
