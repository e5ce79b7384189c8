"""Editing of documents: only the named lines change, owners decide, and boxes are ticked."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxview.core.edits import DeleteValue, EditRefused, InsertItem, SetValue
from ctxview.formats.interface import Lens
from ctxview.formats.workspace.editing import MODEL, PERSON, MarkdownPolicy, policy_of, statement_id
from ctxview.formats.workspace.markdown import MarkdownDocument
from ctxview.formats.workspace.source import WorkspaceSource
from tests.formats.workspace.builders import LENS, changed_home, write

POLICY = MarkdownPolicy()
NAME = "SESSION_41308070.md"


def pointer(data: bytes, text: str) -> str:
    document = MarkdownDocument("", data)
    statement = next(each for _, each in document.statements() if each.text == text)
    return f"/s/{statement_id(document, statement)}"


def test_ticking_a_box_changes_one_character() -> None:
    data = b"## Pending\r\n- [ ] one\r\n* [x] two\r\n"
    assert POLICY.apply(data, SetValue(pointer(data, "one") + "/box", "done")) == data.replace(b"[ ]", b"[x]")
    assert POLICY.apply(data, SetValue(pointer(data, "two") + "/box", "open")) == data.replace(b"[x]", b"[ ]")


words = st.text("ab cé", min_size=1, max_size=12).map(lambda text: f"w{text.strip()}")


@given(st.lists(words, min_size=2, max_size=8), st.data())
def test_removing_a_bullet_leaves_every_other_line(texts: list[str], data: st.DataObject) -> None:
    lines = [f"- {text}" for text in texts]
    before = "## Facts\n" + "\n".join(lines) + "\n\n## Errors\n"
    place = data.draw(st.integers(0, len(texts) - 1))
    document = MarkdownDocument("", before.encode())
    statement = document.sections[-2].bullets[place]
    after = POLICY.apply(before.encode(), DeleteValue(f"/s/{statement_id(document, statement)}"))
    assert (
        after.decode() == "## Facts\n" + "\n".join([*lines[:place], *lines[place + 1 :]]) + "\n\n## Errors\n"
    )


@given(words, words)
def test_a_bullet_that_is_added_can_be_changed_and_removed_again(first: str, second: str) -> None:
    before = b"## Facts\n- old fact\n\n## Pending\n"
    added = POLICY.apply(before, InsertItem("/h/Pending/-", {"text": first, "box": "open"}))
    assert added == before + f"- [ ] {first.strip()}\n".encode()
    changed = POLICY.apply(added, SetValue(pointer(added, " ".join(first.split())) + "/text", second.strip()))
    assert changed == before + f"- [ ] {second.strip()}\n".encode()
    assert POLICY.apply(changed, DeleteValue(pointer(changed, " ".join(second.split())))) == before


def test_a_section_is_filled_as_one_text() -> None:
    before = b"## Task\nOld.\n\n## Facts\n- a fact\n"
    assert POLICY.apply(before, SetValue("/h/Task/text", "New.")) == b"## Task\nNew.\n\n## Facts\n- a fact\n"
    with pytest.raises(EditRefused, match="heading"):
        POLICY.apply(before, SetValue("/h/Task/text", "## Another"))


def test_the_front_matter_cannot_be_changed() -> None:
    before = b"---\nsession_key: cli:default\n---\n\n## Task\nOld.\n"
    with pytest.raises(EditRefused, match="front matter"):
        POLICY.apply(before, SetValue("", "## Task\nNew.\n"))


def test_an_edit_finds_its_statement_again_after_other_lines_changed() -> None:
    before = b"## Facts\n- one fact\n- other fact\n"
    edit = DeleteValue(pointer(before, "other fact"))
    later = b"# New title\n\n## Facts\n- new first\n- one fact\n- other fact\n"
    assert POLICY.apply(later, edit) == b"# New title\n\n## Facts\n- new first\n- one fact\n"
    with pytest.raises(EditRefused, match="no longer"):
        POLICY.apply(b"## Facts\n- one fact\n", edit)


def test_a_bullet_with_bullets_below_it_is_not_removed_alone() -> None:
    before = b"- above\n  - below\n- after\n"
    with pytest.raises(EditRefused, match="below"):
        POLICY.apply(before, DeleteValue(pointer(before, "above")))


@pytest.mark.parametrize(
    ("name", "model", "person"),
    [
        ("workspace/CONTEXT-cli.md", True, True),
        ("memory/sessions/SESSION_41308070.md", True, True),
        ("memory/MEMORY.md", False, True),
        ("AGENTS.md", False, True),
        (".cursor/rules/a.mdc", False, True),
        ("sessions/cli_default_2026-02-17.jsonl", False, False),
        ("sessions.db", False, False),
        ("config.json", False, False),
    ],
)
def test_owners_decide_who_writes_which_file(name: str, model: bool, person: bool) -> None:
    assert (policy_of(name, MODEL) is not None, policy_of(name, PERSON) is not None) == (model, person)


def test_a_locked_fact_of_memory_says_why(tmp_path: Path) -> None:
    source = WorkspaceSource(write(tmp_path, changed_home("")))
    (block,) = [each for each in source.reading(0, LENS).state.blocks() if each.tier == "memory"]
    assert block.form is not None
    assert not block.form.editable
    assert "reflector" in block.form.fields[0].why


def test_a_duplicate_is_removed_by_the_person_as_a_draft(tmp_path: Path) -> None:
    source = WorkspaceSource(
        write(tmp_path, changed_home("memory/MEMORY.md += - Assumptions are forbidden."))
    )
    lens = Lens(LENS.counter, editor=PERSON)
    state = source.reading(0, lens).state
    (ref,) = [each for each in state.refs if each.kind == "exact"]
    assert ref.form is not None
    assert ref.form.removable
    policy = source.policy_of(ref.form.file, PERSON)
    assert policy is not None
    draft = policy.apply(source.bytes_of(ref.form.file), DeleteValue(ref.form.pointer))
    assert source.reading(0, lens, {ref.form.file: draft}).state.refs == ()
    assert "Assumptions" in Path(ref.form.file).read_text()


def test_pending_items_are_the_todo_list(tmp_path: Path) -> None:
    source = WorkspaceSource(write(tmp_path, changed_home("CONTEXT-cli.md > Pending += - [x] Ask Rui.")))
    todo = source.reading(0, LENS).state.todo
    assert todo is not None
    assert [(item.title, item.status) for item in todo.items] == [
        ("Write the test.", "open"),
        ("Ask Rui.", "done"),
    ]
    assert all(item.form is not None and item.form.editable for item in todo.items)
