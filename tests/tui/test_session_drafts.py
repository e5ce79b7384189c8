"""A session is many files: a draft of any of them belongs to what is looked at now."""

from __future__ import annotations

import shutil
from pathlib import Path

from ctxview.edits import SetValue
from ctxview.formats import open_source
from ctxview.samples import folder
from ctxview.tui.drafts import Drafts
from ctxview.tui.loading import Manner
from ctxview.tui.session_view import SessionView

CODER = folder() / "session/coder/home/1000/agent/coder/session/default"


def test_a_changed_fact_is_a_draft_of_the_session_and_is_saved_alone(tmp_path: Path) -> None:
    session = shutil.copytree(CODER, tmp_path / "default")
    before = {path: path.read_bytes() for path in session.rglob("*") if path.is_file()}
    view = SessionView()
    source = open_source(session)
    view.found([source], [])
    drafts = Drafts(Manner("words"), view)
    facts = session / "context" / "facts.jsonl"

    work = drafts.open(source, view.look, str(facts))
    work.apply(SetValue("/1/text", "February has 168 rows."))

    assert drafts.dirty(view.look)
    assert drafts.of(view.look) == [work]
    work.save()
    changed = [path for path in before if path.read_bytes() != before[path]]
    assert changed == [facts]
    old, new = before[facts].splitlines(), facts.read_bytes().splitlines()
    assert [place for place, line in enumerate(old) if new[place] != line] == [1]


def test_what_an_earlier_run_shows_is_not_the_draft(tmp_path: Path) -> None:
    session = shutil.copytree(CODER, tmp_path / "default")
    view = SessionView()
    source = open_source(session)
    view.found([source], [])
    drafts = Drafts(Manner("words"), view)
    drafts.open(source, view.look, str(session / "context/summary.md")).apply(SetValue("", "Shorter.\n"))
    view.go_to_revision(0)
    assert not drafts.dirty(view.look)
