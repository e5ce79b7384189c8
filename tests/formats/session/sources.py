"""Facts about a session on disk, as a source knows them before and after its long work."""

from __future__ import annotations

from pathlib import Path

from ctxview.files.line_file import never_cancelled
from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session import rules
from ctxview.formats.session.history import open_history
from ctxview.formats.session.parser import read_session
from ctxview.formats.session.profile import load_profile
from ctxview.formats.session.store.blobs import all_blobs, examine
from ctxview.formats.session.survey.analysis import wanted_events
from ctxview.formats.session.survey.facts import SessionFacts
from ctxview.formats.session.survey.last_look import LookComparison, Observation, compare_looks
from ctxview.formats.session.survey.surveyor import Surveyor

CORTEXFS = load_profile()
DOCUMENT = load_profile("document")


def read_facts(root: Path, profile=CORTEXFS) -> SessionFacts:
    """Return all facts about the session in a folder."""
    session = read_session(SourceFolder(root))
    history = open_history(session)
    blobs = {blob.name: examine(session.folder, blob, profile) for blob in all_blobs(session)}
    surveyor = Surveyor(history, profile, rules.LINE_RULES, wanted_events(session, blobs))
    assert surveyor.advance(never_cancelled)
    return SessionFacts(session, history, profile, surveyor.result, blobs)


def facts_before_survey(root: Path, profile=CORTEXFS) -> SessionFacts:
    """Return the facts that are known before the histories are read."""
    session = read_session(SourceFolder(root))
    return SessionFacts(session, open_history(session), profile)


def observation_of(facts: SessionFacts) -> Observation:
    found = compare_looks(facts, never_cancelled)
    assert found is not None
    return found.now


def comparison_with(facts: SessionFacts, before: Observation) -> LookComparison:
    found = compare_looks(facts, never_cancelled, before)
    assert found is not None
    return found
