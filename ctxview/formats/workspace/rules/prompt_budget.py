"""The rules about the prompt as a whole: what fits, what it costs, what is in it twice (WSP010, 015 to 019).

Examples change the sound home of the tests, as in `template`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ctxview.analysis.secrets import find_secrets
from ctxview.analysis.wording import listed
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.workspace.assembly import Component, window_name
from ctxview.formats.workspace.facts import WorkspaceFacts
from ctxview.formats.workspace.model import Role

JUMP_FACTOR = 2
JUMP_TOKENS = 1000
OLD_LOCK = 5.0
"""Seconds after which a lock that is still there was left behind."""


@rule("WSP010", name="bootstrap-does-not-fit", severity=Severity.ERROR, effect=Effect.DROPPED)
def bootstrap_does_not_fit(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A bootstrap file does not fit into the prompt for some window and mode.

    ## Why
    The program drops or cuts it without a word. The agent then works without its rules or its tools.
    ## Bad
    SOUL.md += - Be kind to all clocks, however late they may be today. @800
    ## Good
    SOUL.md += - Be kind to all clocks.
    ## Fix
    Shorten the files until all of them fit; AGENTS.md, the first, wins over the others.
    ## Source
    Source document, Verification 6: all components fit at 16K, 64K and 1M.
    """
    if facts.era is None:
        return
    for file in facts.workspace.bootstrap:
        parts = [(part, title) for part, title in _parts(facts, file.short) if part.state != "whole"]
        if parts:
            lost = [f"{title} ({part.state})" for part, title in parts]
            last = min((part.lines[1] if part.lines else 0 for part, _ in parts), default=0)
            place = file.document.origin(last + 1, len(file.document.lines))
            size = parts[0][0].whole_tokens or 0
            yield Hit(place, f"{size:,} tokens do not fit at {listed(lost, 6)}")


@rule("WSP015", name="prompt-cost", severity=Severity.INFO)
def prompt_cost(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The cost of the files in every turn, and what a clean-up would save.

    ## Why
    These tokens are paid in every single turn, before the user has said a word. A component that is cut at
    every window is over its budget for good.
    ## Bad
    SOUL.md += - Assumptions are forbidden.
    ## Good
    SOUL.md += - Jokes are welcome.
    ## Fix
    Remove what is said twice, injected anyway or stale; the overview names the file to begin with.
    ## Source
    Source document, Token Budget (After).
    """
    assembly = facts.assembly
    first = next((part for part in assembly.components if part.document is not None), None)
    if first is None or first.document is None:
        return
    for part in assembly.components:
        always = [each for each, _ in _parts(facts, part.name)]
        if part.document is not None and part.uncut:
            yield Hit(
                part.document.origin(part.lines[0] if part.lines else 1), part.reason or "", Severity.ERROR
            )
        elif part.document is not None and always and all(each.state != "whole" for each in always):
            message = f"{part.name} is cut at every window: {part.whole_tokens or 0:,} tokens"
            yield Hit(part.document.origin(), message, Severity.ERROR, Effect.TRUNCATED)
    saved = facts.savings.total
    if saved:
        share = 100 * saved / assembly.tokens if assembly.tokens else 0
        where = f" ({assembly.title})" if assembly.window is not None else ""
        message = f"{assembly.tokens:,} tokens in every turn{where}; {saved:,} of them can be saved"
        yield Hit(first.document.origin(), f"{message} ({share:.0f} %)")


@rule("WSP016", name="context-jump", severity=Severity.INFO)
def context_jump(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The context more than doubled from one turn to the next.

    ## Why
    Something large was read or pasted; it is paid for again in every turn until the next compaction.
    ## Bad
    memory/audit/cli_default.turns.jsonl += {"turn": 3, "context_tokens": 9000, "working_memory_tokens": 90}
    ## Good
    memory/audit/cli_default.turns.jsonl += {"turn": 3, "context_tokens": 2300, "working_memory_tokens": 90}
    ## Fix
    Look at the messages of that turn.
    ## Source
    ctxview's own, from the turn log.
    """
    turns = facts.survey.turns if facts.survey is not None else []
    for before, turn in pairwise(turns):
        jump = turn.context - before.context
        if (
            turn.session == before.session
            and turn.context > JUMP_FACTOR * before.context
            and jump > JUMP_TOKENS
        ):
            message = f"turn {turn.number}: {before.context:,} tokens became {turn.context:,}"
            yield Hit(turn.origin, message)


@rule("WSP017", name="injected-twice", severity=Severity.WARNING)
def injected_twice(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The same text reaches the prompt by two ways.

    ## Why
    Era B loads the CONTEXT file and the working memory, which are the same text; era C in cloud mode shows
    MEMORY.md by its section and by the memory ladder. Both are paid for twice in every turn.
    ## Bad
    CONTEXT-cli.md > Facts +=
    ## Good
    - CONTEXT-cli.md
    ## Fix
    In era B remove the CONTEXT file, or update the program; in era C keep MEMORY.md short.
    ## Source
    The program: the reason why CONTEXT files were removed.
    """
    assembly = facts.assembly
    context, working = assembly.component("context"), assembly.component("working memory")
    if context is not None and working is not None and context.document is not None:
        share = len(set(context.text.split()) & set(working.text.split())) / max(
            1, len(set(context.text.split()))
        )
        if share > 0.8:
            message = f"the same text as {working.source}: {working.tokens:,} tokens are in the prompt twice"
            yield Hit(context.document.origin(), message)
    memory = assembly.component("memory")
    if facts.era == "C" and assembly.mode == "cloud" and memory is not None and memory.document is not None:
        message = "shown twice in cloud mode: its tail by the Memory section, its head by the memory ladder"
        yield Hit(memory.document.origin(), message, Severity.INFO)


@rule("WSP018", name="left-over", severity=Severity.INFO)
def left_over(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A temporary or lock file was left behind, a log has a broken line, or a MEMORY.md is never read.

    ## Why
    It is a trace of a crash, or of two programs writing the same file.
    ## Bad
    memory/MEMORY.md.tmp = - half a fact
    ## Good
    memory/MEMORY.md += - The user repairs clocks.
    ## Fix
    Remove the file after the program has ended.
    ## Source
    The program: files are replaced by rename; locks live for seconds.
    """
    folder = facts.workspace.folder
    for name in facts.workspace.leftovers:
        age = facts.now.timestamp() - folder.entry(name).modified
        if not name.endswith(".lock") or age > OLD_LOCK:
            yield Hit(Origin(folder.file(name)), "left behind by a program that ended while writing")
    for file in facts.workspace.of(Role.UNREAD_MEMORY):
        yield Hit(file.document.origin(), "never read: the program reads memory/MEMORY.md", Severity.WARNING)
    if facts.survey is not None:
        yield from facts.survey.hits("WSP018")


@rule("WSP019", name="secret-in-prompt", severity=Severity.ERROR, effect=Effect.LEAKED)
def secret_in_prompt(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A file that goes into the prompt, always or on demand, holds a secret.

    ## Why
    It is sent to the provider of the model in every turn, and the model may repeat it anywhere.
    ## Bad
    USER.md += - The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a.
    ## Good
    USER.md += - The token is in the key ring.
    ## Fix
    Remove it and revoke it.
    ## Source
    ctxview's own.
    """
    files = {each.file: each.document for each in facts.workspace.files}
    rows = [each.markdown for each in facts.workspace.documents if each.row is not None]
    for document in (*files.values(), *rows):
        text = document.data.decode("utf-8", "replace")
        for secret in find_secrets(text):
            line = text.count("\n", 0, secret.start) + 1
            yield Hit(document.origin(line), f"a secret reaches the prompt: {secret.kind}")


def _parts(facts: WorkspaceFacts, name: str) -> Iterator[tuple[Component, str]]:
    if facts.era is None:
        return
    for window, mode in facts.judged:
        part = facts.assembly_at(window, mode).component(name)
        if part is not None:
            yield part, f"{window_name(window)} {mode}"
