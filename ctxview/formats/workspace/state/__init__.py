"""Build the state of a workspace: tiers, todo, budgets, duplicate map, gaps, timeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.tokens import TokenCounter
from ctxview.core.fields import Form
from ctxview.core.state import ContextState, Todo, TodoItem, Transcript, progress_text
from ctxview.formats.interface import Revision
from ctxview.formats.kit.state_parts import count_blocks
from ctxview.formats.workspace.editing import ownership, statement_form, whole_form
from ctxview.formats.workspace.facts import WorkspaceFacts
from ctxview.formats.workspace.markdown import MarkdownDocument, Statement
from ctxview.formats.workspace.model import ContextDocument, Role
from ctxview.formats.workspace.profile import template_of
from ctxview.formats.workspace.state.budgets import build_budgets
from ctxview.formats.workspace.state.references import build_gaps, build_refs
from ctxview.formats.workspace.state.tiers import build_tiers
from ctxview.formats.workspace.state.timeline import build_timeline, build_windows

FORMAT = "workspace"
SPARKS = 40
"""The turns in the line of bars."""


class WorkspaceStateInputs(Struct, frozen=True):
    """What a state is built from. `linked` is False while the duplicate map may not be made yet."""

    facts: WorkspaceFacts
    counter: TokenCounter
    editor: str | None
    transcript: Transcript | None
    title: str
    revisions: Sequence[Revision]
    revision: int
    linked: bool = True


def build_state(inputs: WorkspaceStateInputs) -> ContextState:
    facts = inputs.facts
    tiers = build_tiers(facts, inputs.editor)
    refs = build_refs(facts, inputs.editor) if inputs.linked else ()
    return ContextState(
        format=FORMAT,
        title=inputs.title,
        source=str(facts.workspace.folder.root),
        revision=inputs.revisions[inputs.revision].label,
        tiers=tiers,
        todo=_todo(facts, inputs.editor),
        budgets=build_budgets(facts, linked=inputs.linked),
        refs=refs,
        missing=build_gaps(facts, linked=inputs.linked),
        timeline=tuple(build_timeline(facts, len(inputs.revisions) - 1)),
        counts=count_blocks(tiers, facts.count.counter),
        form=_form(facts, inputs.editor),
        extra=dict(_extra(facts, linked=inputs.linked)),
        transcript=inputs.transcript,
        advice=facts.savings.advice if inputs.linked else None,
        assembly=facts.assembly.neutral,
        windows=tuple(build_windows(facts)),
    )


def current_document(facts: WorkspaceFacts) -> ContextDocument | None:
    """Return the document that a person edits: the CONTEXT file of era B, otherwise the current session."""
    contexts = [each for each in facts.workspace.documents if each.role is Role.CONTEXT]
    return contexts[0] if facts.era == "B" and contexts else facts.workspace.current


def _form(facts: WorkspaceFacts, editor: str | None) -> Form | None:
    document = current_document(facts)
    if document is None or document.part is None:
        return None
    return whole_form(document.markdown, ownership(document.name, editor))


def _todo(facts: WorkspaceFacts, editor: str | None) -> Todo | None:
    items: list[TodoItem] = []
    document = current_document(facts)
    if document is not None:
        _, template = template_of(document.markdown, facts.profile)
        for section in document.markdown.sections:
            if section.title.casefold() == template.pending.casefold() and template.pending:
                items += _items(document.markdown, section.bullets, document.name, editor)
    for file in facts.workspace.of(Role.HEARTBEAT):
        boxes = [each for _, each in file.document.statements() if each.box is not None and each.text]
        items += _items(file.document, boxes, file.name, editor)
    if not items:
        return None
    return Todo(progress_text(items), len(items), None, None, tuple(items))


def _items(
    document: MarkdownDocument, bullets: list[Statement], name: str, editor: str | None
) -> Iterator[TodoItem]:
    owned = ownership(name, editor)
    for bullet in bullets:
        status = "done" if bullet.box in ("x", "X") else "open"
        origin = document.origin(bullet.line, bullet.last)
        form = statement_form(document, bullet, owned) if document.place is None else None
        yield TodoItem(None, bullet.text, status, origin=origin, kept_in=name.rpartition("/")[2], form=form)


def _extra(facts: WorkspaceFacts, *, linked: bool) -> Iterator[tuple[str, str]]:
    workspace, assembly = facts.workspace, facts.assembly
    if facts.era is None:
        yield "kind", "instructions for coding agents"
    else:
        yield "era", facts.era if facts.asked.era is None else f"{facts.era} (chosen)"
        yield "prompt", f"{assembly.tokens:,} tokens at {assembly.title}"
    if workspace.current is not None:
        yield "session", f"{workspace.current.key or workspace.current.name} ({workspace.current.status})"
    document = current_document(facts)
    if document is not None and facts.era != "A":
        yield "template", template_of(document.markdown, facts.profile)[0]
    if linked:
        yield "every turn", f"{assembly.tokens:,} tokens, {facts.savings.total:,} of them can be saved"
    if facts.survey is not None and facts.survey.turns:
        yield "per turn", sparkline([turn.context for turn in facts.survey.turns[-SPARKS:]])
    for name, value in workspace.settings.memory.items():
        yield f"memory.{name}", str(value)
    if facts.survey is None and (workspace.histories or workspace.database is not None):
        yield "histories", "not read yet"
    elif facts.survey is not None and facts.survey.messages:
        yield "messages", f"{facts.survey.messages:,}"


def sparkline(figures: list[int]) -> str:
    """Return figures as bars, with the first and the last one in tokens."""
    most = max(max(figures), 1)
    bars = "".join("▁▂▃▄▅▆▇█"[min(7, 8 * each // most)] for each in figures)
    return f"{bars} {figures[0]:,} to {figures[-1]:,} tokens"
