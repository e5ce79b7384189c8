"""Missing context: errors of tools, partial reads, previews, calls without results, lost answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import beginning
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Gap
from ctxview.formats.kit.state_parts import left_out_gap, make_gap
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.forgotten import lost_instructions, named_files, vanished_texts
from ctxview.formats.transcript.model import Dialect, Mark, PartKind
from ctxview.formats.transcript.state.tiers import block_id

_MISSING_WORDS = (
    *("File does not exist", "File has not been read yet", "modified since read", "exceeds maximum allowed"),
    *("Sibling tool call errored", "No such file"),
)


def build_gaps(facts: TranscriptFacts, not_shown: Sequence[str]) -> tuple[Gap, ...]:
    """`not_shown` says of which parts the state has only the newest."""
    found = [*_not_read_again(facts), *_lost(facts), *_results(facts), *_compacted_todos(facts)]
    found += [*_never_given(facts), *_lost_words(facts), *_on_server(facts)]
    place = Origin(facts.log.file)
    cut = (left_out_gap("rows of the transcript", why, place) for why in (*facts.left_out, *not_shown))
    return (*cut, *found)


def _results(facts: TranscriptFacts) -> Iterator[Gap]:
    origin = facts.log.origin
    for part in facts.context.parts:
        ids = (block_id(facts, part),)
        name = part.about or part.tool or part.kind.value
        if part.mark is Mark.PERSISTED:
            why = "the output was too large; the model saw the beginning only"
            yield make_gap(ids[0], name, Severity.WARNING, "preview", why, origin(part.row), ids)
        elif part.mark in (Mark.PARTIAL, Mark.CUT):
            why = f"only a part was given: {part.detail}"
            yield make_gap(ids[0], name, Severity.INFO, "cut", why, origin(part.row), ids)
        elif part.mark is Mark.CLEARED:
            why = "the result was cleared: the model sees a note in its place"
            yield make_gap(ids[0], name, Severity.WARNING, "cleared", why, origin(part.row), ids)
        elif part.mark is Mark.ENCRYPTED and part.kind is PartKind.SUMMARY:
            why = "the summary is encrypted: what it says is not known"
            yield make_gap(ids[0], "summary", Severity.INFO, "encrypted", why, origin(part.row), ids)
        elif part.error is not None and any(word in part.error for word in _MISSING_WORDS):
            yield make_gap(ids[0], name, Severity.WARNING, "failed", part.error, origin(part.row), ids)
    for part in facts.context.missing_results:
        why = "the call has no result"
        name = " ".join(filter(None, (part.tool, part.about)))
        ids = (block_id(facts, part),)
        yield make_gap(ids[0], name or "call", Severity.WARNING, "open", why, origin(part.row), ids)


def _on_server(facts: TranscriptFacts) -> Iterator[Gap]:
    for row, kind, name in facts.request.on_server if facts.request is not None else ():
        why = "only the provider has it; its text and its size are not in this file"
        place = facts.log.origin(row)
        yield make_gap(name, f"{kind} {name}", Severity.INFO, "on the server", why, place)
    for part in facts.context.missing_calls if facts.request is not None else ():
        why = "the result has no call in the request"
        ids = (block_id(facts, part),)
        place = facts.log.origin(part.row)
        yield make_gap(f"call {part.call_id}", part.call_id or "?", Severity.ERROR, "open", why, place, ids)


def _never_given(facts: TranscriptFacts) -> Iterator[Gap]:
    """Yield files that a person named, texts that results refer to, and what Codex cut on the way in."""
    origin = facts.log.origin
    for path, row in named_files(facts).items() if facts.context.calls else ():
        why = "a person named it, and it was never read, attached or listed"
        yield make_gap(f"named {path}", path, Severity.INFO, "not read", why, origin(row))
    for part in vanished_texts(facts):
        why = "the result says that it is unchanged, and its text is no longer in the context"
        ids = (block_id(facts, part),)
        yield make_gap(ids[0], part.about or "a file", Severity.WARNING, "lost", why, origin(part.row), ids)
    limit = 4 * facts.profile.limits.codex_output_tokens
    for part in facts.context.parts if facts.log.dialect is Dialect.CODEX else ():
        if part.kind is PartKind.RESULT and part.size > limit and part.mark is None:
            why = f"{part.size - limit:,} of {part.size:,} characters were cut on the way into the context"
            ids = (block_id(facts, part),)
            name = part.about or part.tool or "an output"
            yield make_gap(f"{ids[0]} rest", name, Severity.WARNING, "cut", why, origin(part.row), ids)


def _lost_words(facts: TranscriptFacts) -> Iterator[Gap]:
    for sentence, row in lost_instructions(facts):
        why = "a person said it before the compaction; no live text repeats it"
        yield make_gap(
            f"said {row}", beginning(sentence, 120), Severity.WARNING, "lost", why, facts.log.origin(row)
        )


def _lost(facts: TranscriptFacts) -> Iterator[Gap]:
    for queued in facts.log.queue:
        if not queued.delivered and not queued.removed and queued.row < facts.end:
            name = f"the answer of {queued.task}" if queued.task else "a queued prompt"
            why = "it was queued and never given to the model"
            place = facts.log.origin(queued.row)
            yield make_gap(facts.log.name(queued.row), name, Severity.WARNING, "lost", why, place)


def edited_before(facts: TranscriptFacts, row: int) -> dict[str, int]:
    """Return the files that calls before row `row` edited, each with the last of these rows."""
    return {part.about: part.row for part in facts.edits if part.row < row and part.about}


def unread_edits(facts: TranscriptFacts) -> list[tuple[str, int]]:
    """Return the files edited before the last compaction and not read or attached since, with the row."""
    start = facts.context.start
    if start is None:
        return []
    edited = edited_before(facts, start.row)
    known = {
        part.about
        for part in facts.context.parts
        if part.row > start.row
        and (part.kind is PartKind.REMINDER or (part.kind is PartKind.CALL and part.tool in ("Read", "read")))
        and part.tool != "compact_file_reference"
    }
    return [(path, row) for path, row in edited.items() if path not in known]


def lost_tasks(facts: TranscriptFacts) -> list[tuple[str, int]]:
    """Return the tasks that were open before the last compaction and are nowhere after it."""
    start = facts.context.start
    if start is None:
        return []
    before = [task for task in facts.tasks(start.row) if task.status not in ("completed", "cancelled")]
    later = any(change.row > start.row and change.answered for change in facts.log.todos)
    summary = " ".join(
        facts.texts.whole(part) for part in facts.context.parts if part.kind is PartKind.SUMMARY
    ).casefold()
    now = {task.title.casefold() for task in facts.tasks()} if later else set()
    if any(part.mark is Mark.ENCRYPTED and part.kind is PartKind.SUMMARY for part in facts.context.parts):
        return []
    return [
        (task.title, task.row)
        for task in before
        if task.title and task.title.casefold() not in summary and task.title.casefold() not in now
    ]


def _not_read_again(facts: TranscriptFacts) -> Iterator[Gap]:
    for path, row in unread_edits(facts):
        why = "edited before the compaction and not read again: the next edit is at risk"
        yield make_gap(path, "a file", Severity.WARNING, "compacted", why, facts.log.origin(row))


def _compacted_todos(facts: TranscriptFacts) -> Iterator[Gap]:
    for title, row in lost_tasks(facts):
        why = "it was open before the compaction; neither the summary nor a later list has it"
        yield make_gap(f"task {title}", title, Severity.WARNING, "lost", why, facts.log.origin(row))
