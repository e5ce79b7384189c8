"""The rules about a pack and what it says of itself (ABI029 to 034).

Examples change a sound session, as in `layout`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import quoted, shown, spelled
from ctxview.findings import Effect, Hit, Severity, rule
from ctxview.formats.session.candidates import estimate, tail_text
from ctxview.formats.session.folder import EntryKind
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import PackItem, text, whole
from ctxview.formats.session.names import MESSAGES, tail_count
from ctxview.formats.session.pack_sources import source_fault
from ctxview.formats.session.packed import packed_sections, source_text
from ctxview.formats.session.token_match import counted_by


@rule("ABI029", name="pack-shape", severity=Severity.ERROR, effect=Effect.REJECTED)
def pack_shape(look: Look) -> Iterator[Hit]:
    """pack.json is not a list of items that each name a permitted source.

    ## Why
    The pack is the record of what the model was shown. An item whose source is missing, or lies outside of
    what a pack may hold, cannot be checked or rebuilt; the runtime's inspector rejects the file.
    ## Bad
    context/pack.json = {"items": [{"kind": "notes", "source": "/etc/motd", "tokens": 1}]}
    ## Good
    context/pack.json = {"session": "default", "items": []}
    ## Fix
    Build the pack anew: `ctxview pack SESSION --write`.
    ## Source
    Source document, Context Pack. Runtime: pack inspection and its list of sources.
    """
    pack = look.session.pack.json
    if pack.error is not None:
        yield Hit(pack.origin(), f"pack.json is not JSON: {pack.error.reason}")
    if pack.document is None:
        return
    items = pack.members.get("items")
    if not pack.is_object or not isinstance(items, list):
        told = f"items is {spelled(items)}, not a list" if "items" in pack.members else "there are no items"
        yield Hit(pack.origin("items"), f"pack.json: {told}")
    elif "/items" in pack.document.duplicates:
        yield Hit(pack.origin("items"), "pack.json: items stands twice")
    for item in look.session.pack.items:
        yield from _item_fault(look, item)


@rule("ABI030", name="pack-source-missing", severity=Severity.ERROR)
def pack_source_missing(look: Look) -> Iterator[Hit]:
    """A source of the pack is gone, or empty.

    ## Why
    What the model was shown can then no longer be looked up. An empty source is only warned about: the
    builder leaves such sources out, so the file was emptied later.
    ## Bad
    context/summary.md (absent)
    ## Good
    context/summary.md = Everything is fine.
    ## Fix
    Build the pack anew, or bring the file back.
    ## Source
    Source document, Context Pack: items identify their source. Runtime: blank sources are skipped.
    """
    for item in look.session.pack.items:
        source = item.source
        if source is None or source_fault(source) is not None:
            continue
        entry = look.session.folder.entry(source)
        origin = look.session.pack.origin(item, "source")
        if entry.kind is not EntryKind.FILE:
            yield Hit(origin, f"there is no {quoted(source, 60)}")
        elif not _has_content(look, source):
            yield Hit(origin, f"{quoted(source, 60)} is empty", Severity.WARNING)


@rule("ABI031", name="pack-of-another-session", severity=Severity.WARNING)
def pack_of_another_session(look: Look) -> Iterator[Hit]:
    """The pack names another session or agent than the one it lies in.

    ## Why
    It was copied from elsewhere, or the folder was renamed: its figures are then not about these files.
    ## Bad
    context/pack.json = {"session": "other", "items": []}
    ## Good
    context/pack.json = {"session": "default", "items": []}
    ## Fix
    Build the pack anew.
    ## Source
    Source document, Context Pack: `session` and `agent` of the example.
    """
    session, members = look.session, look.session.pack.json.members
    for name, actual in (("session", session.name), ("agent", session.agent)):
        told = text(members.get(name))
        if told is not None and actual is not None and told != actual:
            origin = session.pack.json.origin(name)
            yield Hit(origin, f"the pack is of the {name} {quoted(told)}, this is {quoted(actual)}")


@rule("ABI032", name="pack-budget", severity=Severity.ERROR)
def pack_budget(look: Look) -> Iterator[Hit]:
    """The pack is larger than its budget, or was built for another one.

    ## Why
    A pack over its budget does not fit the window it was made for. One whose budget_tokens is not what
    context/budget says is only warned about: the budget was changed since.
    ## Bad
    context/budget = 12
    ## Good
    context/budget = 0
    ## Fix
    Build the pack anew, or raise the budget.
    ## Source
    Source document, Context Pack: generation should respect context/budget. 0 or blank means no limit.
    """
    session = look.session
    members, budget = session.pack.json.members, session.budget
    told = whole(members.get("budget_tokens"))
    if told is not None and told != (budget or 0) and session.part("context/budget").readable:
        here = "no budget" if budget is None else f"{budget}"
        message = f"budget_tokens is {told}, but context/budget says {here}"
        yield Hit(session.pack.json.origin("budget_tokens"), message, Severity.WARNING)
    used = sum(item.tokens or 0 for item in session.pack.items)
    if budget and used > budget:
        message = f"the items have {used} tokens together, {used - budget} more than the budget of {budget}"
        yield Hit(session.pack.json.origin("items"), message)


@rule("ABI033", name="pack-tokens", severity=Severity.WARNING)
def pack_tokens(look: Look) -> Iterator[Hit]:
    """The tokens of an item are not what its source costs.

    ## Why
    The budget is kept by these figures. The runtime counts words; a figure that another way of counting
    gives is only mentioned, with the name of that way. Any other means that the source has changed.
    ## Bad
    context/summary.md = Now it says something of another length, and nobody has built the pack again.
    ## Good
    context/summary.md = This one has exactly ten words, as the other had.
    ## Fix
    Build the pack anew.
    ## Source
    Runtime: the pack builder's estimate is the number of words, at least one.
    """
    for item in look.session.pack.items:
        if item.tokens is None or item.source is None or look.profile.pack.estimator is None:
            continue
        content = source_text(look, item)
        if content is None or estimate(content, look.profile) == item.tokens:
            continue
        origin = look.session.pack.origin(item, "tokens")
        name = counted_by(item.tokens, content, look.profile)
        cost = f"{shown(item.name, 60)} has {estimate(content, look.profile)} {look.profile.pack.estimator}"
        if name is not None:
            yield Hit(origin, f"{cost}; the {item.tokens} given are {name}", Severity.INFO)
        else:
            yield Hit(origin, f"{cost}, not {item.tokens}, and no other estimate gives that")


@rule("ABI034", name="pack-tail", severity=Severity.ERROR)
def pack_tail(look: Look) -> Iterator[Hit]:
    """The range of recent messages is none, longer than the history, or no longer the end of it.

    ## Why
    Recent messages are named by reference, `tail:40`, so the item means whatever the end is when it is read.
    When pack.md shows other messages than those, the pack is of an earlier time: a warning.
    ## Bad
    context/pack.json = {"items": [{"source": "messages.jsonl", "range": "tail:99"}]}
    ## Good
    context/pack.json = {"items": [{"source": "messages.jsonl", "range": "tail:6"}]}
    ## Fix
    Build the pack anew.
    ## Source
    Source document, Context Pack: the example's `range`.
    """
    for item in look.session.pack.items:
        if item.source != MESSAGES:
            continue
        count = tail_count(item.range or "")
        origin = look.session.pack.origin(item, "range")
        if count is None:
            told = f"the range is {spelled(item.members['range'])}" if "range" in item.members else "no range"
            yield Hit(origin, f"{told}; recent messages are named as tail:40")
        elif look.survey is not None and count > look.survey.messages.records:
            yield Hit(
                origin, f"{item.range} is more than the {look.survey.messages.records} messages there are"
            )
        elif _shows_another_tail(look, count):
            message = f"the last {count} messages are others than those in pack.md"
            yield Hit(origin, message, Severity.WARNING)


def _shows_another_tail(look: Look, count: int) -> bool:
    then = packed_sections(look).get(MESSAGES)
    return then is not None and then.body != tail_text(look.history.messages, count)[0]


def _item_fault(look: Look, item: PackItem) -> Iterator[Hit]:
    if not isinstance(item.value, dict):
        yield Hit(
            look.session.pack.origin(item), f"item {item.index + 1} is {spelled(item.value)}, not an object"
        )
        return
    origin = look.session.pack.origin(item, "source")
    if item.source is None:
        told = (
            f"the source is {spelled(item.value['source'])}"
            if "source" in item.value
            else "there is no source"
        )
        yield Hit(origin, f"item {item.index + 1}: {told}")
    elif reason := source_fault(item.source):
        yield Hit(origin, f"{quoted(item.source, 60)} cannot be a source: {reason}")


def _has_content(look: Look, source: str) -> bool:
    if source == MESSAGES:
        return look.history.messages.size > 0
    return not look.session.folder.read(source).is_blank
