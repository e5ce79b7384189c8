"""Who writes which field of a snapshot, and the sentence that says so to a person who tries.

The one table behind locked fields in the editor, refused edits, tampering and the merge preview.
"""

from __future__ import annotations

SYSTEM_FIELDS: tuple[tuple[str, ...], ...] = (
    ("version",),
    ("runtime", "round"),
    ("runtime", "workspace"),
    ("runtime", "datetime"),
    ("runtime", "startup_at"),
    ("todo", "summary"),
    ("todo", "total"),
    ("todo", "step"),
)
"""What the protocol names as the system's: received and sent back unchanged."""

WRITABLE_MEMBERS = ("capabilities", "active_task")
"""Top-level members the model may replace whole, beside the tiers and the cursor."""

UNGUARDED_MEMBERS = ("active_task_meta", "last_task", "task_checkpoint")
"""The system's own book-keeping that the runtime nevertheless takes from a model without asking."""

LOCKED_BLOCK_FIELDS = (
    "task_id",
    "closed_at",
    "content_state",
    "tag_id",
    "tag_summary",
    "rehydrated_at",
    "persistent_block_id",
    "persistent_score",
)

KNOWN_MEMBERS = ("version", "runtime", "memory", "todo", *WRITABLE_MEMBERS, *UNGUARDED_MEMBERS)

_TASK = "The system writes this when it closes a working block."
_COLD = "The memory store links cold content by this field; a changed one would lead nowhere."
_RECALL = "The system writes this on blocks it recalls from its memory store."
_TODO = "The system computes this from its own todo list; of todo only the cursor is the model's."
_BOOKS = "The system keeps its task records here; the runtime would believe a change, so none is made."

_REASONS: dict[str, str] = {
    "version": "The system writes the protocol version; the runtime puts a changed one back.",
    "runtime": "Everything under runtime belongs to the system; the runtime puts changes back.",
    "runtime.round": "The system counts the rounds; the runtime puts a changed number back.",
    "runtime.workspace": "The system knows where it works; the runtime puts a changed path back.",
    "runtime.datetime": "The system's clock writes this every turn.",
    "runtime.startup_at": "The system writes its start time once; it tells one run from another.",
    "runtime.token_usage": "The system records here what the provider counted.",
    "runtime.budget": "The system records here how it fitted the prompt into the window.",
    "todo": _TODO,
    "todo.summary": _TODO,
    "todo.total": _TODO,
    "todo.step": _TODO,
    "active_task_meta": _BOOKS,
    "last_task": _BOOKS,
    "task_checkpoint": _BOOKS,
    "memory": "Only blocks inside the four tiers may be changed, not the tiers themselves.",
    "task_id": _TASK,
    "closed_at": _TASK,
    "content_state": _COLD,
    "tag_id": _COLD,
    "tag_summary": _COLD,
    "rehydrated_at": _COLD,
    "persistent_block_id": _RECALL,
    "persistent_score": _RECALL,
}


def why_locked(*path: str) -> str:
    """Why the member at `path` of a snapshot is not to be written, by the nearest rule there is."""
    for length in range(len(path), 0, -1):
        if reason := _REASONS.get(".".join(path[:length])):
            return reason
    return f"The protocol gives nobody the key {'.'.join(path)!r}; only what it gives the model is changed."


def why_locked_in_block(field: str) -> str | None:
    """Why that field of a block is not the model's; None when it is."""
    return _REASONS[field] if field in LOCKED_BLOCK_FIELDS else None
