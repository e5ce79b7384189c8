"""Context Runtime ABI sessions: an agent's durable history and the context derived from it."""

from __future__ import annotations

from ctxview.core.format_spec import CommandSpec, FormatSpec, LensOption

MESSAGES = "messages.jsonl"
EVENTS = "events.jsonl"
"""The names of the two histories."""

SPEC = FormatSpec(
    name="session",
    title="Context Runtime ABI sessions",
    recognised_by=(
        "a folder with messages.jsonl, or with other parts of a session; a folder of sessions with its index"
    ),
    recognise="ctxview.formats.session.format:recognise",
    suffixes=(".jsonl",),
    open="ctxview.formats.session.source:open_session",
    redacted_copy="ctxview.formats.session.redacted_copy:consistent_figures",
    families={"ABI": "sessions (Context Runtime ABI)"},
    rules=("ctxview.formats.session.rules",),
    options=(LensOption("budget", "Budget", "number", help="try another budget for the pack of a session"),),
    commands=(
        CommandSpec(
            "pack",
            "ctxview.commands.session.pack",
            "build a session's context pack and say why each item is in or out",
            (
                (
                    "ctxview pack session/default --budget 8000",
                    "try a budget; exit 1 if an item does not fit",
                ),
                ("ctxview pack session/default --write", "write context/pack.json and pack.md"),
            ),
        ),
        CommandSpec(
            "gc",
            "ctxview.commands.session.gc",
            "list files that a session no longer needs, and remove them",
            (
                ("ctxview gc session/default", "what would be removed and why; removes nothing"),
                ("ctxview gc session/default --apply", "remove the files; --undo restores them"),
            ),
        ),
        CommandSpec(
            "swap",
            "ctxview.commands.session.swap",
            "move messages or tool output out of the working set",
            (
                ("ctxview swap session/default --range 1-40", "show what would be swapped out"),
                (
                    "ctxview swap session/default --event call-07 --write",
                    "swap out the output of a tool call",
                ),
                ("ctxview swap session/default --rebuild --write", "rebuild lost chunks from the history"),
            ),
        ),
        CommandSpec(
            "dedup",
            "ctxview.commands.session.dedup",
            "store large repeated content of a session once",
            (
                ("ctxview dedup session/default", "list repeated content and its places"),
                ("ctxview dedup session/default --least 20000 --write", "write blobs for content from 20 kB"),
            ),
        ),
    ),
)
