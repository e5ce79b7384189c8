"""The rules about the text of a context document, in every era (DOC007 to 011, 014 to 016, 018, 019).

Examples change the sound home of the tests, as in `template`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.analysis.wording import listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.workspace.assembly import cut_lines, trimmed, window_name
from ctxview.formats.workspace.facts import WorkspaceFacts, lines_matching, phrase_pattern, values_in
from ctxview.formats.workspace.model import ContextDocument, Role
from ctxview.formats.workspace.similarity import Likeness, compare, prepare

REASONING = re.compile(r"</?(?:think|thinking|scratchpad|reasoning)\s*>", re.IGNORECASE)
CHAT_MARKER = re.compile(r"<\|(?:im_start|im_end|assistant|user|system|endoftext)\|>")
_SUMMARY = re.compile(r"^## Compaction Summary \(")
_UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
NEAR = 0.9
"""The share of its budget from which a document is near it."""


@rule("DOC007", name="reasoning-tag", severity=Severity.ERROR)
def reasoning_tag(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The document has a reasoning tag such as `<think>`, open, closed or alone.

    ## Why
    The model reads its leaked thoughts as facts, in every turn, until the next compaction.
    ## Bad
    CONTEXT-cli.md > Facts += <think>The user wants files.</think>
    ## Good
    CONTEXT-cli.md > Facts += - The parser skips thinking tags.
    ## Fix
    Remove the tag and everything inside it.
    ## Source
    Source document, Working Memory = Garbage, and Compaction Prompt, rule 5.
    """
    for document in facts.workspace.documents:
        for number, found in lines_matching(document.markdown, REASONING):
            yield Hit(document.markdown.origin(number), f"a leaked reasoning tag: {found[0]}")


@rule("DOC008", name="chat-marker", severity=Severity.ERROR)
def chat_marker(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The document has a marker of a chat template, such as `<|im_start|>`.

    ## Why
    In a prompt such a marker can end the message in which it stands, or begin another one.
    ## Bad
    CONTEXT-cli.md > Facts += - <|im_start|>assistant
    ## Good
    CONTEXT-cli.md > Facts += - The assistant role is called model here.
    ## Fix
    Remove the marker.
    ## Source
    The cleaner of the program removes them.
    """
    for document in facts.workspace.documents:
        for number, found in lines_matching(document.markdown, CHAT_MARKER):
            yield Hit(document.markdown.origin(number), f"a marker of a chat template: {found[0]}")


@rule("DOC009", name="meta-commentary", severity=Severity.WARNING)
def meta_commentary(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A statement is the model talking about its own next steps.

    ## Why
    "I should ask" is not a fact. Read back in the next turn, it becomes an instruction.
    ## Bad
    CONTEXT-cli.md > Facts += - I should ask for the file locations.
    ## Good
    CONTEXT-cli.md > Facts += - The file locations are not known.
    ## Fix
    State the fact or the open item, or remove the line.
    ## Source
    Source document, Compaction Prompt, rule 4.
    """
    yield from _phrases(facts, facts.profile.words.meta_commentary, "meta-commentary")


@rule("DOC010", name="self-reference", severity=Severity.WARNING)
def self_reference(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A statement is about the conversation instead of its subject.

    ## Why
    The next turn has another conversation: "the conversation history" then means something else.
    ## Bad
    CONTEXT-cli.md > Facts += - The conversation history highlights the need to read files.
    ## Good
    CONTEXT-cli.md > Facts += - Files must be read whole, because summaries lose text.
    ## Fix
    Write what was found, not that it was talked about.
    ## Source
    Source document, Working Memory = Garbage.
    """
    yield from _phrases(facts, facts.profile.words.self_reference, "about the conversation itself")


@rule("DOC011", name="template-echo", severity=Severity.ERROR)
def template_echo(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A line is still a placeholder of the template, such as `[What was decided?]`.

    ## Why
    The model copied the template instead of filling it in: the section says nothing.
    ## Bad
    CONTEXT-cli.md > Facts = [What was discovered?]
    ## Good
    CONTEXT-cli.md > Facts = - The clock is 7 seconds late.
    ## Fix
    Fill the section in, or leave it empty.
    ## Source
    ctxview's own, after the template of the source document.
    """
    known = {each.casefold() for each in facts.profile.words.placeholders}
    for document in facts.workspace.documents:
        for _, statement in document.markdown.statements():
            inner = re.fullmatch(r"\[(.+)\]", statement.text.strip())
            if inner and (inner[1].strip().casefold() in known or inner[1].rstrip().endswith("?")):
                place = document.markdown.origin(statement.line, statement.last)
                yield Hit(place, f"a placeholder of the template: {quoted(statement.text)}")


@rule("DOC014", name="accumulated", severity=Severity.ERROR)
def accumulated(facts: WorkspaceFacts) -> Iterator[Hit]:
    """Compactions were appended to the document instead of replacing it.

    ## Why
    The document grows with every compaction, and the model reads old states as if they were current.
    ## Bad
    CONTEXT-cli.md += ## Compaction Summary (2026-02-16T11:39:46Z)
    CONTEXT-cli.md += The clock was discussed.
    ## Good
    CONTEXT-cli.md > Facts += - The compaction of 2026-02-16 lost the list of files.
    ## Fix
    Keep the newest state and overwrite the rest: `ctxview compact` does so.
    ## Source
    Source document, Layer 2: overwritten each compaction, one file, not accumulated sections.
    """
    for document in facts.workspace.documents:
        text = document.markdown
        summaries = list(lines_matching(text, _SUMMARY))
        for at, (number, _) in enumerate(summaries, 1):
            yield Hit(text.origin(number), f"an appended compaction, {at} of {len(summaries)}")
        tasks = [each for each in text.sections if each.level == 2 and each.title in ("Task", "Current Task")]
        for section in tasks[1:]:
            yield Hit(text.origin(section.line), "the template begins again: an older state was kept")
        lines = text.lines[text.body_line :]
        for number, line in enumerate(lines, text.body_line + 1):
            if (
                line == "---"
                and number < len(text.lines)
                and re.match(r"session_key\s*:", text.lines[number])
            ):
                yield Hit(text.origin(number), "a second front matter: an older file was kept")


@rule("DOC015", name="never-occurred", severity=Severity.WARNING)
def never_occurred(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A path, number or piece of code in the document occurs in no raw message.

    ## Why
    The compaction must copy them exactly. What no message has was misspelled or invented.
    ## Bad
    CONTEXT-cli.md > Facts += - The port is 5433.
    ## Good
    CONTEXT-cli.md > Facts += - The port is 5432.
    ## Fix
    Look it up in the history, and correct or remove it.
    ## Source
    Source document, Compaction Prompt, rule 1.
    """
    survey = facts.survey
    if survey is None or not survey.complete or not survey.has_history or not survey.messages:
        return
    for document in facts.workspace.documents:
        for _, statement in document.markdown.statements():
            unseen = [value for value in values_in(statement.text) if value in survey.unseen]
            if unseen:
                place = document.markdown.origin(statement.line, statement.last)
                yield Hit(place, f"in no raw message: {listed(unseen)}")


@rule("DOC016", name="said-twice-in-document", severity=Severity.WARNING)
def said_twice_in_document(facts: WorkspaceFacts) -> Iterator[Hit]:
    """Two bullets of the document say the same.

    ## Why
    Each costs tokens in every turn, and a later change may reach only one of them.
    ## Bad
    CONTEXT-cli.md > Facts += - The service clock runs seven seconds late.
    CONTEXT-cli.md > Facts += - The clock of the service runs seven seconds late.
    ## Good
    CONTEXT-cli.md > Facts += - The service clock runs seven seconds late.
    CONTEXT-cli.md > Facts += - The database clock is right.
    ## Fix
    Keep the better one.
    ## Source
    ctxview's own; the method of the duplicate map.
    """
    for document in facts.workspace.documents:
        text = document.markdown
        said = [(each, prepare(each.text)) for section in text.sections for each in section.bullets][:200]
        for at, (bullet, prepared) in enumerate(said):
            for earlier, other in said[:at]:
                if not prepared.is_comparable:
                    break
                found = compare(prepared, other, lambda _: 1.0, 85)
                if found is not None and found[0] is not Likeness.CONTRADICTION:
                    yield Hit(text.origin(bullet.line, bullet.last), f"line {earlier.line} says the same")
                    break


@rule("DOC018", name="over-its-budget", severity=Severity.WARNING, effect=Effect.TRUNCATED)
def over_its_budget(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The document is longer than the working memory budget, or nearly so: the model is not shown its end.

    ## Why
    The program cuts silently at a line. The last sections, pending items and errors, vanish first.
    ## Bad
    SESSION_41308070.md > Facts = - The clocks are late. @2000
    ## Good
    SESSION_41308070.md > Facts = - The clocks are late.
    ## Fix
    Shorten the document, or use a model with a larger window.
    ## Source
    The budget formulas of the program. Source document, Token Budget.
    """
    if facts.era is None:
        return
    for document in facts.workspace.documents:
        unread = document.role is Role.CONTEXT and facts.era in ("C", "D")
        if document.status == "active" and document.body.strip() and not unread:
            yield from _budget(facts, document)


@rule("DOC019", name="encoding", severity=Severity.ERROR)
def encoding(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The document is not clean UTF-8 text: wrong bytes, NUL, mixed line ends or invisible characters.

    ## Why
    The program replaces or refuses such bytes, and the model may see something else than a person does.
    ## Bad
    CONTEXT-cli.md > Facts += - The clock\u200b is late.
    ## Good
    CONTEXT-cli.md > Facts += - Die Uhr geht spät.
    ## Fix
    Write the line again.
    ## Source
    ctxview's own.
    """
    for document in facts.workspace.documents:
        text = document.markdown
        try:
            text.data.decode("utf-8")
        except UnicodeDecodeError as error:
            place = text.origin(text.data.count(b"\n", 0, error.start) + 1)
            yield Hit(place, "the bytes are not UTF-8 here")
        if b"\0" in text.data:
            yield Hit(text.origin(text.data[: text.data.index(b"\0")].count(b"\n") + 1), "a NUL byte")
        ends = text.data.count(b"\r\n")
        if text.data.count(b"\r") > ends or 0 < ends < text.data.count(b"\n"):
            yield Hit(text.origin(), "lines end in different ways: carriage returns are mixed with newlines")
        for number, line in enumerate(text.lines, 1):
            if (found := _UNSEEN.search(line)) is not None and not (number == 1 and found.start() == 0):
                yield Hit(text.origin(number), f"an invisible character, U+{ord(found[0]):04X}")


def _phrases(facts: WorkspaceFacts, phrases: tuple[str, ...], what: str) -> Iterator[Hit]:
    pattern = phrase_pattern(phrases)
    if pattern is None:
        return
    for document in facts.workspace.documents:
        for number, found in lines_matching(document.markdown, pattern):
            line = document.markdown.lines[number - 1].strip()
            yield Hit(document.markdown.origin(number), f"{what} ({quoted(found[0])}): {quoted(line, 60)}")


def _budget(facts: WorkspaceFacts, document: ContextDocument) -> Iterator[Hit]:
    text = document.markdown
    first, last = trimmed(text.lines, text.body_line)
    lines = text.lines[first:last]
    tokens = facts.count("\n".join(lines))
    over: dict[int, list[str]] = {}
    near = []
    for window, mode in facts.judged:
        limit = facts.working_memory_limit(window, mode)
        if tokens > limit:
            over.setdefault(limit, []).append(f"{window_name(window)} {mode}")
        elif tokens >= NEAR * limit:
            near.append(f"{window_name(window)} {mode}")
    if over:
        limit = max(over)
        _, kept = cut_lines(lines, limit * 4, tail=False)
        everywhere = sum(map(len, over.values())) == len(facts.judged)
        names = listed([name for names in over.values() for name in names], 6)
        place = text.origin(min(first + kept + 1, last), last)
        message = (
            f"{tokens:,} tokens; cut at {names}; with {limit:,} tokens nothing after line {first + kept}"
        )
        yield Hit(place, f"{message} is shown", Severity.ERROR if everywhere else None)
    elif near:
        yield Hit(text.origin(), f"{tokens:,} tokens, nearly all of the budget at {listed(near, 6)}")
