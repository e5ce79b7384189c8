"""Rule profiles: the caps, headings, words and limits of a memory service, as data from `profiles/*.toml`."""

from __future__ import annotations

from msgspec import Struct

from ctxview.formats.kit.profiles import ProfileLoader


class Caps(Struct, frozen=True):
    """Sizes in characters, unless named otherwise."""

    context: int = 5000
    trim_target: int = 4800
    trim_least: int = 4600
    trim_most: int = 4850
    """Between these a context is taken to be trimmed to the target."""
    stored_context: int = 65536
    """The largest context that the service itself stores."""
    summary: int = 512
    summary_tokens: int = 80
    raw_entry: int = 9000
    diagram_nodes: int = 10
    diagram: int = 600


class Cadence(Struct, frozen=True):
    """How many entries are added between two writes of the context."""

    usual: int = 6
    least: int = 4
    most: int = 8
    latest: int = 12
    """More than `most` is late, more than this is an error."""


class BootstrapPolicy(Struct, frozen=True):
    """What a session does first."""

    required: bool = True
    """Whether `get_context` and `list_entries` must come first; False when they are for resuming only."""
    entries: int = 10
    """The limit of the first `list_entries`."""


class SearchPolicy(Struct, frozen=True):
    """How `search_memories` may be used; None means without a limit."""

    per_turn: int | None = None
    top_k: int | None = None
    query_words: int | None = None
    repeat_turns: int | None = None


class MemoryWords(Struct, frozen=True):
    headings: tuple[str, ...] = ()
    summary_tags: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    """Control markers that must not be stored."""
    raw_prefixes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """Texts of the prompt's own examples; empty when they may be stored."""


class Profile(Struct, frozen=True):
    name: str
    title: str
    caps: Caps
    cadence: Cadence
    bootstrap: BootstrapPolicy
    search: SearchPolicy
    words: MemoryWords
    every_message: bool = False
    """Whether each message must be stored exactly once."""
    one_read: bool = False
    """Whether `get_context` may be called only once in a session."""
    session_gap_minutes: int = 30
    duplicate_seconds: int = 60


PROFILES = ("v1", "v2")
"""The names of the packaged profiles, the default first."""

load_profile = ProfileLoader(Profile, __package__, PROFILES).load
