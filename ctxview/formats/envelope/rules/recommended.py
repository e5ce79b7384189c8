"""The rules about what the draft asks of a record without demanding it: fields and words (ENV009 to ENV011).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.analysis.wording import did_you_mean, listed, quoted, shown
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.fields import BLOCK, FIELDS, SEGMENT, FieldSpec, Need, Type
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.our_words import OUTCOME_EVENTS
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookup import named
from ctxview.formats.envelope.vocabulary import KNOWN, Kind, Words
from ctxview.origin import JsonValue

Path = tuple[str | int, ...]
WITHOUT_SCHEMA = (Kind.INJECTION, Kind.SUMMARY)
"""What the draft only lists the fields of."""
REDACTION_FIELDS = (
    "redaction_state",
    "redaction_method",
    "redacted_fields",
    "policy_refs",
    "actor_ref",
    "created_at",
    "replacement_ref",
)
REDACTION_PLACES = ("redaction", "redaction_record", "redactions", "redaction_records")
"""The draft gives redaction records no place: under these names they are looked for."""
OWN_WORD = "custom"
"""Allowed in every list that is open, alone or with a name behind it."""


@rule("ENV009", name="listed-field-missing", severity=Severity.WARNING)
def listed_field_missing(record: Record, profile: Profile) -> Iterator[Hit]:
    """An injection, summary, segment, block or redaction record lacks fields that the draft lists for it.

    ## Why
    These five have no schema; their field lists are all the draft says about them. A block without items
    cannot be traced to its sources, and a segment without an order has no place in the window.
    ## Bad
    assembly-model.ordered_blocks[1].item_refs = (absent)
    ## Good
    assembly-model.ordered_blocks[1].item_refs = []
    ## Fix
    Write the fields that the message names.
    ## Source
    Agent Context draft, the lists of the injection, summary, window, assembly and policy contracts.
    """
    if record.kind in WITHOUT_SCHEMA:
        recommended = _missing(FIELDS[record.kind], record.value, Need.RECOMMENDED)
        if recommended:
            yield Hit(record.origin(), f"{named(record)} has no {_all(recommended)}")
    for path, name, specs, members in _parts(record):
        absent = _missing(specs, members, Need.REQUIRED, Need.RECOMMENDED)
        if absent:
            yield Hit(record.origin(*path), f"{named(record)}: {name} has no {_all(absent)}")
    for path, members in _redaction_records(record):
        absent = [each for each in REDACTION_FIELDS if members.get(each) is None]
        if absent:
            message = f"{named(record)}: the redaction record has no {_all(absent)}"
            yield Hit(record.origin(*path), message)


@rule("ENV010", name="unknown-word", severity=Severity.INFO)
def unknown_word(record: Record, profile: Profile) -> Iterator[Hit]:
    """A field that has a list of words holds another one.

    ## Why
    The lists are open: new words are allowed, kept and shown. But two tools that do not share a word do not
    share its meaning, and most new words are misspelt old ones. `custom` is always understood.
    ## Bad
    item-plan.context_kind = "document_exerpt"
    ## Good
    item-plan.context_kind = "custom"
    ## Fix
    Take a listed word where one fits, or `custom` with the details in `metadata`.
    ## Source
    Agent Context draft, the lists of values in the specification, the model page and the contracts.
    """
    for path, name, words, word in _words(record):
        if word in KNOWN[words] or _is_own(word):
            continue
        hint = did_you_mean(word, KNOWN[words])
        message = (
            f"{named(record)}: {shown(name)} {quoted(word)} is none of the {len(KNOWN[words])} known{hint}"
        )
        yield Hit(record.origin(*path), message)


@rule("ENV011", name="incomplete", severity=Severity.INFO)
def incomplete(record: Record, profile: Profile) -> Iterator[Hit]:
    """Recommended fields are absent; the message says how many of them are there.

    ## Why
    None of them is needed for a valid record. Each answers a question somebody will have: how big, how
    fresh, how much to be trusted, from where. The score tells how much a review can rely on the record.
    ## Bad
    item-plan.token_estimate = (absent)
    ## Good
    item-plan.retention_hint = "a week"
    ## Fix
    Fill in what is known. What is not known is better absent than invented.
    ## Source
    Agent Context draft: "should include" in the specification and the contracts.
    """
    if record.kind in WITHOUT_SCHEMA:
        return
    specs = FIELDS[record.kind]
    wanted = [name for name, spec in specs.items() if spec.need is Need.RECOMMENDED]
    missing = _missing(specs, record.value, Need.RECOMMENDED)
    if missing:
        there = len(wanted) - len(missing)
        message = f"{named(record)}: {there} of {len(wanted)} recommended fields; missing {_all(missing)}"
        yield Hit(record.origin(), message)


def _missing(specs: Mapping[str, FieldSpec], members: Mapping[str, JsonValue], *needs: Need) -> list[str]:
    """The fields so much needed that say nothing."""
    return [name for name, spec in specs.items() if spec.need in needs and members.get(name) is None]


def _all(names: list[str]) -> str:
    return listed(names, most=20)


def _parts(record: Record) -> Iterator[tuple[Path, str, Mapping[str, FieldSpec], Mapping[str, JsonValue]]]:
    """The blocks and segments of a record: where, how a message calls them, their fields, what they hold."""
    for name, word, specs in (("ordered_blocks", "block", BLOCK), ("window_segments", "segment", SEGMENT)):
        for at, members in record.objects(name) if name in FIELDS[record.kind] else ():
            own = text(members.get(f"{word}_id"))
            yield (name, at), f"{word} {shown(own) if own else at + 1}", specs, members


def _redaction_records(record: Record) -> Iterator[tuple[Path, Mapping[str, JsonValue]]]:
    for above in ((), ("metadata",), ("data",)):
        holder = record.object(above[0]) if above else record.value
        for name in REDACTION_PLACES:
            value = holder.get(name)
            if isinstance(value, dict):
                yield (*above, name), value
            elif isinstance(value, list):
                yield from (
                    ((*above, name, at), each) for at, each in enumerate(value) if isinstance(each, dict)
                )


def _words(record: Record) -> Iterator[tuple[Path, str, Words, str]]:
    """Every word that comes from a list: where, the field as a message calls it, which list, the word."""
    yield from _words_of_fields(FIELDS[record.kind], record.value, (), "")
    for path, name, specs, members in _parts(record):
        yield from _words_of_fields(specs, members, path, f"{name}: ")
    for path, members in _redaction_records(record):
        state = text(members.get("redaction_state"))
        if state is not None:
            yield (*path, "redaction_state"), "redaction_state", Words.REDACTION, state
    if record.kind is Kind.SOURCE:
        yield from _selector_types(record)
    if record.kind is Kind.SELECTION:
        yield from _signals(record)
        for reference in record.refs("omitted_item_refs"):
            reason = text(reference.members.get("reason"))
            if reason is not None:
                yield (*reference.path, "reason"), "the omission reason", Words.OMISSION, reason


def _words_of_fields(
    specs: Mapping[str, FieldSpec], members: Mapping[str, JsonValue], above: Path, label: str
) -> Iterator[tuple[Path, str, Words, str]]:
    for name, spec in specs.items():
        # The scope of an envelope has a rule of its own, and so have events that state an outcome.
        if spec.words is None or spec.words is Words.SCOPE:
            continue
        value = members.get(name)
        entries = value if spec.type is Type.TEXTS and isinstance(value, list) else [value]
        for at, each in enumerate(entries):
            if isinstance(each, str) and not (name == "event_type" and each.startswith(OUTCOME_EVENTS)):
                place = (name, at) if isinstance(value, list) else (name,)
                yield (*above, *place), f"{label}{name}", spec.words, each


def _selector_types(record: Record) -> Iterator[tuple[Path, str, Words, str]]:
    value = record.value.get("selector")
    entries = value if isinstance(value, list) else [value]
    for at, each in enumerate(entries):
        kind = text(each.get("type")) if isinstance(each, dict) else None
        if kind is not None:
            place = ("selector", at, "type") if isinstance(value, list) else ("selector", "type")
            yield place, "the selector type", Words.SELECTOR, kind


def _signals(record: Record) -> Iterator[tuple[Path, str, Words, str]]:
    """Each unknown signal once, however many items carry it."""
    seen: set[str] = set()
    for item, signals in record.object("ranking_signals").items():
        for signal in signals if isinstance(signals, dict) else ():
            if signal not in seen:
                seen.add(signal)
                yield ("ranking_signals", item, signal), "the ranking signal", Words.SIGNAL, signal


def _is_own(word: str) -> bool:
    return word == OWN_WORD or word.startswith((f"{OWN_WORD}:", f"{OWN_WORD}.", f"{OWN_WORD}/"))
