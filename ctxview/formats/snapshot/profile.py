"""Runtime profiles: every threshold, cap and formula constant of a v3 runtime, as data from `profiles/*.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """What a runtime shows and keeps of one tier. None means no limit. Limits themselves pass; beyond them fails."""

    max_decay: float | None = None
    min_confidence: float | None = None
    max_shown: int | None = None
    max_age_shown: int | None = None
    raw_cap: int | None = None
    raw_age: int | None = None
    raw_age_terminal_only: bool = False
    trim_floor: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """How long things may be before the runtime cuts them, in UTF-16 units or items."""

    content: int = 512
    tags: int = 8
    tag: int = 32
    note: int = 120
    placeholder: int = 120


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    window: int = 131072
    output_reserve: int = 2048
    margin_minimum: int = 6000
    margin_share: float = 0.12
    bytes_per_token: float = 3
    stages: tuple[str, ...] = ()
    exhausted_stage: str = "context_budget_exhausted"

    @property
    def margin(self) -> int:
        return max(self.margin_minimum, round(self.window * self.margin_share))

    @property
    def input_budget(self) -> int:
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
    name: str
    title: str
    tiers: Mapping[str, TierPolicy]
    limits: Limits
    budget: BudgetPolicy
    todo: TodoGrammar
    near_duplicate: float = 0.9
    """How alike two contents are (0..1) before one counts as a re-worded copy of the other."""

    def tier(self, name: str) -> TierPolicy:
        return self.tiers.get(name, NO_POLICY)


NO_POLICY = TierPolicy()
