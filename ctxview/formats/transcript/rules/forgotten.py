"""Rules about content that the model had and lost, or was named and never given (TRM)."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import beginning
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.forgotten import lost_instructions, named_files, vanished_texts
from ctxview.formats.transcript.model import LogPart, PartKind


@rule("TRM004", name="refers-to-what-is-gone", severity=Severity.WARNING, effect=Effect.DROPPED)
def refers_to_what_is_gone(facts: TranscriptFacts) -> Iterator[Hit]:
    """A result says that a file is unchanged since the last read, and that read is no longer in the context.

    ## Why
    The model is told to look at a text that it does not have.
    ## Bad
    u1 user : Fix it
    a1 call id=t1 tool=Read sent=900 out=30 : {"file_path": "a.py"}
    r1 result id=t1 : text
    b1 boundary
    s1 < b1 summary : We looked at a.py
    a2 call id=t2 tool=Read sent=700 out=30 : {"file_path": "a.py"}
    r2 result id=t2 : File unchanged since last read. The content from the earlier Read is still current.
    ## Good
    u1 user : Fix it
    a1 call id=t1 tool=Read sent=900 out=30 : {"file_path": "a.py"}
    r1 result id=t1 : text
    a2 call id=t2 tool=Read sent=1700 out=30 : {"file_path": "a.py"}
    r2 result id=t2 : File unchanged since last read. The content from the earlier Read is still current.
    ## Fix
    Ask the agent to read the file with another command.
    ## Source
    Observed in sessions of Claude Code.
    """
    for part in vanished_texts(facts):
        text = f"{part.about} is said to be unchanged, and its text is not in the context"
        yield Hit(facts.log.origin(part.row), text)


@rule("TRM015", name="named-and-never-read", severity=Severity.INFO)
def named_and_never_read(facts: TranscriptFacts) -> Iterator[Hit]:
    """A person named a file that was never read, attached or listed.

    ## Why
    The model answers from the name alone.
    ## Bad
    u1 user : See docs/plan.md before you start
    a1 assistant sent=900 out=5 : Done
    ## Good
    u1 user : See docs/plan.md before you start
    a1 call id=t1 tool=Read sent=900 out=30 : {"file_path": "/work/docs/plan.md"}
    r1 result id=t1 : the plan
    a2 assistant sent=950 out=5 : Done
    ## Fix
    Ask the agent to read it.
    ## Source
    ctxview's own.
    """
    for path, row in named_files(facts).items() if facts.context.calls else ():
        yield Hit(facts.log.origin(row), f"{path} was named and never read")


@rule("TRM016", name="memory-file-twice", severity=Severity.WARNING)
def memory_file_twice(facts: TranscriptFacts) -> Iterator[Hit]:
    """One memory file was loaded twice with the same text.

    ## Why
    The second copy is waste in every call.
    ## Bad
    u1 user : Fix it
    m1 attachment type=nested_memory file=/work/api/CLAUDE.md : rules
    m2 attachment type=nested_memory file=/work/api/CLAUDE.md : rules
    a1 assistant sent=900 out=5 : Done
    ## Good
    u1 user : Fix it
    m1 attachment type=nested_memory file=/work/api/CLAUDE.md : rules
    m2 attachment type=nested_memory file=/work/web/CLAUDE.md : rules
    a1 assistant sent=900 out=5 : Done
    ## Fix
    Start a new session; report it to the vendor.
    ## Source
    Reported for Claude Code.
    """
    seen: dict[tuple[str | None, str], LogPart] = {}
    for part in facts.context.parts:
        if part.kind is PartKind.MEMORY and part.about:
            first = seen.setdefault((part.about, facts.texts.whole(part)), part)
            if first is not part:
                tokens = facts.sizes.of(part)
                yield Hit(facts.log.origin(part.row), f"{part.about} is loaded twice: {tokens:,} tokens")


@rule("TRM018", name="long-memory-file", severity=Severity.INFO, effect=Effect.TRUNCATED)
def long_memory_file(facts: TranscriptFacts) -> Iterator[Hit]:
    """MEMORY.md beside the session is so long that its end is not loaded.

    ## Why
    The agent wrote down what it will not be shown.
    ## Bad
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    memory/MEMORY.md = line*230
    ## Good
    u1 user : Fix it
    a1 assistant sent=900 out=5 : Done
    memory/MEMORY.md = line*30
    ## Fix
    Move topics into files of their own, and keep the list short.
    ## Source
    Reported for Claude Code: 200 lines are loaded.
    """
    lines = facts.memory_lines
    if lines is not None and lines > facts.profile.limits.memory_lines:
        most = facts.profile.limits.memory_lines
        yield Hit(facts.log.origin(0), f"MEMORY.md has {lines:,} lines; only {most:,} are loaded")


@rule("TRM020", name="useless-task-update", severity=Severity.WARNING, effect=Effect.IGNORED)
def useless_task_update(facts: TranscriptFacts) -> Iterator[Hit]:
    """A task was updated that does not exist, or twice in the same way.

    ## Why
    The agent has lost track of its list.
    ## Bad
    u1 user : Go
    a1 call id=t1 tool=TaskUpdate sent=900 out=30 : {"taskId": "9", "status": "completed"}
    r1 result id=t1 : Task not found
    ## Good
    u1 user : Go
    a1 call id=t1 tool=TaskCreate sent=900 out=30 : {"subject": "one"}
    r1 result id=t1 task=1 : Task #1 created
    a2 call id=t2 tool=TaskUpdate sent=950 out=30 : {"taskId": "1", "status": "deleted"}
    r2 result id=t2 : Updated task #1
    ## Fix
    Ask the agent to list its tasks.
    ## Source
    Observed in sessions of Claude Code.
    """
    rows = set(facts.context.lineage)
    known: dict[str, str] = {}
    for change in facts.log.todos:
        if change.row not in rows or change.row >= facts.end or not change.answered:
            continue
        if change.tool == "TaskCreate" and not change.failed:
            known[change.task or str(len(known) + 1)] = "pending"
        elif change.tool == "TaskUpdate":
            name, status = str(change.input.get("taskId") or "?"), change.input.get("status")
            if name not in known:
                yield Hit(facts.log.origin(change.row), f"the task {name} was updated and does not exist")
            elif isinstance(status, str):
                if known[name] == status and len(change.input) == 2:
                    yield Hit(facts.log.origin(change.row), f"the task {name} was already {status}")
                known[name] = status


@rule("TRM024", name="instruction-lost", severity=Severity.WARNING, effect=Effect.DROPPED)
def instruction_lost(facts: TranscriptFacts) -> Iterator[Hit]:
    """A person's standing instruction was compacted away, and the summary does not repeat it.

    ## Why
    The agent will go on as if it had never been said. Only some words are looked for, so this may be wrong.
    ## Bad
    u1 user : Never touch the production database.
    a1 assistant sent=900 out=5 : Understood
    b1 boundary
    s1 < b1 summary : We fixed the parser
    a2 assistant sent=700 out=5 : Going on
    ## Good
    u1 user : Never touch the production database.
    a1 assistant sent=900 out=5 : Understood
    b1 boundary
    s1 < b1 summary : The person said: never touch the production database
    a2 assistant sent=700 out=5 : Going on
    ## Fix
    Repeat it, or write it into CLAUDE.md or AGENTS.md.
    ## Source
    ctxview's own: a list of words.
    """
    for sentence, row in lost_instructions(facts):
        yield Hit(
            facts.log.origin(row), f"an instruction is no longer in the context: {beginning(sentence, 120)}"
        )
