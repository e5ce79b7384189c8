"""Rules about content that the model did not get (TRM)."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import beginning
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import Dialect, Mark, PartKind


@rule("TRM009", name="preview-only", severity=Severity.WARNING, effect=Effect.TRUNCATED)
def preview_only(facts: TranscriptFacts) -> Iterator[Hit]:
    """The model saw a preview of a large output and never opened the whole.

    ## Why
    What it needed may stand in the part it did not see.
    ## Bad
    u1 user : Test it
    a1 call id=t1 sent=900 out=9 : make test
    r1 result id=t1 : <persisted-output> Output too large (99KB). Full output saved to: /s1/tool-results/x.txt
    a2 assistant sent=990 out=5 : Done
    ## Good
    u1 user : Test it
    a1 call id=t1 sent=900 out=9 : make test
    r1 result id=t1 : <persisted-output> Output too large (99KB). Full output saved to: /s1/tool-results/x.txt
    a2 call id=t2 tool=Read sent=990 out=9 : {"file_path": "/s1/tool-results/x.txt"}
    r2 result id=t2 : text
    ## Fix
    Ask the agent to search the file.
    ## Source
    Observed in sessions of Claude Code.
    """
    previews = [part for part in facts.noted if part.mark is Mark.PERSISTED]
    calls = facts.history if previews else ()
    opened = [part for part in calls if part.kind is PartKind.CALL and part.about]
    for part in previews:
        if not any((part.detail or "?") in (each.about or "") for each in opened if each.row > part.row):
            name = part.about or part.tool or "the call"
            yield Hit(facts.log.origin(part.row), f"only a preview of {name} was seen: {part.detail}")


@rule("TRM010", name="output-gone", severity=Severity.WARNING)
def output_gone(facts: TranscriptFacts) -> Iterator[Hit]:
    """The file of a large output is not beside the session any more.

    ## Why
    The agent cannot open it any more, and neither can a reviewer.
    ## Bad
    u1 user : Test it
    a1 call id=t1 sent=900 out=9 : make test
    r1 result id=t1 : <persisted-output> Output too large (99KB). Full output saved to: /s1/tool-results/x.txt
    ## Good
    u1 user : Test it
    a1 call id=t1 sent=900 out=9 : make test
    r1 result id=t1 : <persisted-output> Output too large (99KB). Full output saved to: /s1/tool-results/x.txt
    s1/tool-results/x.txt = the whole output
    ## Fix
    Run the command again.
    ## Source
    Observed in sessions of Claude Code.
    """
    for part in facts.noted:
        name = facts.persisted_name(part) if part.mark is Mark.PERSISTED else None
        if name is not None and name not in facts.beside:
            yield Hit(facts.log.origin(part.row), f"{name} is not beside the session")


@rule("TRM012", name="cut-result", severity=Severity.INFO, effect=Effect.TRUNCATED)
def cut_result(facts: TranscriptFacts) -> Iterator[Hit]:
    """A result was cut: a file was read in part, or the output was shortened.

    ## Why
    The model answers from a part; it is a warning when the missing part is the larger one.
    ## Bad
    u1 user : Read it
    a1 call id=t1 tool=Read sent=900 out=9 : {"file_path": "a.py"}
    r1 result id=t1 lines=200 of=2000 : text
    ## Good
    u1 user : Read it
    a1 call id=t1 tool=Read sent=900 out=9 : {"file_path": "a.py", "offset": 1, "limit": 200}
    r1 result id=t1 lines=200 of=2000 : text
    ## Fix
    Ask the agent to read the rest.
    ## Source
    Observed in sessions of Claude Code.
    """
    for part in facts.noted:
        if part.mark in (Mark.PARTIAL, Mark.CUT):
            shown = int((part.detail or "0").split()[0].replace(",", "") or 0) if part.lost else 0
            severity = Severity.WARNING if part.lost > shown > 0 else None
            name = part.about or part.tool or "a result"
            yield Hit(facts.log.origin(part.row), f"{name} was given in part: {part.detail}", severity)


@rule("TRM013", name="cut-on-the-way-in", severity=Severity.WARNING, effect=Effect.TRUNCATED)
def cut_on_the_way_in(facts: TranscriptFacts) -> Iterator[Hit]:
    """The rollout holds more of an output than the model was given.

    ## Why
    Codex removes the middle of long outputs on the way into the context, and the log does not show it.
    ## Bad
    meta
    user: Test it
    call id=c1
    tokens sent=900 out=30
    output id=c1: row*40000
    tokens sent=13100 out=30
    ## Good
    meta
    user: Test it
    call id=c1
    tokens sent=900 out=30
    output id=c1: row*400
    tokens sent=1300 out=30
    ## Fix
    Ask for shorter output.
    ## Source
    Measured: 133,320 characters in the file added 12,185 tokens.
    """
    limit = 4 * facts.profile.limits.codex_output_tokens
    if facts.log.dialect is Dialect.CODEX:
        for part in [part for part in facts.history if part.size > limit]:
            if part.kind is PartKind.RESULT:
                text = f"{part.size:,} characters are in the file; the model got about {limit:,}"
                yield Hit(facts.log.origin(part.row), text)


@rule("TRM014", name="refused-edit", severity=Severity.WARNING, effect=Effect.REJECTED)
def refused_edit(facts: TranscriptFacts) -> Iterator[Hit]:
    """An edit was refused because the file was not read or had changed.

    ## Why
    The model worked from an old picture of the file.
    ## Bad
    u1 user : Edit it
    a1 call id=t1 tool=Edit sent=900 out=9 : {"file_path": "a.py"}
    r1 result id=t1 error=1 : File has not been read yet. Read it first before writing to it.
    ## Good
    u1 user : Edit it
    a1 call id=t1 tool=Edit sent=900 out=9 : {"file_path": "a.py"}
    r1 result id=t1 : ok
    ## Fix
    Nothing: the agent reads the file and tries again.
    ## Source
    Observed in sessions of Claude Code.
    """
    for part in facts.noted:
        if part.error and ("has not been read yet" in part.error or "modified since read" in part.error):
            yield Hit(facts.log.origin(part.row), f"{part.about}: {beginning(part.error, 80)}")


@rule("TRM017", name="not-in-this-file", severity=Severity.INFO)
def not_in_this_file(facts: TranscriptFacts) -> Iterator[Hit]:
    """System prompt, tool schemas and memory files are not in this file: their sum is inferred.

    ## Why
    They are a part of every call, and nothing here says what they are.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=9000 out=5 : Done
    ## Good
    meta: word*20000
    user: Fix it
    assistant: Done
    tokens sent=900 out=5
    ## Fix
    Run `/context` in the session to see the parts.
    ## Source
    Measured in sessions of Claude Code.
    """
    if facts.sizes.baseline and facts.log.dialect in (Dialect.CLAUDE_CODE, Dialect.OPENCODE):
        text = f"system prompt, tools and memory files ({facts.sizes.baseline:,} tokens) are not in this file"
        yield Hit(facts.log.origin(0), text)
