"""Rules about sources: digests, selectors, native ids and hidden addresses (ENV030 to ENV033).

Examples change a sound bundle, as in `shape`. The draft names the types of selectors, but not their members:
they are read under all names in use, and absent ones are not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ctxview.analysis.wording import excerpt, json_excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.model import EnvelopeRecords, Record, text
from ctxview.formats.envelope.outcomes import Outcome, outcomes
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.redactions import is_redacted
from ctxview.formats.envelope.references import Digest, SiblingFile, inline_bytes
from ctxview.formats.envelope.rules.lookups import is_blank, label
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.word_lists import (
    ABOUT_A_MAPPING,
    HIDDEN_LOCATORS,
    PROTOCOL_FIELDS,
    PROTOCOL_KEYS,
    PROTOCOL_NAMES,
)

STARTS = ("start", "from", "begin", "first", "start_line", "line_start", "start_byte", "start_offset")
ENDS = ("end", "to", "until", "last", "end_line", "line_end", "end_byte", "end_offset")
LENGTHS = ("length", "count", "width", "height", "duration")
FIRST = {"line_range": 1, "page_region": 1}
"""The first number by type: lines and pages are counted from 1, everything else from 0."""
WHOLE = ("line_range", "byte_range", "text_position")
"""Types whose bounds are whole numbers."""
LITERALS = {
    "text_quote": ("exact",),
    "css_selector": ("value", "selector", "css"),
    "xpath": ("value", "xpath", "path"),
}
"""Types that need a text, and the names of its member."""
POINTERS = ("pointer", "value", "path", "json_pointer")


@rule("ENV030", name="digest", severity=Severity.WARNING)
def digest(record: Record, profile: Profile) -> Iterator[Hit]:
    """A digest is not written as algorithm:hex, or is not that of the content.

    ## Why
    A digest proves that a source is still the one that was read, if one knows by which algorithm it was made
    and has all of it. Where the content itself is present (an inline text that was not redacted, the content
    of a source, a `data:` address, a file beside the records) it is compared.
    ## Bad
    source-plan.digest = "sha256:example"
    ## Good
    source-plan.digest = "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"
    ## Fix
    Write `sha256:` and the 64 hexadecimal digits, taken from the bytes that were read.
    ## Source
    Agent Context draft, source contract: sources keep a digest. The form is ours: the draft gives none.
    """
    written = record.text("digest")
    if written is None or record.kind not in (RecordKind.SOURCE, RecordKind.ITEM):
        return
    found = Digest.parse(written)
    if (fault := found.fault) is not None:
        yield Hit(record.origin("digest"), f"{label(record)}: the digest {quoted(written)} {fault}")
    elif (content := inline_bytes(record)) is not None and found.matches(content) is False:
        message = f"{label(record)}: the digest is not that of its content of {len(content):,} bytes"
        yield Hit(record.origin("digest"), message)


@rule("ENV031", name="selector", severity=Severity.WARNING)
def selector(record: Record, profile: Profile) -> Iterator[Hit]:
    """A selector does not say its type, or its bounds are impossible.

    ## Why
    The selector says which part of a source was used. Without a type its members mean nothing, and a range
    that ends before it begins selects nothing: the part cannot be found again.
    ## Bad
    source-plan.selector = {"type": "line_range", "start": 12, "end": 1}
    ## Good
    source-plan.selector = {"type": "line_range", "start": 12, "end": 12}
    ## Fix
    Write the type, and bounds in order.
    ## Source
    Agent Context draft, source contract: the twelve types of selectors. Their members are our reading.
    """
    if record.kind is not RecordKind.SOURCE:
        return
    value = record.value.get("selector")
    entries = value if isinstance(value, list) else [value]
    for at, each in enumerate(entries):
        if isinstance(each, dict):
            place = ("selector", at) if isinstance(value, list) else ("selector",)
            for fault in faults_of(each):
                yield Hit(record.origin(*place), f"{label(record)}: {fault}")
        elif isinstance(value, list) and not isinstance(each, str):
            yield Hit(
                record.origin("selector", at), f"{label(record)}: {json_excerpt(each)} is not a selector"
            )


@rule("ENV032", name="native-ids", severity=Severity.INFO)
def native_ids(record: Record, profile: Profile) -> Iterator[Hit]:
    """A mapping holds keys that its protocol does not have, or a source of a protocol kept none of its ids.

    ## Why
    Mappings keep the ids by which another protocol knows the thing, under that protocol's own names. A key
    that it does not have was invented or misspelt, and the way back is lost. Where the mapping does not say
    its protocol, the keys must all be those of one.
    ## Bad
    source-plan.external_mappings = [{"protocol": "mcp", "resource": "file:///plan.md"}]
    ## Good
    source-plan.external_mappings = [{"protocol": "mcp", "resource_uri": "file:///plan.md"}]
    ## Fix
    Use the protocol's own names for its ids.
    ## Source
    Agent Context draft, specification: native ids by protocol; interoperability contract.
    """
    if record.kind is not RecordKind.SOURCE:
        return
    for at, mapping in record.objects("external_mappings"):
        if (fault := _mapping_fault(mapping)) is not None:
            yield Hit(record.origin("external_mappings", at), f"{label(record)}: {fault}")
    kind = record.text("source_kind") or ""
    protocol = PROTOCOL_NAMES.get(re.split(r"[^a-z0-9]", kind.casefold(), maxsplit=1)[0])
    if protocol is not None and is_blank(record.value.get("external_mappings")):
        message = f"{label(record)} comes by {protocol} ({excerpt(kind)}), but keeps none of its ids"
        yield Hit(record.origin("source_kind"), message)


@rule("ENV033", name="useless-source", severity=Severity.WARNING)
def useless_source(records: EnvelopeRecords, profile: Profile) -> Iterator[Hit]:
    """A source whose address is hidden or blank has no digest either, so that nothing can be proved by it.

    ## Why
    After a summary, a redaction or an export the source is all that is left of the original. One that cannot
    be shared keeps its digest and a redacted address: then an owner of the original can still prove it.
    ## Bad
    source-plan.uri = "redacted:internal-file"
    source-plan.digest = (absent)
    ## Good
    source-plan.uri = "redacted:internal-file"
    ## Fix
    Keep the digest of the original, and an address such as `redacted:` with the part that may be shown.
    ## Source
    Agent Context draft, source contract. How a hidden address is recognised is ours.
    """
    users: dict[Record, list[Outcome]] = {}
    for outcome in outcomes(records).values():
        references = outcome.item.refs("source_refs") if outcome.item is not None else ()
        for source in records.targets_of(references):
            users.setdefault(source, []).append(outcome)
    for source in records.of(RecordKind.SOURCE):
        uri, why = source.text("uri"), _after(users.get(source, ()))
        if uri is None:
            continue
        word = uri.strip().casefold()
        is_hidden = word.startswith("redacted:") or word in HIDDEN_LOCATORS
        homes = (source.value, source.object("metadata"))
        is_unshareable = any(
            each.get("shareable") is False or each.get("unshareable") is True for each in homes
        )
        if not word and (why or is_unshareable):
            message = f"{label(source)} has a blank uri{why}; write at least a redacted one"
            yield Hit(source.origin("uri"), message)
        elif (is_hidden or is_unshareable) and is_blank(source.value.get("digest")):
            message = f"{label(source)} cannot be looked up{why}, and has no digest as proof"
            yield Hit(source.origin("digest"), message)


def digest_of_file(record: Record, file: SiblingFile) -> Iterator[Hit]:
    """Check the digest of a source against its sibling file, as part of ENV030."""
    if file.matches(record.text("digest")) is False:
        message = (
            f"{label(record)}: the digest is not that of {excerpt(file.name)} ({len(file.data):,} bytes)"
        )
        yield Hit(record.origin("digest"), message)


def _mapping_fault(mapping: Mapping[str, JsonValue]) -> str | None:
    discriminator = next((name for name in PROTOCOL_FIELDS if text(mapping.get(name))), None)
    keys = [key for key in mapping if key not in (discriminator, *ABOUT_A_MAPPING)]
    if discriminator is not None:
        written = text(mapping[discriminator]) or ""
        protocol = PROTOCOL_NAMES.get(re.sub(r"[^a-z0-9]", "", written.casefold()))
        unknown = [key for key in keys if protocol is not None and key not in PROTOCOL_KEYS[protocol]]
        return f"{listed(unknown)} in a mapping to {protocol} is not one of its ids" if unknown else None
    if not keys or any(set(keys) <= set(ids) for ids in PROTOCOL_KEYS.values()):
        return None
    homes = [name for name, ids in PROTOCOL_KEYS.items() if not set(keys).isdisjoint(ids)]
    if not homes:
        return f"no known protocol has the ids {listed(keys)}"
    return f"no single protocol has the ids {listed(keys)}; some are of {listed(homes)}"


def _after(users: Sequence[Outcome]) -> str:
    """The redaction, compaction or export of an item that makes its source matter more, or an empty text."""
    for outcome in users:
        if is_redacted(outcome.redaction):
            return f" after {excerpt(outcome.id)} was redacted"
        if outcome.compacted_into:
            return f" after {excerpt(outcome.id)} was compacted"
        if any(each.target == "evidence_export" for each in outcome.injected):
            return f" after {excerpt(outcome.id)} was exported"
    return ""


def faults_of(selector: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the problems of a selector as sentences."""
    kind = text(selector.get("type"))
    if kind is None:
        yield "the selector does not say its type"
        return
    if kind in LITERALS:
        for name in LITERALS[kind]:
            value = selector.get(name)
            if isinstance(value, str) and not value.strip():
                yield f"the {name} of the {kind} selector is blank: it selects nothing"
    elif kind == "json_pointer":
        pointer = next((found for name in POINTERS if (found := text(selector.get(name))) is not None), None)
        if pointer and not pointer.startswith(("/", "#")):
            yield f"the json_pointer {quoted(pointer)} does not begin with /"
    else:
        yield from _bad_range(kind, selector)


def _bad_range(kind: str, selector: Mapping[str, JsonValue]) -> Iterator[str]:
    numbers: dict[str, float] = {}
    for name in (*STARTS, *ENDS, *LENGTHS, "page"):
        value = selector.get(name)
        # A media range may be written as clock times: 00:01:30.
        if value is None or (kind not in WHOLE and isinstance(value, str)):
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield f"the {name} of the {excerpt(kind)} selector is {json_excerpt(value)}, not a number"
            continue
        numbers[name] = value
        least = 1 if name == "page" else 0 if name in LENGTHS else FIRST.get(kind, 0)
        if kind in WHOLE and value != value // 1:
            yield f"the {name} of the {kind} selector is {json_excerpt(value)}, not a whole number"
        elif value < least:
            yield f"the {name} of the {excerpt(kind)} selector is {json_excerpt(value)}, less than {least}"
    start = next((name for name in STARTS if name in numbers), None)
    end = next((name for name in ENDS if name in numbers), None)
    if start is not None and end is not None and numbers[end] < numbers[start]:
        values = f"{json_excerpt(numbers[start])} to {json_excerpt(numbers[end])}"
        yield f"the {excerpt(kind)} selector ends before it begins ({values})"
