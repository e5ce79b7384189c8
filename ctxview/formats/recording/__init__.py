"""Recordings (`.ctxrec`) as a format: each moment is a revision, read by the format it had then."""

from __future__ import annotations

from ctxview.core.format_spec import FormatSpec

SPEC = FormatSpec(
    name="recording",
    title="recordings of any of these, made by ctxview record",
    recognised_by="a file that begins with the mark of a recording",
    recognise="ctxview.formats.recording.format:recognise",
    words=(b"CTXREC1",),
    open="ctxview.formats.recording.source:open_recording_source",
    families={"REC": "recordings made by ctxview"},
    rules=("ctxview.formats.recording.rules",),
)
