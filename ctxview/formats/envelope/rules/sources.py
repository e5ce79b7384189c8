"""The rules about source references: digests, selectors, native ids, what stays useful (ENV030 to ENV033).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ctxview.analysis.wording import listed, quoted, shown, spelled
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.digests import Digest, bytes_at_hand
from ctxview.formats.envelope.fates import Fate, fates, is_redacted
from ctxview.formats.envelope.files_beside import FileBeside
from ctxview.formats.envelope.model import Dossier, Record, text
from ctxview.formats.envelope.our_words import (
    ABOUT_A_MAPPING,
    HIDDEN_LOCATORS,
    PROTOCOL_FIELDS,
    PROTOCOL_KEYS,
    PROTOCOL_NAMES,
)
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.bounds import faults_of
from ctxview.formats.envelope.rules.lookup import is_blank, named
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.origin import JsonValue


@rule("ENV030", name="digest", severity=Severity.WARNING)
def digest(record: Record, profile: Profile) -> Iterator[Hit]:
    """A digest is not written as algorithm:hex, or is not that of the content at hand.

    ## Why
    A digest proves that a source is still the one that was read, if one knows by which algorithm it was made
    and has all of it. Where the content itself is at hand (an inline text that was not redacted, the content
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
    if written is None or record.kind not in (Kind.SOURCE, Kind.ITEM):
        return
    found = Digest.parse(written)
    if (fault := found.fault) is not None:
        yield Hit(record.origin("digest"), f"{named(record)}: the digest {quoted(written)} {fault}")
    elif (content := bytes_at_hand(record)) is not None and found.matches(content) is False:
        message = f"{named(record)}: the digest is not that of its content of {len(content):,} bytes"
        yield Hit(record.origin("digest"), message)


@rule("ENV031", name="selector", severity=Severity.WARNING)
def selector(record: Record, profile: Profile) -> Iterator[Hit]:
    """A selector does not say its type, or its bounds cannot be.

    ## Why
    The selector says which part of a source was used. Without a type its members mean nothing, and a range
    that ends before it begins selects nothing: nobody can find the place again.
    ## Bad
    source-plan.selector = {"type": "line_range", "start": 12, "end": 1}
    ## Good
    source-plan.selector = {"type": "line_range", "start": 12, "end": 12}
    ## Fix
    Write the type, and bounds in order.
    ## Source
    Agent Context draft, source contract: the twelve types of selectors. Their members are our reading.
    """
    if record.kind is not Kind.SOURCE:
        return
    value = record.value.get("selector")
    entries = value if isinstance(value, list) else [value]
    for at, each in enumerate(entries):
        if isinstance(each, dict):
            place = ("selector", at) if isinstance(value, list) else ("selector",)
            for fault in faults_of(each):
                yield Hit(record.origin(*place), f"{named(record)}: {fault}")
        elif isinstance(value, list) and not isinstance(each, str):
            yield Hit(record.origin("selector", at), f"{named(record)}: {spelled(each)} is no selector")


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
    if record.kind is not Kind.SOURCE:
        return
    for at, mapping in record.objects("external_mappings"):
        if (fault := _mapping_fault(mapping)) is not None:
            yield Hit(record.origin("external_mappings", at), f"{named(record)}: {fault}")
    kind = record.text("source_kind") or ""
    protocol = PROTOCOL_NAMES.get(re.split(r"[^a-z0-9]", kind.casefold(), maxsplit=1)[0])
    if protocol is not None and is_blank(record.value.get("external_mappings")):
        message = f"{named(record)} comes by {protocol} ({shown(kind)}), but keeps none of its ids"
        yield Hit(record.origin("source_kind"), message)


@rule("ENV033", name="useless-source", severity=Severity.WARNING)
def useless_source(dossier: Dossier, profile: Profile) -> Iterator[Hit]:
    """A source whose address is hidden or blank has no digest either, so that nothing can be proved by it.

    ## Why
    After a summary, a redaction or an export the source is all that is left of the original. One that cannot
    be shared keeps its digest and a redacted address: then whoever has the original can still prove it.
    ## Bad
    source-plan.uri = "redacted:internal-file"
    source-plan.digest = (absent)
    ## Good
    source-plan.uri = "redacted:internal-file"
    ## Fix
    Keep the digest of the original, and an address such as `redacted:` with what may be told.
    ## Source
    Agent Context draft, source contract. How a hidden address is recognised is ours.
    """
    users = _users(dossier)
    for source in dossier.of(Kind.SOURCE):
        uri, why = source.text("uri"), _after(users.get(source, ()))
        if uri is None:
            continue
        is_unshareable = _is_unshareable(source)
        if not uri.strip() and (why or is_unshareable):
            message = f"{named(source)} has a blank uri{why}; keep at least a redacted one"
            yield Hit(source.origin("uri"), message)
        elif (_is_hidden(uri) or is_unshareable) and is_blank(source.value.get("digest")):
            message = f"{named(source)} cannot be looked up{why}, and there is no digest to prove it by"
            yield Hit(source.origin("digest"), message)


def digest_of_file(record: Record, file: FileBeside) -> Iterator[Hit]:
    """What ENV030 says about a source whose file lies beside the records."""
    if file.matches(record.text("digest")) is False:
        message = f"{named(record)}: the digest is not that of {shown(file.name)} ({len(file.data):,} bytes)"
        yield Hit(record.origin("digest"), message)


def _mapping_fault(mapping: Mapping[str, JsonValue]) -> str | None:
    discriminator = next((name for name in PROTOCOL_FIELDS if text(mapping.get(name))), None)
    keys = [key for key in mapping if key not in (discriminator, *ABOUT_A_MAPPING)]
    if discriminator is not None:
        told = text(mapping[discriminator]) or ""
        protocol = PROTOCOL_NAMES.get(re.sub(r"[^a-z0-9]", "", told.casefold()))
        strange = [key for key in keys if protocol is not None and key not in PROTOCOL_KEYS[protocol]]
        return f"{listed(strange)} in a mapping to {protocol} is none of its ids" if strange else None
    if not keys or any(set(keys) <= set(ids) for ids in PROTOCOL_KEYS.values()):
        return None
    homes = [name for name, ids in PROTOCOL_KEYS.items() if not set(keys).isdisjoint(ids)]
    if not homes:
        return f"no protocol that is known has the ids {listed(keys)}"
    return f"no single protocol has the ids {listed(keys)}; some are of {listed(homes)}"


def _users(dossier: Dossier) -> Mapping[Record, Sequence[Fate]]:
    """What became of the items of each source."""
    found: dict[Record, list[Fate]] = {}
    for fate in fates(dossier).values():
        for source in dossier.targets_of(fate.item.refs("source_refs") if fate.item is not None else ()):
            found.setdefault(source, []).append(fate)
    return found


def _after(users: Sequence[Fate]) -> str:
    """What happened to an item of the source, so that the source matters more."""
    for fate in users:
        if is_redacted(fate.redaction):
            return f" after {shown(fate.id)} was redacted"
        if fate.compacted_into:
            return f" after {shown(fate.id)} was compacted"
        if any(each.target == "evidence_export" for each in fate.injected):
            return f" after {shown(fate.id)} was exported"
    return ""


def _is_hidden(uri: str) -> bool:
    word = uri.strip().casefold()
    return word.startswith("redacted:") or word in HIDDEN_LOCATORS


def _is_unshareable(source: Record) -> bool:
    homes = (source.value, source.object("metadata"))
    return any(each.get("shareable") is False or each.get("unshareable") is True for each in homes)
