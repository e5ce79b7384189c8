"""Rules and their findings. A rule is one function whose docstring is its explanation.

The registry holds every rule by id. It does not know when a rule applies: see `run`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from ctxview.core.lazy import LazySequence
from ctxview.core.origin import Origin
from ctxview.core.pauses import give_way


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """The rank for sorting: 0 is the worst, so that errors come first."""
        return list(Severity).index(self)


class Effect(StrEnum):
    """The effect of a problem on the runtime that reads the file."""

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


class Hit(Struct, frozen=True):
    """One result of a rule: its origin and message; severity and effect where they differ from the rule's."""

    origin: Origin
    message: str
    severity: Severity | None = None
    effect: Effect | None = None


class LazyHit(Struct, frozen=True):
    """A result of a rule about lines of a history. Of a million results only some are put into words."""

    origin: Callable[[], Origin]
    message: str | Callable[[], str]
    severity: Severity | None = None
    effect: Effect | None = None


class Finding(Struct, frozen=True):
    """A result of a rule at an origin, with its severity and its effect on the runtime."""

    rule: str
    severity: Severity
    effect: Effect
    message: str
    origin: Origin

    @property
    def sort_key(self) -> tuple[int, str, int, str]:
        return (self.severity.rank, self.origin.file, self.origin.start or 0, self.rule)


class Explanation(Struct, frozen=True):
    """The docstring of a rule, split by its headings."""

    summary: str
    why: str
    bad: str
    good: str
    fix: str
    source: str


class Rule(Struct, frozen=True):
    """A check with its id, its usual severity and its usual effect."""

    id: str
    name: str
    severity: Severity
    effect: Effect
    check: Callable[..., Iterable[Hit | LazyHit]]

    @property
    def family(self) -> str:
        return self.id[:3]

    @property
    def explanation(self) -> Explanation:
        from inspect import cleandoc

        document = cleandoc(self.check.__doc__ or "")
        summary, *rest = re.split(r"^## +(\w+) *$", document, flags=re.MULTILINE)
        sections = {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}
        headings = ("Why", "Bad", "Good", "Fix", "Source")
        return Explanation(summary.strip(), *(sections.get(name, "") for name in headings))


REGISTRY: dict[str, Rule] = {}

Check = TypeVar("Check", bound=Callable[..., Iterable[Hit | LazyHit]])


def rule(id: str, *, name: str, severity: Severity, effect: Effect = Effect.NONE) -> Callable[[Check], Check]:  # noqa: A002
    """Register the decorated generator as the rule `id`."""

    def register(check: Check) -> Check:
        if id in REGISTRY:
            raise ValueError(f"two rules have the id {id}")
        REGISTRY[id] = Rule(id, name, severity, effect, check)
        return check

    return register


def run(rules: Sequence[Rule], *subject: Any) -> Iterator[Finding]:
    """Yield the findings of `rules` about `subject`, in the order of the rules."""
    for each in rules:
        give_way()
        for hit in each.check(*subject):
            yield finding_of(each, hit)


def finding_of(found_by: Rule, hit: Hit | LazyHit) -> Finding:
    message = hit.message if isinstance(hit.message, str) else hit.message()
    origin = hit.origin if isinstance(hit.origin, Origin) else hit.origin()
    severity, effect = hit.severity or found_by.severity, hit.effect or found_by.effect
    return Finding(found_by.id, severity, effect, message, origin)


def rules_in(module: str) -> tuple[Rule, ...]:
    """Return the rules that `module` defines, by id."""
    found = (each for each in REGISTRY.values() if each.check.__module__ == module)
    return tuple(sorted(found, key=lambda each: each.id))


def rules_of(package: str, *modules: str) -> Sequence[Rule]:
    """Return the rules of these modules of `package` by id. The first use imports the modules."""

    def rules() -> Sequence[Rule]:
        for module in modules:
            import_module(f"{package}.{module}")
        found = (each for module in modules for each in rules_in(f"{package}.{module}"))
        return sorted(found, key=lambda each: each.id)

    return LazySequence(rules)


def import_rules(package: str) -> None:
    """Import `package`, which may also be a single module, and each of its modules."""
    # Not pkgutil: the modules are always plain files, and `check` starts faster without it.
    for folder in getattr(import_module(package), "__path__", ()):
        for file in sorted(Path(folder).glob("[!_]*.py")):
            import_module(f"{package}.{file.stem}")


def group_rules(package: str, *groups: str) -> Iterator[tuple[Rule, ...]]:
    """Import every module of `package` and yield its rules group by group, each group sorted by id.

    A group is named by the parameters of its rules, such as "received emitted profile". Raises `LookupError`
    for a rule that is in none of the groups, because it would never run.
    """
    import_rules(package)
    found: dict[str, list[Rule]] = {group: [] for group in groups}
    for each in REGISTRY.values():
        if each.check.__module__.startswith(f"{package}."):
            parameters = " ".join(name for name in each.check.__annotations__ if name != "return")
            if parameters not in found:
                raise LookupError(f"{each.id} takes ({parameters}), which matches no group of {package}")
            found[parameters].append(each)
    for rules in found.values():
        yield tuple(sorted(rules, key=lambda each: each.id))


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return `findings` sorted by severity, the worst first, then by origin."""
    return tuple(sorted(findings, key=lambda finding: finding.sort_key))
