"""A session has many files; a draft of any of them belongs to the latest revision."""

from __future__ import annotations

import shutil
from pathlib import Path

from ctxview.core.edits import SetValue
from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.inspector import InspectorModel

CODER = samples_folder() / "session/coder/home/1000/agent/coder/session/default"


def test_a_changed_fact_is_a_draft_of_the_session_and_only_its_file_is_saved(tmp_path: Path) -> None:
    session = shutil.copytree(CODER, tmp_path / "default")
    before = {path: path.read_bytes() for path in session.rglob("*") if path.is_file()}
    model = InspectorModel()
    source = open_source(session)
    model.add_sources([source], [])
    drafts = model.drafts
    facts = session / "context" / "facts.jsonl"

    draft = drafts.open(source, model.key, str(facts))
    draft.apply(SetValue("/1/text", "February has 168 rows."))

    assert drafts.dirty(model.key)
    assert drafts.of(model.key) == [draft]
    draft.save()
    changed = [path for path in before if path.read_bytes() != before[path]]
    assert changed == [facts]
    old, new = before[facts].splitlines(), facts.read_bytes().splitlines()
    assert [place for place, line in enumerate(old) if new[place] != line] == [1]


def test_an_earlier_run_has_no_draft(tmp_path: Path) -> None:
    session = shutil.copytree(CODER, tmp_path / "default")
    model = InspectorModel()
    source = open_source(session)
    model.add_sources([source], [])
    drafts = model.drafts
    drafts.open(source, model.key, str(session / "context/summary.md")).apply(SetValue("", "Shorter.\n"))
    model.go_to_revision(0)
    assert not drafts.dirty(model.key)
