"""The rules about the shape of one record: its kind, fields, types, times and words (ENV001 to ENV011).

Examples change a sound bundle: `ID.member = JSON` sets a member of a record, `+ JSON` adds a record.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.wording import listed, spelled
from ctxview.findings import Hit, Severity, rule
from ctxview.formats.envelope.model import Stray


@rule("ENV001", name="no-record", severity=Severity.ERROR)
def no_record(stray: Stray) -> Iterator[Hit]:
    """A value stands where a record should, and no id field says what kind it is.

    ## Why
    The draft has no field for the kind of a record: its id field is all that tells an item from a selection.
    A value without one belongs to nothing; no reference can lead to it, and it is not shown as context.
    ## Bad
    + {"title": "the plan", "content": "first the tests"}
    ## Good
    + {"surface_id": "surface-2", "scope": "turn"}
    ## Fix
    Give the record the id field of its kind, such as `item_id` or `selection_id`.
    ## Source
    Agent Context draft, core objects. That the id field decides is ours: the draft names no other way.
    """
    value = stray.value
    if not isinstance(value, dict):
        yield Hit(stray.origin, f"this is {spelled(value)}, not a record")
    else:
        fields = f"; its fields are {listed(value)}" if value else ""
        yield Hit(stray.origin, f"no id field says what kind of record this is{fields}")
