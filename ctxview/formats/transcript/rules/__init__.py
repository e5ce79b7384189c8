"""The rules about transcripts: TRF files, TRC calls, TRW windows, TRM memory, TRA sub-agents, REQ requests.

A rule's docstring is its explanation, and the tests run its examples: `Bad` must give a finding of the rule
and `Good` must not. The examples are written short: `ID < PARENT KIND key=value : text` for a row of
Claude Code, which hangs on the row before it when no parent is named, and a list that begins with `meta` for
a rollout of Codex, or with `opencode` for a session of OpenCode. Examples of requests have lines such as
`tool NAME: description`, `system: text`, `user: text` and `assistant: call ID TOOL`, with `---` between two
requests. `text*9` is nine times the text; `later` stands before the same file as it is some time later, and
`packed zstd` before a file that is compressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec.structs import replace

from ctxview.analysis.secrets import mask_secrets
from ctxview.core.findings import Finding, group_rules, run
from ctxview.formats.kit.file_rules import report_partly_read
from ctxview.formats.transcript.children import HELPERS
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.requests.facts import RequestFacts

RULES, REQUEST_RULES = group_rules(__name__, "facts", "request")
_NOT_OF_REQUESTS = frozenset(("TRC007", "TRC008", "TRC014", "TRC015", "TRC016", "TRW005", "TRW006", "TRW010"))
"""Rules about logs that a rule about requests stands for, or that say nothing about a single request."""
_OF_HELPERS = tuple(each for each in RULES if not each.id.startswith("TRW"))
"""The rules about logs of helpers: what fills their window is the session, where it is reported."""

BETWEEN_REQUESTS = tuple(each for each in REQUEST_RULES if each.id in ("REQ011", "REQ015"))
"""The rules whose findings a later request of the same conversation does not repeat."""


def masked(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings without secrets in their messages, which quote what was said, typed and answered."""
    for each in findings:
        message = mask_secrets(each.message)
        yield each if message is each.message else replace(each, message=message)


def check_request(facts: TranscriptFacts) -> Iterator[Finding]:
    """Yield the findings about a request that are not those of the next request too."""
    if facts.request is not None and facts.call is not None:
        yield from masked(run(BETWEEN_REQUESTS, RequestFacts(facts, facts.request, facts.call)))


def check_transcript(facts: TranscriptFacts) -> Iterator[Finding]:
    """Yield the findings about one moment; those about the whole file only after all rows were read."""
    for why in facts.left_out:
        yield from report_partly_read(facts.log.file, why)
    if facts.request is not None and facts.call is not None:
        yield from masked(run(REQUEST_RULES, RequestFacts(facts, facts.request, facts.call)))
        yield from masked(run([each for each in RULES if each.id not in _NOT_OF_REQUESTS], facts))
    elif not facts.log.partial:
        helps = Path(facts.log.file).name.startswith(HELPERS)
        yield from masked(run(_OF_HELPERS if helps else RULES, facts))
