"""Whether a field of a record may be written now: what `ownership` grants, and what has happened since.

A limit is set before it is used, a block arranged before it is shown, a note rewritten while it is a note.
"""

from __future__ import annotations

from ctxview.formats.envelope.fates import GONE
from ctxview.formats.envelope.model import Dossier, Record
from ctxview.formats.envelope.ownership import BEFORE_INJECTION, IN_PLACE, OWN_KEY, Right, ownership
from ctxview.formats.envelope.vocabulary import Kind
from ctxview.origin import JsonValue

WRITABLE = (Right.EDITABLE, Right.GUARDED, Right.APPEND_ONLY)


def lifecycle(dossier: Dossier) -> str:
    """The envelope's own word; loose records are still being gathered."""
    return (dossier.envelope.text("lifecycle") or "") if dossier.envelope is not None else IN_PLACE[0]


def in_place(dossier: Dossier) -> bool:
    """Whether changes go into the files themselves, and not into a new revision."""
    return lifecycle(dossier) in IN_PLACE


def why_locked(record: Record, name: str, dossier: Dossier) -> str | None:
    """Why nobody may write the field now; None when somebody may."""
    owned = ownership(record.kind, name)
    if _offered_while_building(record, name) and not _chosen_from(record, dossier):
        return None if in_place(dossier) else owned.why
    if owned.right not in WRITABLE:
        return owned.why
    if owned.why and not _in_time(record, name, dossier):
        return owned.why
    return None


def metadata_tampering(old: JsonValue, new: JsonValue) -> str | None:
    """Why metadata may not become `new`; our own part of it is free."""
    if _others_part(old) == _others_part(new):
        return None
    return f"Of the metadata only the part named {OWN_KEY} is ours; the rest is its producer's."


def _others_part(value: JsonValue) -> JsonValue:
    if not isinstance(value, dict):
        return value or {}
    return {name: each for name, each in value.items() if name != OWN_KEY}


def _in_time(record: Record, name: str, dossier: Dossier) -> bool:
    """For the fields that may be written only while something has not happened yet."""
    match record.kind, name:
        case Kind.BUDGET, (
            "max_tokens" | "max_bytes" | "max_items" | "reserved_tokens" | "overflow_strategy"
        ):
            return in_place(dossier)
        case Kind.SOURCE, "selector":
            return in_place(dossier)
        case Kind.ASSEMBLY, ("ordered_blocks" | "wrapping_policy" | "separator_policy"):
            return lifecycle(dossier) in BEFORE_INJECTION and not _injected(record, dossier)
        case Kind.ITEM, "content":
            return _is_note(record, dossier)
    return True


def _is_note(item: Record, dossier: Dossier) -> bool:
    if item.text("redaction_state") in GONE or item.text("digest"):
        return False
    return item.text("context_kind") == "manual_note" or in_place(dossier)


def _injected(assembly: Record, dossier: Dossier) -> bool:
    return any(each.text("assembly_id") == assembly.id for each in dossier.of(Kind.INJECTION))


def _offered_while_building(record: Record, name: str) -> bool:
    return record.kind is Kind.SURFACE and name in ("available_source_refs", "available_item_refs")


def _chosen_from(surface: Record, dossier: Dossier) -> bool:
    return any(each.text("surface_id") == surface.id for each in dossier.of(Kind.SELECTION))
