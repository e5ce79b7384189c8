"""Runtime profiles: every limit, formula and vocabulary of a session runtime, as data from `profiles/*.toml`.

Only the shape of the data is defined here; `ProfileLoader` loads it. None always means "no such limit".
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from ctxview.formats.kit.profiles import ProfileLoader


class Limits(Struct, frozen=True):
    """Sizes and counts beyond which the runtime drops or refuses something."""

    prompt_line: int | None = None
    """A longer message never reaches the prompt."""
    stored_line: int | None = None
    """A longer line is refused by the store."""
    prompt_window: int | None = None
    """How many bytes at the end of the messages are read for the prompt."""
    prompt_history: int | None = None
    """How many of these bytes the prompt holds, with one message a line."""
    pack_source: int | None = None
    name: int | None = None
    """The longest name the validator accepts; a full hash id is longer."""
    plan_nodes: int | None = None
    react_steps: int | None = None


class PackPolicy(Struct, frozen=True):
    """How the pack is built: the estimator, how many messages, and the order of the candidates."""

    estimator: str | None = None
    """The name of the runtime's token estimate; None when it has none."""
    minimum: int = 0
    """The tokens that even an empty text costs."""
    recent_messages: int = 40
    order: tuple[str, ...] = ()
    """Kinds in the order of the builder; empty when the order is unknown."""
    title: str | None = None
    """The first line of pack.md; None when its layout is unknown."""


class ProfileWords(Struct, frozen=True):
    """The vocabularies; an empty one allows any word."""

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
    """The optional members of an event that give its time."""


class CompactionWords(Struct, frozen=True):
    """How to recognise tool calls that compact the context; sessions do not record compactions."""

    tools: tuple[str, ...] = ()
    """Tools that only compact."""
    swaps: tuple[str, ...] = ()
    """Those of them that take the messages in their arguments out of the window."""
    writers: tuple[str, ...] = ()
    """Parts of the names of tools that write files."""
    files: tuple[str, ...] = ()
    """Files whose writing is a compaction."""


class RequiredParts(Struct, frozen=True):
    """The files and folders that the runtime requires."""

    session: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    context_folders: tuple[str, ...] = ()
    child: tuple[str, ...] = ()
    child_folders: tuple[str, ...] = ()


class PromptPolicy(Struct, frozen=True):
    """The fixed texts of the system message, and the values that fill its template."""

    template: str
    """The template of agents that have no own one."""
    values: tuple[str, ...]
    """The names of the placeholders, in the order in which they are filled."""
    warning: str
    """Written after the history when messages were left out."""
    summary: str
    """Written before the summary of messages that were left out."""
    no_history: str
    empty: str
    """Written in place of an empty value."""


class Profile(Struct, frozen=True):
    name: str
    title: str
    limits: Limits
    pack: PackPolicy
    words: ProfileWords
    required: RequiredParts
    compaction: CompactionWords = CompactionWords()
    large_content: int = 4096
    """From this size in bytes on, repeated content should be stored once."""
    prompt: PromptPolicy | None = None
    """None when the profile describes no runtime."""
    gc_defaults: Mapping[str, str] | None = None
    """The values of settings that `gc.policy` does not have."""


PROFILES = ("cortexfs", "document")
"""The names of the packaged profiles, the default first."""

load_profile = ProfileLoader(Profile, __package__, PROFILES).load
