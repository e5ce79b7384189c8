"""Read the rows of Claude Code sessions. Which of them are live is decided in `lineage`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from sys import intern

from ctxview.analysis.wording import beginning
from ctxview.core.origin import JsonValue
from ctxview.formats.transcript.claude.texts import attachment_text, context_dump
from ctxview.formats.transcript.model import (
    LONGEST_PROMPT,
    ChildAgent,
    LineProblem,
    LoggedCompaction,
    LogPart,
    Mark,
    ModelCall,
    PartKind,
    QueuedText,
    Record,
    TodoChange,
    TranscriptLog,
    TranscriptRow,
)
from ctxview.formats.transcript.values import (
    about_of,
    block_text,
    content_text,
    cut_output,
    image_count,
    is_image,
    json_text,
    number,
    persisted_output,
    record,
    text,
)

_SESSION_FACTS = frozenset(
    (
        *("agent-name", "agent-setting", "pr-link", "frame-link", "worktree-state", "relocated"),
        *("bridge-session", "atis-latch", "started", "result", "progress", "tag"),
    )
)
"""Types of rows that nothing is taken from."""
_NOT_SENT = frozenset(("hook_non_blocking_error", "hook_system_message", "command_permissions"))
_TOOL_LISTS = frozenset(("deferred_tools_delta", "mcp_instructions_delta", "agent_listing_delta"))
_SKILLS = frozenset(("skill_listing", "invoked_skills", "dynamic_skill"))
TODO_TOOLS = frozenset(("TodoWrite", "TaskCreate", "TaskUpdate"))
AGENT_TOOLS = frozenset(("Task", "Agent"))
SYNTHETIC = "<synthetic>"
_RANGES = frozenset(("limit", "offset", "pages"))
"""Arguments of a call that asks for a part of a file."""
_TASK = re.compile(r"Task #(\w+) created")
_ERROR_TAG = re.compile("</?tool_use_error>")
_NOTIFICATION = re.compile(r"<task-id>([^<]{1,80})</task-id>")
_REFUSED = ("[Request interrupted by user", "The user doesn't want to")
_CLEARED = "[Old tool result content cleared]"
_UNCHANGED = "File unchanged since last read"


class ClaudeCodeReader:
    """Adds the records of a session to a log, one after the other."""

    def __init__(self, log: TranscriptLog) -> None:
        self.log = log
        self._calls: dict[tuple[str, bool], ModelCall] = {
            (call.id, log.rows[call.row].side): call for call in log.calls if call.id
        }
        self._made: dict[str, LogPart] = {}
        """The calls that may have a result, by their ids."""
        self._todos: dict[str, TodoChange] = {}
        self._children: dict[str, ChildAgent] = {}
        self._ids: dict[str, int] = {}
        self._named: set[tuple[str, str]] = set()
        self._turn = 0
        self._takers: dict[str, Callable[[Record, TranscriptRow, int], None]] = {
            "user": self._take_user,
            "assistant": self._take_assistant,
            "attachment": self._take_attachment,
            "system": self._take_system,
            "queue-operation": self._take_queue_operation,
            "last-prompt": self._take_last_prompt,
            "permission-mode": self._take_mode,
            "mode": self._take_mode,
            "file-history-snapshot": self._take_file_history_snapshot,
            "summary": self._take_title,
            "ai-title": self._take_title,
            "custom-title": self._take_title,
        }
        self.alone = False
        """Whether the file is a sub-agent's own: its sidechain is the main line."""

    def copy(self, log: TranscriptLog) -> ClaudeCodeReader:
        """Return a reader that continues in `log`, a copy of this one's."""
        made = ClaudeCodeReader(log)
        made._made, made._turn, made.alone = dict(self._made), self._turn, self.alone
        made._todos, made._children = dict(self._todos), dict(self._children)
        made._ids, made._named = dict(self._ids), set(self._named)
        return made

    def add(self, value: Record, start: int, end: int, line: int | None) -> None:
        log = self.log
        index = len(log.rows)
        sort = intern(text(value, "type") or "?")
        name, parent = text(value, "uuid"), text(value, "parentUuid")
        if parent is not None and (over := self._ids.get(parent)) is not None:
            # One text for both rows.
            parent = log.rows[over].id
        row = TranscriptRow(start, end, sort, line, name, parent, text(value, "timestamp"))
        row.side = value.get("isSidechain") is True
        log.rows.append(row)
        if name is not None and (first := self._ids.setdefault(name, index)) != index:
            log.repeated.append((index, first))
            return
        if (session := text(value, "sessionId")) is not None:
            log.sessions[session] += 1
        if (version := text(value, "version")) is not None and version not in log.versions:
            log.versions[version] = index
        if (take := self._takers.get(sort)) is not None:
            take(value, row, index)
        elif sort not in _SESSION_FACTS:
            count, first = log.unknown.get(sort, (0, index))
            log.unknown[sort] = count + 1, first

    def _take_user(self, value: Record, row: TranscriptRow, index: int) -> None:
        message = value.get("message")
        facts = self.log.facts
        if (cwd := text(value, "cwd")) is not None:
            facts["cwd"] = cwd
        if (branch := text(value, "gitBranch")) is not None:
            facts["branch"] = branch
        if not isinstance(message, dict) or "content" not in message:
            self._malformed(row, "its message has no content")
            return
        row.role, row.meta = "user", value.get("isMeta") is True
        row.source = text(value, "sourceToolUseID")
        content = message["content"]
        blocks: list[JsonValue] = content if isinstance(content, list) else [content]
        shown = value.get("toolUseResult")
        parts = [
            self._result(block, index, place, shown)
            if isinstance(block, dict) and block.get("type") == "tool_result"
            else self._user_part(block, row, index, place, value)
            for place, block in enumerate(blocks)
        ]
        row.parts = tuple(parts)
        results = PartKind.RESULT in [part.kind for part in parts]
        row.prompt = not results and not row.meta and value.get("isCompactSummary") is not True
        if row.prompt and not row.side:
            self._turn += 1
            if "title" not in facts and isinstance(content, str) and not content.startswith("<"):
                facts["title"] = beginning(" ".join(content.split()), 80)
        for block in blocks if self.log.queue else ():
            self._deliver(block_text(block))
        self._read_context_dump(content)

    def _user_part(
        self, block: JsonValue, row: TranscriptRow, index: int, place: int, value: Record
    ) -> LogPart:
        words, image = block_text(block), is_image(block)
        kind, segment = PartKind.PROMPT, "user"
        if value.get("isCompactSummary") is True:
            kind, segment = PartKind.SUMMARY, "summary"
        elif image:
            kind, segment = PartKind.IMAGE, "images"
        elif row.meta:
            kind, segment = PartKind.REMINDER, "skills" if row.source else "user"
        part = LogPart(index, place, kind, segment, len(words), images=int(image))
        if words.startswith(_REFUSED):
            part.mark, part.detail = Mark.REFUSED, beginning(words, 200)
        return part

    def _result(self, block: Record, index: int, place: int, shown: JsonValue) -> LogPart:
        content, call_id = block.get("content"), text(block, "tool_use_id")
        words, images = content_text(content), image_count(content)
        segment = "images" if images and not words else "tool results"
        part = LogPart(index, place, PartKind.RESULT, segment, len(words), call_id, images=images)
        if (call := self._made.get(call_id or "")) is not None:
            # The same texts, not equal ones: they take less room.
            part.call_id, part.tool, part.about = call.call_id, call.tool or "", call.about
        start = words[:200]
        if block.get("is_error") is True or words.startswith("<tool_use_error>"):
            part.error = beginning(_ERROR_TAG.sub("", words), 200)
        if (persisted := persisted_output(words)) is not None:
            part.mark, part.detail = Mark.PERSISTED, persisted[1]
        elif words.startswith(_UNCHANGED):
            part.mark, part.detail = Mark.UNCHANGED, part.about
        elif words.startswith(_CLEARED):
            part.mark = Mark.CLEARED
        elif _REFUSED[0] in start or _REFUSED[1] in start:
            part.mark, part.detail = Mark.REFUSED, beginning(words, 200)
        elif (cut := cut_output(words)) is not None:
            part.mark, part.detail = Mark.CUT, cut
        if (file := record(shown, "file")) and (call is None or call.detail is None):
            lines, total = number(file, "numLines"), number(file, "totalLines")
            if lines is not None and total is not None and lines < total:
                part.mark, part.lost = Mark.PARTIAL, total - lines
                part.detail = f"{lines:,} of {total:,} lines"
        if part.tool == "ExitPlanMode" and (plan := text(shown, "filePath")) is not None:
            self._name_file(index, "plan", plan)
        self._answered(call_id, part, words, shown)
        return part

    def _answered(self, call_id: str | None, part: LogPart, words: str, shown: JsonValue) -> None:
        if (change := self._todos.get(call_id or "")) is not None:
            change.answered, change.failed = True, part.error is not None
            created = _TASK.search(words)
            change.task = text(record(shown, "task"), "id") or (created[1] if created else None)
        if (child := self._children.get(call_id or "")) is not None:
            child.agent = text(shown, "agentId")
            failed = "refused" if part.mark is Mark.REFUSED else "failed"
            child.status = text(shown, "status") or (failed if part.error is not None else "completed")
            child.tokens = number(shown, "totalTokens")

    def _take_assistant(self, value: Record, row: TranscriptRow, index: int) -> None:
        message = value.get("message")
        if not isinstance(message, dict) or "content" not in message:
            self._malformed(row, "its message has no content")
            return
        row.role = "assistant"
        row.message = text(message, "id") or text(value, "requestId") or f"row {index}"
        content = message["content"]
        blocks: list[JsonValue] = content if isinstance(content, list) else [content]
        model = text(message, "model")
        if value.get("isApiErrorMessage") is True or model == SYNTHETIC:
            words = content_text(blocks)
            if value.get("isApiErrorMessage") is True or words.startswith("API Error"):
                self.log.errors.append((index, beginning(words, 300)))
            row.message = None
            if blocks and words:
                row.parts = (LogPart(index, 0, PartKind.ANSWER, "assistant", len(words)),)
            return
        row.parts = tuple([self._answer_part(block, index, place) for place, block in enumerate(blocks)])
        self._note_call(value, message, row, index, model)

    def _answer_part(self, block: JsonValue, index: int, place: int) -> LogPart:
        kind = text(block, "type")
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            arguments = record(block, "input")
            tool, call_id = intern(text(block, "name") or "") or None, text(block, "id")
            size, about = len(json_text(arguments)), about_of(arguments)
            part = LogPart(index, place, PartKind.CALL, "tool calls", size, call_id, tool, about)
            if call_id is not None:
                self._made[call_id] = part
            self._note_tool(part, arguments)
            if not _RANGES.isdisjoint(arguments):
                part.detail = f"{arguments.get('offset')} {arguments.get('limit')} {arguments.get('pages')}"
            return part
        words = block_text(block)
        if kind in ("thinking", "redacted_thinking"):
            mark = None if words else Mark.ENCRYPTED
            return LogPart(index, place, PartKind.THINKING, "thinking", len(words), mark=mark)
        return LogPart(index, place, PartKind.ANSWER, "assistant", len(words))

    def _note_tool(self, part: LogPart, arguments: Record) -> None:
        tool, call_id = part.tool or "", part.call_id or ""
        if tool in TODO_TOOLS:
            self._todos[call_id] = change = TodoChange(part.row, call_id, tool, arguments)
            self.log.todos.append(change)
        if tool in AGENT_TOOLS:
            child = ChildAgent(call_id, None, part.row, text(arguments, "subagent_type"))
            child.prompt = (text(arguments, "prompt") or "")[:LONGEST_PROMPT]
            self._children[call_id] = child
            self.log.children.append(child)

    def _note_call(
        self, value: Record, message: Record, row: TranscriptRow, index: int, model: str | None
    ) -> None:
        usage = record(message, "usage")
        name = row.message or ""
        call = self._calls.get((name, row.side))
        made = number(usage, "output_tokens")
        if call is None:
            call = ModelCall(len(self.log.calls) + 1, index, name, model, row.time)
            call.version, call.turn = text(value, "version"), self._turn
            self._calls[name, row.side] = call
            self.log.calls.append(call)
            if model is not None:
                self.log.models.setdefault(model, index)
        else:
            call.rows += 1
        call.last_row = index
        if usage:
            fresh, read = number(usage, "input_tokens") or 0, number(usage, "cache_read_input_tokens") or 0
            written = number(usage, "cache_creation_input_tokens") or 0
            if fresh + written + read:
                call.sent, call.cached, call.cache_written = fresh + written + read, read, written
            if made:
                call.out = max(call.out or 0, made)
            if number(record(usage, "cache_creation"), "ephemeral_1h_input_tokens"):
                call.cache_minutes = 60
            thinking = number(record(usage, "output_tokens_details"), "thinking_tokens")
            call.thinking = thinking if thinking is not None else call.thinking

    def _take_attachment(self, value: Record, row: TranscriptRow, index: int) -> None:
        attachment = record(value, "attachment")
        kind = text(attachment, "type") or "?"
        if kind in _NOT_SENT or (kind == "hook_success" and not attachment.get("content")):
            return
        row.role = "attachment"
        about = text(attachment, "filename") or text(attachment, "path") or kind
        words = attachment_text(attachment)
        part = LogPart(index, 0, PartKind.REMINDER, "attachments", len(words), None, kind, about)
        if kind == "nested_memory":
            part.kind, part.segment = PartKind.MEMORY, "memory"
        elif kind in _SKILLS:
            part.segment = "skills"
        elif kind in _TOOL_LISTS:
            part.segment = "tools"
        elif kind == "queued_command":
            part.kind, part.segment = PartKind.PROMPT, "user"
            self._deliver(words)
        row.parts = (part,)

    def _take_system(self, value: Record, row: TranscriptRow, index: int) -> None:
        subtype = text(value, "subtype")
        row.sort = f"system {subtype}" if subtype else "system"
        if subtype == "compact_boundary":
            row.boundary = True
            row.source = text(value, "logicalParentUuid")
            facts = record(value, "compactMetadata")
            cut = LoggedCompaction(index, text(facts, "trigger"), number(facts, "preTokens"))
            cut.written_after = number(facts, "postTokens")
            kept = record(facts, "preservedMessages")
            found = kept.get("allUuids") or kept.get("uuids")
            if isinstance(found, list):
                cut.kept = tuple([each for each in found if isinstance(each, str)])
            segment = record(facts, "preservedSegment")
            if not cut.kept and segment:
                cut.kept = tuple(self._segment(text(segment, "headUuid"), text(segment, "tailUuid")))
            self.log.compactions.append(cut)
        elif subtype == "local_command":
            words = text(value, "content") or ""
            row.role = "user"
            row.parts = (LogPart(index, 0, PartKind.PROMPT, "user", len(words)),)
            self._read_context_dump(words)
        elif subtype == "api_error":
            self.log.errors.append((index, beginning(json_text(value.get("error")), 300)))

    def _segment(self, head: str | None, tail: str | None) -> Iterator[str]:
        """Yield the ids from the tail of a kept segment up to its head."""
        parents = {row.id: row.parent for row in self.log.rows if row.id is not None}
        at, steps = tail, 0
        while at is not None and steps < len(parents):
            yield at
            if at == head:
                return
            at, steps = parents.get(at), steps + 1

    def _take_queue_operation(self, value: Record, row: TranscriptRow, index: int) -> None:
        operation, words = text(value, "operation"), text(value, "content") or ""
        row.sort = f"queue-operation {operation}"
        if operation == "enqueue":
            task = _NOTIFICATION.search(words)
            self.log.queue.append(QueuedText(index, words, task[1] if task else None))
        elif operation in ("remove", "popAll"):
            for queued in self.log.queue:
                queued.removed = queued.removed or operation == "popAll" or queued.text == words

    def _deliver(self, words: str) -> None:
        for queued in self.log.queue:
            named = queued.task is not None and f"<task-id>{queued.task}</task-id>" in words
            queued.delivered = queued.delivered or named or (bool(words) and queued.text == words)

    def _take_last_prompt(self, value: Record, row: TranscriptRow, _index: int) -> None:
        row.source = text(value, "leafUuid")

    def _take_mode(self, value: Record, _row: TranscriptRow, _index: int) -> None:
        self.log.facts["mode"] = text(value, "permissionMode") or text(value, "mode") or ""

    def _take_file_history_snapshot(self, value: Record, _row: TranscriptRow, index: int) -> None:
        for path in record(record(value, "snapshot"), "trackedFileBackups"):
            self._name_file(index, "tracked", path)

    def _name_file(self, index: int, kind: str, path: str) -> None:
        if (kind, path) not in self._named:
            self._named.add((kind, path))
            self.log.named_files.append((index, kind, path))

    def _take_title(self, value: Record, _row: TranscriptRow, _index: int) -> None:
        if (title := text(value, "summary") or text(value, "aiTitle") or text(value, "title")) is not None:
            self.log.facts["title"] = beginning(title, 120)

    def _read_context_dump(self, content: JsonValue) -> None:
        """Take over what `/context` printed: the window and the parts."""
        if isinstance(content, str) and (dump := context_dump(content)) is not None:
            (self.log.window, self.log.stated), self.log.window_from = dump, "/context"

    def _malformed(self, row: TranscriptRow, why: str) -> None:
        origin = self.log.origin(len(self.log.rows) - 1)
        self.log.problems.append(
            LineProblem("TRF007", origin, f"this {row.sort} record is not usable: {why}")
        )
