"""The rules about the template of a context document (DOC001 to DOC006, DOC012, DOC013, DOC017).

Examples change the sound home of the tests: `FILE > SECTION = text` sets the text of a section, `+=` adds a
line to it, `FILE - SECTION` removes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ctxview.analysis.wording import listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.workspace.facts import WorkspaceFacts
from ctxview.formats.workspace.markdown import MarkdownDocument, Section
from ctxview.formats.workspace.similarity import Likeness, compare, prepare

_NEAR_BOX = re.compile(r"^\s*(?:-\[[ xX]?\]|[-*+] \[\]|[*+] \[[ xX]\]|[-*+] \[[^\]]{2,}\](?!\())")
_BLANKED = re.compile(r"`[^`]*`|https?://\S+|\b[\w.-]*/[\w./-]+|\bv?\d+(?:\.\d+)+|\b[\w-]+\.[a-z]{1,4}\b")
_END = re.compile(r"[.?!](?:[\"')\]]*)(?=\s+[A-Z\"'(]|\s*$)")


@rule("DOC001", name="template-sections", severity=Severity.ERROR)
def template_sections(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A section of the template is missing or occurs twice, or the document has an unknown one.

    ## Why
    The next compaction and the model both rely on the headings: what has no place in the template is lost.
    ## Bad
    CONTEXT-cli.md - Facts
    ## Good
    CONTEXT-cli.md > Facts =
    ## Fix
    Keep every heading of the template once, also over an empty section.
    ## Source
    Source document, CONTEXT.md Template.
    """
    for document, name, template in facts.templated:
        text = document.markdown
        if template.keys:
            starts = {line.partition(":")[0].strip() for line in text.prose if ":" in line}
            if missing := [key for key in template.keys if key not in starts]:
                yield Hit(text.origin(), f"no line begins with {listed(missing)} (template {name})")
            continue
        found = _sections(text)
        known = {title.casefold() for title in template.sections}
        titles = [section.title.casefold() for section in found]
        needed = [title for title in template.sections if title not in template.optional]
        missing = [title for title in needed if title.casefold() not in titles]
        if missing:
            yield Hit(text.origin(), f"the section {listed(missing)} is missing (template {name})")
        for at, section in enumerate(found):
            title = titles[at]
            if title not in known and not section.title.startswith("Compaction Summary"):
                message = f"the template {name} has no section {quoted(section.title)}"
                yield Hit(text.origin(section.line), message, Severity.WARNING)
            elif title in titles[:at]:
                yield Hit(text.origin(section.line), f"the section {quoted(section.title)} occurs twice")


@rule("DOC002", name="section-order", severity=Severity.WARNING)
def section_order(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The sections are not in the order of the template.

    ## Why
    A small model fills the template from top to bottom. Another order is a sign that it did not follow it.
    ## Bad
    CONTEXT-cli.md - Task
    CONTEXT-cli.md += ## Task
    CONTEXT-cli.md += Fix the clock.
    ## Good
    CONTEXT-cli.md > Task = Fix the clock.
    ## Fix
    Move the section to its place.
    ## Source
    Source document, CONTEXT.md Template.
    """
    for document, name, template in facts.templated:
        places = {title.casefold(): at for at, title in enumerate(template.sections)}
        latest = -1
        for section in _sections(document.markdown):
            place = places.get(section.title.casefold())
            if place is None:
                continue
            if place < latest:
                after = template.sections[latest]
                message = f"{quoted(section.title)} comes after {quoted(after)} (template {name})"
                yield Hit(document.markdown.origin(section.line), message)
            latest = max(latest, place)


@rule("DOC003", name="title", severity=Severity.INFO)
def title(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The document has another title than `# Context`, or one that is not its first line.

    ## Why
    The template begins with the title. The program removes it before it writes the file, so only the strict
    template requires it.
    ## Bad
    CONTEXT-cli.md > Errors = # Summary
    ## Good
    CONTEXT-cli.md > Errors = - The first build failed because of a missing table.
    ## Fix
    Keep at most one title, on the first line.
    ## Source
    Source document, CONTEXT.md Template; the program strips the title.
    """
    for document, _, template in facts.templated:
        text = document.markdown
        severity = Severity.ERROR if template.strict else None
        titles = [section for section in text.sections if section.level == 1]
        if template.strict and not titles:
            yield Hit(text.origin(), f"there is no title # {template.heading}", severity)
        first = next((at for at, line in enumerate(text.lines, 1) if at > text.body_line and line.strip()), 0)
        for at, section in enumerate(titles):
            if at > 0 or section.line != first or section.title.casefold() != template.heading.casefold():
                message = f"the title {quoted(section.title)} is not # {template.heading} on the first line"
                yield Hit(text.origin(section.line), message, severity)


@rule("DOC004", name="too-many-bullets", severity=Severity.ERROR)
def too_many_bullets(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A section has more bullets than the template allows: ten, or five in all in the shortest template.

    ## Why
    A long list is a transcript, not a summary: the important bullets drown, and the end may be cut.
    ## Bad
    CONTEXT-cli.md > Facts = - The first clock is late.
    CONTEXT-cli.md > Facts += - The second clock is late.
    CONTEXT-cli.md > Facts += - The third clock is late.
    CONTEXT-cli.md > Facts += - The fourth clock is late.
    CONTEXT-cli.md > Facts += - The fifth clock is late.
    CONTEXT-cli.md > Facts += - The sixth clock is late.
    CONTEXT-cli.md > Facts += - The seventh clock is late.
    CONTEXT-cli.md > Facts += - The eighth clock is late.
    CONTEXT-cli.md > Facts += - The ninth clock is late.
    CONTEXT-cli.md > Facts += - The tenth clock is late.
    CONTEXT-cli.md > Facts += - The eleventh clock is late.
    ## Good
    CONTEXT-cli.md > Facts += - The second clock is late.
    ## Fix
    Keep the bullets that the next step needs.
    ## Source
    Source document, Compaction Prompt, rule 2.
    """
    for document, _, template in facts.templated:
        text = document.markdown
        if template.most_in_all is not None:
            bullets = [each for section in text.sections for each in section.bullets]
            if len(bullets) > template.most_in_all:
                place = text.origin(bullets[template.most_in_all].line)
                yield Hit(place, f"{len(bullets)} bullets, at most {template.most_in_all} are allowed")
            continue
        for section in text.sections:
            if len(section.bullets) > template.most_bullets:
                place = text.origin(section.bullets[template.most_bullets].line)
                message = f"{quoted(section.title)} has {len(section.bullets)} bullets"
                yield Hit(place, f"{message}, at most {template.most_bullets} are allowed")


@rule("DOC005", name="one-sentence-per-bullet", severity=Severity.WARNING)
def one_sentence_per_bullet(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A bullet has more than one sentence.

    ## Why
    One fact a bullet can be checked, removed and merged by itself.
    ## Bad
    CONTEXT-cli.md > Decisions = - Use UTC everywhere. Local times are shown only on the screen.
    ## Good
    CONTEXT-cli.md > Decisions = - Use UTC everywhere, e.g. in the log of `src/clock.rs`.
    ## Fix
    Make a bullet of each sentence.
    ## Source
    Source document, Compaction Prompt, rule 2.
    """
    abbreviations = facts.profile.words.abbreviations
    for document, _, _ in facts.templated:
        for _, statement in document.markdown.statements():
            if statement.kind == "bullet" and (count := sentence_count(statement.text, abbreviations)) > 1:
                place = document.markdown.origin(statement.line, statement.last)
                yield Hit(place, f"{count} sentences in one bullet: {quoted(statement.text, 60)}")


@rule("DOC006", name="task-is-one-sentence", severity=Severity.WARNING)
def task_is_one_sentence(facts: WorkspaceFacts) -> Iterator[Hit]:
    """The task is empty, a list, or more than one sentence.

    ## Why
    The task is the first line that the model reads. Without it the model does not know what it is doing.
    ## Bad
    CONTEXT-cli.md > Task =
    ## Good
    CONTEXT-cli.md > Task = Fix the clock.
    ## Fix
    Write one sentence: the thing that the user is working on right now.
    ## Source
    Source document, CONTEXT.md Template.
    """
    for document, _, template in facts.templated:
        text, section = document.markdown, _titled(document.markdown, template.task)
        if section is None:
            continue
        place = text.origin(section.line, section.last)
        if not section.statements:
            yield Hit(place, f"{section.title} is empty", Severity.ERROR)
        elif section.bullets:
            yield Hit(place, f"{section.title} is a list, not one sentence")
        else:
            whole = " ".join(each.text for each in section.statements)
            count = sentence_count(whole, facts.profile.words.abbreviations)
            if count > 1:
                yield Hit(place, f"{section.title} has {count} sentences")


@rule("DOC012", name="boxes", severity=Severity.INFO)
def boxes(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A pending item has no box, or a malformed one, or another section has boxes.

    ## Why
    Only a well-formed box can be ticked. The prompt that was shipped never asks for boxes, so a missing one
    counts only in the strict template.
    ## Bad
    CONTEXT-cli.md > Pending = -[ ] Write the test.
    ## Good
    CONTEXT-cli.md > Pending = - [ ] Write the test.
    ## Fix
    Write `- [ ]` for an open item and `- [x]` for a done one.
    ## Source
    Source document, CONTEXT.md Template.
    """
    for document, _, template in facts.templated:
        text, severity = document.markdown, Severity.WARNING if template.strict else None
        for section in text.sections:
            pending = section.title.casefold() == template.pending.casefold()
            for number in range(section.line + 1, section.last + 1):
                if _NEAR_BOX.match(text.prose[number - 1]):
                    shown = quoted(text.lines[number - 1].strip())
                    yield Hit(text.origin(number), f"{shown} is not a box: write - [ ] or - [x]", severity)
            for bullet in section.bullets:
                place = text.origin(bullet.line)
                if bullet.box is not None and bullet.box not in (" ", "x", "X"):
                    yield Hit(place, f"the box [{bullet.box}] is neither open nor done", severity)
                elif pending and bullet.box is None and template.strict:
                    yield Hit(place, f"{quoted(bullet.text)} is pending and has no box", severity)
                elif not pending and bullet.box is not None and section.level == 2:
                    yield Hit(
                        place, f"a box in {quoted(section.title)}: only pending items have one", severity
                    )


@rule("DOC013", name="outside-the-template", severity=Severity.WARNING)
def outside_the_template(facts: WorkspaceFacts) -> Iterator[Hit]:
    """There is text outside the template: before the first heading, or a paragraph in a list section.

    ## Why
    It is mostly talk of the model around its answer, and it takes room from the facts.
    ## Bad
    CONTEXT-cli.md > Facts = The clock was discussed at length.
    ## Good
    CONTEXT-cli.md > Facts = - The clock was discussed at length.
    ## Fix
    Remove it, or make it a bullet of its section.
    ## Source
    Source document, Compaction Prompt, rule 6.
    """
    for document, _, template in facts.templated:
        text = document.markdown
        if template.keys or template.most_in_all is not None:
            continue
        for section in text.sections:
            outside = section.level < 2
            if not outside and section.title.casefold() == template.task.casefold():
                continue
            for statement in section.statements:
                if outside or statement.kind == "paragraph":
                    where = (
                        "before the first section" if outside else f"a paragraph in {quoted(section.title)}"
                    )
                    place = text.origin(statement.line, statement.last)
                    yield Hit(place, f"{where}: {quoted(statement.text, 60)}")


@rule("DOC017", name="done-but-pending", severity=Severity.INFO)
def done_but_pending(facts: WorkspaceFacts) -> Iterator[Hit]:
    """A pending item is ticked, or is also among the completed tasks.

    ## Why
    What is done is not pending: the model may do it again.
    ## Bad
    CONTEXT-cli.md > Pending = - [x] Write the test.
    ## Good
    CONTEXT-cli.md > Pending = - [ ] Write the test.
    ## Fix
    Remove the item.
    ## Source
    ctxview's own.
    """
    for document, _, template in facts.templated:
        text, pending = document.markdown, _titled(document.markdown, template.pending)
        done = _titled(text, template.completed) if template.completed else None
        finished = [prepare(each.text) for each in done.bullets] if done is not None else []
        for bullet in pending.bullets if pending is not None else []:
            place = text.origin(bullet.line, bullet.last)
            if bullet.box in ("x", "X"):
                yield Hit(place, f"{quoted(bullet.text)} is ticked and still pending")
                continue
            likeness = (compare(prepare(bullet.text), each, lambda _: 1.0, 85) for each in finished)
            if any(found is not None and found[0] is not Likeness.CONTRADICTION for found in likeness):
                yield Hit(place, f"{quoted(bullet.text)} is also in {done.title if done else ''}")


def sentence_count(text: str, abbreviations: Sequence[str]) -> int:
    """Count sentences; code, paths, URLs, versions and abbreviations end none."""
    bare = _BLANKED.sub("x", text)
    for word in abbreviations:
        bare = re.sub(rf"(?<!\w){re.escape(word)}", word.replace(".", ""), bare, flags=re.IGNORECASE)
    ends = len(_END.findall(bare))
    return max(1, ends + (0 if re.search(r"[.?!][\"')\]]*\s*$", bare) else 1)) if bare.strip() else 0


def _sections(text: MarkdownDocument) -> list[Section]:
    return [section for section in text.sections if section.level == 2]


def _titled(text: MarkdownDocument, title: str) -> Section | None:
    return next((each for each in _sections(text) if each.title.casefold() == title.casefold()), None)
