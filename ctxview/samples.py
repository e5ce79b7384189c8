"""The bundled samples: their descriptions and their folders, installed or in a checkout."""

from __future__ import annotations

from pathlib import Path

STORY = "lighthouse"
"""The sample to begin with: a whole night, round by round."""

STORIES = (STORY, "coder", "refund-day", "handoff", "late-change", "damaged", "agent-workspace")
"""The samples that change over time, in the order to show them in."""

ABOUT = {
    "lighthouse": "a night in fourteen rounds: what an agent remembers, forgets and loses",
    "agent-workspace": "an agent's own folder with its memory store",
    "broken": "one mistake a file, and what a runtime makes of each",
    "coder": "a long session with children, swapped content and a budget that is too small",
    "fresh": "a session that has just begun",
    "damaged": "a session after a crash",
    "handoff": "a handoff between two agents: what was chosen, left out and shown to whom",
    "late-change": "the same handoff, approved, and ended by one sentence that came later",
    "workspace-before": "an agent's files before a clean-up: said twice, stale, with leaked thoughts",
    "workspace-after": "the same files after it: the saving, and a context document by template",
    "workspace-home": "the home of an agent with its session database",
    "webshop": "an ordinary repository with AGENTS.md, CLAUDE.md and rules for Cursor",
    "refund-day": "a Claude Code day: parallel calls, a rewind, sub-agents, a compaction that loses a task",
    "plan-rollback": "a Codex rollout: a rollback, an output cut on the way in, a compaction",
    "crowded-request": "a request with four cache breakpoints, and one tool schema that fills the window",
    "planted": "the same handoff with a dozen faults to find",
    "exhibition": "a memory over three sessions: entries, summaries and seven versions of its context",
    "exhibition-faults": "the same memory after a rushed session: a feedback loop and lost writes",
}
"""A short description of every sample, by the name of its folder."""

_PACKAGE = Path(__file__).parent


def samples_folder() -> Path:
    installed = _PACKAGE / "sample_sessions"
    return installed if installed.is_dir() else _PACKAGE.parent / "sample_sessions"


def sample_paths() -> list[Path]:
    """Return the folder of every sample, the story first; `sample_sessions` has one folder per format."""
    found = [path for path in samples_folder().glob("*/*") if path.is_dir()]
    return sorted(found, key=lambda path: (path.name != STORY, path))
