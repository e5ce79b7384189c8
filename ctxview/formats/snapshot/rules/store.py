"""The rules about an agent's memory store, queue and todo list (SNP059 to 065).

Each line of an example sets one field of a sound store; `(absent)` takes it away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.wording import counted, excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.strict_json.tree import join
from ctxview.files.strict_json.values import same_value
from ctxview.formats.snapshot.model import (
    ACTIONS_WITH_TARGET,
    AgentStore,
    MemoryEntry,
    Snapshot,
    TodoRow,
    integer,
    number,
    text,
)
from ctxview.formats.snapshot.profile import Profile, TodoGrammar
from ctxview.formats.snapshot.rules.block_state import RECALL_PREFIX, RECALL_TYPES, doubled_prefix
from ctxview.formats.snapshot.runtime.javascript import trim

_FINAL_STATUS = {"todo_complete": "done", "todo_reopen": "open"}
"""The status in which an action has nothing left to do."""


class TodoProgress(Struct, frozen=True):
    """The figures that a runtime computes from todo.db; `summary` is None when the profile has no wording."""

    total: int
    step: int
    summary: str | None


def todo_progress(rows: Sequence[TodoRow], grammar: TodoGrammar | None) -> TodoProgress:
    """Compute total, step and summary; the step is the first open item, or the total if all are done."""
    ordered = sorted(rows, key=lambda row: row.id)
    finished = [row.status == "done" for row in ordered]
    total, done = len(finished), sum(finished)
    step = finished.index(False) + 1 if done < total else total
    if grammar is None:
        return TodoProgress(total, step, None)
    if total == 0:
        template = grammar.empty
    elif done == total:
        template = grammar.finished
    else:
        template = grammar.running_skipped if done >= step else grammar.running
    return TodoProgress(total, step, template.format(done=done, total=total, step=step))


def cursor_fault_in(cursor: JsonValue, rows: Sequence[TodoRow]) -> str | None:
    """Return why the target of a cursor is not possible in this list; None when it is."""
    if not isinstance(cursor, dict) or cursor.get("next") not in ACTIONS_WITH_TARGET:
        return None
    action, target = cursor["next"], integer(cursor.get("targetId"))
    row = next((row for row in rows if row.id == target), None)
    if target is None:
        return None
    if row is None:
        return f"there is no item {target}"
    if row.status == _FINAL_STATUS.get(str(action)):
        return f"item {target} is already {row.status}"
    return None


@rule("SNP059", name="content-hash-wrong", severity=Severity.ERROR, effect=Effect.STORED)
def content_hash_wrong(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Hit]:
    """A stored memory's content does not match its hash.

    ## Why
    The hash is the SHA-256 of the content in UTF-8. When it differs, the row was changed past the runtime,
    and the runtime, which compares hashes only, will take the next capture for a change or miss a real one.
    ## Bad
    entry.content = "changed by hand"
    ## Good
    entry.summary = "changed by hand"
    ## Fix
    Find out who wrote the row; let the runtime store the memory again.
    ## Source
    Runtime: content_hash is written together with content.
    """
    for entry in store.entries or ():
        if entry.content_hash not in _hashes(entry.content):
            found = excerpt(entry.content_hash, 12)
            message = f"{excerpt(entry.block_id)}: content_hash {found} is not that of its content"
            yield Hit(_entry_origin(store, entry), message)


@rule("SNP060", name="payload-link-broken", severity=Severity.ERROR)
def payload_link_broken(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Hit]:
    """A cold memory has no payload to restore it from, or a payload is not used.

    ## Why
    A `tag_ref` row holds only a placeholder; its text is the payload row under its tag id. Without that the
    text is lost. A payload without a reference is only mentioned: the runtime never collects it, so it takes
    room for good.
    ## Bad
    entry.content_state = "tag_ref"
    entry.tag_id = "tag:gone:1:x"
    ## Good
    entry.content_state = "tag_ref"
    entry.tag_id = "tag:here:1:x"
    payload = "tag:here:1:x"
    ## Fix
    Look for the text in older snapshots and store it again under a new id.
    ## Source
    Runtime: tag payloads. Context Protocol 3.0: tag_id links to the cold payload storage.
    """
    for entry in store.entries or ():
        if entry.content_state != "tag_ref":
            continue
        if not trim(entry.tag_id or ""):
            message = f"{excerpt(entry.block_id)} is a tag_ref without a tag id: its text is lost"
            yield Hit(_entry_origin(store, entry), message)
        elif entry.tag_id not in store.payloads:
            missing = quoted(entry.tag_id or "", 60)
            message = f"{excerpt(entry.block_id)}: there is no payload {missing}, its text is lost"
            yield Hit(_entry_origin(store, entry), message)
    used = {entry.tag_id for entry in store.entries or ()}
    for tag in store.payloads:
        if store.entries is not None and tag not in used:
            origin = _origin(store, "persistent_memory_tag_payloads", tag)
            yield Hit(
                origin,
                f"no memory refers to the payload {quoted(tag, 60)}; it is never collected",
                Severity.INFO,
            )


@rule("SNP061", name="recall-stored", severity=Severity.WARNING, effect=Effect.STORED)
def recall_stored(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Hit]:
    """A recalled copy was stored as if it were a new memory.

    ## Why
    Ids beginning with `persistent:`, repeated `working:` prefixes and the recall types mark copies. Stored,
    each recall makes another copy, and search finds the same text again and again.
    ## Bad
    entry.block_id = "persistent:core-001"
    ## Good
    entry.block_id = "working:work-001"
    ## Fix
    Delete the copy; keep the row under the plain id.
    ## Source
    Runtime: recalled blocks are skipped on capture.
    """
    for entry in store.entries or ():
        faults = []
        if entry.block_id.startswith(RECALL_PREFIX):
            faults.append(f"its id begins with {RECALL_PREFIX}")
        elif doubled := doubled_prefix(entry.block_id):
            faults.append(f"its id has {doubled} twice")
        if entry.memory_type in RECALL_TYPES.values():
            faults.append(f"its type is {entry.memory_type}")
        if faults:
            message = f"{excerpt(entry.block_id)} is the copy of a recalled memory: {' and '.join(faults)}"
            yield Hit(_entry_origin(store, entry), message)


@rule("SNP062", name="rounds-reversed", severity=Severity.INFO)
def rounds_reversed(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Hit]:
    """A memory was last seen in an earlier round than first seen.

    ## Why
    Rounds begin again with every start of the agent, so this is normal after a restart. It says that the
    memory has outlived a process, and that its rounds cannot be compared.
    ## Bad
    entry.first_seen_round = 9
    entry.last_seen_round = 3
    ## Good
    entry.first_seen_round = 3
    entry.last_seen_round = 9
    ## Fix
    Nothing.
    ## Source
    Runtime: rounds are counted per process.
    """
    for entry in store.entries or ():
        first, last = entry.first_seen_round, entry.last_seen_round
        if first is not None and last is not None and first > last:
            rounds = f"first seen in round {first}, last in round {last}"
            message = f"{excerpt(entry.block_id)}: {rounds}; it is older than this process"
            yield Hit(_entry_origin(store, entry), message)


@rule("SNP063", name="search-index-stale", severity=Severity.WARNING)
def search_index_stale(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Hit]:
    """The full-text index does not have one row for each memory.

    ## Why
    Recall searches the index. A memory that is not in it is never found again; a row too many finds
    nothing.
    ## Bad
    fts_rows = 2
    ## Good
    fts_rows = 1
    ## Fix
    Let the runtime rebuild the index, or store the missing memories again.
    ## Source
    Runtime: persistent_memory_fts mirrors persistent_memory_entries.
    """
    if store.fts_rows is not None and store.entries is not None and store.fts_rows != len(store.entries):
        rows, memories = counted(store.fts_rows, "row"), len(store.entries)
        message = f"the search index has {rows} for {memories} stored memories"
        yield Hit(_origin(store, "persistent_memory_fts"), message)


@rule("SNP064", name="queue-line", severity=Severity.WARNING)
def queue_line(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Hit]:
    """A line of the capture queue cannot be used, or waits to be stored.

    ## Why
    The queue holds memories on their way into the store. A line that is not JSON (an error) or not a job is
    skipped with a warning at the next start, and that memory is lost; the lines after it survive. A hash
    that does not fit means that the line was changed. Jobs that wait are only counted.
    ## Bad
    queue = {"jobId": "j1", "blockId":
    ## Good
    queue = (absent)
    ## Fix
    Mend the line before the agent starts: it rewrites the file.
    ## Source
    Runtime: memory-queue.wal, one JSON object a line.
    """
    waiting = [
        line for line in store.queue_lines or () if line.job is not None and _job_fault(line.job) is None
    ]
    for line in store.queue_lines or ():
        origin = Origin(store.queue or store.folder, None, line.start, line.end, line.line, 1)
        if line.job is None:
            message = f"line {line.line} is skipped: {excerpt(line.problem or 'unreadable', 120)}"
            yield Hit(origin, message, Severity.ERROR, Effect.DROPPED)
        elif fault := _job_fault(line.job):
            message = f"line {line.line} is skipped, it is not a capture job: {fault}"
            yield Hit(origin, message, effect=Effect.DROPPED)
        elif mismatch := _job_mismatch(line.job):
            yield Hit(origin, f"line {line.line}: {mismatch}")
    if waiting:
        first = waiting[0]
        origin = Origin(store.queue or store.folder, None, first.start, first.end, first.line, 1)
        names = listed(text(line.job.get("blockId")) or "" for line in waiting if line.job)
        wait = "waits" if len(waiting) == 1 else "wait"
        yield Hit(origin, f"{counted(len(waiting), 'job')} {wait} to be stored: {names}", Severity.INFO)


@rule("SNP065", name="todo-out-of-date", severity=Severity.WARNING)
def todo_out_of_date(store: AgentStore, latest: Snapshot | None, profile: Profile) -> Iterator[Hit]:
    """The newest snapshot's todo section is not what the todo list says.

    ## Why
    The section is computed from todo.db. A difference means that the snapshot is older than the list or was
    edited. A cursor that aims at an item that is gone or already in the wanted state is cleared at the next
    turn.
    ## Bad
    todo[0].status = "open"
    ## Good
    todo[0].status = "done"
    ## Fix
    Save a new log; move the cursor to an item that is there.
    ## Source
    Runtime: summary, total and step are a projection of todo.db; stale cursors are reconciled.
    """
    if latest is None or store.todo_rows is None or not latest.todo:
        return
    now = todo_progress(store.todo_rows, profile.todo)
    for name, value in (("total", now.total), ("step", now.step), ("summary", now.summary)):
        found = latest.todo.get(name)
        if value is not None and found is not None and not same_value(found, value):
            message = f"todo.{name} is {json_excerpt(found)}, but by todo.db it is {json_excerpt(value)}"
            yield Hit(latest.origin("todo", name), message)
    if fault := cursor_fault_in(latest.todo.get("cursor"), store.todo_rows):
        yield Hit(latest.origin("todo", "cursor"), f"the cursor is stale: {fault}", effect=Effect.WIPED)


def _origin(store: AgentStore, table: str, row: str | int | None = None) -> Origin:
    path = (table,) if row is None else (table, row)
    return Origin(store.database or store.folder, join("", *path))


def _entry_origin(store: AgentStore, entry: MemoryEntry) -> Origin:
    return _origin(store, "persistent_memory_entries", entry.row)


def _hashes(content: str) -> tuple[str, ...]:
    """Return the hashes of the content as it is and trimmed; the runtime stores either."""
    from hashlib import sha256

    return tuple(
        sha256(form.encode("utf-8", "surrogatepass")).hexdigest() for form in (content, trim(content))
    )


def _job_fault(job: dict[str, JsonValue]) -> str | None:
    """Return why the runtime does not accept this as a capture job, or None."""
    for name in ("jobId", "blockId", "contentHash"):
        if not trim(text(job.get(name)) or ""):
            return f"{name} is not a non-blank text"
    if number(job.get("createdAt")) is None:
        return "createdAt is not a number"
    if job.get("sourceTier") not in ("core", "longterm"):
        return f"sourceTier is {json_excerpt(job.get('sourceTier'))}, not core or longterm"
    if "sourceTaskId" not in job or not isinstance(job["sourceTaskId"], str | None):
        return "sourceTaskId is neither a text nor null"
    return None if isinstance(job.get("block"), dict) else "block is not an object"


def _job_mismatch(job: dict[str, JsonValue]) -> str | None:
    block = job.get("block")
    content = text(block.get("content")) if isinstance(block, dict) else None
    if content is None or job.get("contentHash") in _hashes(content):
        return None
    return f"contentHash of {excerpt(text(job.get('blockId')) or '')} is not that of its content"
