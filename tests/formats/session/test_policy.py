"""The write policies: a person may write the files of the model, and only the intended bytes change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.core.edits import DeleteValue, EditRefused, InsertItem, MoveItem, SetValue
from ctxview.core.fields import Owner
from ctxview.formats.kit.record_file import RecordPolicy
from ctxview.formats.kit.text_file import TextPolicy
from ctxview.formats.session.forms import OWNERSHIP
from ctxview.formats.session.policy import BudgetFilePolicy, policy_for

FACTS = b'{"id":"f1","text":"one","source":"messages:1"}\n\n{"id": "f2", "text": "two", "n": 3.0}\nbroken\n'

WRITABLE = [
    "context/summary.md",
    "context/todo.md",
    "context/budget",
    "context/facts.jsonl",
    "context/decisions.jsonl",
    "context/refs.jsonl",
    "context/pinned/system.md",
]
LOCKED = [
    "messages.jsonl",
    "events.jsonl",
    "raw",
    ".store/wal.jsonl",
    ".store/data/part-000000.parquet",
    "state",
    "meta.json",
    "latest.md",
    "context/pack.json",
    "context/pack.md",
    "context/plan.json",
    "context/gc.policy",
    "context/swap/index.jsonl",
    "context/swap/chunk/sha256-a",
    "context/dedup/blob/sha256-a",
    "context/child/rev-1/result.md",
    "context/pinned/deep/er.md",
    "AGENTS.md",
    "anything/else",
    "context/pinned/../../messages.jsonl",
]


@pytest.mark.parametrize("name", WRITABLE)
def test_the_files_of_the_model_can_be_written(name: str):
    assert policy_for(name) is not None
    assert OWNERSHIP.of(name).owner is Owner.MODEL
    assert OWNERSHIP.of(name).why == ""


@pytest.mark.parametrize("name", LOCKED)
def test_other_files_have_no_policy_and_a_reason(name: str):
    assert policy_for(name) is None
    assert OWNERSHIP.of(name).why.endswith(".")


def test_histories_are_append_only():
    assert {OWNERSHIP.of(name).owner for name in LOCKED[:5]} == {Owner.APPEND_ONLY}


# -- records -------------------------------------------------------------------------------------------------


def changed(edit, data: bytes = FACTS) -> bytes:
    return RecordPolicy().apply(data, edit)


def test_one_field_changes_and_every_other_byte_stays():
    assert changed(SetValue("/2/text", "zwei\n2")) == FACTS.replace(b'"two"', b'"zwei\\n2"')
    assert changed(SetValue("/0/text", "uno")) == FACTS.replace(b'"one"', b'"uno"')


def test_a_new_field_is_spaced_like_its_record():
    assert b'{"id": "f2", "text": "two", "n": 3.0, "source": "x"}' in changed(SetValue("/2/source", "x"))
    assert b'"source":"messages:1","x":1}' in changed(SetValue("/0/x", 1))


def test_a_new_record_is_a_new_last_line():
    record = {"id": "f3", "text": "three"}
    assert changed(InsertItem("/-", record)) == FACTS + b'{"id":"f3","text":"three"}\n'
    assert changed(InsertItem("/-", record), b"") == b'{"id":"f3","text":"three"}\n'
    assert (
        changed(InsertItem("/-", record), b'{"id": "a"}') == b'{"id": "a"}\n{"id": "f3", "text": "three"}\n'
    )
    assert changed(InsertItem("/2", record)).split(b"\n")[2] == b'{"id":"f3","text":"three"}'


def test_a_record_is_removed_with_its_line():
    assert changed(DeleteValue("/0")) == FACTS.split(b"\n", 1)[1]
    assert changed(DeleteValue("/3")) == FACTS.removesuffix(b"broken\n")
    assert changed(DeleteValue("/1"), b"a\nb") == b"a\n"
    assert changed(DeleteValue("/0"), b"a\r\nb\r\n") == b"b\r\n"


def test_a_field_is_removed_from_its_record():
    assert b'{"id": "f2", "n": 3.0}' in changed(DeleteValue("/2/text"))


def test_a_broken_line_can_be_replaced_or_removed_but_not_edited():
    assert changed(SetValue("/3", {"id": "f3"})) == FACTS.replace(b"broken", b'{"id":"f3"}')
    with pytest.raises(EditRefused, match="Line 4 is not JSON"):
        changed(SetValue("/3/text", "x"))


@pytest.mark.parametrize(
    "edit",
    [
        SetValue("", "x"),
        SetValue("/9/text", "x"),
        SetValue("/-/text", "x"),
        SetValue("text", "x"),
        SetValue("/0", "no object"),
        InsertItem("/-", [1]),
        InsertItem("/0/text/-", "x"),
        DeleteValue("/7"),
        DeleteValue("/0/gone"),
        MoveItem("/0", "/-"),
        SetValue("/0/text", float("nan")),
    ],
)
def test_an_edit_that_fits_no_record_is_refused(edit):
    with pytest.raises(EditRefused):
        changed(edit)


def test_a_record_with_a_key_twice_is_not_edited_inside():
    with pytest.raises(EditRefused, match="duplicate key"):
        changed(SetValue("/0/a", 3), b'{"a":1,"a":2}\n')


json_texts = st.text(st.characters(codec="utf-8"), max_size=30)


@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(json_texts, min_size=1, max_size=5),
    place=st.integers(0, 4),
    new=json_texts,
    ending=st.sampled_from(["\n", "\r\n"]),
    spaced=st.booleans(),
    last=st.booleans(),
)
def test_other_lines_keep_their_bytes(
    texts: list[str], place: int, new: str, ending: str, spaced: bool, last: bool
):
    separators = (", ", ": ") if spaced else (",", ":")
    records = [
        json.dumps({"id": f"f{n}", "text": text}, separators=separators) for n, text in enumerate(texts)
    ]
    data = (ending.join(records) + (ending if last else "")).encode()
    place %= len(texts)
    after = changed(SetValue(f"/{place}/text", new), data).split(b"\n")
    before = data.split(b"\n")
    assert [line for n, line in enumerate(after) if n != place] == [
        line for n, line in enumerate(before) if n != place
    ]
    assert json.loads(after[place]) == {"id": f"f{place}", "text": new}


# -- texts and the budget ------------------------------------------------------------------------------------


def test_a_text_is_replaced_whole_and_keeps_its_line_ends():
    assert TextPolicy().apply(b"old\n", SetValue("", "new é\n")) == "new é\n".encode()
    assert TextPolicy().apply(b"a\r\nb\r\n", SetValue("", "c\nd\n")) == b"c\r\nd\r\n"
    assert TextPolicy().apply(b"", SetValue("", "")) == b""


@pytest.mark.parametrize(
    ("data", "edit"),
    [
        (b"\xff", SetValue("", "x")),
        (b"a", SetValue("", "a\0b")),
        (b"a", SetValue("", "\ud800")),
        (b"a", SetValue("", 5)),
        (b"a", SetValue("/0", "x")),
        (b"a", DeleteValue("")),
    ],
)
def test_an_invalid_text_is_refused(data: bytes, edit):
    with pytest.raises(EditRefused):
        TextPolicy().apply(data, edit)


@pytest.mark.parametrize(("value", "written"), [(0, b"0\n"), (32000, b"32000\n"), (5.0, b"5\n"), (None, b"")])
def test_a_budget_is_one_number_or_nothing(value, written: bytes):
    assert BudgetFilePolicy().apply(b"1\n", SetValue("", value)) == written


@pytest.mark.parametrize("value", [-1, 1.5, "many", True, 2**64, [1]])
def test_any_other_budget_is_refused(value):
    with pytest.raises(EditRefused):
        BudgetFilePolicy().apply(b"1\n", SetValue("", value))


@pytest.mark.parametrize(
    ("after", "sound"), [(b"5\n", True), (b"", True), (b"5\n6\n", False), (b" 5\n", False)]
)
def test_a_budget_typed_as_text_is_checked_too(after: bytes, sound: bool):
    assert (BudgetFilePolicy().tampering(b"", after) is None) is sound


def test_a_whole_new_file_of_records_must_be_text(tmp_path: Path):
    assert RecordPolicy().tampering(FACTS, b"anything the rules will judge\n") is None
    assert RecordPolicy().tampering(FACTS, b"\xff") is not None
