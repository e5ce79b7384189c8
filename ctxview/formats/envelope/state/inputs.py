"""The inputs of the state builders: records, outcomes, token counter and withheld content."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from ctxview.analysis.tokens import TokenCounter
from ctxview.core.fields import Form
from ctxview.core.origin import JsonValue
from ctxview.formats.envelope.editing.forms import envelope_record_form
from ctxview.formats.envelope.model import EnvelopeRecords, Record
from ctxview.formats.envelope.outcomes import Outcome, outcome_key, outcomes
from ctxview.formats.envelope.redactions import is_gone
from ctxview.formats.envelope.references import SiblingFiles
from ctxview.formats.envelope.vocabulary import RecordKind
from ctxview.formats.envelope.withheld import WithheldContent, withheld_label

LONGEST_VALUE = 20_000
NO_TARGET = "unknown target"


class EnvelopeStateInputs(Struct, frozen=True, eq=False, dict=True):
    """The inputs of every part of a state."""

    records: EnvelopeRecords
    withheld: WithheldContent
    counter: TokenCounter
    siblings: SiblingFiles
    editor: str | None
    """In whose name a person edits; None when the revision is read-only."""
    taken: Collection[str] = ()
    """The ids of all records of the source."""

    @cached_property
    def record_texts(self) -> dict[Record, str]:
        """The cache of `fields_text`."""
        return {}

    @cached_property
    def free_assemblies(self) -> Mapping[str | None, Sequence[Record]]:
        """The assemblies that name no budget, by target."""
        found: dict[str | None, list[Record]] = {}
        for assembly in self.records.of(RecordKind.ASSEMBLY):
            if not assembly.refs("budget_ref"):
                found.setdefault(assembly.text("target"), []).append(assembly)
        return found

    @cached_property
    def known_outcomes(self) -> Mapping[str, Outcome]:
        return outcomes(self.records)

    def outcome(self, record: Record) -> Outcome:
        return self.known_outcomes[outcome_key(record)]

    def mask(self, text: str) -> str:
        return self.withheld.mask(text)

    def content(self, record: Record) -> str | None:
        """The masked inline content of an item or summary as text; None when there is none."""
        if is_gone(record.redaction):
            return self.mask(withheld_label(record))
        if "content" not in record.value:
            return None
        return spelled_out(self.withheld.value(record, ("content",)))

    def may_be_counted(self, record: Record) -> bool:
        """Whether the item has inline content that no redaction removed."""
        return not is_gone(record.redaction) and "content" in record.value

    def tokens(self, record: Record) -> tuple[int | None, bool]:
        """The tokens of an item, and whether they were counted here; else they are as recorded."""
        if self.may_be_counted(record) and not self.withheld.holds(record, ("content",)):
            return self.counter.count(spelled_out(record.value["content"])), True
        return record.count("token_estimate"), False

    def form(self, record: Record) -> Form | None:
        return envelope_record_form(record, self.records, self.editor) if self.editor is not None else None

    def name(self, record: Record) -> str:
        """The masked id of a record, or its pointer when it has none."""
        return self.mask(outcome_key(record))


def spelled_out(value: JsonValue) -> str:
    """Return a text unchanged, any other value as JSON."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value)
    try:
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            # Without indentation `json.dumps` uses its fast C encoder.
            lines = ",\n  ".join(json.dumps(each, ensure_ascii=False) for each in value)
            return f"[\n  {lines}\n]"[:LONGEST_VALUE]
        return json.dumps(value, ensure_ascii=False, indent=2)[:LONGEST_VALUE]
    except (RecursionError, ValueError):
        return "…"
