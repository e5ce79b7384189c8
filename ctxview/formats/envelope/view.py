"""One envelope as a person looks at it: its records and fates, how tokens are counted, what is withheld."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.envelope.fates import GONE, Fate, fates, key_of
from ctxview.formats.envelope.files_beside import FilesBeside
from ctxview.formats.envelope.forms import record_form
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.withheld import Withheld, label
from ctxview.origin import JsonValue
from ctxview.quick_dataclass import dataclass
from ctxview.state import Form

LONGEST_VALUE = 20_000


@dataclass(frozen=True, eq=False)
class View:
    """What every part of the state is built from."""

    dossier: Dossier
    withheld: Withheld
    counter: TokenCounter
    beside: FilesBeside
    editor: str | None
    """Who would edit; None when nobody may, as in the past."""

    @cached_property
    def told(self) -> dict[Record, str]:
        """Records in words, as far as somebody asked for them."""
        return {}

    @cached_property
    def fates(self) -> Mapping[str, Fate]:
        return fates(self.dossier)

    def fate(self, record: Record) -> Fate:
        return self.fates[key_of(record)]

    def mask(self, text: str) -> str:
        return self.withheld.mask(text)

    def content(self, record: Record) -> str | None:
        """The inline content of an item or summary as text, fit to be shown; None when there is none."""
        if record.text("redaction_state") in GONE:
            return self.mask(label(record))
        if "content" not in record.value:
            return None
        return spelled_out(self.withheld.value(record, ("content",)))

    def may_be_counted(self, record: Record) -> bool:
        """Whether the inline content is there and is what the item stands for."""
        return record.text("redaction_state") not in GONE and "content" in record.value

    def tokens(self, record: Record) -> tuple[int | None, bool]:
        """How many tokens an item has, and whether they were counted here; else the record says so."""
        if self.may_be_counted(record) and not self.withheld.holds(record, ("content",)):
            return self.counter.count(spelled_out(record.value["content"])), True
        return record.count("token_estimate"), False

    def form(self, record: Record) -> Form | None:
        return record_form(record, self.dossier, self.editor) if self.editor is not None else None

    def name(self, record: Record) -> str:
        """How a person knows a record: its id, or its place when it has none."""
        return self.mask(key_of(record))


def spelled_out(value: JsonValue) -> str:
    """Text as it is, anything else as JSON."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value)
    try:
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            # Each by itself is spelled by a quick way that knows no indentation.
            told = ",\n  ".join(json.dumps(each, ensure_ascii=False) for each in value)
            return f"[\n  {told}\n]"[:LONGEST_VALUE]
        return json.dumps(value, ensure_ascii=False, indent=2)[:LONGEST_VALUE]
    except (RecursionError, ValueError):
        return "…"
