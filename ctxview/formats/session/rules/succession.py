"""The rules about changes of a session since it was last read (ABI057 to 061).

In the examples `---` is between the two states; each changes a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ctxview.analysis.wording import counted, excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.model import Session
from ctxview.formats.session.survey.facts import SessionFacts
from ctxview.formats.session.survey.last_look import LookComparison


@rule("ABI057", name="history-rewritten", severity=Severity.ERROR, effect=Effect.DELETED)
def history_rewritten(facts: SessionFacts, both: LookComparison) -> Iterator[Hit]:
    """A history does not begin with the bytes it had when it was last read.

    ## Why
    Histories only grow. A shorter or changed one has lost or altered messages: summaries, facts and swap
    entries that cite it are no longer true. For messages.jsonl this is an error, for events.jsonl a warning.
    ## Bad
    messages.jsonl += {"role": "user", "content": "hello"}
    ---
    messages.jsonl += {"role": "user", "content": "hullo"}
    ## Good
    messages.jsonl += {"role": "user", "content": "hello"}
    ---
    messages.jsonl += {"role": "user", "content": "hello"}
    messages.jsonl += {"role": "user", "content": "are you there?"}
    ## Fix
    Restore the history from a copy. If the change was meant: `ctxview check --forget SESSION`.
    ## Source
    Source document, Session Layout: messages must, events should be append-only.
    """
    for name, severity in ((MESSAGES, Severity.ERROR), (EVENTS, Severity.WARNING)):
        old, new = both.before.streams.get(name), both.now.streams.get(name)
        if old is None or new is None or both.prefixes.get(name) == old.sha256:
            continue
        origin = Origin(facts.session.file(name), start=0, line=1, column=1)
        if new.length < old.length:
            lost = f"is {counted(old.length - new.length, 'byte')} shorter than"
        elif new.length == old.length:
            lost = "has the same length, but is not what it was"
        else:
            lost = f"has grown, but its first {old.length:,} bytes are not what they were"
        yield Hit(origin, f"{name} {lost} {_when(both)}", severity)


@rule("ABI058", name="history-replaced", severity=Severity.ERROR, effect=Effect.DELETED)
def history_replaced(facts: SessionFacts, both: LookComparison) -> Iterator[Hit]:
    """There are fewer messages than before, and a new summary or pack instead.

    ## Why
    Compression makes derived files beside the history; it never replaces it. A summary that became the only
    copy of the messages cannot be checked against anything.
    ## Bad
    messages.jsonl += {"role": "user", "content": "hello"}
    ---
    context/summary.md = The user said hello.
    ## Good
    context/summary.md = The user said nothing.
    ---
    messages.jsonl += {"role": "user", "content": "hello"}
    context/summary.md = The user said hello.
    ## Fix
    Restore the history from a copy, and stop what compacts it. If the change was meant:
    `ctxview check --forget SESSION`.
    ## Source
    Source document, Session Layout: compression must not replace or delete raw messages.
    """
    old, new = both.before.streams.get(MESSAGES), both.now.streams.get(MESSAGES)
    rewritten = [name for name in ("summary.md", "pack.json", "pack.md") if both.changed(f"file:{name}")]
    if old is not None and new is not None and new.lines < old.lines and rewritten:
        lost = counted(old.lines - new.lines, "message")
        message = f"{lost} fewer than {_when(both)}, while {listed(rewritten)} changed"
        yield Hit(Origin(facts.session.file(MESSAGES), start=0, line=1, column=1), message)


@rule("ABI059", name="referenced-removed", severity=Severity.ERROR, effect=Effect.DELETED)
def referenced_removed(facts: SessionFacts, both: LookComparison) -> Iterator[Hit]:
    """The result of a child or a blob was removed although something referred to it.

    ## Why
    Collection may delete unreferenced files and those that can be rebuilt. Files that the context still
    refers to must stay. Removed packs, chunks and orphans are only mentioned.
    ## Bad
    context/child/rev-1/status = done
    ---
    context/child/rev-1/result.md (absent)
    ## Good
    context/child/rev-1/status = done
    ---
    context/child/rev-1/result.md = All good.
    ## Fix
    Restore it from a copy, or remove what refers to it. If the change was meant:
    `ctxview check --forget SESSION`.
    ## Source
    Source document, Context GC: what may and must not be deleted.
    """
    session = facts.session
    for child in both.gone("result"):
        if _is_unreadable(session, f"context/child/{child}/result.md"):
            continue
        if f"used:{child}" in both.before.facts or f"used:{child}" in both.now.facts:
            origin = session.origin(f"context/child/{child}/result.md")
            message = f"the result of {excerpt(child)} is gone, though it was used"
            yield Hit(origin, f"{message}, since the look {_when(both)}")
    removed: list[str] = []
    for blob in both.gone("blob"):
        if _is_unreadable(session, f"context/dedup/blob/{blob}"):
            continue
        if both.before.facts.get(f"blob:{blob}") == "referred":
            origin = session.origin(f"context/dedup/blob/{blob}")
            yield Hit(origin, f"the blob {excerpt(blob, 24)} is gone, though it was referred to")
        else:
            removed.append(f"the orphan {excerpt(blob, 24)}")
    places = (("the chunk ", "context/swap/chunk", "chunk"), ("", "context", "file"))
    removed += [
        f"{word}{excerpt(name, 24)}"
        for word, place, kind in places
        for name in both.gone(kind)
        if (kind == "chunk" or name.startswith("pack")) and not _is_unreadable(session, f"{place}/{name}")
    ]
    if removed:
        message = f"removed since the look {_when(both)}, as collection may: {listed(removed)}"
        yield Hit(session.origin("context"), message, Severity.INFO, Effect.NONE)


@rule("ABI060", name="record-rewritten", severity=Severity.WARNING)
def record_rewritten(facts: SessionFacts, both: LookComparison) -> Iterator[Hit]:
    """A fact kept its id and changed its text, a time went back, or a finished child became active again.

    ## Why
    A record is cited by its id; a new text under an old id changes what the citation means. created_at never
    changes, updated_at only grows, and a child that ended stays ended. Records that are gone are only
    mentioned.
    ## Bad
    created_at = 1790000000
    ---
    created_at = 1780000000
    ## Good
    updated_at = 1790000600
    ---
    updated_at = 1790000700
    ## Fix
    Give changed facts new ids; look at what wrote the times or the status.
    ## Source
    Source document, Compression: stable facts, accepted decisions. Runtime: terminal results do not rewind.
    """
    session = facts.session
    for kind, records in (("fact", session.facts), ("decision", session.decisions)):
        for record in records.records:
            name = record.text("id")
            if name is not None and both.changed(f"{kind}:{name}"):
                message = f"the {kind} {excerpt(name)} says something else than {_when(both)}"
                yield Hit(record.origin("text" if kind == "fact" else "decision"), message)
        retired = list(both.gone(kind))
        if retired and (records.part.readable or not records.part.exists):
            message = f"no longer there since the look {_when(both)}: {listed(retired)}"
            yield Hit(Origin(records.file, start=0, line=1, column=1), message, Severity.INFO)
    created, updated = both.changed("created_at"), both.changed("updated_at")
    if created is not None:
        message = f"created_at was {excerpt(created[0])} and is {excerpt(created[1])} now"
        yield Hit(session.origin("created_at"), message)
    times = [int(value) for value in updated or () if value.isascii() and value.isdigit() and len(value) < 21]
    if len(times) == 2 and times[1] < times[0]:
        yield Hit(session.origin("updated_at"), f"updated_at went back from {times[0]} to {times[1]}")
    terminal = facts.profile.words.terminal_statuses
    for child in session.children:
        statuses = both.changed(f"child:{child.name}")
        if statuses is None or _is_unreadable(session, child.part("status").name):
            continue
        if statuses[0] in terminal and statuses[1] not in terminal:
            message = f"the child {excerpt(child.name)} was {statuses[0]} and is {excerpt(statuses[1])} now"
            yield Hit(session.origin(f"context/child/{child.name}/status"), message)


@rule("ABI061", name="identity-changed", severity=Severity.WARNING)
def identity_changed(facts: SessionFacts, both: LookComparison) -> Iterator[Hit]:
    """The session changed its scope, or the agent it belongs to.

    ## Why
    A private session that became shared can be read by others, with all its earlier messages. A session that
    moved to another agent is under another agent's rules.
    ## Bad
    meta.json = {"scope": "private"}
    ---
    meta.json = {"scope": "shared"}
    ## Good
    meta.json = {"scope": "private"}
    ---
    meta.json = {"scope": "private", "model": "main"}
    ## Fix
    Make sure that it was meant.
    ## Source
    Runtime: scope and agent are chosen when a session is created.
    """
    for name, origin in (("scope", facts.session.meta.origin("scope")), ("agent", facts.session.origin())):
        changed = both.changed(name)
        if changed is not None:
            old, new = (quoted(value) for value in changed)
            yield Hit(origin, f"the {name} was {old} {_when(both)} and is {new} now")


def _is_unreadable(session: Session, name: str) -> bool:
    """Whether a file may still be there, although its content is not known."""
    kind = session.folder.entry(name).kind
    if kind is EntryKind.FILE:
        return not session.folder.read(name).readable
    return kind is EntryKind.UNKNOWN


def _when(both: LookComparison) -> str:
    """The time at which the session was last read, for a message."""
    try:
        moment = datetime.fromtimestamp(both.before.seen_at, UTC)
    except (OverflowError, OSError, ValueError):
        return "when it was last read"
    return f"on {moment:%Y-%m-%d at %H:%M} UTC"
