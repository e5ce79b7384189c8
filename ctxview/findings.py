"""Rules and what they find. A rule is one function whose docstring is its explanation.

The registry knows every rule by id, not when it applies: each family runs its own (see `run`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from types import ModuleType
from typing import Any, TypeVar

from ctxview.origin import Origin
from ctxview.quick_dataclass import dataclass


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is worst, so that sorting puts errors first."""
        return list(Severity).index(self)


class Effect(StrEnum):
    """What the named runtime does about it."""

    NONE = "none"
    REJECTED = "rejected"
    DROPPED = "dropped"
    DELETED = "deleted"
    WIPED = "wiped"
    HIDDEN = "hidden"
    TRUNCATED = "truncated"
    REPAIRED = "repaired"
    RESTORED = "restored"
    REOPENED = "reopened"
    IGNORED = "ignored"
    LEAKED = "leaked"
    STORED = "stored"


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule yields: place and sentence; severity and effect where not the rule's own."""

    origin: Origin
    message: str
    severity: Severity | None = None
    effect: Effect | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found: where, what, and what the runtime makes of it."""

    rule: str
    severity: Severity
    effect: Effect
    message: str
    origin: Origin

    @property
    def sort_key(self) -> tuple[int, str, int, str]:
        return (self.severity.rank, self.origin.file, self.origin.start or 0, self.rule)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A rule's docstring, taken apart by its headings."""

    summary: str
    why: str
    bad: str
    good: str
    fix: str
    source: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with its id, its usual severity and its usual effect."""

    id: str
    name: str
    severity: Severity
    effect: Effect
    check: Callable[..., Iterable[Hit]]

    @property
    def family(self) -> str:
        return self.id[:3]

    @property
    def explanation(self) -> Explanation:
        from inspect import cleandoc

        summary, sections = _sections(cleandoc(self.check.__doc__ or ""))
        headings = ("Why", "Bad", "Good", "Fix", "Source")
        return Explanation(summary, *(sections.get(name, "") for name in headings))


REGISTRY: dict[str, Rule] = {}

Check = TypeVar("Check", bound=Callable[..., Iterable[Hit]])


def rule(id: str, *, name: str, severity: Severity, effect: Effect = Effect.NONE) -> Callable[[Check], Check]:  # noqa: A002
    """Register the decorated generator as the rule `id`."""

    def register(check: Check) -> Check:
        if id in REGISTRY:
            raise ValueError(f"two rules are called {id}")
        REGISTRY[id] = Rule(id, name, severity, effect, check)
        return check

    return register


def run(rules: Sequence[Rule], *subject: Any) -> Iterator[Finding]:
    """Every finding of `rules` about `subject`, in the order of the rules."""
    for each in rules:
        for hit in each.check(*subject):
            severity, effect = hit.severity or each.severity, hit.effect or each.effect
            yield Finding(each.id, severity, effect, hit.message, hit.origin)


def rules_in(*modules: ModuleType | str) -> tuple[Rule, ...]:
    """The rules defined in these modules, by id."""
    names = {each if isinstance(each, str) else each.__name__ for each in modules}
    found = (each for each in REGISTRY.values() if each.check.__module__ in names)
    return tuple(sorted(found, key=lambda each: each.id))


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, then by place."""
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))


def _sections(doc: str) -> tuple[str, dict[str, str]]:
    head, *rest = re.split(r"^## +(\w+) *$", doc, flags=re.MULTILINE)
    return head.strip(), {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}
