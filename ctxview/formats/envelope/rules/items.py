"""Rules about surfaces and items: size, form, trust and freshness (ENV022 to ENV029).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ctxview.analysis.rfc3339 import parse_time
from ctxview.analysis.wording import counted, excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import is_gone, is_redacted
from ctxview.formats.envelope.rules.lookups import id_of, ids, is_blank, label, words_of_gaps
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import MUTABLE, SENSITIVE, STALE, TEXT_MIMES, TRUSTED

BY_REFERENCE = ("ref", "resource_link", "artifact_ref", "tool_result_ref")
"""The modes in which the content is elsewhere."""
BACKING = ("source_refs", "policy_refs", "evidence_refs")


@rule("ENV022", name="unbounded-surface", severity=Severity.INFO)
def unbounded_surface(record: Record, profile: Profile) -> Iterator[Hit]:
    """A surface lists so many items and sources that it is a catalogue.

    ## Why
    A surface says what could have been selected, for a person to look through. No person reads more than
    200 entries; a catalogue belongs behind one source that is searched, or is listed when it is needed.
    ## Bad
    surface-1.available_item_refs = 201 refs
    ## Good
    surface-1.available_item_refs = 190 refs
    ## Fix
    Refer to the catalogue as one source with a search behind it.
    ## Source
    Agent Context draft, surface contract: a surface is bounded. The figure is ours.
    """
    if record.kind is RecordKind.SURFACE:
        fields = ("available_item_refs", "available_source_refs")
        entries = sum(len(record.refs(name)) for name in fields)
        most = profile.limits.surface_entries
        if entries > most:
            message = f"{label(record)} lists {entries:,} items and sources; more than {most}"
            yield Hit(record.origin(fields[0]), f"{message} are a catalogue")


@rule("ENV023", name="candidate-not-available", severity=Severity.WARNING)
def candidate_not_available(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A selection considers an item that its surface does not offer.

    ## Why
    The surface says what was available before the choice. A candidate from elsewhere was never offered, or
    the surface is not the one that was used; either way the choice cannot be understood from it. An item
    whose source is on the surface counts as offered.
    ## Bad
    surface-1.available_item_refs = ["item-goal"]
    surface-1.available_source_refs = ["source-plan"]
    ## Good
    surface-1.available_item_refs = ["item-goal", "summary-1"]
    ## Fix
    Name the surface that was used, or list the item on it.
    ## Source
    Agent Context draft, specification and surface contract.
    """
    for selection in records.of(RecordKind.SELECTION):
        surface = records.named(RecordKind.SURFACE, selection.text("surface_id"))
        if surface is None or "available_item_refs" not in surface.value:
            continue
        offered = {*ids(surface.refs("available_item_refs")), *ids(surface.refs("available_source_refs"))}
        others = []
        for reference in selection.refs("candidate_item_refs"):
            item = records.resolve(reference)
            sources = (
                ids(item.refs("source_refs")) if item is not None and item.kind is RecordKind.ITEM else ()
            )
            if reference.id is not None and offered.isdisjoint((reference.id, *sources)):
                others.append(reference)
        if others:
            names = listed(each.id or "" for each in others)
            message = f"{label(selection)} considers {names}, which {id_of(surface)} does not offer"
            yield Hit(others[0].origin, message)


@rule("ENV024", name="content-mode-misfit", severity=Severity.WARNING)
def content_mode_misfit(record: Record, profile: Profile) -> Iterator[Hit]:
    """The content_mode requires content or a reference to it, and it is absent.

    ## Why
    The mode tells a reader where to look. An inline item without content shows nothing, and a reference mode
    without `content_ref` cannot be followed. Removed or blocked items may have no content.
    ## Bad
    item-extra.content_ref = (absent)
    ## Good
    item-note.content = (absent)
    item-note.redaction_state = "removed"
    ## Fix
    Add the content or the reference, or set the mode to what there is.
    ## Source
    Agent Context draft, specification of items: content by value or by reference.
    """
    mode = record.text("content_mode") if record.kind is RecordKind.ITEM else None
    if mode == "inline" and record.value.get("content") is None:
        if not is_gone(record.redaction):
            yield Hit(record.origin("content_mode"), f"{label(record)} is inline, but has no content")
    elif mode in BY_REFERENCE and is_blank(record.value.get("content_ref")):
        message = f"{label(record)} has the mode {mode}, but no content_ref"
        yield Hit(record.origin("content_mode"), message)


@rule("ENV025", name="should-be-a-reference", severity=Severity.WARNING)
def should_be_a_reference(record: Record, profile: Profile) -> Iterator[Hit]:
    """Large, changing, private or binary content is inline instead of behind a reference.

    ## Why
    Inline content is copied wherever the item goes: into logs, exports and other agents. That is wrong for
    what is private, soon false for what changes, and heavy for what is large or not text. Private content of
    which a redaction left only the harmless part may stay.
    ## Bad
    item-plan.sensitivity = "confidential"
    ## Good
    item-note.sensitivity = "confidential"
    ## Fix
    Keep the content where it is controlled and set `content_mode` to `ref` with a `content_ref`.
    ## Source
    Agent Context draft, specification of items. What is large (32 KiB), private or changing is ours.
    """
    content = record.value.get("content")
    if record.kind is not RecordKind.ITEM or record.text("content_mode") != "inline" or content is None:
        return
    if reasons := [*_reasons_against_inline(record, profile.limits.inline_bytes)]:
        message = f"{label(record)} is inline, although it is {' and '.join(reasons)}"
        yield Hit(record.origin("content"), message)


@rule("ENV026", name="unfounded-trust", severity=Severity.WARNING)
def unfounded_trust(record: Record, profile: Profile) -> Iterator[Hit]:
    """An item claims trust or authority and has nothing to show for it.

    ## Why
    An item without sources is only a claim, and content that claims trust influences an agent most. High
    trust needs a source, a policy or evidence behind it; authority comes from sources alone.
    ## Bad
    item-plan.trust_level = "verified"
    item-plan.source_refs = []
    ## Good
    item-plan.trust_level = "verified"
    ## Fix
    Add the references that the trust comes from, or lower the level.
    ## Source
    Agent Context draft, item contract. Which levels are high is ours: the draft has no list.
    """
    if record.kind is not RecordKind.ITEM:
        return
    level = record.text("trust_level") or ""
    if level.casefold() in TRUSTED and not any(_links(record, name) for name in BACKING):
        message = f"{label(record)} has the trust_level {quoted(level)}, but no source, policy or evidence"
        yield Hit(record.origin("trust_level"), message)
    if not is_blank(record.value.get("authority")) and not _links(record, "source_refs"):
        yield Hit(record.origin("authority"), f"{label(record)} claims authority, but has no source_refs")


@rule("ENV027", name="visible-to-nobody", severity=Severity.WARNING)
def visible_to_nobody(record: Record, profile: Profile) -> Iterator[Hit]:
    """A visibility list is empty, so that no target may see the record.

    ## Why
    The list names the targets that may see the record. An empty list forbids it to all, so that it is of no
    use; most often it was meant to say "not decided yet".
    ## Bad
    item-plan.visibility = []
    ## Good
    item-plan.visibility = ["reviewer"]
    ## Fix
    Name the targets, or remove the record.
    ## Source
    Agent Context draft, item contract. That the list is not empty is our reading.
    """
    if record.value.get("visibility") == []:
        yield Hit(
            record.origin("visibility"), f"{label(record)} is not visible to any target: visibility is empty"
        )


@rule("ENV028", name="size-misstated", severity=Severity.INFO)
def size_misstated(record: Record, profile: Profile) -> Iterator[Hit]:
    """The byte_size of an inline text is not its length, or the token_estimate cannot be true.

    ## Why
    Budgets are computed from these figures. The size is that of the text in UTF-8. A token is seldom less
    than half a byte or more than sixteen; an estimate outside of that belongs to another text.
    ## Bad
    item-plan.byte_size = 12
    ## Good
    item-plan.token_estimate = 30
    ## Fix
    Count again.
    ## Source
    Ours: the draft defines the fields but not what they must equal.
    """
    content = record.text("content") if record.kind is RecordKind.ITEM else None
    if content is None or record.text("content_mode") not in ("inline", "embedded_resource"):
        return
    length = len(content.encode("utf-8", "surrogatepass"))
    size, tokens = record.count("byte_size"), record.count("token_estimate")
    if size is not None and size != length:
        message = f"{label(record)}: byte_size is {size:,}, but the text has {counted(length, 'byte')}"
        yield Hit(record.origin("byte_size"), message)
    limits = profile.limits
    if tokens is None or length < limits.small_text:
        return
    if not length / limits.most_bytes_per_token <= tokens <= length / limits.fewest_bytes_per_token:
        message = f"{label(record)}: token_estimate is {tokens:,} for a text of {counted(length, 'byte')}"
        yield Hit(record.origin("token_estimate"), message)


@rule("ENV029", name="stale-item-selected", severity=Severity.WARNING)
def stale_item_selected(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A stale or expired item was selected, and no gap and no omission says so.

    ## Why
    Content that is out of date misleads an agent more than absent content. It may be selected
    for lack of better; then a `missing_context` should ask for the fresh one, or the item be left out.
    ## Bad
    item-plan.freshness = "stale"
    ## Good
    item-extra.freshness = "stale"
    ## Fix
    Refresh the item, omit it as `stale`, or record the gap with its id.
    ## Source
    Agent Context draft, uses of missing_context, and the state expired. The words for stale are ours.
    """
    mentioned = words_of_gaps(records)
    left_out = {
        name for each in records.of(RecordKind.SELECTION) for name in ids(each.refs("omitted_item_refs"))
    }
    for selection in records.of(RecordKind.SELECTION):
        for reference in selection.refs("selected_item_refs"):
            item = records.resolve(reference)
            if item is None or item.id is None or item.id in left_out:
                continue
            why = _staleness(item, parse_time(selection.text("created_at")))
            if why is not None and mentioned.isdisjoint((item.id, *ids(item.refs("source_refs")))):
                message = (
                    f"{label(selection)} selected {label(item)}, which {why}; no gap asks for a fresh one"
                )
                yield Hit(reference.origin, message)


def _reasons_against_inline(item: Record, most: int) -> Iterator[str]:
    content = item.value.get("content")
    if isinstance(content, str):
        length = len(content.encode("utf-8", "surrogatepass"))
    else:
        origin = item.origin("content")
        length = (origin.end or 0) - (origin.start or 0)
    if length > most:
        yield f"large ({length:,} bytes)"
    freshness = item.value.get("freshness")
    word = freshness.get("status") if isinstance(freshness, dict) else freshness
    if isinstance(word, str) and word.casefold() in MUTABLE:
        yield f"changing ({excerpt(word)})"
    sensitivity = item.text("sensitivity") or ""
    if sensitivity.casefold() in SENSITIVE and not is_redacted(item.redaction):
        yield f"private ({excerpt(sensitivity)})"
    mime = (item.text("mime_type") or "").partition(";")[0].strip().casefold()
    is_text = mime.startswith(("text/", "message/", "multipart/")) or mime.endswith(TEXT_MIMES)
    if "/" in mime and not is_text:
        yield f"not text ({excerpt(mime)})"


def _links(record: Record, name: str) -> bool:
    """Whether a list of references has an entry; also for `evidence_refs`, which items do not define."""
    value = record.value.get(name)
    return isinstance(value, list) and any(not is_blank(each) for each in value)


def _staleness(item: Record, chosen: datetime | None) -> str | None:
    """Why an item was out of date when it was selected, or None."""
    freshness = item.value.get("freshness")
    members = freshness if isinstance(freshness, dict) else {}
    word = text(freshness) or text(members.get("status")) or text(members.get("state")) or ""
    if word.casefold() in STALE:
        return f"is {excerpt(word)}"
    for written in (item.text("expires_at"), text(members.get("expires_at"))):
        ends = parse_time(written)
        if written is not None and ends is not None and chosen is not None and ends < chosen:
            return f"expired at {excerpt(written)}"
    return None
