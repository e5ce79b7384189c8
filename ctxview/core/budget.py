"""Budgets: the use of a window or another limit, in segments that say how they were counted."""

from __future__ import annotations

from msgspec import Struct

EVERY_TURN = "every turn"
"""The target of a budget that has no limit: it is paid in every turn."""


class Segment(Struct, frozen=True):
    """One part of a budget. `estimator` names the method behind `used`; `exact` is False for an estimate."""

    name: str
    used: int
    limit: int | None = None
    exact: bool = True
    estimator: str | None = None
    meaning: str | None = None
    """A digest of the counted content that ignores spelling: if it is equal, only the spelling differs."""
    id: str = ""
    """What stays the same in other revisions where the name has counts or remarks; empty for the name."""

    @property
    def key(self) -> str:
        return self.id or self.name


class Budget(Struct, frozen=True):
    """`used` against `limit`, both in `unit`. `over` is how much does not fit (0 when all does).

    `cut` is the amount that was left out or shortened and is not part of `used`; None when it is unknown.
    """

    target: str
    unit: str
    limit: int | None
    used: int | None
    reserved: int | None
    segments: tuple[Segment, ...]
    cut: int | None = None
    limit_from: str | None = None
    """Where the limit comes from when the file does not state it: another file, or an assumption."""
    partial: bool = False
    """Whether `used` is only a part of what counts against the limit, so that the rest is not free."""
    note: str | None = None
    """A remark about the figures, such as what took most."""
    stage: str | None = None
    """What the runtime did because the limit was near, such as a degrade stage."""
    reported: str = ""
    """Where `used` comes from when it is not our count, such as `recorded by the runtime`."""
    holds_reserve: bool = False
    """Whether the reserve is a part of the limit, and not kept beside it."""
    compacts: bool = False
    """Whether the runtime compacts when only the reserve is left."""
    id: str = ""
    """What stays the same in other revisions where the target has counts or remarks; empty for the target."""

    @property
    def key(self) -> tuple[str, str]:
        return self.id or self.target, self.unit

    @property
    def line(self) -> int | None:
        """The use at which something is lost: where the runtime compacts, else the limit."""
        return self.limit - (self.reserved or 0) if self.limit and self.compacts else self.limit

    @property
    def free(self) -> int:
        """The room that is neither used nor reserved."""
        if self.limit is None or self.used is None:
            return 0
        return max(0, self.limit - self.used - (self.reserved or 0 if self.holds_reserve else 0))

    @property
    def reserve_left(self) -> int:
        """The reserve, without the part of it that is used already."""
        if self.limit is None or self.used is None or not self.holds_reserve:
            return self.reserved or 0
        return max(0, min(self.reserved or 0, self.limit - self.used))

    @property
    def percent(self) -> str:
        """The share of the limit; 100% only when nothing is left, empty without a limit."""
        if not self.limit or self.used is None:
            return ""
        share = round(100 * self.used / self.limit)
        if 0 < self.used < self.limit:
            return "<1%" if self.used * 100 < self.limit else f"{min(share, 99)}%"
        return f"{share}%"

    @property
    def over(self) -> int | None:
        if self.limit is None or self.used is None:
            return None
        return max(0, self.used - self.limit)


class LoggedWindow(Struct, frozen=True):
    """The size of the window at one turn, as the runtime logged it. `event` is what happened before it."""

    name: str
    time: str | None
    budget: Budget
    event: str = ""
