"""The envelope format: records of the Agent Context draft about the context of an agent."""

from __future__ import annotations

from ctxview.core.format_spec import FormatSpec

SPEC = FormatSpec(
    name="envelope",
    title="Agent Context envelopes and their records",
    recognised_by=(
        "JSON objects, lists or lines with the id fields of the draft (context_id, item_id, selection_id …); "
        "a folder whose JSON files are mostly such records"
    ),
    recognise="ctxview.formats.envelope.format:recognise",
    words=(
        *(b'"item_id"', b'"source_id"', b'"event_id"', b'"context_id"', b'"surface_id"', b'"selection_id"'),
        *(b'"budget_id"', b'"window_id"', b'"assembly_id"', b'"injection_id"', b'"compaction_id"'),
        *(b'"summary_id"', b'"missing_id"'),
    ),
    samples=True,
    open="ctxview.formats.envelope.source:open_envelopes",
    redacted_copy="ctxview.formats.envelope.editing.redacted_copy:consistent_records",
    families={"ENV": "envelopes (Agent Context draft)"},
    rules=("ctxview.formats.envelope.rules",),
)
