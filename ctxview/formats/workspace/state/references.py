"""The duplicate and contradiction map as references, and what is missing: what is cut, and what is stale."""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.core.fields import Form
from ctxview.core.findings import Severity
from ctxview.core.origin import Origin
from ctxview.core.state import Gap, Ref, RefStatus
from ctxview.formats.kit.state_parts import left_out_gap, make_gap
from ctxview.formats.workspace.duplicates import Pair
from ctxview.formats.workspace.editing import ownership, statement_form
from ctxview.formats.workspace.facts import MOST_REFS, WorkspaceFacts
from ctxview.formats.workspace.rules.staleness import stale_command, stale_path, stale_version
from ctxview.formats.workspace.similarity import Likeness

_STATUS = {
    Likeness.EXACT: RefStatus.DUPLICATE,
    Likeness.NEAR: RefStatus.DUPLICATE,
    Likeness.CONTRADICTION: RefStatus.CONTRADICTION,
}
_STALE = {
    "a path that does not exist": stale_path,
    "a command that does not exist": stale_command,
    "a version that is not in use": stale_version,
}
_ORDER = (Likeness.CONTRADICTION, Likeness.EXACT, Likeness.NEAR)


def build_refs(facts: WorkspaceFacts, editor: str | None) -> tuple[Ref, ...]:
    """Return a reference for each pair, from the statement to remove to the one to keep."""
    pairs = sorted(facts.pairs, key=lambda pair: _ORDER.index(pair.likeness))
    return tuple(_ref(facts, pair, editor) for pair in pairs[:MOST_REFS])


def _ref(facts: WorkspaceFacts, pair: Pair, editor: str | None) -> Ref:
    words = f"shared words: {', '.join(pair.shared)}" if pair.shared else "the same words"
    values = f"\ndiffers in: {pair.values[0]} and {pair.values[1]}" if pair.values else ""
    waste = "" if pair.together else "\nno agent loads both files"
    text = (
        f"{pair.drop.place}: {pair.drop.compared.text}\n{pair.keep.place}: {pair.keep.compared.text}\n"
        f"{words}{values}\n{pair.keep.name} should keep it{waste}"
    )
    return Ref(
        id=pair.drop.place,
        kind=pair.likeness.value,
        target=pair.keep.place,
        status=_STATUS[pair.likeness],
        tokens=facts.count(f"- {pair.drop.compared.text}\n") if pair.together else 0,
        bytes=len(pair.drop.compared.text.encode("utf-8", "replace")),
        used_by=(pair.drop.name,),
        origin=pair.drop.origin,
        text=text,
        form=_form(pair, editor),
    )


def _form(pair: Pair, editor: str | None) -> Form | None:
    """Return the form that removes the statement; a sentence inside a longer one can only be edited."""
    document, statement = pair.drop.document, pair.drop.statement
    if document.place is not None:
        return None
    form = statement_form(document, statement, ownership(pair.drop.name, editor))
    if pair.drop.compared.text != statement.text:
        return Form(form.file, form.pointer, form.fields)
    return form


def build_gaps(facts: WorkspaceFacts, *, linked: bool = True) -> tuple[Gap, ...]:
    """Unless `linked`, duplicates are not known yet, nor how many of them are left out."""
    cut = facts.left_out if linked else ()
    rows = (left_out_gap("parts of the workspace", why, Origin(file)) for file, why in cut)
    return (*rows, *_gaps(facts))


def _gaps(facts: WorkspaceFacts) -> Iterator[Gap]:
    for part in facts.assembly.components:
        if part.state != "whole" and part.document is not None:
            severity = Severity.ERROR if part.state == "dropped" else Severity.WARNING
            first = 1 if part.lines is None or part.lines[0] > 1 else part.lines[1] + 1
            place = part.document.origin(first, len(part.document.lines))
            question, why = f"{part.lost:,} tokens of {part.name}", part.reason or ""
            blocks = (part.source or part.name,)
            yield make_gap(part.name, question, severity, part.state, why, place, blocks)
    for question, find in _STALE.items():
        for hit in find(facts):
            name = facts.workspace.folder.name_of(hit.origin.file) or hit.origin.file
            if find is stale_path or hit.severity is Severity.WARNING:
                where = f"{name}:{hit.origin.line}"
                yield make_gap(where, question, Severity.WARNING, "stale", hit.message, hit.origin, (name,))
    for file, reason in facts.workspace.unreadable:
        yield make_gap(file, "a file", Severity.ERROR, "unreadable", reason, Origin(file))
