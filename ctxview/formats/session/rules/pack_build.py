"""The rules that compare a pack with the one that the builder would build now (ABI035 to 038).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.analysis.wording import counted, excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import Origin
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.session import MESSAGES
from ctxview.formats.session.grammar import tail_count
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.pack_builder import (
    pack_offers,
    packed_sections,
    sections_in,
    source_text,
    unread_source,
)
from ctxview.formats.session.pack_candidates import FENCE, candidates, first_fit, is_child_history
from ctxview.formats.session.survey.facts import SessionFacts


@rule("ABI035", name="pack-incomplete", severity=Severity.WARNING)
def pack_incomplete(facts: SessionFacts) -> Iterator[Hit]:
    """The items are in another order than the builder's, or a source that it would take is missing.

    ## Why
    The builder offers its sources in a fixed order; one that does not fit is passed over, and a later,
    smaller one is still taken. A pack that differs was built by something else, or before a source got its
    content: the model does not see that source. A broken or oversized source or a bad name stops the builder:
    then no pack at all is built until that is mended.
    ## Bad
    context/pack.json = {"items": [{"kind": "summary", "source": "context/summary.md", "tokens": 10}]}
    ## Good
    context/todo.md (empty)
    ## Fix
    Build the pack again; `ctxview pack SESSION` says why each source is in or out and what stops the builder.
    ## Source
    Runtime: the candidates of the pack builder, its first fit, and what it refuses to build from.
    """
    pack, order = facts.session.pack, facts.profile.pack.order
    if not pack.items or not order:
        return
    recent = next((tail_count(item.range or "") for item in pack.items if item.source == MESSAGES), None)
    offered = candidates(facts.session, facts.history.messages, facts.profile, recent)
    chosen = [each.offer for each in first_fit(offered, facts.session.budget) if each.taken]
    packed = [item.source for item in pack.items]
    left_out = [each.source for each in chosen if each.source not in packed]
    # The choice depends on each source: with one that is redacted or cannot be read it is not known.
    unknown = (
        any(holds_redaction_mark(each.text) for each in offered)
        or unread_source(facts.session, facts.history.messages, recent or 0)
        or any(part.kind is EntryKind.FILE for part in facts.session.problems())
    )
    if left_out and not unknown:
        yield Hit(pack.json.origin("items"), _missing(facts, recent, left_out))
    places = {each.source: place for place, each in enumerate(offered)}
    known = [places[source] for source in packed if source in places]
    if known != sorted(known):
        first = next(place for place, pair in enumerate(pairwise(known)) if pair[0] > pair[1])
        source = [source for source in packed if source in places][first + 1]
        yield Hit(pack.json.origin("items"), f"{excerpt(source or '', 60)} is later than the builder puts it")


@rule("ABI036", name="pack-child", severity=Severity.ERROR)
def pack_child(facts: SessionFacts) -> Iterator[Hit]:
    """The pack takes in a child's history, or the result of a child that has not finished.

    ## Why
    A child's messages are its own: the parent sees its result, its references and its artifacts. The result
    of a child that is still at work is not final, which is warned about.
    ## Bad
    context/pack.json = {"items": [{"kind": "child", "source": "context/child/rev-1/messages.jsonl"}]}
    ## Good
    context/pack.json = {"items": [{"kind": "child_result", "source": "context/child/rev-1/result.md"}]}
    ## Fix
    Take the result instead of the history; wait for the child.
    ## Source
    Source document, Dedup: child results are merged as refs, summaries and artifacts.
    """
    terminal = facts.profile.words.terminal_statuses
    for item in facts.session.pack.items:
        origin = facts.session.pack.origin(item, "source")
        if item.source is not None and is_child_history(item.source):
            yield Hit(origin, f"{quoted(item.source, 60)} is the history of a child")
            continue
        status = _status(facts, item) if item.kind == "child_result" else None
        if status is not None and terminal and status not in terminal:
            message = f"the child has not finished, its status is {excerpt(status)}"
            yield Hit(origin, message, Severity.WARNING)


@rule("ABI037", name="pack-text-stale", severity=Severity.WARNING)
def pack_text_stale(facts: SessionFacts) -> Iterator[Hit]:
    """pack.md does not show what pack.json lists, or shows it as it was before.

    ## Why
    People read pack.md to see what the model was sent. When a section is missing, in another place or has
    another text than its source, it misleads. A source with a line of as many backquotes as its fence ends
    its section early, so that the following text looks like part of the pack.
    ## Bad
    context/summary.md = Ten other words which the pack has not seen yet.
    ## Good
    context/pack.md (absent)
    ## Fix
    Build the pack again with `ctxview pack --write`, which gives such a source a longer fence.
    ## Source
    Source document, Context Pack: what was sent can be inspected by reading the pack.
    """
    markdown = facts.session.pack.markdown
    if markdown.readable and not markdown.is_blank and facts.profile.pack.title is not None:
        yield from _section_hits(facts)
    sections = packed_sections(facts)
    for item in facts.session.pack.items:
        content = source_text(facts, item)
        fence = sections[item.source].fence if item.source in sections else FENCE
        if content is not None and any(line.startswith(fence) for line in content.split("\n")):
            origin = facts.session.pack.origin(item, "source")
            message = f"{excerpt(item.name, 60)} has a line that ends the text fence of pack.md early"
            yield Hit(origin, message)


@rule("ABI038", name="pack-item-reference", severity=Severity.INFO)
def pack_item_reference(facts: SessionFacts) -> Iterator[Hit]:
    """An item of the pack carries hashes or references that are expanded only when it is selected.

    ## Why
    Items may do so. What the model sees then depends on whether they were expanded: with the content in
    pack.md they were.
    ## Bad
    context/pack.json = {"items": [{"kind": "facts", "source": "context/facts.jsonl", "refs": ["swap:old"]}]}
    ## Good
    context/pack.json = {"items": [{"kind": "facts", "source": "context/facts.jsonl"}]}
    ## Fix
    Nothing to mend.
    ## Source
    Source document, Dedup: pack items may reference hashes and refs that are expanded only when selected.
    """
    sections = packed_sections(facts)
    for item in facts.session.pack.items:
        carried = [name for name in ("hash", "hashes", "refs", "ref") if name in item.members]
        if carried:
            expanded = "expanded in pack.md" if item.source in sections else "not expanded in pack.md"
            message = f"{excerpt(item.name, 60)} carries {' and '.join(carried)}, {expanded}"
            yield Hit(facts.session.pack.origin(item, carried[0]), message)


def _missing(facts: SessionFacts, recent: int | None, left_out: list[str]) -> str:
    # Finding out what stops the builder reads every record and message, so it is done only here.
    aborts = pack_offers(facts.session, facts.history.messages, facts.profile, recent=recent).aborts
    missing = f"{listed(left_out)} {'is' if len(left_out) == 1 else 'are'} not in the pack"
    if not aborts:
        return f"{missing}, but the builder would take {'it' if len(left_out) == 1 else 'them'} now"
    more = f" and {counted(len(aborts) - 1, 'other reason')}" if len(aborts) > 1 else ""
    return f"{missing}, and the builder builds no pack at all now: {excerpt(aborts[0], 120)}{more}"


def _status(facts: SessionFacts, item: PackItem) -> str | None:
    parts = (item.source or "").split("/")
    child = facts.session.child(parts[2]) if len(parts) > 3 and parts[:2] == ["context", "child"] else None
    return child.status if child is not None else None


def _section_hits(facts: SessionFacts) -> Iterator[Hit]:
    markdown = facts.session.pack.markdown
    sections = sections_in(markdown.text)
    shown_sources = [section.source for section in sections]
    listed_sources = [item.source for item in facts.session.pack.items if item.source is not None]
    missing = [source for source in listed_sources if source not in shown_sources]
    start_of_file = Origin(markdown.file, start=0, line=1, column=1)
    if missing:
        yield Hit(start_of_file, f"pack.md does not show {listed(missing)}")
    elif [source for source in shown_sources if source in listed_sources] != listed_sources:
        yield Hit(start_of_file, "pack.md shows the items in another order")
    items = {item.source: item for item in facts.session.pack.items}
    for section in sections:
        item = items.get(section.source)
        content = source_text(facts, item) if item is not None else None
        if content is not None and section.body != content.removesuffix("\n") + "\n":
            start = len(markdown.text[: section.start].encode())
            line = markdown.text.count("\n", 0, section.start) + 1
            origin = Origin(markdown.file, None, start, start + len(section.body.encode()), line, 1)
            changed = counted(abs(len(content) - len(section.body)), "character")
            message = f"{excerpt(section.source, 60)} is not what pack.md shows ({changed} of difference)"
            yield Hit(origin, message)
