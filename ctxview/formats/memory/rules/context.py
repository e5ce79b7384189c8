"""The rules about one context document by itself (MCX001, 003, 005 to 008, 011, 012).

Examples are the lines of a small bundle: `context:` stores a document, `entry:` an entry, and a tool name is
a call. `<600 characters>` is a text of that length, and PLACEHOLDER the default context.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

import orjson

from ctxview.analysis.wording import excerpt, listed, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.formats.memory.document import DocumentSection, parse_document
from ctxview.formats.memory.model import ContextSnapshot
from ctxview.formats.memory.profile import Profile

_TIMELINE: Final = re.compile(r"\d{4}-\d\d-\d\d [–-] ")
_SENTENCE: Final = re.compile(r"[.!?](?:\s|$)")
_DIAGRAMS: Final = ("flowchart", "graph", "timeline")
LONGEST_DESCRIPTION: Final = 3


@rule("MCX001", name="context-over-cap", severity=Severity.ERROR, effect=Effect.REJECTED)
def context_over_cap(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A context document has more characters than the cap.

    ## Why
    Every session begins by reading it whole. The rules cap it at 5000 characters, and this memory server
    refuses more.
    ## Bad
    context: "<5001 characters>"
    ## Good
    context: "<5000 characters>"
    ## Fix
    `ctxview trim` deletes the oldest lines of low value until about 4800 characters are left.
    ## Source
    Source document, rule 2 and 6.1.
    """
    length = len(snapshot.text)
    if length > profile.caps.context:
        size = len(snapshot.text.encode("utf-8", "surrogatepass"))
        over = f"{length:,} characters ({size:,} bytes), {length - profile.caps.context:,} over the cap"
        yield Hit(
            snapshot.place.origin(snapshot.member), f"the context has {over} of {profile.caps.context:,}"
        )


@rule("MCX003", name="context-not-storable", severity=Severity.ERROR, effect=Effect.REJECTED)
def context_not_storable(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A context document is blank, far too long, or contains characters that are not text.

    ## Why
    The service refuses such a document, so the agent continues with the one before.
    ## Bad
    context: "Facts\\u0007"
    ## Good
    context: "Facts\\tone"
    ## Fix
    Write text without control characters other than tabs and line ends.
    ## Source
    Service: validation of contexts.
    """
    text, reason = snapshot.text, None
    bad = next((each for each in text if _is_not_text(each)), None)
    if not text.strip():
        reason = "the context is blank"
    elif len(text) > profile.caps.stored_context:
        reason = (
            f"the context has {len(text):,} characters; the service stores {profile.caps.stored_context:,}"
        )
    elif bad is not None:
        reason = f"the context contains U+{ord(bad):04X}, which is not text"
    if reason is not None:
        yield Hit(snapshot.place.origin(snapshot.member), reason)


@rule("MCX005", name="context-not-a-document", severity=Severity.WARNING)
def context_not_a_document(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A context document is JSON, or is enclosed in a code fence.

    ## Why
    The document is text for a reader. JSON spends the cap on punctuation, and a fence around it is copied
    into every later version.
    ## Bad
    context: "{\\"facts\\": [\\"Sam leads the launch\\"]}"
    ## Good
    context: "# Facts\\nSam leads the launch"
    ## Fix
    Write headings and lines of text.
    ## Source
    Service: the context is plain text.
    """
    text = snapshot.text.strip()
    if parse_document(text).fenced:
        yield Hit(snapshot.place.origin(snapshot.member), "a code fence encloses the whole context")
    elif text[:1] in ("{", "["):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            return
        yield Hit(snapshot.place.origin(snapshot.member), "the context is JSON instead of text")


@rule("MCX006", name="context-headings", severity=Severity.WARNING)
def context_headings(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A heading is unknown, repeated, empty, of another level, or out of order.

    ## Why
    Agents find and merge facts by heading. Facts under an unknown or second heading are merged twice or
    not at all.
    ## Bad
    context: "# Facts\\nSam leads\\n# Facts\\nThe launch is in May"
    ## Good
    context: "# Facts\\nSam leads\\n# Decisions\\nThe launch is in May"
    ## Fix
    Use each heading of the profile at most once, at level 1, in its order, and leave out empty ones.
    ## Source
    Prompt for contexts: the list of headings.
    """
    known = {heading.lower(): number for number, heading in enumerate(profile.words.headings)}
    document, last, seen = parse_document(snapshot.text), -1, set()
    for section in document.sections:
        if not section.heading:
            continue
        name = _plain_heading(section)
        place, problem = known.get(name), None
        if place is None:
            problem = "is not a heading of the profile"
        elif name in seen:
            problem = "occurs twice"
        elif section.level != 1:
            problem = f"has level {section.level} instead of 1"
        elif not section.body.strip():
            problem = "has no text"
        elif place < last:
            problem = "is out of order"
        seen.add(name)
        last = max(last, place if place is not None else -1)
        if problem is not None:
            where = snapshot.place.origin(snapshot.member)
            yield Hit(where, f"line {section.number}: the heading {quoted(section.heading)} {problem}")


@rule("MCX007", name="context-section-form", severity=Severity.INFO)
def context_section_form(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A section does not have the form of its kind: a long description, or a timeline without sorted dates.

    ## Why
    A timeline that is not sorted by date, or dates in other spellings, cannot be merged line by line.
    ## Bad
    context: "# Timeline\\nIn May the launch moved"
    ## Good
    context: "# Timeline\\n2026-05-02 – the launch moved"
    ## Fix
    Begin timeline lines with `YYYY-MM-DD – `, in ascending order. Keep the description to three
    sentences, and join entities with `→`.
    ## Source
    Prompt for contexts: sections.
    """
    for section in parse_document(snapshot.text).sections:
        for problem, severity in _form_problems(section):
            where = snapshot.place.origin(snapshot.member)
            yield Hit(where, f"{quoted(section.heading)}: {problem}", severity)


@rule("MCX008", name="context-diagram", severity=Severity.WARNING)
def context_diagram(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A Mermaid diagram has too many nodes, is too long, or is neither a flowchart nor a timeline.

    ## Why
    A diagram counts against the cap of the document. Ten nodes say what matters; more crowd out facts.
    ## Bad
    context: "```mermaid\\nflowchart TD\\na-->b-->c-->d-->e-->f-->g-->h-->i-->j-->k\\n```"
    ## Good
    context: "```mermaid\\nflowchart TD\\na-->b-->c-->d-->e-->f-->g-->h-->i-->j\\n```"
    ## Fix
    Keep the nodes that later sessions need.
    ## Source
    Source document, rule 2.
    """
    caps = profile.caps
    for diagram in parse_document(snapshot.text).diagrams:
        problems = []
        if len(diagram.nodes) > caps.diagram_nodes:
            problems.append(f"has {len(diagram.nodes)} nodes; the cap is {caps.diagram_nodes}")
        if len(diagram.text) > caps.diagram:
            problems.append(f"has {len(diagram.text):,} characters; the cap is {caps.diagram}")
        if diagram.kind not in _DIAGRAMS:
            problems.append(
                f"is a {excerpt(diagram.kind) or 'diagram without a kind'}, not a flowchart or timeline"
            )
        for problem in problems:
            yield Hit(
                snapshot.place.origin(snapshot.member), f"the diagram at line {diagram.number} {problem}"
            )


@rule("MCX011", name="context-example-text", severity=Severity.ERROR)
def context_example_text(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A context document contains text of the prompt's own examples. Only the profile v2 checks this.

    ## Why
    The model copied an example instead of the conversation, and every later session takes it for a fact.
    ## Bad
    profile: v2
    context: "# Facts\\nCEO = Bob"
    ## Good
    profile: v2
    context: "# Facts\\nThe CEO is Ada"
    ## Fix
    Delete the line.
    ## Source
    Later prompt for contexts. The source document shows such a greeting as good, so v1 allows it.
    """
    found = [text for text in profile.words.examples if text.lower() in snapshot.text.lower()]
    if found:
        where = snapshot.place.origin(snapshot.member)
        yield Hit(where, f"text of the prompt's examples: {listed(found)} (profile {profile.name})")


@rule("MCX012", name="context-control-marker", severity=Severity.ERROR, effect=Effect.STORED)
def context_control_marker(snapshot: ContextSnapshot, profile: Profile) -> Iterator[Hit]:
    """A context document contains a control marker of the harness.

    ## Why
    Markers separate what the harness says from what people say. Stored ones are read as instructions later.
    ## Bad
    context: "[SYSTEM_MSG] Sam leads the launch"
    ## Good
    context: "Sam leads the launch"
    ## Fix
    Delete the marker.
    ## Source
    Later rules: control markers.
    """
    found = [marker for marker in profile.words.markers if marker in snapshot.text]
    if found:
        yield Hit(snapshot.place.origin(snapshot.member), f"the context contains {listed(found)}")


def _plain_heading(section: DocumentSection) -> str:
    return re.sub(r"\s*\(.*\)\s*$", "", section.heading).strip().lower()


def _form_problems(section: DocumentSection) -> Iterator[tuple[str, Severity]]:
    name = _plain_heading(section)
    if name == "description":
        sentences = len(_SENTENCE.findall(section.body.strip() + " "))
        if sentences > LONGEST_DESCRIPTION:
            yield f"{sentences} sentences; one to three are enough", Severity.INFO
    elif name == "timeline":
        dates = []
        for line in section.lines:
            if _TIMELINE.match(line.text):
                dates.append(line.text[:10])
            else:
                yield f"line {line.number} does not begin with a date such as 2026-05-11 –", Severity.WARNING
        if dates != sorted(dates):
            yield "the dates are not in ascending order", Severity.WARNING
    elif name == "entities":
        missing = [line.number for line in section.lines if "→" not in line.text and "->" not in line.text]
        if missing:
            yield f"line {missing[0]} does not relate entities with →", Severity.INFO


def _is_not_text(character: str) -> bool:
    code = ord(character)
    non_character = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF or 0xD800 <= code <= 0xDFFF
    return non_character or (unicodedata.category(character) == "Cc" and character not in "\t\n\r")
