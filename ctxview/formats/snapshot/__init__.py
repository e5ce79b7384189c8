"""Context Protocol v3 snapshots: replies with a JSON snapshot, saved logs, an agent's `.agent` folder."""

from __future__ import annotations

from ctxview.core.format_spec import CommandSpec, FormatSpec, LensOption

SPEC = FormatSpec(
    name="snapshot",
    title="Context Protocol v3 snapshots",
    recognised_by=(
        "an .agent folder or its logs; JSON with memory and version; a log envelope or {ok, data} around "
        "one; a text with the <<<CONTEXT>>> separator; a folder of such files, as rounds"
    ),
    recognise="ctxview.formats.snapshot.format:recognise",
    samples=True,
    open="ctxview.formats.snapshot.source:open_snapshots",
    redacted_copy="ctxview.formats.snapshot.redacted_copy:consistent_sizes",
    families={"SNP": "snapshots (Context Protocol v3)"},
    rules=("ctxview.formats.snapshot.rules",),
    options=(
        LensOption(
            "mode",
            "Context mode",
            "choice",
            ("enabled", "disabled"),
            "context mode in which the reply was made",
        ),
    ),
    commands=(
        CommandSpec(
            "merge",
            "ctxview.commands.snapshot.merge",
            "show what a runtime would make of a model's reply",
            (
                ("ctxview merge received.json reply.txt", "what is kept, updated, cut or wiped"),
                (
                    "ctxview merge received.json reply.txt --json",
                    "the same as JSON, with the merged snapshot",
                ),
            ),
        ),
    ),
)
