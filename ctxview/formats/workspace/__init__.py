"""Workspaces of agents: Markdown files that reach the model in every turn, and the histories."""

from __future__ import annotations

from ctxview.core.format_spec import CommandSpec, FormatSpec, LensOption

SPEC = FormatSpec(
    name="workspace",
    title="workspaces of agents: CONTEXT.md, MEMORY.md, AGENTS.md, CLAUDE.md and the others",
    recognised_by=(
        "an agent's workspace or home with SOUL.md, CONTEXT.md, a memory folder or sessions.db; a folder "
        "with AGENTS.md, CLAUDE.md, .claude, .cursor/rules or .github/copilot-instructions.md"
    ),
    recognise="ctxview.formats.workspace.format:recognise",
    suffixes=(".md", ".cursorrules", ".windsurfrules"),
    open="ctxview.formats.workspace.source:open_workspace",
    redacted_copy="ctxview.formats.workspace.redacted_copy:consistent_chains",
    families={
        "DOC": "context documents (CONTEXT.md protocol)",
        "WMF": "files of the working memory",
        "WSP": "workspaces and their prompt",
        "HIS": "raw histories, audit logs and session databases of workspaces",
    },
    rules=("ctxview.formats.workspace.rules",),
    options=(
        LensOption("window", "Window", "size", help="assemble for a context window: 16K, 128K, 1M, 200000"),
        LensOption("mode", "Mode", "choice", ("cloud", "local"), "mode in which the prompt is assembled"),
        LensOption(
            "era",
            "Era",
            "choice",
            ("A", "B", "C", "D"),
            "storage era of a workspace (default: by its files)",
        ),
    ),
    commands=(
        CommandSpec(
            "compact",
            "ctxview.commands.workspace.compact",
            "compact the raw history of a workspace into its document",
            (
                ("ctxview compact workspace --prompt", "print the prompt with the raw history"),
                ("ctxview compact workspace --with 'cat answer.md'", "check what a command answers"),
                ("ctxview compact workspace --from answer.md --write", "replace the document"),
            ),
        ),
    ),
)
