"""Transcripts of coding agents: the context as the model gets it, not the log."""

from __future__ import annotations

from ctxview.core.format_spec import FormatSpec

SPEC = FormatSpec(
    name="transcript",
    title="transcripts of coding agents: Claude Code, Codex, OpenCode, request bodies",
    recognised_by=(
        "JSON lines with the rows of a Claude Code session (type with uuid, parentUuid or sessionId) or of a "
        "Codex rollout (type with payload); JSON or JSON lines with requests to a model (messages or input "
        "with a model, tools or a system prompt), alone, with their answers or in a HAR file; a SQLite "
        "database with the tables session, message and part, an export or an old tree of OpenCode; an empty "
        "file only by the name of a session"
    ),
    recognise="ctxview.formats.transcript.format:recognise",
    words=(
        # Rows of Claude Code and Codex, and parts of OpenCode.
        *(b'"uuid"', b'"payload"', b'"sessionId"', b'"parentUuid"', b'"leafUuid"', b'"messageId"'),
        *(b'"isSidechain"', b'"ses_', b"SQLite format 3\0", b'"instructions"'),
        # Compressed with zstd or gzip.
        *(b"\x28\xb5\x2f\xfd", b"\x1f\x8b"),
        # Requests to a model.
        *(b'"messages"', b'"input"', b'"role"', b'"request"', b'"body"', b'"entries"', b'"log"'),
        *(b'"system"', b'"tools"'),
    ),
    open="ctxview.formats.transcript.source:open_transcript",
    at_home="ctxview.formats.transcript.session_files:sessions_at_home",
    families={
        "TRF": "files of transcripts",
        "TRC": "calls, results and branches of transcripts",
        "TRW": "windows of transcripts, and waste",
        "TRM": "compactions of transcripts, and missing context",
        "TRA": "sub-agents of transcripts",
        "REQ": "request bodies",
    },
    rules=("ctxview.formats.transcript.rules",),
)
