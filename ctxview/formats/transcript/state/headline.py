"""What a list says about a session: title, project, model, use of the window, compactions, findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from ctxview.core.findings import Severity
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import PartKind

LONGEST_TITLE = 80


class Headline(Struct, frozen=True):
    """A session in a few figures. Of a large file only the end was read: it is `partial`."""

    title: str
    project: str
    model: str | None
    used: int | None
    window: int
    calls: int
    compactions: int
    findings: Mapping[Severity, int]
    child: bool = False
    """Whether the file itself says that it is a sub-agent's."""
    partial: bool = False


def _first_prompt(facts: TranscriptFacts) -> str:
    prompts = (part for part in facts.context.parts if part.kind is PartKind.PROMPT)
    return next((" ".join(facts.texts.text(part, LONGEST_TITLE).split()) for part in prompts), "")


def headline_of(facts: TranscriptFacts) -> Headline:
    from ctxview.formats.transcript.rules import check_transcript

    log = facts.log
    last = next(reversed(log.calls), None)
    counts = Counter(each.severity for each in check_transcript(facts))
    return Headline(
        title=log.facts.get("title") or _first_prompt(facts) or ("" if log.rows else "empty"),
        project=log.facts.get("cwd", ""),
        model=last.model if last is not None else next(reversed(log.models), None),
        used=facts.sizes.total if log.rows else None,
        window=facts.window.size,
        calls=len(log.calls),
        compactions=len(log.compactions),
        findings={each: counts[each] for each in Severity},
        child="sub-agent of" in log.facts,
        partial=log.partial,
    )
