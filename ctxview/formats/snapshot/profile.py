"""Runtime profiles: every threshold, cap and constant of a v3 runtime, as data from `profiles/*.toml`.

Only the shape of the data stands here; `profiles/__init__.py` loads it. None always means "no such limit".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """What a runtime shows and keeps of one tier. A limit itself passes; what is beyond it fails."""

    max_decay: float | None = None
    min_confidence: float | None = None
    max_shown: int | None = None
    max_age_shown: int | None = None
    raw_cap: int | None = None
    raw_age: int | None = None
    raw_age_terminal_only: bool = False
    hides_terminal: bool = False
    """Whether a block whose status is done, failed or cancelled is left out of the prompt."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things may be before the runtime cuts them, in UTF-16 units or items."""

    content: int | None = None
    tags: int | None = None
    tag: int | None = None
    note: int | None = None
    placeholder: int | None = None
    dropped_samples: int | None = None
    """How many dropped blocks a log names for each reason."""


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """The prompt window and how a runtime estimates what fills it."""

    window: int | None = None
    output_reserve: int = 0
    margin_minimum: int = 0
    margin_share: float = 0.0
    units_per_token: float | None = None
    estimate_unit: Literal["bytes", "characters"] = "bytes"
    stages: tuple[str, ...] = ()
    exhausted_stage: str | None = None
    disabled_stage: str | None = None
    """The stage that says that nobody looks after the budget."""
    window_multiples: tuple[int, ...] = ()
    """Any real window is a multiple of one of these; empty when nothing is known about windows."""

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


@dataclass(frozen=True, slots=True)
class TodoGrammar:
    """The words of `todo.summary`, as str.format templates with done, total and step."""

    empty: str
    finished: str
    running: str
    running_skipped: str


@dataclass(frozen=True, slots=True)
class Profile:
    """All that is known of one runtime."""

    name: str
    title: str
    tiers: Mapping[str, TierPolicy] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    budget: BudgetPolicy = field(default_factory=BudgetPolicy)
    todo: TodoGrammar | None = None
    """None when the profile knows no fixed wording."""
    default_confidence: float | None = None
    """What a block without `confidence` counts as; None when such a block is invalid."""
    near_duplicate: float = 0.9
    """How alike two contents are (0..1) before one counts as a re-worded copy of the other."""
    unrelated: float = 0.2
    """Which share of their words (0..1) two contents may have in common and still be unrelated."""

    def tier(self, name: str) -> TierPolicy:
        return self.tiers.get(name, NO_POLICY)


NO_POLICY = TierPolicy()
