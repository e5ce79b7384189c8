"""The rules about SESSION files and their copies (WMF).

Examples change the sound home of the tests: `FILE : key = value` sets a key of the front matter, `FILE - key`
removes it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.workspace.facts import WorkspaceFacts, lines_matching
from ctxview.formats.workspace.model import STATUSES, ContextDocument, Role, session_hash

KEYS = ("session_key", "created", "updated", "status", "last_updated_turn")
_INDEXER_KEYS = ("source", "source_file", "message_count")
_TRANSCRIPT = re.compile(r"^\s*\*\*(?:user|assistant|tool|system):?\*\*:?", re.IGNORECASE)


@rule("WMF001", name="name-hash", severity=Severity.ERROR, effect=Effect.IGNORED)
def name_hash(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The name of a SESSION file is not the hash of its session key.

    ## Why
    The program finds the file by this name. Under another one it is never read again.
    ## Bad
    SESSION_41308070.md : session_key = cli:other
    ## Good
    SESSION_41308070.md : session_key = cli:default
    ## Fix
    Name the file SESSION_ and the first eight digits of the SHA-256 of its key.
    ## Source
    The program: working memory files.
    """
    for document in _files(facts):
        key = document.key
        name = document.name.rpartition("/")[2]
        if key is not None and name != f"SESSION_{session_hash(key)}.md":
            place = document.markdown.origin(_line(document, "session_key"))
            yield Hit(place, f"the key {quoted(key)} belongs into SESSION_{session_hash(key)}.md")


@rule("WMF002", name="front-matter-frame", severity=Severity.ERROR, effect=Effect.IGNORED)
def front_matter_frame(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The front matter of a SESSION file does not open and close with `---`, or its key contains `---`.

    ## Why
    The program takes the first `---` that it finds as the end, wherever that is, and the rest as the body.
    ## Bad
    SESSION_41308070.md : session_key = cli---default
    ## Good
    SESSION_41308070.md : session_key = cli:default
    ## Fix
    Put `---` alone on the line before and after the keys.
    ## Source
    The program: working memory files.
    """
    for document in _files(facts):
        front = document.markdown.front
        if front is None:
            yield Hit(document.markdown.origin(), "there is no front matter")
        elif not front.closed:
            yield Hit(document.markdown.origin(), "the front matter is not closed with ---")
        elif "---" in (document.key or ""):
            line = _line(document, "session_key")
            yield Hit(
                document.markdown.origin(line), "the session key contains ---, which ends the front matter"
            )


@rule("WMF003", name="front-matter-values", severity=Severity.WARNING, effect=Effect.REPAIRED)
def front_matter_values(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A key of the front matter is unknown or missing, a time is wrong, or the status is not a known word.

    ## Why
    An unknown status silently means active, and a wrong time breaks the ageing of sessions.
    ## Bad
    SESSION_41308070.md : status = finished
    ## Good
    SESSION_41308070.md : status = active
    ## Fix
    Use active, completed or archived, and RFC 3339 times.
    ## Source
    The program: working memory files.
    """
    for document in _files(facts):
        text, front = document.markdown, document.markdown.front
        if front is None or not front.closed:
            continue
        for line, problem in front.problems:
            yield Hit(text.origin(line), f"the front matter cannot be read here: {problem}")
        indexed = front.text("status") == "indexed"
        for name in front.values:
            if name not in KEYS and not (indexed and name in _INDEXER_KEYS):
                yield Hit(text.origin(front.lines[name]), f"the key {quoted(name)} is not known")
        if "session_key" not in front.values:
            yield Hit(text.origin(), "there is no session_key")
        status = front.text("status")
        if status not in (*STATUSES, "indexed"):
            found = "is missing" if status is None else f"{quoted(status)} is not known"
            yield Hit(text.origin(_line(document, "status")), f"the status {found}; it counts as active")
        times = {name: parse_time(front.text(name)) for name in ("created", "updated")}
        for name, time in times.items():
            if front.text(name) is not None and time is None:
                shown = excerpt(front.text(name) or "")
                yield Hit(text.origin(front.lines[name]), f"{name} is not an RFC 3339 time: {shown}")
            elif time is not None and time > facts.now:
                yield Hit(text.origin(front.lines[name]), f"{name} is in the future")
        created, updated = times.values()
        if created is not None and updated is not None and updated < created:
            yield Hit(text.origin(front.lines["updated"]), "updated is before created")


@rule("WMF004", name="stale-session", severity=Severity.WARNING, effect=Effect.DELETED)
def stale_session(facts: WorkspaceFacts) -> Iterator[Hit]:
    """An active session was not updated for longer than the program lets it live.

    ## Why
    When the program next looks, it completes the session, and the reflector takes it into MEMORY.md; the
    current one is cleared after too many turns without a compaction.
    ## Bad
    SESSION_41308070.md : updated = 2026-02-17T11:00:00Z
    ## Good
    SESSION_41308070.md : updated = NOW
    ## Fix
    Nothing, if the session is over. Otherwise copy what is still needed.
    ## Source
    The program: sessionCompleteAfterSecs, staleMemoryTurnThreshold.
    """
    settings = facts.workspace.settings
    seconds = settings.number("sessionCompleteAfterSecs", 3600)
    turns = settings.number("staleMemoryTurnThreshold", 15)
    latest = (
        max((turn.number for turn in facts.survey.turns), default=None) if facts.survey is not None else None
    )
    for document in facts.workspace.documents:
        if document.role is not Role.SESSION or document.status != "active":
            continue
        place = document.markdown.origin(_line(document, "updated"))
        age = (facts.now - document.updated).total_seconds() if document.updated is not None else 0
        if age > seconds:
            days = f"{age / 86400:.0f} days" if age > 2 * 86400 else f"{age / 3600:.1f} hours"
            yield Hit(place, f"active, but not updated for {days}: it is completed at the next look")
            continue
        written = document.front("last_updated_turn") or ""
        behind = latest - int(written) if latest is not None and written.isdigit() else 0
        if behind > turns and document is facts.workspace.current:
            yield Hit(place, f"{behind} turns without a compaction: it is cleared at the next turn")


@rule("WMF005", name="copies-differ", severity=Severity.WARNING)
def copies_differ(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A CONTEXT file is not the body of its session, or several sessions write the same CONTEXT file.

    ## Why
    Both reach the prompt: the model reads two states of the same session. With several sessions on a channel
    the last writer wins.
    ## Bad
    CONTEXT-cli.md > Facts += - The clock is late by an hour.
    ## Good
    CONTEXT-cli.md > Facts +=
    ## Fix
    Compact again, or copy the newer text.
    ## Source
    The program: both files are written from the same text.
    """
    if facts.era != "B":
        return
    sessions: dict[str, list[ContextDocument]] = defaultdict(list)
    for document in _files(facts):
        if document.channel and document.status == "active":
            sessions[document.channel].append(document)
    for document in facts.workspace.documents:
        if document.role is not Role.CONTEXT:
            continue
        writers = sessions.get(document.channel or "", [])
        if document.channel is None and len(sessions) == 1:
            writers = next(iter(sessions.values()))
        names = listed([each.name.rpartition("/")[2] for each in writers])
        if len(writers) > 1:
            yield Hit(document.markdown.origin(), f"written by {len(writers)} sessions: {names}")
        elif writers and _words(writers[0].body) != _words(document.body):
            yield Hit(document.markdown.origin(), f"not the same text as the body of {names}")


@rule("WMF006", name="orphan-context-file", severity=Severity.WARNING, effect=Effect.IGNORED)
def orphan_context_file(facts: WorkspaceFacts) -> Iterator[Hit]:
    """There is a CONTEXT file, but the program of this era no longer reads it.

    ## Why
    A person who edits it changes nothing, and a reader takes it for the current state.
    ## Bad
    sessions.db = CREATE TABLE sessions(id, session_key, message_count);
    ## Good
    CONTEXT-cli.md > Facts +=
    ## Fix
    Remove the file.
    ## Source
    The program: reading and writing of CONTEXT files was removed on 2026-03-02.
    """
    if facts.era not in ("C", "D"):
        return
    for document in facts.workspace.documents:
        if document.role is Role.CONTEXT:
            yield Hit(
                document.markdown.origin(),
                f"era {facts.era} keeps its state elsewhere and never reads this file",
            )


@rule("WMF007", name="made-by-the-indexer", severity=Severity.WARNING)
def made_by_the_indexer(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The body of a SESSION file is a transcript: the indexer made it, not a compaction.

    ## Why
    Its status counts as active, later as completed, and then the raw transcript is fed to the reflector and
    ends up in MEMORY.md.
    ## Bad
    SESSION_41308070.md : status = indexed
    ## Good
    SESSION_41308070.md : status = active
    ## Fix
    Remove the file; the raw history still has everything.
    ## Source
    The program: session indexer (the effect is inferred).
    """
    for document in _files(facts):
        lines = sum(1 for _ in lines_matching(document.markdown, _TRANSCRIPT))
        if document.front("status") == "indexed" or document.front("source") == "jsonl_extraction":
            yield Hit(
                document.markdown.origin(_line(document, "status")), "made by the indexer from a raw history"
            )
        elif lines >= 2:
            yield Hit(document.markdown.origin(), f"looks like a transcript: {lines} lines begin with a role")


def _files(facts: WorkspaceFacts) -> list[ContextDocument]:
    return [each for each in facts.workspace.documents if each.role is Role.SESSION and each.row is None]


def _line(document: ContextDocument, key: str) -> int:
    front = document.markdown.front
    return front.lines.get(key, 1) if front is not None else 1


def _words(text: str) -> list[str]:
    return text.split()
