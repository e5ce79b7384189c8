"""Runtime profiles: every threshold, cap and constant of a v3 runtime, as data from `profiles/*.toml`.

This module defines the shape of the data; `ProfileLoader` loads it. None always means "no such limit".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import asdict

from ctxview.analysis.tokens import byte_size
from ctxview.formats.kit.profiles import ProfileError, ProfileLoader


class TierPolicy(Struct, frozen=True):
    """The limits for showing and keeping blocks of one tier. A value equal to its limit passes."""

    max_decay: float | None = None
    min_confidence: float | None = None
    max_shown: int | None = None
    max_age_shown: int | None = None
    raw_cap: int | None = None
    raw_age: int | None = None
    raw_age_terminal_only: bool = False
    hides_terminal: bool = False
    """Whether a block whose status is done, failed or cancelled is left out of the prompt."""


class Limits(Struct, frozen=True):
    """The longest texts and lists that the runtime does not cut, in UTF-16 units or items."""

    content: int | None = None
    tags: int | None = None
    tag: int | None = None
    note: int | None = None
    placeholder: int | None = None
    dropped_samples: int | None = None
    """How many dropped blocks a log names for each reason."""


class BudgetPolicy(Struct, frozen=True):
    """The prompt window and how a runtime estimates its use."""

    window: int | None = None
    output_reserve: int = 0
    margin_minimum: int = 0
    margin_share: float = 0.0
    units_per_token: float | None = None
    estimate_unit: Literal["bytes", "characters"] = "bytes"
    stages: tuple[str, ...] = ()
    exhausted_stage: str | None = None
    disabled_stage: str | None = None
    """The stage in which the runtime does not enforce the budget."""
    window_multiples: tuple[int, ...] = ()
    """Every plausible window is a multiple of one of these; empty when this is unknown."""

    @property
    def estimator(self) -> str:
        """How the runtime estimates tokens, in words."""
        if self.units_per_token is None:
            return "unknown"
        unit = "UTF-8 bytes" if self.estimate_unit == "bytes" else "characters"
        return f"{unit} / {self.units_per_token:g}"

    def estimate(self, text: str) -> int:
        """Estimate the tokens of a text as the runtime does."""
        units = (
            byte_size(text)
            if self.estimate_unit == "bytes"
            else len(text.encode("utf-16-le", "surrogatepass")) // 2
        )
        return math.ceil(units / (self.units_per_token or 1))

    @property
    def margin(self) -> int | None:
        if self.window is None:
            return None
        return max(self.margin_minimum, int(self.window * self.margin_share + 0.5))

    @property
    def input_budget(self) -> int | None:
        if self.window is None or self.margin is None:
            return None
        return self.window - self.output_reserve - self.margin


class TodoGrammar(Struct, frozen=True):
    """The sentences of `todo.summary`, as str.format templates with done, total and step."""

    empty: str
    finished: str
    running: str
    running_skipped: str


class Profile(Struct, frozen=True):
    """The limits and constants of one runtime."""

    name: str
    title: str
    tiers: Mapping[str, TierPolicy] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    budget: BudgetPolicy = field(default_factory=BudgetPolicy)
    todo: TodoGrammar | None = None
    """None when the profile has no fixed wording."""
    default_confidence: float | None = None
    """The confidence of a block that has none; None when such a block is invalid."""
    needs_round: bool = False
    """Whether the runtime drops every block when `runtime.round` is missing."""
    toon: str = "2.1.0"
    """The release of the TOON library that writes the context block."""
    near_duplicate: float = 0.9
    """The similarity (0..1) from which one content counts as a reworded copy of another."""
    unrelated: float = 0.2
    """The share of common words (0..1) below which two contents are unrelated."""

    def tier(self, name: str) -> TierPolicy:
        return self.tiers.get(name, NO_POLICY)


NO_POLICY = TierPolicy()

__all__ = ["PROFILES", "ProfileError", "load_profile"]

PROFILES = ("atom-0.17", "atom-context-log-save", "protocol-3.0")
"""The names of the packaged profiles, the default first."""

_LOADER = ProfileLoader(Profile, __package__, PROFILES)


def load_profile(name_or_path: str | None = None) -> Profile:
    """Return the profile of that name or TOML file; the default for None. Raises `ProfileError`."""
    profile = _LOADER.load(name_or_path)
    if profile.todo is not None and name_or_path not in (None, *PROFILES):
        for name, template in asdict(profile.todo).items():
            try:
                template.format(done=1, total=2, step=2)
            except (LookupError, ValueError, AttributeError):
                known = "only the placeholders {done}, {total} and {step} are known"
                raise ProfileError(f"{name_or_path}: todo.{name}: {known}, found {template!r}") from None
    return profile
