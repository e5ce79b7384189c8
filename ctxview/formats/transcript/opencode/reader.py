"""Read a session of OpenCode into a log, and rebuild the context that the program would send."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from ctxview.core.origin import JsonValue
from ctxview.formats.transcript.model import (
    Absence,
    ChildAgent,
    Dialect,
    LineProblem,
    LiveContext,
    LoggedCompaction,
    LogPart,
    Mark,
    ModelCall,
    PartKind,
    Record,
    TodoChange,
    TranscriptLog,
    TranscriptRow,
)
from ctxview.formats.transcript.opencode.store import SessionRecord
from ctxview.formats.transcript.requests.parts import PartBuilder
from ctxview.formats.transcript.values import content_text, json_text, number, record, records, text

CLEARED = "[Old tool result content cleared]"
INTERRUPTED = "[Tool execution was interrupted]"
SUMMARISE = "What did we do so far?"
FAILED = "failed message"
_TEXT_FILES = ("text/plain", "application/x-directory")
"""Files of these types are sent as texts, which are parts of their own."""
_ABORTED = "MessageAbortedError"
_REVERT, _REVERT_PLACE = "reverted from", "reverted from part"


class OpenCodeLog:
    """The log of one session; `values` has the blocks of every message."""

    alone = False

    def __init__(self, file: str, session: SessionRecord) -> None:
        self.log = TranscriptLog(Dialect.OPENCODE, file)
        self.values: list[JsonValue] = []
        self._session = session
        self._builder = PartBuilder()
        self._turn = 0
        info, messages = record(session.value, "info"), session.value.get("messages")
        self._take_info(info)
        for at, message in enumerate(messages if isinstance(messages, list) else ()):
            self._take_message(message, f"/messages/{at}")
        self._note_compactions()
        self._note_children()
        self._note_revert(record(info, "revert"))
        self._note_todos()

    def _take_info(self, info: Record) -> None:
        log = self.log
        log.left_out = self._session.problem
        for fact, name in (("title", "title"), ("cwd", "directory"), ("parent session", "parentID")):
            if (found := text(info, name)) is not None:
                log.facts[fact] = found
        if (version := text(info, "version")) is not None:
            log.versions.setdefault(version, 0)
        if (session := text(info, "id")) is not None:
            log.sessions[session] += 1

    def _take_message(self, message: JsonValue, pointer: str) -> None:
        log, index = self.log, len(self.log.rows)
        info, parts = record(message, "info"), records(message, "parts")
        origin = self._session.origin_of(pointer)
        row = TranscriptRow(origin.start or 0, origin.end or 0, "message", id=text(info, "id"))
        row.origin, row.role, row.time = origin, text(info, "role"), _time(record(info, "time"))
        row.parent = text(info, "parentID")
        log.rows.append(row)
        blocks: list[JsonValue] = []
        synthetic: set[int] = set()
        for part in parts:
            added = list(_blocks(part))
            if part.get("synthetic") is True:
                synthetic |= set(range(len(blocks), len(blocks) + len(added)))
            blocks += added
        self.values.append(blocks)
        if row.role not in ("user", "assistant"):
            log.problems.append(LineProblem("TRF007", origin, "this message is not usable: it has no role"))
            return
        row.parts = tuple(self._builder.parts(row.role, blocks, index))
        for made in row.parts:
            _note_state(made, blocks[made.place])
            if made.place in synthetic and made.kind is PartKind.PROMPT:
                made.kind, made.segment = PartKind.REMINDER, "attachments"
        self._note_files(parts, index)
        if row.role == "assistant":
            self._take_answer(info, row, index)
        compaction = next((part for part in parts if part.get("type") == "compaction"), None)
        if compaction is not None:
            row.boundary = True
            row.source = text(compaction, "tail_start_id")
            row.sort = "compaction (auto)" if compaction.get("auto") is True else "compaction (manual)"
        row.prompt = row.role == "user" and not row.boundary
        row.prompt = row.prompt and any(part.kind is PartKind.PROMPT for part in row.parts)
        self._turn += row.prompt

    def _take_answer(self, info: Record, row: TranscriptRow, index: int) -> None:
        log, tokens = self.log, record(info, "tokens")
        row.message = row.id or f"message {index}"
        error = record(info, "error")
        if error:
            words = text(record(error, "data"), "message") or text(error, "name") or "error"
            aborted = text(error, "name") == _ABORTED
            if not aborted:
                log.errors.append((index, words))
            if not (aborted and any(part.kind is not PartKind.THINKING for part in row.parts)):
                row.sort = FAILED
        if info.get("summary") is True:
            row.meta = bool(text(info, "finish")) and not error
            for part in row.parts:
                if part.kind is PartKind.ANSWER:
                    part.kind, part.segment = PartKind.SUMMARY, "summary"
        model = text(info, "modelID") or text(record(info, "model"), "modelID")
        sent = _sent(tokens)
        if row.sort == FAILED and not sent:
            return
        call = ModelCall(len(log.calls) + 1, index, row.message, model, row.time)
        cache = record(tokens, "cache")
        call.sent, call.cached = sent or None, number(cache, "read")
        call.cache_written = number(cache, "write")
        call.thinking = number(tokens, "reasoning") or None
        out = (number(tokens, "output") or 0) + (call.thinking or 0)
        total = number(tokens, "total")
        call.out = total - sent if total is not None and total >= sent else out
        call.last_row, call.turn = index, self._turn
        call.previous = call.number - 2 if call.number > 1 else None
        call.output_known = bool(sent)
        log.calls.append(call)
        if model is not None:
            log.models.setdefault(model, index)

    def _note_files(self, parts: list[Record], index: int) -> None:
        for part in parts:
            if part.get("type") == "file":
                name = text(record(part, "source"), "path") or text(part, "filename")
                self.log.named_files += [(index, "attached", name)] if name else []
            elif part.get("type") == "patch":
                files = part.get("files")
                named = [each for each in files if isinstance(each, str)] if isinstance(files, list) else []
                self.log.named_files += [(index, "changed", each) for each in named]

    def _note_compactions(self) -> None:
        log = self.log
        for index, row in enumerate(log.rows):
            if not row.boundary:
                continue
            done = (at for at, each in enumerate(log.rows) if each.meta and each.parent == row.id)
            summary = next(done, None)
            if summary is None:
                log.unfinished.append(index)
            else:
                trigger = "auto" if "auto" in row.sort else "manual"
                sent = next((call.sent for call in log.calls if call.row == summary), None)
                log.compactions.append(LoggedCompaction(summary, trigger, before=sent))

    def _note_children(self) -> None:
        log = self.log
        stored = records(self._session.value, "children")
        known = {text(each, "id") or "": record(each, "last") for each in stored}
        for index, row in enumerate(log.rows):
            for part in row.parts:
                if part.kind is not PartKind.CALL or part.tool != "task":
                    continue
                given = self._builder.arguments.get(id(part), {})
                child = ChildAgent(part.call_id, part.detail, index, text(given, "subagent_type"))
                child.prompt = (text(given, "prompt") or "")[:4000]
                result = next((each for each in row.parts if each.kind is PartKind.RESULT), None)
                failed = result is not None and result.error is not None
                child.status = "failed" if failed else None if result is None else "completed"
                last = known.get(child.agent or "")
                if last is not None:
                    child.file, child.model = child.agent, text(last, "modelID")
                    child.sent = _sent(record(last, "tokens")) or None
                log.children.append(child)

    def _note_revert(self, revert: Record) -> None:
        message, part = text(revert, "messageID"), text(revert, "partID")
        index = next((at for at, row in enumerate(self.log.rows) if message and row.id == message), None)
        if index is None:
            return
        place = 0
        for each in records(records(self._session.value, "messages")[index], "parts"):
            if part is None or each.get("id") == part:
                break
            place += len(list(_blocks(each)))
        self.log.facts[_REVERT], self.log.facts[_REVERT_PLACE] = str(index), str(place)

    def _note_todos(self) -> None:
        log = self.log
        for row in log.rows:
            done = {part.call_id for part in row.parts if part.kind is PartKind.RESULT and part.error is None}
            for part in row.parts:
                given = self._builder.arguments.get(id(part))
                if part.tool == "todowrite" and given is not None:
                    failed = part.call_id not in done
                    log.todos.append(TodoChange(part.row, part.call_id, "todowrite", given, True, failed))
        stated = self._session.value.get("todos")
        end = int(log.facts.get(_REVERT, len(log.rows)))
        if isinstance(stated, list) and end:
            log.todos.append(TodoChange(end - 1, None, "todowrite", {"todos": stated}, answered=True))


def _sent(tokens: Record) -> int:
    cache = record(tokens, "cache")
    sizes = (number(tokens, "input"), number(cache, "read"), number(cache, "write"))
    return sum(size or 0 for size in sizes)


def _time(value: Record) -> str | None:
    created = number(value, "created")
    try:
        return datetime.fromtimestamp(created / 1000, UTC).isoformat() if created is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def _blocks(part: Record) -> Iterator[JsonValue]:
    """Yield what the program sends for a part, as blocks of the Messages API."""
    kind = text(part, "type")
    if kind == "text" and part.get("ignored") is not True and text(part, "text"):
        yield {"type": "text", "text": text(part, "text")}
    elif kind == "reasoning":
        yield {"type": "thinking", "thinking": text(part, "text"), "signature": "none"}
    elif kind == "file" and not (text(part, "mime") or "").startswith(_TEXT_FILES):
        yield {"type": "image", "filename": text(part, "filename")}
    elif kind == "compaction":
        yield {"type": "text", "text": SUMMARISE}
    elif kind == "subtask":
        yield {"type": "text", "text": "The following tool was executed by the user"}
    elif kind == "tool":
        yield from _tool_blocks(part)


def _tool_blocks(part: Record) -> Iterator[JsonValue]:
    state, call_id = record(part, "state"), text(part, "callID") or text(part, "id")
    child = text(record(state, "metadata"), "sessionId") or text(record(state, "metadata"), "sessionID")
    call: Record = {"type": "tool_use", "id": call_id, "name": text(part, "tool") or "?"}
    yield {**call, "input": state.get("input"), "child": child}
    status, output = text(state, "status"), content_text(state.get("output"))
    block: Record = {"type": "tool_result", "tool_use_id": call_id, "content": output}
    cut = record(state, "metadata").get("truncated") is True
    if record(state, "time").get("compacted"):
        block |= {"content": CLEARED, "stored": len(output)}
    elif status == "error":
        block |= {"content": text(state, "error") or output, "is_error": True}
    elif status in ("pending", "running"):
        block |= {"content": INTERRUPTED}
    elif cut:
        block |= {"cut": True}
    images: list[JsonValue] = [{"type": "image"} for each in records(state, "attachments")]
    if images:
        block["content"] = [{"type": "text", "text": block["content"]}, *images]
    yield block


def _note_state(part: LogPart, block: JsonValue) -> None:
    """Take over what the blocks of the Messages API have no member for."""
    if part.kind is PartKind.CALL and isinstance(block, dict):
        part.detail = text(block, "child") or part.detail
    elif part.kind is PartKind.RESULT and isinstance(block, dict):
        if part.mark is Mark.CLEARED:
            part.lost = number(block, "stored") or 0
        elif json_text(block.get("content")) == INTERRUPTED:
            part.detail = INTERRUPTED
        elif block.get("cut") is True:
            part.mark, part.detail = Mark.CUT, part.detail or "the tool shortened its output"


def live_context(log: TranscriptLog, call: ModelCall | None) -> LiveContext:
    """Return the context that a call was sent, or the present one: what the last compaction left."""
    end, place = (call.row, 0) if call is not None else _revert_point(log)
    order, start, dangling = _kept(log, end)
    left_out = {at for at in range(end) if log.rows[at].sort == FAILED}
    live = [at for at in order if at not in left_out]
    parts = [part for at in live for part in log.rows[at].parts]
    kept = set(live)
    gone = [at for at in range(end) if at not in kept]
    absent = {
        Absence.FAILED: [at for at in gone if at in left_out],
        Absence.COMPACTED: [at for at in gone if at not in left_out],
    }
    if call is None and end < len(log.rows):
        parts += [part for part in log.rows[end].parts if part.place < place]
        absent[Absence.REVERTED] = list(range(end + bool(place), len(log.rows)))
    stopped = {part.call_id for part in parts if part.detail == INTERRUPTED}
    first = start.row if start is not None else -1
    return LiveContext(
        parts=parts,
        absent={why: [at for at in rows if log.rows[at].parts] for why, rows in absent.items()},
        calls=[each for each in log.calls if first < each.row < end and each.row not in left_out],
        lineage=[at for at in range(end) if log.rows[at].parts and at not in left_out],
        start=start,
        missing_results=[part for part in parts if part.kind is PartKind.CALL and part.call_id in stopped],
        dangling=dangling,
    )


def _revert_point(log: TranscriptLog) -> tuple[int, int]:
    return int(log.facts.get(_REVERT, len(log.rows))), int(log.facts.get(_REVERT_PLACE, 0))


def _kept(log: TranscriptLog, end: int) -> tuple[list[int], LoggedCompaction | None, list[tuple[int, str]]]:
    """Return the messages that stay, in the order of the prompt, and the compaction that they begin with."""
    finished: dict[str | None, int] = {}
    for at in range(end - 1, -1, -1):
        row = log.rows[at]
        if row.meta:
            finished[row.parent] = at
        elif row.boundary and row.id in finished:
            summary, tail = finished[row.id], row.source
            start = next((each for each in log.compactions if each.row == summary), None)
            rest = [each for each in range(at + 1, end) if each != summary]
            if tail is None or tail == row.id:
                return [at, summary, *rest], start, []
            first = next((each for each in range(at) if log.rows[each].id == tail), None)
            # A tail that is not found before the compaction keeps everything before it.
            missing = [(at, f"tail_start_id {tail}")] if first is None else []
            return [at, summary, *range(first or 0, at), *rest], start, missing
    return list(range(end)), None, []
