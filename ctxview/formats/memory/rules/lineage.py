"""The rules about the context documents of one memory in time (MCX002, 004, 009, 010, 013 to 016)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from heapq import nsmallest
from itertools import pairwise
from math import ceil
from typing import Final

from ctxview.analysis.wording import listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.memory.document import DocumentLine
from ctxview.formats.memory.model import ContextSnapshot
from ctxview.formats.memory.profile import Profile
from ctxview.formats.memory.records import PLACEHOLDER
from ctxview.formats.memory.survey import MemoryHistory
from ctxview.formats.memory.words import content_words, tags_in, words_in

_ROLE: Final = re.compile(r"(?:user|assistant|human|ai|system)\s*:", re.IGNORECASE)
COPIED_WORDS: Final = 12
SAME_LINE: Final = 0.75
LEAST_WORDS: Final = 4
KEPT: Final = ("facts", "decisions")
LONGEST: Final = 60


@rule("MCX002", name="trimmed-too-far", severity=Severity.WARNING)
def trimmed_too_far(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """A context near its cap was cut to much less, or hardly less, than the trim target.

    ## Why
    A trim to about 4800 characters keeps as much knowledge as fits. A deeper cut loses facts without need, a
    shallower one is needed again at once.
    ## Bad
    context: "<4990 characters>"
    context: "<2000 characters>"
    ## Good
    context: "<4990 characters>"
    context: "<4790 characters>"
    ## Fix
    Delete only the oldest lines of low value; `ctxview trim` shows which.
    ## Source
    Source document, rule 6.1.
    """
    caps = profile.caps
    for before, after in pairwise(history.snapshots):
        was, now = len(before.text), len(after.text)
        if was > caps.trim_target and now < was and not caps.trim_least <= now <= caps.trim_most:
            message = f"trimmed from {was:,} to {now:,} characters; the target is {caps.trim_target:,}"
            yield Hit(after.place.origin(after.member), message)


@rule("MCX004", name="context-placeholder", severity=Severity.ERROR)
def context_placeholder(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """The context is still the default placeholder although entries exist, or contains it.

    ## Why
    The agent never wrote a context, so the next session starts without the knowledge of this one.
    ## Bad
    context: PLACEHOLDER
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    ## Good
    context: "The launch is in May"
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    ## Fix
    Write the context from the raw entries.
    ## Source
    Source document, rule 7.1.
    """
    for snapshot in history.snapshots:
        if not snapshot.is_placeholder and PLACEHOLDER in snapshot.text:
            where = snapshot.place.origin(snapshot.member)
            yield Hit(where, "the context contains the text of the placeholder", Severity.WARNING)
    if history.snapshots and history.snapshots[-1].is_placeholder and history.entries:
        latest = history.snapshots[-1]
        message = f"the context is still the placeholder, with {len(history.entries):,} entries stored"
        yield Hit(latest.place.origin(latest.member), message)


@rule("MCX009", name="context-chat-log", severity=Severity.WARNING)
def context_chat_log(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """A line of the context is a piece of raw chat instead of knowledge.

    ## Why
    Raw messages are stored as entries already. In the context they use up the cap.
    ## Bad
    context: "USER: Hi Sam, please move the launch"
    ## Good
    context: "The launch moved"
    ## Fix
    Write the fact that the message states.
    ## Source
    Prompt for contexts: no raw chat.
    """
    for number, snapshot in enumerate(history.snapshots):
        for line in history.new_lines(number):
            if _ROLE.match(line.text):
                where = snapshot.place.origin(snapshot.member)
                yield Hit(where, f"line {line.number} is a chat message: {quoted(line.text, LONGEST)}")
    for snapshot, origin in history.new_origins():
        if origin.entry is None or _ROLE.match(origin.line.text):
            continue
        words, raw = words_in(origin.line.text), f" {' '.join(words_in(origin.entry.raw or ''))} "
        runs = range(len(words) - COPIED_WORDS + 1)
        if any(f" {' '.join(words[at : at + COPIED_WORDS])} " in raw for at in runs):
            where = snapshot.place.origin(snapshot.member)
            message = (
                f"line {origin.line.number} repeats {COPIED_WORDS} words of the entry {origin.entry.shown}"
            )
            yield Hit(where, message)


@rule("MCX010", name="context-repeated-fact", severity=Severity.WARNING)
def context_repeated_fact(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """Two lines of the context state the same fact.

    ## Why
    When one of them changes, the other stays and contradicts it.
    ## Bad
    context: "Sam leads the Q3 launch in Berlin\\nThe Q3 launch in Berlin is what Sam leads"
    ## Good
    context: "Sam leads the Q3 launch in Berlin\\nAda leads the Q4 launch in Oslo"
    ## Fix
    Keep the better line.
    ## Source
    Prompt for contexts: no duplicates.
    """
    for number, snapshot in enumerate(history.snapshots):
        new = {line.number for line in history.new_lines(number)}
        for first, second in _same_lines(history.documents[number].lines()):
            if first.number in new or second.number in new:
                where = snapshot.place.origin(snapshot.member)
                message = (
                    f"lines {first.number} and {second.number} state the same: {quoted(second.text, LONGEST)}"
                )
                yield Hit(where, message)


@rule("MCX013", name="unsupported-line", severity=Severity.INFO)
def unsupported_line(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """No raw entry before the snapshot has at least half of the content words of a context line.

    ## Why
    The context grows from raw entries only. A line without support is a guess, or its entry was never stored.
    ## Bad
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    context: "# Facts\\nQuarterly revenue doubled in Norway"
    ## Good
    entry: {"rawEntry": "The launch moved to May", "summary": "The user moved the launch to May."}
    context: "# Facts\\nThe launch moved to May"
    ## Fix
    Find the message that states it and store it, or delete the line.
    ## Source
    Source document, rule 1.
    """
    for snapshot, origin in history.new_origins():
        if not origin.supported and not origin.copied:
            best = f"; the nearest has {origin.share:.0%} of its words" if origin.entry is not None else ""
            message = f"line {origin.line.number} has no support: {quoted(origin.line.text, LONGEST)}{best}"
            yield Hit(snapshot.place.origin(snapshot.member), message)


@rule("MCX014", name="summary-feedback", severity=Severity.WARNING)
def summary_feedback(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """A line of the context has words that only a summary has, so it was probably made from the summary.

    ## Why
    Summaries are written with the context in mind. Building the context from them is a feedback loop: errors
    confirm themselves, and what the summary left out is lost.
    ## Bad
    entry: {"rawEntry": "The launch moved", "summary": "Sam postponed the premiere indefinitely."}
    context: "# Facts\\nSam postponed the premiere indefinitely"
    ## Good
    entry: {"rawEntry": "Sam postponed the premiere", "summary": "Sam postponed the premiere indefinitely."}
    context: "# Facts\\nSam postponed the premiere"
    ## Fix
    Write the line again from the raw entry.
    ## Source
    Source document, rule 4.
    """
    allowed = set(profile.words.summary_tags)
    for number, snapshot in enumerate(history.snapshots):
        for line in history.new_lines(number):
            if tags := [tag for tag in tags_in(line.text) if tag.lower() in allowed]:
                where = snapshot.place.origin(snapshot.member)
                message = f"line {line.number} has the summary tag [{tags[0]}]: {quoted(line.text, LONGEST)}"
                yield Hit(where, message, Severity.ERROR)
    for snapshot, origin in history.new_origins():
        if origin.summary is None:
            continue
        own = (
            f"{listed(origin.own, 3)} is in the summary of {origin.summary.shown} and in no earlier raw entry"
        )
        message = f"line {origin.line.number} comes from a summary: {own}"
        severity = Severity.ERROR if origin.copied else Severity.WARNING
        yield Hit(snapshot.place.origin(snapshot.member), message, severity)


@rule("MCX015", name="lost-knowledge", severity=Severity.WARNING)
def lost_knowledge(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """A fact or decision of the previous context is absent, and no line replaces it.

    ## Why
    The context is all that the next session reads first. What it loses is found again only by a search.
    ## Bad
    context: "# Decisions\\nUse Postgres for storage\\nLaunch in May"
    context: "# Decisions\\nLaunch in May"
    ## Good
    context: "# Decisions\\nUse Postgres for storage"
    context: "# Decisions\\nUse Postgres 17 for storage"
    ## Fix
    Put the line back; trim other sections first.
    ## Source
    Source document, rule 6.1: keep core facts.
    """
    for number in range(1, len(history.snapshots)):
        # A context near its cap must lose something: then only a decision should have stayed.
        trimmed = len(history.snapshots[number - 1].text) > profile.caps.trim_target
        for lost in history.lost(number):
            section = lost.line.section.lower()
            if section in KEPT:
                where = lost.snapshot.place.origin(lost.snapshot.member)
                message = f"{quoted(lost.line.section)} lost {quoted(lost.line.text, LONGEST)}"
                yield Hit(where, message, Severity.INFO if trimmed and section != "decisions" else None)


@rule("MCX016", name="unchanged-snapshot", severity=Severity.INFO)
def unchanged_snapshot(history: MemoryHistory, profile: Profile) -> Iterator[Hit]:
    """A snapshot is the same as the one before, so the write was needless.

    ## Why
    Writing the context is expensive, and each write adds a snapshot.
    ## Bad
    context: "Sam leads the launch"
    context: "Sam leads the launch"
    ## Good
    context: "Sam leads the launch"
    context: "Ada leads the launch"
    ## Fix
    Write the context only when it changed.
    ## Source
    Source document, rule 5.4: put_context is expensive.
    """
    previous: ContextSnapshot | None = None
    for snapshot in history.snapshots:
        if previous is not None and previous.text == snapshot.text:
            yield Hit(
                snapshot.place.origin(snapshot.member), "the context is the same as in the snapshot before"
            )
        previous = snapshot


def _same_lines(lines: Iterable[DocumentLine]) -> Iterator[tuple[DocumentLine, DocumentLine]]:
    """Lines that state the same as an earlier one, each behind the first such line."""
    known = [(line, words) for line in lines if len(words := content_words(line.text)) >= LEAST_WORDS]
    uses = Counter(word for _, words in known for word in words)
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for number, (line, words) in enumerate(known):
        # Two lines with so many common words have one in common among the rarest words of both.
        few = len(words) - ceil(SAME_LINE * len(words)) + 1
        rarest = nsmallest(few, words, key=lambda word: (uses[word], word))
        earlier = (known[each] for each in sorted({each for word in rarest for each in by_word[word]}))
        same = next((each for each in earlier if _states_the_same(each[1], words)), None)
        if same is not None:
            yield same[0], line
        if same is None or same[1] != words:
            for word in rarest:
                by_word[word].append(number)


def _states_the_same(one: set[str], other: set[str]) -> bool:
    return len(one & other) / len(one | other) >= SAME_LINE and _numbers(one) == _numbers(other)


def _numbers(words: set[str]) -> set[str]:
    return {word for word in words if any(map(str.isdigit, word))}
