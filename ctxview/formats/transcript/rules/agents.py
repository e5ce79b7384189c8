"""Rules about sub-agents and background work (TRA)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ctxview.analysis.wording import beginning, counted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.children import HELPERS
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import ChildAgent, Dialect, LogPart, PartKind

LAUNCHED = "async_launched"
"""The status of a sub-agent that was started in the background."""
MOST_NOTICES = 2000
LONGEST_NOTICE = 1000
"""How much of a text is searched for the id of a sub-agent."""


@rule("TRA001", name="agent-never-came-back", severity=Severity.WARNING)
def agent_never_came_back(facts: TranscriptFacts) -> Iterator[Hit]:
    """A sub-agent never came back.

    ## Why
    The agent went on without the answer, or still waits for it.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    u2 user : And?
    a2 assistant sent=950 out=5 : Done
    ## Good
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=completed : found
    s1/subagents/agent-x1.jsonl = {}
    ## Fix
    Ask the agent to start it again.
    ## Source
    Observed in sessions of Claude Code.
    """
    last = max((part.row for part in facts.context.parts), default=None)
    newest = facts.log.rows[last].message if last is not None else None
    for child in facts.log.children:
        if child.inline or child.row >= facts.end or not _is_awaited(facts, child):
            continue
        begun = child.status is not None or (
            newest is not None and facts.log.rows[child.row].message == newest
        )
        running = begun and not facts.stale
        end = "has not come back yet; it may be running" if running else "never came back"
        severity = Severity.INFO if running else None
        yield Hit(facts.log.origin(child.row), f"{_name(child)} {end}", severity)


def _name(child: ChildAgent) -> str:
    return " ".join(filter(None, ("the sub-agent", child.kind, child.agent)))


def _is_awaited(facts: TranscriptFacts, child: ChildAgent) -> bool:
    """Whether a sub-agent has not answered; one in the background answers with a notification or is asked."""
    if child.status != LAUNCHED or child.agent is None:
        return child.status is None
    if any(each.task == child.agent for each in facts.log.queue):
        return False
    later = (part for part in facts.history if part.row > child.row and _may_name_agents(part))
    return not any(
        child.agent in facts.texts.text(part, LONGEST_NOTICE) for part in islice(later, MOST_NOTICES)
    )


def _may_name_agents(part: LogPart) -> bool:
    return part.kind in (PartKind.PROMPT, PartKind.REMINDER) or (
        part.kind is PartKind.CALL and "Output" in (part.tool or "")
    )


@rule("TRA002", name="answer-never-delivered", severity=Severity.WARNING, effect=Effect.DROPPED)
def answer_never_delivered(facts: TranscriptFacts) -> Iterator[Hit]:
    """The answer of background work was queued and never delivered to the model.

    ## Why
    The model does not know that the work is done, and may start it again.
    ## Bad
    u1 user : Go
    a1 assistant sent=900 out=5 : Started
    q1 queue : <task-notification><task-id>b7</task-id>done
    ## Good
    u1 user : Go
    a1 assistant sent=900 out=5 : Started
    q1 queue : <task-notification><task-id>b7</task-id>done
    u2 user : <task-notification><task-id>b7</task-id>done
    ## Fix
    Paste the answer into a prompt.
    ## Source
    Observed: two of five answers never reached the model.
    """
    for queued in facts.log.queue:
        if queued.task is not None and not queued.delivered and not queued.removed:
            text = f"the answer of {queued.task} was queued and never delivered"
            yield Hit(facts.log.origin(queued.row), text)


@rule("TRA003", name="agent-without-transcript", severity=Severity.INFO)
def agent_without_transcript(facts: TranscriptFacts) -> Iterator[Hit]:
    """The transcript of a sub-agent is not beside the session, or its session is not there.

    ## Why
    Its work cannot be looked at; only its answer is known.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=completed : found
    ## Good
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=completed : found
    s1/subagents/agent-x1.jsonl = {}
    ## Fix
    Copy the folder of the session together with its file.
    ## Source
    Observed in sessions of Claude Code.
    """
    for child in facts.log.children:
        if child.agent is not None and child.file is None and not child.inline:
            stored = facts.log.dialect is Dialect.OPENCODE
            text = (
                f"the session {child.agent} is not in the store"
                if stored
                else f"agent-{child.agent}.jsonl is not beside the session"
            )
            yield Hit(facts.log.origin(child.row), text)
    if facts.parent is not None:
        yield Hit(facts.log.origin(0), f"the session of this sub-agent, {facts.parent}, is not there")


@rule("TRA005", name="agent-cost", severity=Severity.INFO)
def agent_cost(facts: TranscriptFacts) -> Iterator[Hit]:
    """What a sub-agent used, against the size of its answer.

    ## Why
    Sub-agents keep the window free, and their own use is easily overlooked.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=completed tokens=70459 : found
    ## Good
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=async_launched : started
    ## Fix
    Nothing.
    ## Source
    The program: totalTokens of a result.
    """
    known = {child.call_id: child for child in facts.log.children if child.tokens is not None}
    results = (part for part in facts.history if part.call_id in known) if known else ()
    sizes = {
        part.call_id: facts.sizes.of(part) or facts.estimator.tokens(part)
        for part in results
        if part.kind is PartKind.RESULT
    }
    for child in facts.log.children:
        if child.tokens is not None:
            brought = sizes.get(child.call_id, 0)
            text = f"{child.kind or 'a sub-agent'} used {child.tokens:,} tokens for an answer of {brought:,}"
            yield Hit(facts.log.origin(child.row), text)


@rule("TRA006", name="agent-failed", severity=Severity.WARNING)
def agent_failed(facts: TranscriptFacts) -> Iterator[Hit]:
    """A sub-agent ended in an error.

    ## Why
    Its work was not done, or only in part.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 error=1 : Agent failed: timeout
    ## Good
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=completed : found
    ## Fix
    Start it again.
    ## Source
    Observed in sessions of Claude Code.
    """
    for child in facts.log.children:
        if child.status == "failed":
            yield Hit(facts.log.origin(child.row), f"{_name(child)} failed")


@rule("TRA007", name="same-prompt-twice", severity=Severity.WARNING)
def same_prompt_twice(facts: TranscriptFacts) -> Iterator[Hit]:
    """Two sub-agents got the same prompt.

    ## Why
    The work is done twice, often because the first answer was lost.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search all files for refunds"}
    r1 result id=t1 agentId=x1 status=completed : found
    a2 call id=t2 tool=Task sent=950 out=30 : {"prompt": "search all files for refunds"}
    r2 result id=t2 agentId=x2 status=completed : found
    ## Good
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search all files for refunds"}
    r1 result id=t1 agentId=x1 status=completed : found
    ## Fix
    Look whether the first answer was delivered.
    ## Source
    Observed in sessions of Claude Code.
    """
    seen: set[str] = set()
    for child in facts.log.children:
        if child.prompt and child.prompt in seen:
            prompt = beginning(child.prompt, 80)
            yield Hit(facts.log.origin(child.row), f"a sub-agent got the same prompt: {prompt}")
        seen.add(child.prompt)


@rule("TRA008", name="helper-agents", severity=Severity.INFO, effect=Effect.IGNORED)
def helper_agents(facts: TranscriptFacts) -> Iterator[Hit]:
    """Helper agents of the program, for compactions and suggestions, are not listed.

    ## Why
    They are no part of the work; their files stand beside the session.
    ## Bad
    u1 user : Go
    s1/subagents/agent-acompact-1.jsonl = {}
    ## Good
    u1 user : Go
    s1/subagents/agent-x1.jsonl = {}
    ## Fix
    Open such a file by its path to look at it.
    ## Source
    Observed in sessions of Claude Code.
    """
    helpers = [name for name in facts.beside if Path(name).name.startswith(HELPERS)]
    if helpers:
        yield Hit(facts.log.origin(0), f"not listed: {counted(len(helpers), 'helper agent')}")


@rule("TRA004", name="agent-nearly-full", severity=Severity.WARNING)
def agent_nearly_full(facts: TranscriptFacts) -> Iterator[Hit]:
    """A sub-agent used most of its own window, or was compacted.

    ## Why
    Its answer rests on what was left after that.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=completed : found
    s1/subagents/agent-x1.jsonl = {"message": {"model": "claude-x", "usage": {"input_tokens": 170000}}}
    ## Good
    u1 user : Go
    a1 call id=t1 tool=Task sent=900 out=30 : {"prompt": "search"}
    r1 result id=t1 agentId=x1 status=completed : found
    s1/subagents/agent-x1.jsonl = {"message": {"model": "claude-x", "usage": {"input_tokens": 121678}}}
    ## Fix
    Give it a smaller task.
    ## Source
    ctxview's own; the share is in the profile.
    """
    for child in facts.log.children:
        window = facts.profile.window(child.model) or facts.window.size
        name = child.kind or child.agent or "a sub-agent"
        if child.compacted:
            yield Hit(facts.log.origin(child.row), f"the context of {name} was compacted")
        elif child.sent is not None and 100 * child.sent >= facts.profile.limits.child_percent * window:
            text = f"{name} used {child.sent:,} of {window:,} tokens of its own window"
            yield Hit(facts.log.origin(child.row), text)


@rule("TRA009", name="copied-beginning", severity=Severity.INFO)
def copied_beginning(facts: TranscriptFacts) -> Iterator[Hit]:
    """The beginning of this rollout was copied from its parent: it is context, not work of this session.

    ## Why
    Its calls, plans and growth are not counted here; they belong to the parent.
    ## Bad
    meta at=60 forked=r0
    meta at=0
    user at=1: Fix it
    assistant at=2: Done
    user at=70: Now the other one
    ## Good
    meta at=0
    user at=1: Fix it
    assistant at=2: Done
    ## Fix
    Open the parent to see that work.
    ## Source
    openai/codex.
    """
    if facts.log.copied:
        parent = facts.log.facts.get("forked from", "another session")
        yield Hit(facts.log.origin(0), f"{facts.log.copied:,} rows were copied from {parent}")


@rule("TRA010", name="history-elsewhere", severity=Severity.ERROR)
def history_elsewhere(facts: TranscriptFacts) -> Iterator[Hit]:
    """The history that this rollout continues is in a file that is not there.

    ## Why
    What the model was sent begins in that file, so the context shown here lacks it.
    ## Bad
    meta base=0b5e1a7e
    user: Go on
    ## Good
    meta
    user: Go on
    ## Fix
    Find the rollout with that id and put it beside this one.
    ## Source
    openai/codex.
    """
    base = facts.log.facts.get("history base")
    if base is not None and not facts.log.facts.get("history file"):
        yield Hit(facts.log.origin(0), f"the history of {base} is not beside this rollout")
