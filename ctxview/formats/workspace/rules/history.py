"""The rules about raw histories, the audit log, learnings and the session database (HIS).

Examples change the sound home of the tests: `FILE += line` adds a line, `sessions.db = SQL` makes a database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.workspace.facts import WorkspaceFacts


@rule("HIS001", name="history-record", severity=Severity.ERROR)
def history_record(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A raw history does not begin with its metadata, has a line that is not a message, or goes back in time.

    ## Why
    The program loads what it can and drops the rest, so a part of the conversation is gone after a restart.
    ## Bad
    sessions/cli_default_2026-02-17.jsonl += {"content": "no role"}
    ## Good
    sessions/cli_default_2026-02-17.jsonl += {"role": "user", "content": "Thanks."}
    ## Fix
    Restore the file; histories are never edited here.
    ## Source
    Source document, Layer 3: every message, verbatim.
    """
    yield from _hits(facts, "HIS001")


@rule("HIS002", name="call-without-result", severity=Severity.ERROR)
def call_without_result(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A tool result has no call before it, or a call has no result or two.

    ## Why
    Providers refuse a conversation with such a message, and the session cannot go on.
    ## Bad
    sessions/cli_default_2026-02-17.jsonl += {"role": "tool", "content": "ok", "tool_call_id": "call_99"}
    ## Good
    sessions/cli_default_2026-02-17.jsonl += {"role": "user", "content": "Thanks."}
    ## Fix
    Clear the session, or restore the missing message from a copy.
    ## Source
    The program: messages of the provider protocol.
    """
    yield from _hits(facts, "HIS002")


@rule("HIS003", name="summarised-in-place", severity=Severity.ERROR, effect=Effect.WIPED)
def summarised_in_place(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A summary is stored in the raw history in place of messages.

    ## Why
    The raw history is the only verbatim copy. What was summarised there cannot be looked up again.
    ## Bad
    sessions/cli_default_2026-02-17.jsonl += {"role": "user", "content": "[Conversation summary: clocks.]"}
    ## Good
    sessions/cli_default_2026-02-17.jsonl += {"role": "user", "content": "Give me a summary."}
    ## Fix
    Nothing brings the messages back; keep later histories out of the compaction.
    ## Source
    Source document, Layer 3: never summarised in place.
    """
    yield from _hits(facts, "HIS003")


@rule("HIS004", name="carried-over", severity=Severity.INFO)
def carried_over(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A history begins with the last messages of the file before it.

    ## Why
    The daily rotation copies them. They are the same messages, not said twice.
    ## Bad
    sessions/cli_default_2026-02-18.jsonl += {"_type": "metadata"}
    sessions/cli_default_2026-02-18.jsonl += LAST
    ## Good
    sessions/cli_default_2026-02-18.jsonl += {"_type": "metadata"}
    sessions/cli_default_2026-02-18.jsonl += {"role": "user", "content": "Good morning."}
    ## Fix
    Nothing: it is a note for whoever counts messages.
    ## Source
    The program: rotation of histories.
    """
    yield from _hits(facts, "HIS004")


@rule("HIS005", name="audit-chain", severity=Severity.ERROR)
def audit_chain(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The hash chain of the audit log is broken.

    ## Why
    Each entry holds the hash of the one before. At a broken link an entry was changed, removed or added.
    ## Bad
    memory/audit/cli_default.jsonl += {"seq": 7, "prev_hash": "00", "hash": "11", "arguments": {}}
    ## Good
    memory/audit/cli_default.jsonl +=
    ## Fix
    Do not trust the log from there on; compare it with a copy.
    ## Source
    The program: audit log, verified with its own formula.
    """
    yield from _hits(facts, "HIS005")


@rule("HIS006", name="message-count", severity=Severity.WARNING)
def message_count(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The database states another number of messages than it holds, or its text index is incomplete.

    ## Why
    Sessions are listed with a wrong length, and the search misses messages.
    ## Bad
    sessions.db = INSERT INTO sessions(id, session_key, message_count) VALUES ('s2', 'cli:two', 5);
    ## Good
    sessions.db = INSERT INTO sessions(id, session_key, message_count) VALUES ('s2', 'cli:two', 0);
    ## Fix
    Rebuild the counts with the program's own maintenance.
    ## Source
    The program: tables sessions, messages and messages_fts.
    """
    database = facts.workspace.database
    if database is None:
        return
    for session in database.sessions:
        if session.stated is not None and session.stated != session.messages:
            message = f"{session.key} states {session.stated:,} messages and has {session.messages:,}"
            yield Hit(Origin(database.file, f"/sessions/{session.id}"), message)
    if database.indexed is not None and database.indexed != database.messages:
        message = f"the text index has {database.indexed:,} of {database.messages:,} messages"
        yield Hit(Origin(database.file, "/messages_fts"), message)


@rule("HIS007", name="overwritten-summaries", severity=Severity.ERROR, effect=Effect.WIPED)
def overwritten_summaries(facts: WorkspaceFacts) -> Iterator[Hit]:
    """Summary nodes of a session have holes in their numbers, or name messages that the session has not.

    ## Why
    Until a later version the number of a node counted per session but was unique in the whole table: nodes of
    one session replaced those of another.
    ## Bad
    sessions.db = INSERT INTO summary_nodes(id, session_id, source_ids) VALUES (3, 's1', '[0]');
    ## Good
    sessions.db = INSERT INTO summary_nodes(id, session_id, source_ids) VALUES (0, 's1', '[0]');
    ## Fix
    Let the program rebuild its summaries; the messages are still there.
    ## Source
    The program: summary_nodes, repaired by a later migration.
    """
    database = facts.workspace.database
    if database is None or database.own_node_ids:
        return
    sizes = Counter({session.id: session.messages for session in database.sessions})
    by_session: dict[str, list[int]] = {}
    for node in database.nodes:
        place = Origin(database.file, f"/summary_nodes/{node.id}")
        by_session.setdefault(node.session_id, []).append(node.id)
        outside = [each for each in node.sources if not 0 <= each < sizes[node.session_id]]
        if outside:
            message = (
                f"node {node.id} is about message {outside[0]}; its session has {sizes[node.session_id]}"
            )
            yield Hit(place, message)
    for session, numbers in by_session.items():
        missing = sorted(set(range(max(numbers))) - set(numbers))
        if missing:
            place = Origin(database.file, f"/summary_nodes/{min(numbers)}")
            yield Hit(place, f"session {session} has lost the summary nodes {missing[:5]}")


@rule("HIS008", name="learning-record", severity=Severity.INFO)
def learning_record(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A learning has an error text but does not say that the tool failed, or its context was cut.

    ## Why
    Failures are counted by `succeeded`: this one is counted as a success.
    ## Bad
    memory/learnings.jsonl += {"tool_name": "read_file", "succeeded": true, "error": "not found"}
    ## Good
    memory/learnings.jsonl += {"tool_name": "read_file", "succeeded": false, "error": "not found"}
    ## Fix
    Nothing: the line goes after 30 days.
    ## Source
    The program: learnings.
    """
    yield from _hits(facts, "HIS008")


def _hits(facts: WorkspaceFacts, name: str) -> Iterator[Hit]:
    return facts.survey.hits(name) if facts.survey is not None else iter(())
