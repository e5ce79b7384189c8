"""The rules about sessions (ABI), and the five questions they answer.

A rule's docstring is its explanation, and the examples in it are run by the tests: `Bad` must make the rule
speak and `Good` must not. Each module says how its examples are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.findings import Finding, rules_in, run
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.look import Look
from ctxview.formats.session.observing import Comparison
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.root import SessionRoot
from ctxview.formats.session.rules import (
    children,
    collecting,
    consistency,
    dedup,
    events,
    gc_plan,
    layout,
    lines,
    pack,
    pack_build,
    plan,
    records,
    root,
    runs,
    sources,
    store,
    succession,
    swap,
)


def check_line(line: HistoryLine, profile: Profile) -> Iterator[Finding]:
    """What is wrong with one line of a history taken by itself."""
    yield from run(LINE_RULES, line, profile)


def check_session(look: Look) -> Iterator[Finding]:
    """What is wrong with a session; what needs a whole pass over the histories is said after one."""
    yield from run(SESSION_RULES, look)


def check_root(sessions: SessionRoot, profile: Profile) -> Iterator[Finding]:
    """What is wrong with a folder of sessions and its index."""
    yield from run(ROOT_RULES, sessions, profile)


def check_succession(look: Look, both: Comparison) -> Iterator[Finding]:
    """What does not follow from the last look at a session to this one."""
    yield from run(SUCCESSION_RULES, look, both)


def check_gc_plan(look: Look, deletions: Sequence[str]) -> Iterator[Finding]:
    """What a collection must not delete, of the names it wants to."""
    yield from run(GC_RULES, look, deletions)


LINE_RULES = rules_in(lines, events)
SESSION_RULES = rules_in(
    layout,
    consistency,
    store,
    runs,
    records,
    sources,
    pack,
    pack_build,
    swap,
    dedup,
    collecting,
    children,
    plan,
)
ROOT_RULES = rules_in(root)
SUCCESSION_RULES = rules_in(succession)
GC_RULES = rules_in(gc_plan)
