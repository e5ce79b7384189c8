"""Whole looks at a session on disk, as a source takes them when all its work is done."""

from __future__ import annotations

from pathlib import Path

from ctxview.files.lines import never
from ctxview.files.observations import Observation
from ctxview.formats.session import rules
from ctxview.formats.session.blobs import all_blobs, examine
from ctxview.formats.session.folder import SessionFolder
from ctxview.formats.session.history import open_history
from ctxview.formats.session.look import Look
from ctxview.formats.session.observing import Comparison, observe
from ctxview.formats.session.profiles import load_profile
from ctxview.formats.session.read import read_session
from ctxview.formats.session.surveyor import Surveyor
from ctxview.formats.session.wanted import wanted_events

CORTEXFS = load_profile()
DOCUMENT = load_profile("document")


def look_at(root: Path, profile=CORTEXFS) -> Look:
    """Everything there is to know of the session in a folder."""
    session = read_session(SessionFolder(root))
    history = open_history(session)
    blobs = {blob.name: examine(session.folder, blob, profile) for blob in all_blobs(session)}
    surveyor = Surveyor(
        history, profile, lambda line: rules.check_line(line, profile), wanted_events(session, blobs)
    )
    assert surveyor.advance(never)
    return Look(session, history, profile, surveyor.result, blobs)


def glance_at(root: Path, profile=CORTEXFS) -> Look:
    """What is known before anybody has read the histories."""
    session = read_session(SessionFolder(root))
    return Look(session, open_history(session), profile)


def seen(look: Look) -> Observation:
    found = observe(look, never)
    assert found is not None
    return found.now


def compared(look: Look, before: Observation) -> Comparison:
    found = observe(look, never, before)
    assert found is not None
    return found
