"""Recognise workspaces by the places of their files: of a nanobot, of its home, or of a repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ctxview.core.format_spec import FormatMatch
from ctxview.core.lazy import lazy_pattern
from ctxview.formats.peek import Peek

SURE = 85
LIKELY = 65
PERHAPS = 55
_STRONG = ("SOUL.md", "HEARTBEAT.md")
_WEAK = frozenset({"USER.md", "TOOLS.md", "IDENTITY.md", "AGENTS.md", "MEMORY.md", "memory", "skills"})
_TEMPLATE = lazy_pattern(
    rb"^## +(?:Task|Decisions|Facts|Pending|Errors|Current Task|Key Facts|Completed Tasks)\s*$"
    rb"|^## Compaction Summary|<think",
    re.MULTILINE,
)
CONTEXT = lazy_pattern(r"CONTEXT(?:-[^/]+)?\.md")
SESSION = lazy_pattern(r"SESSION_[0-9A-Za-z]+\.md")
NOTE = lazy_pattern(r"\d{4}-\d{2}-\d{2}\.md")
REPOSITORY_FILES: dict[str, tuple[str, ...]] = {
    "AGENTS.md": ("Codex", "Cursor", "Copilot"),
    "CLAUDE.md": ("Claude Code",),
    "CLAUDE.local.md": ("Claude Code",),
    ".claude/CLAUDE.md": ("Claude Code",),
    "MEMORY.md": ("Claude Code",),
    ".cursorrules": ("Cursor",),
    ".github/copilot-instructions.md": ("Copilot",),
    "GEMINI.md": ("Gemini CLI",),
    ".windsurfrules": ("Windsurf",),
}
"""The files that coding agents load in every turn, and the agents that do so."""
REPOSITORY_FOLDERS: dict[str, tuple[str, tuple[str, ...]]] = {
    ".claude/rules": ("rule", ("Claude Code",)),
    ".cursor/rules": ("rule", ("Cursor",)),
    ".github/instructions": ("rule", ("Copilot",)),
    ".claude/commands": ("command", ()),
    ".claude/agents": ("agent", ()),
    ".claude/skills": ("skill", ()),
}
"""Folders of further files: rules with a scope, and files that are loaded only on demand."""


class WorkspaceLayout(Struct, frozen=True):
    """The folder of the Markdown files, relative to the opened one, and why it is a workspace."""

    base: str
    is_home: bool
    score: int
    why: str


def layout_of(peek: Peek) -> WorkspaceLayout | None:
    """Return the layout of a folder, or None when it is not a workspace."""
    found = _nanobot(peek)
    if found is not None:
        return WorkspaceLayout("", True, *found)
    names = set(peek.names)
    if "workspace" in names and (below := _nanobot(peek.below("workspace"))) is not None:
        return WorkspaceLayout("workspace/", True, below[0], f"the home of an agent: {below[1]}")
    if "sessions.db" in names and names & {"config.json", "workspace", "sessions", "memory"}:
        base = "workspace/" if "workspace" in names else ""
        return WorkspaceLayout(base, True, LIKELY, "the home of an agent, with sessions.db")
    signs = list(repository_signs(peek))
    if signs:
        return WorkspaceLayout("", False, PERHAPS, f"instructions for agents: {', '.join(signs[:3])}")
    return None


def repository_signs(peek: Peek) -> Iterator[str]:
    """Yield the instruction files and folders of an ordinary repository."""
    top = set(peek.names)
    for name in REPOSITORY_FILES:
        folder, _, short = name.rpartition("/")
        if short in (peek.names if not folder else peek.below(folder).names if folder in top else ()):
            yield name
    for folder in REPOSITORY_FOLDERS:
        above, _, short = folder.partition("/")
        if above in top and short in peek.below(above).names and peek.below(folder).names:
            yield folder


def _nanobot(peek: Peek) -> tuple[int, str] | None:
    names = set(peek.names)
    strong = [name for name in _STRONG if name in names]
    contexts = sorted(name for name in names if CONTEXT.fullmatch(name))
    if any(name.startswith("CONTEXT-") for name in contexts):
        return SURE, f"an agent's workspace with {contexts[0]}"
    if strong:
        return SURE, f"an agent's workspace with {strong[0]}"
    memory = set(peek.below("memory").names) if "memory" in names else set()
    if memory & {"sessions", "audit", "learnings.jsonl"} or (
        "MEMORY.md" in memory and names & _WEAK - {"memory"}
    ):
        return SURE, "an agent's workspace with its memory folder"
    if contexts and len(_TEMPLATE.findall(peek.below("CONTEXT.md").head)) >= 2:
        return SURE, "an agent's workspace with CONTEXT.md"
    if contexts and not any(True for _ in repository_signs(peek)):
        return LIKELY, "an agent's workspace with CONTEXT.md"
    if len(names & {"USER.md", "TOOLS.md", "IDENTITY.md"}) >= 2 or "MEMORY.md" in memory:
        return LIKELY, "an agent's workspace with its bootstrap files"
    return None


NAME = "workspace"
_FILES = frozenset(("SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", *REPOSITORY_FILES))
_HIGHEST = 3
"""How many folders above one of its files a workspace may be."""


def recognise(peek: Peek) -> FormatMatch | None:
    if peek.is_folder:
        found = layout_of(peek)
        if found is None:
            return None
        return FormatMatch(NAME, found.score, found.why, flat=not found.is_home)
    home = home_of(peek.path)
    return FormatMatch(NAME, LIKELY, f"a file of the workspace {home[0]}") if home is not None else None


def home_of(file: Path) -> tuple[Path, WorkspaceLayout] | None:
    """Return the workspace that a file of a known name belongs to."""
    name = file.name
    if name not in _FILES and not CONTEXT.fullmatch(name) and not SESSION.fullmatch(name):
        return None
    for folder in list(file.parents)[: _HIGHEST + 1]:
        found = layout_of(Peek(folder))
        if found is not None and (found.is_home or folder == file.parent):
            return folder, found
    return None
