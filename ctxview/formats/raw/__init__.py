"""The raw format: any file as a JSON tree, JSON lines, plain text, or its first bytes."""

from __future__ import annotations

from ctxview.core.format_spec import FormatSpec

SPEC = FormatSpec(
    name="raw",
    title="anything else, as a JSON tree, JSON lines or plain text",
    recognised_by="every file that no other format recognises",
    recognise="ctxview.formats.raw.format:recognise",
    open="ctxview.formats.raw.source:open_raw",
)
