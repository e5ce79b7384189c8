"""Rules about recommended fields and known words (ENV009 to ENV011).

Examples change a sound bundle, as in `shape`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ctxview.analysis.wording import did_you_mean, excerpt, listed, quoted
from ctxview.core.findings import Hit, Severity, rule
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.field_specs import BLOCK, FIELDS, SEGMENT, FieldNeed, FieldSpec, FieldType
from ctxview.formats.envelope.model import Record, text
from ctxview.formats.envelope.profile import Profile
from ctxview.formats.envelope.rules.lookups import is_outcome_event, label
from ctxview.formats.envelope.vocabulary import KNOWN, RecordKind, WordList

Path = tuple[str | int, ...]
WITHOUT_SCHEMA = (RecordKind.INJECTION, RecordKind.SUMMARY)
"""The kinds for which the draft has only a list of fields."""
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
"""Names under which redaction records are looked for; the draft defines no place for them."""
OWN_WORD, OWN_PREFIXES = "custom", ("custom:", "custom.", "custom/")
"""The word that is allowed in every open list, alone or followed by a name."""


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
        recommended = _missing(FIELDS[record.kind], record.value, FieldNeed.RECOMMENDED)
        if recommended:
            yield Hit(record.origin(), f"{label(record)} has no {_all(recommended)}")
    for path, name, specs, members in _parts(record):
        absent = _missing(specs, members, FieldNeed.REQUIRED, FieldNeed.RECOMMENDED)
        if absent:
            yield Hit(record.origin(*path), f"{label(record)}: {name} has no {_all(absent)}")
    for path, members in _redaction_records(record):
        absent = [each for each in REDACTION_FIELDS if members.get(each) is None]
        if absent:
            message = f"{label(record)}: the redaction record has no {_all(absent)}"
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
        if word in KNOWN[words] or word == OWN_WORD or word.startswith(OWN_PREFIXES):
            continue
        hint = did_you_mean(word, KNOWN[words])
        number = len(KNOWN[words])
        message = (
            f"{label(record)}: {excerpt(name)} {quoted(word)} is not one of the {number} known words{hint}"
        )
        yield Hit(record.origin(*path), message)


@rule("ENV011", name="incomplete", severity=Severity.INFO)
def incomplete(record: Record, profile: Profile) -> Iterator[Hit]:
    """Recommended fields are absent; the message says how many of them are there.

    ## Why
    None of them is needed for a valid record. Each answers a question that a reader will have: how big, how
    fresh, how much to be trusted, from where. The score says how much a review can rely on the record.
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
    wanted = [name for name, spec in specs.items() if spec.need is FieldNeed.RECOMMENDED]
    missing = _missing(specs, record.value, FieldNeed.RECOMMENDED)
    if missing:
        present = len(wanted) - len(missing)
        message = f"{label(record)}: {present} of {len(wanted)} recommended fields; missing {_all(missing)}"
        yield Hit(record.origin(), message)


def _missing(
    specs: Mapping[str, FieldSpec], members: Mapping[str, JsonValue], *needs: FieldNeed
) -> list[str]:
    """The names of absent fields with one of these needs."""
    return [name for name, spec in specs.items() if spec.need in needs and members.get(name) is None]


def _all(names: list[str]) -> str:
    return listed(names, most=20)


def _parts(record: Record) -> Iterator[tuple[Path, str, Mapping[str, FieldSpec], Mapping[str, JsonValue]]]:
    """Yield the path, label, field specs and members of each block and segment."""
    for name, word, specs in (("ordered_blocks", "block", BLOCK), ("window_segments", "segment", SEGMENT)):
        for at, members in record.objects(name) if name in FIELDS[record.kind] else ():
            own = text(members.get(f"{word}_id"))
            yield (name, at), f"{word} {excerpt(own) if own else at + 1}", specs, members


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


def _words(record: Record) -> Iterator[tuple[Path, str, WordList, str]]:
    """Yield the path, field label, word list and word of each word from a list."""
    yield from _words_of_fields(FIELDS[record.kind], record.value, (), "")
    for path, name, specs, members in _parts(record):
        yield from _words_of_fields(specs, members, path, f"{name}: ")
    for path, members in _redaction_records(record):
        state = text(members.get("redaction_state"))
        if state is not None:
            yield (*path, "redaction_state"), "redaction_state", WordList.REDACTION, state
    if record.kind is RecordKind.SOURCE:
        selector = record.value.get("selector")
        for at, each in enumerate(selector if isinstance(selector, list) else [selector]):
            kind = text(each.get("type")) if isinstance(each, dict) else None
            if kind is not None:
                place = ("selector", at, "type") if isinstance(selector, list) else ("selector", "type")
                yield place, "the selector type", WordList.SELECTOR, kind
    if record.kind is RecordKind.SELECTION:
        # Each signal is yielded once, however many items have it.
        seen: set[str] = set()
        for item, signals in record.object("ranking_signals").items():
            for signal in signals if isinstance(signals, dict) else ():
                if signal not in seen:
                    seen.add(signal)
                    yield ("ranking_signals", item, signal), "the ranking signal", WordList.SIGNAL, signal
        for reference in record.refs("omitted_item_refs"):
            reason = text(reference.members.get("reason"))
            if reason is not None:
                yield (*reference.path, "reason"), "the omission reason", WordList.OMISSION, reason


def _words_of_fields(
    specs: Mapping[str, FieldSpec], members: Mapping[str, JsonValue], above: Path, label: str
) -> Iterator[tuple[Path, str, WordList, str]]:
    for name, spec in specs.items():
        # ENV004 checks the scope of an envelope, and ENV020 events that state an outcome.
        if spec.words is None or spec.words is WordList.SCOPE:
            continue
        value = members.get(name)
        entries = value if spec.type is FieldType.TEXTS and isinstance(value, list) else [value]
        for at, each in enumerate(entries):
            if isinstance(each, str) and not (name == "event_type" and is_outcome_event(each)):
                place = (name, at) if isinstance(value, list) else (name,)
                yield (*above, *place), f"{label}{name}", spec.words, each
