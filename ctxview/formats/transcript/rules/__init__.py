"""The rules about transcripts: TRF files, TRC calls and branches, TRW windows, TRM memory, TRA sub-agents.

A rule's docstring is its explanation, and the tests run its examples: `Bad` must give a finding of the rule
and `Good` must not. The examples are written short: `ID < PARENT KIND key=value : text` for a row of
Claude Code, which hangs on the row before it when no parent is named, and a list that begins with `meta` for
a rollout of Codex. `text*9` is nine times the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.core.findings import Finding, group_rules, run
from ctxview.formats.transcript.facts import TranscriptFacts

(RULES,) = group_rules(__name__, "facts")


def check_transcript(facts: TranscriptFacts) -> Iterator[Finding]:
    """Yield the findings about one moment; those about the whole file only after all rows were read."""
    if not facts.log.partial:
        yield from run(RULES, facts)
