"""The rules about files of a session, their one-line controls, and the columnar store (ABI001 to 007, 012).

Examples change a sound session, line by line: `FILE = TEXT` writes a file, `FILE += LINE` adds a line to it,
`FILE (absent)`, `FILE (empty)`, `FILE (link)` and `FILE (mode 644)` say what is there instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import counted, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.kit.folder import EntryKind, FolderFile
from ctxview.formats.kit.json_records import JsonRecord
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import is_clean_path, is_name
from ctxview.formats.session.history import DATA, STREAM_WORDS, WAL, ColumnarStore, missing_shards, wal_row
from ctxview.formats.session.survey.facts import SessionFacts

SINGLE_VALUES = ("state", "cwd", "created_at", "updated_at", "current_run")
LARGEST_BUDGET = 2**64 - 1


@rule("ABI001", name="history-missing", severity=Severity.ERROR, effect=Effect.REJECTED)
def history_missing(facts: SessionFacts) -> Iterator[Hit]:
    """One of the two histories is missing, or is not a plain file.

    ## Why
    messages.jsonl and events.jsonl are the truth of a session; everything else can be rebuilt from them. The
    runtime takes a session without them, or with a link in their place, for no session at all.
    ## Bad
    messages.jsonl (absent)
    ## Good
    messages.jsonl (empty)
    ## Fix
    Restore the file; an empty one is right only for a session that was never used.
    ## Source
    Source document, Session Layout: messages.jsonl is truth. Runtime: durable session files are plain files.
    """
    for name in (MESSAGES, EVENTS):
        part = facts.session.part(name)
        if part.kind is EntryKind.ABSENT:
            yield Hit(facts.session.origin(name), f"there is no {name}")
        elif part.kind is not EntryKind.FILE:
            message = f"{name} is {part.kind.description}, not a file; it is not read"
            yield Hit(facts.session.origin(name), message)


@rule("ABI002", name="part-missing", severity=Severity.WARNING, effect=Effect.REJECTED)
def part_missing(facts: SessionFacts) -> Iterator[Hit]:
    """Files or folders that the runtime expects in every session are not there.

    ## Why
    By the document a session may lack them, because they can be rebuilt. The runtime's inspector demands all
    of them, and its pack builder refuses to work without.
    ## Bad
    context/facts.jsonl (absent)
    ## Good
    context/facts.jsonl (empty)
    ## Fix
    Create them empty, or let the runtime open the session once.
    ## Source
    Source document, Session Layout ("may contain"); runtime: required files and folders.
    """
    session, required = facts.session, facts.profile.required
    here = {entry.name for entry in session.entries}
    missing = [name for name in required.session if name not in here]
    if missing and "" not in session.closed:
        yield Hit(session.origin(), f"the session lacks {listed(missing, 6)}")
    inside = {entry.name for entry in session.context_entries}
    absent = [name for name in required.context if name not in inside]
    absent += [f"{name}/" for name in required.context_folders if name not in inside]
    # A folder that cannot be listed is reported as such.
    if absent and "context" not in session.closed:
        yield Hit(session.origin("context"), f"context lacks {listed(absent, 6)}; it can be rebuilt")


@rule("ABI003", name="invalid-name", severity=Severity.ERROR, effect=Effect.REJECTED)
def invalid_name(facts: SessionFacts) -> Iterator[Hit]:
    """The session's folder, or that of a child channel, has a name the runtime does not take.

    ## Why
    Names are 1 to 64 letters, digits and `. _ + -`, begin with a letter or a digit and do not end in `.sock`
    or `.d`. A session with another name is not found; one child with another name stops every pack.
    ## Bad
    context/child/rev 1/status = done
    ## Good
    context/child/rev-2/status = done
    ## Fix
    Rename the folder, and change all references to it.
    ## Source
    Runtime: object names; its pack builder refuses the whole rebuild for one bad child name.
    """
    session = facts.session
    if not is_name(session.name):
        yield Hit(session.origin(), f"a session cannot be called {quoted(session.name)}")
    for child in session.children:
        if not is_name(child.name):
            origin = session.origin(f"context/child/{child.name}")
            yield Hit(origin, f"a child cannot be called {quoted(child.name)}: no pack can be built")
    for entry in session.odd_children:
        origin = session.origin(f"context/child/{entry.name}")
        if not is_name(entry.name):
            yield Hit(origin, f"a child cannot be called {quoted(entry.name)}: no pack can be built")


@rule("ABI004", name="control-word", severity=Severity.ERROR)
def control_word(facts: SessionFacts) -> Iterator[Hit]:
    """A file of one word holds another word than the runtime knows, or more than one.

    ## Why
    The state is active, idle, done, error or cancelled. A budget that is not a single number, or has spaces
    around it, stops the pack builder. Spaces and further lines in the other files are only warned about:
    most readers trim them.
    ## Bad
    state = sleeping
    ## Good
    state = idle
    ## Fix
    Write the one word and a line feed.
    ## Source
    Runtime: session state words; the budget is blank or one unsigned number.
    """
    session, words = facts.session, facts.profile.words
    state = session.part("state")
    if words.states and state.readable and state.value not in words.states:
        known = ", ".join(words.states)
        yield Hit(_first_line(state), f"the state is {quoted(state.value or '')}; it can be {known}")
    for name in SINGLE_VALUES:
        part = session.part(name)
        if part.value is not None and part.text.removesuffix("\n") != part.value:
            message = f"{name} holds more than one word and a line feed"
            yield Hit(_first_line(part), message, Severity.WARNING)
    yield from _budget_fault(session.part("context/budget"))


@rule("ABI005", name="cwd-or-meta", severity=Severity.ERROR, effect=Effect.REJECTED)
def cwd_or_meta(facts: SessionFacts) -> Iterator[Hit]:
    """The working directory or the meta data of the session cannot be used.

    ## Why
    cwd is one absolute path without `.` and `..`; meta.json is an object whose `scope`, `model` and `client`
    are strings. A temporary session should not be on disk at all, which is only warned about.
    ## Bad
    cwd = ../elsewhere
    ## Good
    cwd = /workspace/project
    ## Fix
    Write a clean path; mend the named member of meta.json.
    ## Source
    Runtime: chroot paths, session meta data.
    """
    session = facts.session
    cwd = session.part("cwd")
    if cwd.readable and not is_clean_path(cwd.value or ""):
        fault = f"{quoted(cwd.value, 60)} is not" if cwd.value is not None else "cwd is empty, not"
        yield Hit(_first_line(cwd), f"{fault} a clean absolute path")
    meta = session.meta
    if meta.error is not None:
        yield Hit(meta.origin(), f"meta.json is not JSON: {meta.error.reason}")
    elif meta.document is not None and not meta.is_object:
        yield Hit(meta.origin(), "meta.json is not an object")
    for name in ("client", "model", "scope"):
        value = meta.members.get(name, "")
        if not isinstance(value, str):
            yield Hit(meta.origin(name), f"{name} is {json_excerpt(value)}, not a string")
    scopes = facts.profile.words.scopes
    if session.scope is not None and scopes and session.scope not in scopes:
        message = f"the scope is {quoted(session.scope)}; it can be {', '.join(scopes)}"
        yield Hit(meta.origin("scope"), message)
    if session.scope == "temp":
        message = "a temporary session is not meant to be kept, but this one is on disk"
        yield Hit(meta.origin("scope"), message, Severity.WARNING, Effect.NONE)


@rule("ABI006", name="times", severity=Severity.WARNING)
def times(facts: SessionFacts) -> Iterator[Hit]:
    """The times of creation and of the last change are not in seconds, or in the wrong order.

    ## Why
    Both are whole seconds since 1970. Tools that sort or collect sessions by age go wrong with anything
    else, and with a session that was changed before it was made.
    ## Bad
    updated_at = 2026-03-01T10:00:00Z
    ## Good
    updated_at = 1790000700
    ## Fix
    Write the seconds.
    ## Source
    Runtime: created_at and updated_at are unsigned Unix seconds.
    """
    found = {}
    for name in ("created_at", "updated_at"):
        part = facts.session.part(name)
        value = part.value
        if value is None:
            continue
        if value.isascii() and value.isdigit() and len(value) <= 20:
            found[name] = int(value)
        else:
            yield Hit(_first_line(part), f"{name} is {quoted(value)}, not a number of seconds")
    if len(found) == 2 and found["updated_at"] < found["created_at"]:
        seconds = found["created_at"] - found["updated_at"]
        message = f"the session was changed {counted(seconds, 'second')} before it was created"
        yield Hit(_first_line(facts.session.part("updated_at")), message)


@rule("ABI007", name="links-and-modes", severity=Severity.WARNING)
def links_and_modes(facts: SessionFacts) -> Iterator[Hit]:
    """The session contains a symbolic link, or is private but readable by others.

    ## Why
    The runtime follows no links inside a session: what is behind one is missing for it, and this program does
    not look there either. A session whose meta data call it private should be the owner's alone.
    ## Bad
    context/pinned/rules.md (link)
    ## Good
    context/pinned/rules.md = Be brief.
    ## Fix
    Put the file itself in place of the link; `chmod -R go= SESSION`.
    ## Source
    Runtime: session paths are plain files and folders, modes 0600 and 0700.
    """
    session = facts.session
    for name in session.links:
        yield Hit(session.origin(name), f"{quoted(name, 60)} is a symbolic link; it is not followed")
    if session.scope == "private" and session.wide_open:
        open_to_others = listed(session.wide_open, 3)
        message = f"the session is private, but others may use {open_to_others}"
        yield Hit(session.origin(session.wide_open[0]), message)


def _first_line(part: FolderFile) -> Origin:
    end = (part.data or b"").find(b"\n")
    return Origin(part.file, None, 0, end if end >= 0 else len(part.data or b""), 1, 1)


def _budget_fault(part: FolderFile) -> Iterator[Hit]:
    lines = [line for line in part.text.split("\n") if line.strip()]
    if not lines:
        return
    origin = _first_line(part)
    if len(lines) > 1:
        message = "the budget holds more than one value: no pack can be built"
    elif lines[0] != lines[0].strip():
        message = "the budget has white space around it: no pack can be built"
    elif not lines[0].isascii() or not lines[0].isdigit() or len(lines[0]) > 20:
        message = f"the budget is {quoted(lines[0])}, not an unsigned number: no pack can be built"
    elif int(lines[0]) > LARGEST_BUDGET:
        message = "the budget is too great for a number of 64 bits: no pack can be built"
    else:
        return
    yield Hit(origin, message, effect=Effect.REJECTED)


@rule("ABI012", name="columnar-store", severity=Severity.ERROR)
def columnar_store(facts: SessionFacts) -> Iterator[Hit]:
    """The store behind the histories contradicts itself, or cannot be read whole here.

    ## Why
    With a manifest in .store the visible files are empty markers, and the history is in shards and a log. A
    marker with content, a missing shard or a gap in the numbers means that part of the history is lost or
    read twice. A torn last line of the log is warned about: the runtime cuts it off. Without pyarrow the
    shards cannot be read, which is mentioned.
    ## Bad
    .store/manifest.json = {"version": 1, "next_shard": 0}
    ## Good
    .store/lock (empty)
    ## Fix
    Keep a copy before the runtime repairs anything; `pip install ctxview[columnar]` to read shards.
    ## Source
    Runtime: columnar session store.
    """
    session, store = facts.session, facts.history.store
    if store is None:
        return
    manifest = store.manifest
    if store.problem is not None:
        origin = session.origin(WAL) if manifest.is_object else manifest.origin()
        yield Hit(origin, excerpt(store.problem, 150), effect=Effect.REJECTED)
    for name in (MESSAGES, EVENTS):
        entry = session.folder.entry(name)
        if entry.kind is EntryKind.FILE and entry.size:
            message = f"{name} has {entry.size:,} bytes, but with a manifest it is only a marker"
            yield Hit(session.origin(name), message)
    gone = list(missing_shards(store))
    if gone:
        message = f"{counted(len(gone), 'shard')} of {store.shards} missing: {listed(gone)}"
        yield Hit(session.origin(DATA), message, effect=Effect.DELETED)
    yield from _wal_hits(facts, store)
    if store.shards and not store.readable:
        message = f"{counted(store.shards, 'shard')} cannot be read without pyarrow; only the log is shown"
        yield Hit(session.origin(DATA), message, Severity.INFO)


def _wal_hits(facts: SessionFacts, store: ColumnarStore) -> Iterator[Hit]:
    records = store.wal.records
    torn = records[-1] if records and store.wal.torn else None
    if torn is not None:
        message = "the last line of the log is torn; the runtime cuts it off"
        yield Hit(torn.origin(), message, Severity.WARNING, Effect.TRUNCATED)
    expected = {name: store.head(name, "lines") for name in (MESSAGES, EVENTS)}
    for record in records:
        row = wal_row(record)
        if row is None:
            if record is not torn:
                name, reason = _wal_fault(record)
                origin = record.origin(*([name] if name else []))
                yield Hit(origin, f"line {record.line} of the log is not a row: {reason}")
            continue
        if not store.manifest.is_object or row.ordinal < store.head(row.stream, "lines"):
            # The number that follows is unknown, or the row is left over from before the last commit.
            continue
        if row.ordinal < expected[row.stream]:
            after = expected[row.stream] - 1
            message = f"row {row.ordinal} of {row.stream} comes after row {after}; it is not read"
            yield Hit(record.origin("ordinal"), message, effect=Effect.IGNORED)
            continue
        if row.ordinal > expected[row.stream]:
            message = f"the log continues with row {row.ordinal} of {row.stream}, not {expected[row.stream]}"
            yield Hit(record.origin("ordinal"), message)
        expected[row.stream] = row.ordinal + 1


def _wal_fault(record: JsonRecord) -> tuple[str, str]:
    """Return the member that keeps a line of the log from being a row, empty for the whole line, and why."""
    if record.problem is not None:
        return "", excerpt(record.problem, 100)
    sound = {
        "stream": record.text("stream") in STREAM_WORDS.values(),
        "ordinal": record.number("ordinal") is not None,
        "payload": record.text("payload") is not None,
    }
    name = next(name for name, is_sound in sound.items() if not is_sound)
    expected = {"stream": "messages or events", "ordinal": "an unsigned number", "payload": "a string"}[name]
    if name not in record.members:
        return "", f"there is no {name}"
    return name, f"{name} is {json_excerpt(record.members[name])}, not {expected}"
