"""Runtime profiles: every limit, formula and vocabulary of a session runtime, as data from `profiles/*.toml`.

Only the shape of the data stands here; `profiles/__init__.py` loads it. None always means "no such limit".
"""

from __future__ import annotations

from collections.abc import Mapping

from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes beyond which the runtime does something else than one would expect."""

    prompt_line: int | None = None
    """A longer message never reaches the prompt."""
    stored_line: int | None = None
    """A longer line is refused by the store."""
    prompt_window: int | None = None
    """How much of the end of the messages is read for the prompt."""
    prompt_history: int | None = None
    """How much of that the prompt holds, rendered one message a line."""
    pack_source: int | None = None
    name: int | None = None
    """The longest name the validator takes; a true hash id is longer."""
    plan_nodes: int | None = None
    react_steps: int | None = None


@dataclass(frozen=True, slots=True)
class PackPolicy:
    """How the pack is built: the estimator, how many messages, and the order of the candidates."""

    estimator: str | None = None
    """The name of the runtime's own token estimate; None when it has none."""
    minimum: int = 0
    """What even an empty text costs."""
    recent_messages: int = 40
    order: tuple[str, ...] = ()
    """Kinds in the order in which the builder offers them; empty when the profile knows no order."""
    title: str | None = None
    """The first line of pack.md; None when its layout is not known."""


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabularies; an empty one means that any word will do."""

    states: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    child_statuses: tuple[str, ...] = ()
    terminal_statuses: tuple[str, ...] = ()
    event_types: tuple[str, ...] = ()
    event_types_without_run: tuple[str, ...] = ()
    error_codes: tuple[str, ...] = ()
    provider_keys: tuple[str, ...] = ()
    ref_kinds: tuple[str, ...] = ()
    swap_kinds: tuple[str, ...] = ()
    gc_keys: tuple[str, ...] = ()
    event_times: tuple[str, ...] = ()
    """Where an event may say when it was; none has to."""


@dataclass(frozen=True, slots=True)
class CompactionWords:
    """By what a tool call is known to compact the context; sessions have no word of their own for it."""

    tools: tuple[str, ...] = ()
    """Tools that do nothing else."""
    swaps: tuple[str, ...] = ()
    """Those of them that take the messages they name out of the window."""
    writers: tuple[str, ...] = ()
    """Parts of the names of tools that write files."""
    files: tuple[str, ...] = ()
    """Files that are written to compact."""


@dataclass(frozen=True, slots=True)
class Required:
    """What the inspector of the runtime demands to be there."""

    session: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    context_folders: tuple[str, ...] = ()
    child: tuple[str, ...] = ()
    child_folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    title: str
    limits: Limits
    pack: PackPolicy
    words: Words
    required: Required
    compaction: CompactionWords = CompactionWords()
    large_content: int = 4096
    """From how many bytes on repeated content should be kept once and referred to."""
    gc_defaults: Mapping[str, str] | None = None
    """What `gc.policy` means where it says nothing."""
