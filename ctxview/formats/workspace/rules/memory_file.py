"""The rules about MEMORY.md: what belongs into it, and how much of it is shown (WSP006, WSP007, WSP009).

Examples change the sound home of the tests, as in `template`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.analysis.wording import counted, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.workspace.assembly import window_name
from ctxview.formats.workspace.facts import WorkspaceFacts, phrase_pattern
from ctxview.formats.workspace.model import Role, WorkspaceFile
from ctxview.formats.workspace.similarity import Likeness

_REMEMBERED = re.compile(r"Remembered \(\d{4}-\d{2}-\d{2}\)")
_DATED = re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\bsession\b|Compaction Summary", re.IGNORECASE)
_ROLE = re.compile(r"^\*\*(?:user|assistant|tool):?\*\*", re.IGNORECASE)


@rule("WSP006", name="session-history-in-memory", severity=Severity.WARNING)
def session_history_in_memory(facts: WorkspaceFacts) -> Iterator[Hit]:
    """MEMORY.md holds the state of a session: a dated session, a task status, a box, a copied line.

    ## Why
    Long-term memory reaches every later session. What was true for one afternoon is wrong in all others.
    ## Bad
    memory/MEMORY.md += - Currently working on the clock.
    ## Good
    memory/MEMORY.md += - The user works on clocks.
    ## Fix
    Remove it; the context document and the raw history have it.
    ## Source
    Source document, Layer 1: no narrative, no session state.
    """
    pattern = phrase_pattern(facts.profile.words.session_history)
    for file in _memories(facts):
        text = file.document
        for section in text.sections:
            dated = (
                section.level and _DATED.search(section.title) and not _REMEMBERED.fullmatch(section.title)
            )
            if dated:
                message = f"a section about one session: {quoted(section.title, 60)}"
                yield Hit(text.origin(section.line, section.last), message)
                continue
            for statement in section.statements:
                found = pattern.search(statement.text) if pattern is not None else None
                why = "a box" if statement.box is not None else None
                why = why or ("a line of a transcript" if _ROLE.match(statement.text) else None)
                why = why or (f"{quoted(found[0])} is about one session" if found is not None else None)
                if why is not None:
                    place = text.origin(statement.line, statement.last)
                    yield Hit(place, f"{why}: {quoted(statement.text, 60)}")
    documents = {document.name for document in facts.workspace.documents}
    for pair in facts.pairs_of(Likeness.EXACT):
        if pair.drop.name == getattr(facts.workspace.memory, "name", None) and pair.keep.name in documents:
            yield Hit(pair.drop.origin, f"copied from {pair.keep.place}, the state of a session")


@rule("WSP007", name="memory-is-flat-bullets", severity=Severity.WARNING)
def memory_is_flat_bullets(facts: WorkspaceFacts) -> Iterator[Hit]:
    """MEMORY.md has a paragraph or a nested bullet, or in era D a fact that is too long.

    ## Why
    The reflector merges the file bullet by bullet. Narrative survives every merge and only grows.
    ## Bad
    memory/MEMORY.md += ## Clocks
    memory/MEMORY.md += The user repairs clocks, and has done so for years.
    ## Good
    memory/MEMORY.md += - The user repairs clocks.
    ## Fix
    Make each fact one bullet of one line.
    ## Source
    Source document, Layer 1: flat bullet points, no narrative.
    """
    longest = facts.profile.eras[facts.era].longest_fact if facts.era is not None else None
    for file in _memories(facts):
        text = file.document
        for _, statement in text.statements():
            place = text.origin(statement.line, statement.last)
            if statement.kind == "paragraph":
                yield Hit(place, f"a paragraph, not a bullet: {quoted(statement.text, 60)}")
            elif statement.depth > 1:
                yield Hit(place, f"a nested bullet: {quoted(statement.text, 60)}")
            elif longest is not None and len(statement.text) > longest:
                yield Hit(place, f"a fact of {len(statement.text)} characters; at most {longest} are kept")


@rule("WSP009", name="memory-head-invisible", severity=Severity.WARNING, effect=Effect.HIDDEN)
def memory_head_invisible(facts: WorkspaceFacts) -> Iterator[Hit]:
    """MEMORY.md is longer than its budget, so the model is not shown all of it.

    ## Why
    The program keeps the tail: the oldest facts, at the head, vanish first, and nothing says so.
    ## Bad
    memory/MEMORY.md += - The user repairs the clocks of old churches in the hills. @2000
    ## Good
    memory/MEMORY.md += - The user repairs clocks.
    ## Fix
    Remove what AGENTS.md says anyway, then the facts that no longer matter.
    ## Source
    The budget formulas of the program.
    """
    file = facts.workspace.memory
    if file is None or facts.era is None:
        return
    cuts, lines = [], []
    for window, mode in facts.judged:
        part = facts.assembly_at(window, mode).component("memory")
        if part is not None and part.state != "whole":
            first, last = part.lines or (0, 0)
            lines.append((first, last))
            shown = f"lines {first} to {last}" if part.lines else "nothing"
            cuts.append(f"{window_name(window)} {mode} ({shown})")
    if cuts:
        total = len(file.document.lines)
        hidden = max(first for first, _ in lines)
        place = file.document.origin(1, max(1, hidden - 1))
        yield Hit(place, f"of {counted(total, 'line')} the model is shown at {listed(cuts, 6)}")


def _memories(facts: WorkspaceFacts) -> Iterator[WorkspaceFile]:
    return facts.workspace.of(Role.MEMORY) if facts.era is not None else iter(())
