"""Memory bundles: the entries, summaries and context documents of a memory service, and its server."""

from __future__ import annotations

from ctxview.core.format_spec import CommandSpec, FormatSpec

SPEC = FormatSpec(
    name="memory",
    title="memories of a memory service: entries, summaries and context documents",
    recognised_by=(
        "a folder with entries.jsonl, contexts.jsonl, memories.jsonl or trace.jsonl of a memory; one file "
        "of entries, contexts or calls of memory tools"
    ),
    recognise="ctxview.formats.memory.format:recognise",
    suffixes=(".jsonl", ".ndjson", ".jsonlines", ".log"),
    open="ctxview.formats.memory.source:open_memory",
    families={
        "MCX": "context documents of memories",
        "MEN": "entries and summaries of memories",
        "MTR": "traces of memory tools",
    },
    rules=("ctxview.formats.memory.rules",),
    commands=(
        CommandSpec(
            "memory",
            "ctxview.commands.memory.serve",
            "run a memory server that any MCP agent can use",
            (
                (
                    "ctxview memory serve ~/memory",
                    "over standard input and output, for the settings of an agent",
                ),
                ("ctxview memory serve ~/memory --http 7337", "on 127.0.0.1, for agents in containers"),
            ),
        ),
        CommandSpec(
            "trim",
            "ctxview.commands.memory.trim",
            "bring the context of a memory under its cap, as a proposal",
            (
                (
                    "ctxview trim memory/exhibition",
                    "show the lines to delete; add it when a person accepts",
                ),
                ("ctxview trim memory/exhibition --write", "accept the proposal as a new snapshot"),
            ),
        ),
    ),
)
