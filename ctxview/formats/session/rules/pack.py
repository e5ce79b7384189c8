"""The rules about the items and figures of a pack (ABI029 to 034).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ctxview.analysis.text_copies import holds_redaction_mark
from ctxview.analysis.wording import excerpt, json_excerpt, quoted
from ctxview.core.findings import Effect, Hit, Severity, rule
from ctxview.files.strict_json.values import as_text, whole_number
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.session import MESSAGES
from ctxview.formats.session.grammar import tail_count
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.pack_builder import packed_sections, source_text
from ctxview.formats.session.pack_candidates import counted_by, estimate, source_fault, tail_text
from ctxview.formats.session.survey.facts import SessionFacts

LARGEST_SEARCHED: Final = 16 * 1024 * 1024
"""Bytes of the largest history that is searched for the marks of a redacted copy."""


@rule("ABI029", name="pack-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def pack_shape(facts: SessionFacts) -> Iterator[Hit]:
    """pack.json names no session, or is not a list of items that each name a permitted source.

    ## Why
    The pack is the record of what the model was shown. An item whose source is missing, or lies outside of
    what a pack may hold, cannot be checked or rebuilt; the runtime's inspector rejects the file.
    ## Bad
    context/pack.json = {"items": [{"kind": "notes", "source": "/etc/motd", "tokens": 1}]}
    ## Good
    context/pack.json = {"session": "default", "items": []}
    ## Fix
    Build the pack again: `ctxview pack SESSION --write`.
    ## Source
    Source document, Context Pack. Runtime: pack inspection and its list of sources.
    """
    pack = facts.session.pack.json
    if pack.error is not None:
        yield Hit(pack.origin(), f"pack.json is not JSON: {pack.error.reason}")
    if pack.document is None:
        return
    if pack.is_object and not isinstance(pack.members.get("session"), str):
        session = json_excerpt(pack.members.get("session"))
        fault = f"session is {session}, not a string" if "session" in pack.members else "there is no session"
        yield Hit(pack.origin("session"), f"pack.json: {fault}")
    items = pack.members.get("items")
    if not pack.is_object or not isinstance(items, list):
        fault = (
            f"items is {json_excerpt(items)}, not a list" if "items" in pack.members else "there are no items"
        )
        yield Hit(pack.origin("items"), f"pack.json: {fault}")
    elif "/items" in pack.document.duplicates:
        yield Hit(pack.origin("items"), "pack.json: items occurs twice")
    for item in facts.session.pack.items:
        yield from _item_fault(facts, item)


@rule("ABI030", name="pack-source-missing", severity=Severity.ERROR)
def pack_source_missing(facts: SessionFacts) -> Iterator[Hit]:
    """A source of the pack is gone, or empty.

    ## Why
    What the model was shown can then no longer be looked up. An empty source is only warned about: the
    builder leaves such sources out, so the file was emptied later.
    ## Bad
    context/summary.md (absent)
    ## Good
    context/summary.md = Everything is fine.
    ## Fix
    Build the pack again, or restore the file.
    ## Source
    Source document, Context Pack: items identify their source. Runtime: blank sources are skipped.
    """
    for item in facts.session.pack.items:
        source = item.source
        if source is None or source_fault(source) is not None:
            continue
        kind = facts.session.folder.entry(source).kind
        origin = facts.session.pack.origin(item, "source")
        if kind is EntryKind.ABSENT:
            yield Hit(origin, f"there is no {quoted(source, 60)}")
        elif kind is not EntryKind.FILE and kind is not EntryKind.UNKNOWN:
            yield Hit(origin, f"{quoted(source, 60)} is {kind.description}, not a file")
        elif kind is EntryKind.FILE and _is_empty(facts, source):
            yield Hit(origin, f"{quoted(source, 60)} is empty", Severity.WARNING)


@rule("ABI031", name="pack-of-another-session", severity=Severity.WARNING)
def pack_of_another_session(facts: SessionFacts) -> Iterator[Hit]:
    """The pack names another session or agent than the one it lies in.

    ## Why
    It was copied from elsewhere, or the folder was renamed: its figures are then not about these files.
    ## Bad
    context/pack.json = {"session": "other", "items": []}
    ## Good
    context/pack.json = {"session": "default", "items": []}
    ## Fix
    Build the pack again.
    ## Source
    Source document, Context Pack: `session` and `agent` of the example.
    """
    session, members = facts.session, facts.session.pack.json.members
    for name, actual in (("session", session.name), ("agent", session.agent)):
        named = as_text(members.get(name))
        if named is None or actual is None or holds_redaction_mark(f"{named} {actual}"):
            continue
        if named != actual and not _is_redacted_copy(facts):
            origin = session.pack.json.origin(name)
            yield Hit(origin, f"the pack is of the {name} {quoted(named)}, this is {quoted(actual)}")


def _is_redacted_copy(facts: SessionFacts) -> bool:
    """Whether texts were removed from the session, which is then a copy in a folder of its own."""
    parts = (part.text for part in facts.session.parts.values() if part.data is not None)
    if any(map(holds_redaction_mark, parts)):
        return True
    streams = facts.history.streams if facts.history.size <= LARGEST_SEARCHED else ()
    return any(
        holds_redaction_mark(line.content.decode("utf-8", "replace"))
        for stream in streams
        for line in stream.scan()
    )


@rule("ABI032", name="pack-budget", severity=Severity.ERROR)
def pack_budget(facts: SessionFacts) -> Iterator[Hit]:
    """The pack is larger than its budget, or was built for another one.

    ## Why
    A pack over its budget does not fit the window it was made for. One whose budget_tokens is not what
    context/budget says is only warned about: the budget was changed since.
    ## Bad
    context/budget = 12
    ## Good
    context/budget = 0
    ## Fix
    Build the pack again, or raise the budget.
    ## Source
    Source document, Context Pack: generation should respect context/budget. 0 or blank means no limit.
    """
    session = facts.session
    members, budget = session.pack.json.members, session.budget
    packed = whole_number(members.get("budget_tokens"))
    if packed is not None and packed != (budget or 0) and session.part("context/budget").readable:
        here = "no budget" if budget is None else f"{budget}"
        message = f"budget_tokens is {packed}, but context/budget says {here}"
        yield Hit(session.pack.json.origin("budget_tokens"), message, Severity.WARNING)
    used = sum(item.tokens or 0 for item in session.pack.items)
    if budget and used > budget:
        message = f"the items have {used} tokens together, {used - budget} more than the budget of {budget}"
        yield Hit(session.pack.json.origin("items"), message)


@rule("ABI033", name="pack-tokens", severity=Severity.WARNING)
def pack_tokens(facts: SessionFacts) -> Iterator[Hit]:
    """The tokens of an item are not what its source costs.

    ## Why
    The budget is kept by these figures. The runtime counts words; a figure that another way of counting
    gives is only mentioned, with the name of that way. Any other means that the source has changed.
    ## Bad
    context/summary.md = Now it says something of another length, and nobody has built the pack again.
    ## Good
    context/summary.md = This one has exactly ten words, as the other had.
    ## Fix
    Build the pack again.
    ## Source
    Runtime: the pack builder's estimate is the number of words, at least one.
    """
    for item in facts.session.pack.items:
        if item.tokens is None or item.source is None or facts.profile.pack.estimator is None:
            continue
        content = source_text(facts, item)
        if content is None or estimate(content, facts.profile) == item.tokens:
            continue
        origin = facts.session.pack.origin(item, "tokens")
        name = counted_by(item.tokens, content, facts.profile)
        cost = (
            f"{excerpt(item.name, 60)} has {estimate(content, facts.profile)} {facts.profile.pack.estimator}"
        )
        if name is not None:
            yield Hit(origin, f"{cost}; the {item.tokens} given are {name}", Severity.INFO)
        else:
            yield Hit(origin, f"{cost}, not {item.tokens}, and no other estimate gives that")


@rule("ABI034", name="pack-tail", severity=Severity.ERROR)
def pack_tail(facts: SessionFacts) -> Iterator[Hit]:
    """The range of recent messages is missing or invalid, longer than the history, or not its end any more.

    ## Why
    Recent messages are named by reference, `tail:40`, so the item means the end of the history when it is
    read. When pack.md shows other messages than those, the pack is older: a warning.
    ## Bad
    context/pack.json = {"items": [{"source": "messages.jsonl", "range": "tail:99"}]}
    ## Good
    context/pack.json = {"items": [{"source": "messages.jsonl", "range": "tail:6"}]}
    ## Fix
    Build the pack again.
    ## Source
    Source document, Context Pack: the example's `range`.
    """
    for item in facts.session.pack.items:
        if item.source != MESSAGES:
            continue
        count = tail_count(item.range or "")
        origin = facts.session.pack.origin(item, "range")
        if count is None:
            stated = f"the range is {json_excerpt(item.members.get('range'))}"
            fault = stated if "range" in item.members else "no range"
            yield Hit(origin, f"{fault}; recent messages are named as tail:40")
        elif facts.history.messages.problem is not None:
            continue
        elif facts.survey is not None and count > facts.survey.messages.records:
            there = f"the {facts.survey.messages.records} messages there are"
            yield Hit(origin, f"{item.range} is more than {there}")
        elif _shows_another_tail(facts, count):
            message = f"the last {count} messages are others than those in pack.md"
            yield Hit(origin, message, Severity.WARNING)


def _shows_another_tail(facts: SessionFacts, count: int) -> bool:
    then = packed_sections(facts).get(MESSAGES)
    now, _ = tail_text(facts.history.messages, count)
    return then is not None and now is not None and then.body != now


def _item_fault(facts: SessionFacts, item: PackItem) -> Iterator[Hit]:
    if not isinstance(item.value, dict):
        message = f"item {item.index + 1} is {json_excerpt(item.value)}, not an object"
        yield Hit(facts.session.pack.origin(item), message)
        return
    origin = facts.session.pack.origin(item, "source")
    if item.source is None:
        stated = f"the source is {json_excerpt(item.value.get('source'))}"
        fault = stated if "source" in item.value else "there is no source"
        yield Hit(origin, f"item {item.index + 1}: {fault}")
    elif reason := source_fault(item.source):
        yield Hit(origin, f"{quoted(item.source, 60)} cannot be a source: {reason}")


def _is_empty(facts: SessionFacts, source: str) -> bool:
    """Whether a source holds nothing; a source that cannot be read is not called empty."""
    if source == MESSAGES:
        return facts.history.messages.size == 0 and facts.history.messages.problem is None
    part = facts.session.folder.read(source)
    return part.readable and part.is_blank
