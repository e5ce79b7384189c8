"""The rules about statements that are said twice, contradicted or injected anyway (WSP001 to WSP005, WSP008).

Examples change the sound home of the tests, as in `template`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from ctxview.analysis.wording import counted, excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.workspace.duplicates import Pair, is_cross_reference
from ctxview.formats.workspace.facts import WorkspaceFacts
from ctxview.formats.workspace.model import Role
from ctxview.formats.workspace.similarity import NO_NEGATION, Likeness, prepare

_WHOLE_COPY = 4
"""Equal statements of two files that are reported as one finding."""
_LEADS = re.compile(r"\b(?:see|read|refer to|follow|described in|is in|are in)\b", re.IGNORECASE)
_FILE_NAME = re.compile(r"\b[A-Z][A-Z_-]{2,}(?:-[\w]+)?\.md\b")


@rule("WSP001", name="said-twice", severity=Severity.WARNING)
def said_twice(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The same statement is in two files of the prompt, or at two places of one.

    ## Why
    It costs its tokens twice in every turn, and a later change may reach only one of the two.
    ## Bad
    SOUL.md += - Assumptions are forbidden.
    ## Good
    SOUL.md += - Jokes are welcome.
    ## Fix
    Keep it in the file that owns the subject and remove the other one.
    ## Source
    Source document, Duplication Map.
    """
    yield from _grouped(facts, facts.pairs_of(Likeness.EXACT))


@rule("WSP002", name="nearly-said-twice", severity=Severity.WARNING)
def nearly_said_twice(facts: WorkspaceFacts) -> Iterator[Hit]:
    """Two files of the prompt say nearly the same in other words.

    ## Why
    As with an exact duplicate, tokens are wasted; and two wordings drift apart until they contradict.
    ## Bad
    SOUL.md += - Before each commit, run the full suite of tests.
    ## Good
    SOUL.md += - After each release, write a note for the users.
    ## Fix
    Keep the better wording in one file.
    ## Source
    Source document, Duplication Map: near duplicates.
    """
    yield from _grouped(facts, facts.pairs_of(Likeness.NEAR))


@rule("WSP003", name="possible-contradiction", severity=Severity.ERROR)
def possible_contradiction(facts: WorkspaceFacts) -> Iterator[Hit]:
    """Two files say nearly the same, but with another number, path, name or a negation.

    ## Why
    The model follows one of them, and it is not certain which.
    ## Bad
    SOUL.md += - The database listens on port 5433.
    ## Good
    SOUL.md += - The cache listens on port 6379.
    ## Fix
    Decide which is true, and remove the other statement.
    ## Source
    ctxview's own; the value check of the duplicate map.
    """
    for pair in facts.pairs_of(Likeness.CONTRADICTION):
        mine, other = pair.values or ("", "")
        where = f"{pair.drop.place} says {excerpt(mine)}, {pair.keep.place} says {excerpt(other)}"
        if NO_NEGATION in (mine, other):
            where = f"{pair.drop.place} says the opposite of {pair.keep.place}"
        message = f"{where}: {quoted(pair.keep.compared.text, 80)}"
        severity = None if pair.together else Severity.WARNING
        yield Hit(pair.drop.origin, message, severity)


@rule("WSP004", name="injected-anyway", severity=Severity.WARNING)
def injected_anyway(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A file repeats what the program puts into every prompt itself.

    ## Why
    The model reads it twice. If the setting is off, the file switches it on again by the back door.
    ## Bad
    AGENTS.md += ## Verification Protocol
    AGENTS.md += - Check each claim against a tool result.
    ## Good
    AGENTS.md += ## Release Protocol
    AGENTS.md += - Write the notes before the tag.
    ## Fix
    Remove it from the file.
    ## Source
    Source document, Deduplication Rules.
    """
    if facts.era is None:
        return
    known = [
        each
        for each in facts.profile.words.injected
        if facts.workspace.settings.verifies or not each.provenance
    ]
    for file in facts.prompt_files:
        for section in file.document.sections:
            for each in known:
                if each.heading and section.title.casefold() == each.heading.casefold():
                    place = file.document.origin(section.line, section.last)
                    yield Hit(place, f"{each.about}: the program injects this section itself")
            for statement in section.statements:
                normal = prepare(statement.text).normal
                for each in known:
                    if each.text and each.text in re.sub(r"[^\w ]", "", normal):
                        place = file.document.origin(statement.line, statement.last)
                        yield Hit(place, f"{each.about}: the program injects {quoted(statement.text)} itself")


@rule("WSP005", name="reference-to-no-file", severity=Severity.INFO)
def reference_to_no_file(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A cross-reference such as "see SOUL.md" names a file that does not exist.

    ## Why
    A cross-reference is the right way not to say a thing twice, and no duplicate. It must lead to a file.
    ## Bad
    AGENTS.md += - Tone of voice: see VOICE.md.
    ## Good
    AGENTS.md += - Tone of voice: see SOUL.md.
    ## Fix
    Name the right file, or say it here.
    ## Source
    Source document, Duplication Map: cross-references.
    """
    for file in facts.prompt_files:
        for _, statement in file.document.statements():
            if not is_cross_reference(statement.text):
                continue
            names = [
                name for name in _FILE_NAME.findall(statement.text) if not facts.repository.has_name(name)
            ]
            if names and _LEADS.search(statement.text):
                place = file.document.origin(statement.line, statement.last)
                yield Hit(place, f"there is no {listed(names)} here")


@rule("WSP008", name="memory-repeats-bootstrap", severity=Severity.WARNING)
def memory_repeats_bootstrap(facts: WorkspaceFacts) -> Iterator[Hit]:
    """Statements of MEMORY.md are already in a bootstrap file.

    ## Why
    MEMORY.md holds what was learned. Its budget is small, and what AGENTS.md says anyway pushes the rest out.
    ## Bad
    memory/MEMORY.md += - Assumptions are forbidden.
    ## Good
    memory/MEMORY.md += - The user lives in Lisbon.
    ## Fix
    Remove them from MEMORY.md.
    ## Source
    Source document, Layer 1 and Deduplication Rules.
    """
    if facts.era is None:
        return
    found: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    owners = {each.name for each in facts.workspace.bootstrap}
    memories = {each.name for each in facts.workspace.of(Role.MEMORY)}
    for pair in facts.pairs_of(Likeness.EXACT, Likeness.NEAR):
        if pair.drop.name in memories and pair.keep.name in owners:
            found[pair.drop.name, pair.keep.name].append(pair)
    for (_, owner), pairs in found.items():
        lines = listed((str(pair.drop.statement.line) for pair in pairs), 8)
        saved = sum(_tokens(facts, pair) for pair in pairs)
        message = f"{counted(len(pairs), 'statement')} of {owner} again, in line {lines}"
        yield Hit(pairs[0].drop.origin, f"{message}; this costs {saved:,} tokens a turn")


def _grouped(facts: WorkspaceFacts, pairs: Iterable[Pair]) -> Iterator[Hit]:
    """Report each pair, but a file that copies another one only once."""
    groups: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.drop.name, pair.keep.name].append(pair)
    for (drop, keep), found in groups.items():
        if not found[0].together:
            lines = listed((str(pair.drop.statement.line) for pair in found), 6)
            message = f"{counted(len(found), 'statement')} of {keep} again, in line {lines}"
            why = "no agent loads both files, but the copies can drift apart"
            yield Hit(found[0].drop.origin, f"{message}; {why}", Severity.INFO)
        elif len(found) >= _WHOLE_COPY and found[0].likeness is Likeness.EXACT and drop != keep:
            saved = sum(_tokens(facts, pair) for pair in found)
            message = f"{len(found)} statements of {keep} again, the first one of {found[0].keep.place}"
            yield Hit(found[0].drop.origin, f"{message}; removing them here saves {saved:,} tokens a turn")
        else:
            for pair in found:
                yield Hit(pair.drop.origin, _sentence(facts, pair))


def _sentence(facts: WorkspaceFacts, pair: Pair) -> str:
    tokens = _tokens(facts, pair)
    if pair.likeness is Likeness.EXACT:
        said = f"{quoted(pair.drop.compared.text, 60)} is also in {pair.keep.place}"
    else:
        words = listed(pair.shared, 8)
        other = quoted(pair.keep.compared.text, 60)
        said = f"{pair.keep.place} says nearly the same ({pair.score:.0f} %): {other}"
        said = f"{said}; shared words: {words}" if words else said
    return f"{said}; {tokens:,} tokens a turn, {pair.keep.name} should keep it"


def _tokens(facts: WorkspaceFacts, pair: Pair) -> int:
    return facts.count(f"- {pair.drop.compared.text}\n")
