"""The tiers of a workspace: what of each file the model is shown, by bullet where a document has bullets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ctxview.analysis.wording import beginning
from ctxview.core.fields import Form
from ctxview.core.figures import Reason, ReasonKind
from ctxview.core.state import Block, Tier
from ctxview.formats.workspace.assembly import Component
from ctxview.formats.workspace.editing import (
    new_bullet_form,
    ownership,
    section_form,
    statement_form,
    whole_form,
)
from ctxview.formats.workspace.facts import MOST_BLOCKS, WorkspaceFacts
from ctxview.formats.workspace.markdown import Statement
from ctxview.formats.workspace.model import ContextDocument, Role, WorkspaceFile
from ctxview.formats.workspace.profile import template_of

LONGEST_TEXT = 64 * 1024


def build_tiers(facts: WorkspaceFacts, editor: str | None) -> tuple[Tier, ...]:
    if facts.era is None:
        every, sometimes = (
            tuple(_file_block(facts, file, name, editor) for file in facts.workspace.of(role))
            for role, name in ((Role.INSTRUCTIONS, "every turn"), (Role.ON_DEMAND, "on demand"))
        )
        return Tier("every turn", every), Tier("on demand", sometimes)
    return tuple(_home_tiers(facts, editor))


def _home_tiers(facts: WorkspaceFacts, editor: str | None) -> Iterator[Tier]:
    workspace = facts.workspace
    blank = [each for each in workspace.of(Role.BOOTSTRAP) if each not in workspace.bootstrap]
    yield Tier(
        "bootstrap",
        tuple(_file_block(facts, each, "bootstrap", editor) for each in (*workspace.bootstrap, *blank)),
    )
    for document in workspace.documents:
        if document.role is Role.CONTEXT or document is workspace.current:
            name = "context" if document.role is Role.CONTEXT else "session"
            yield from _document_tiers(facts, document, name, editor)
    if workspace.memory is not None:
        yield Tier("memory", tuple(_memory(facts, workspace.memory, editor)))
    others = [
        each for each in workspace.documents if each.role is Role.SESSION and each is not workspace.current
    ]
    if others:
        yield Tier("other sessions", tuple(_session_block(each) for each in others[:MOST_BLOCKS]))
    rest = list(workspace.of(Role.HEARTBEAT, Role.NOTE, Role.UNREAD_MEMORY, Role.ARCHIVED))
    if rest:
        yield Tier("other files", tuple(_file_block(facts, each, "other files", editor) for each in rest))


def _file_block(facts: WorkspaceFacts, file: WorkspaceFile, tier: str, editor: str | None) -> Block:
    document = file.document
    part = next((each for each in facts.assembly.components if each.document is document), None)
    visible = part.state != "dropped" if part is not None else (None if file.role is Role.NOTE else False)
    reason = _left_out(part) if part is not None else _unseen(file)
    text = "\n".join(document.lines)
    return Block(
        id=file.name,
        tier=tier,
        type=file.role.value if facts.era is not None else (file.scope or "always"),
        text=beginning(text, LONGEST_TEXT),
        tags=file.readers,
        tokens=part.tokens if part is not None else facts.count(text),
        visible=visible,
        reason=reason,
        state=part.state if part is not None and part.state != "whole" else None,
        origin=document.whole,
        form=whole_form(document, ownership(file.name, editor)),
        rank=_rank(facts, part),
    )


def _left_out(part: Component) -> Reason | None:
    """Return why a part of the prompt is cut or dropped; for a whole one, how it is shown."""
    if not part.reason:
        return None
    return Reason(ReasonKind.NOTE if part.state == "whole" else ReasonKind.NO_ROOM, part.reason)


def _unseen(file: WorkspaceFile) -> Reason | None:
    match file.role:
        case Role.NOTE:
            text = "in local mode the newest three, at most 800 characters each"
            return Reason(ReasonKind.UNKNOWN, text)
        case Role.UNREAD_MEMORY:
            return Reason(ReasonKind.NOT_CHOSEN, "the program reads memory/MEMORY.md instead")
        case Role.HEARTBEAT:
            return Reason(ReasonKind.NOT_CHOSEN, "read only by the periodic task")
        case Role.ARCHIVED:
            return Reason(ReasonKind.STORED, "archived after the reflector took it over")
        case Role.ON_DEMAND:
            return Reason(ReasonKind.STORED, f"loaded only for {file.scope}", summary="loaded on demand")
    return Reason(ReasonKind.INVALID, "the file is blank") if file.document.is_blank else None


def _rank(facts: WorkspaceFacts, part: Component | None) -> int | None:
    if part is None or part.state == "dropped":
        return None
    return facts.assembly.components.index(part)


def _document_tiers(
    facts: WorkspaceFacts, document: ContextDocument, name: str, editor: str | None
) -> Iterator[Tier]:
    """Yield a tier for each section of a document, with its bullets as blocks."""
    text = document.markdown
    part = next((each for each in facts.assembly.components if each.document is text), None)
    owned = ownership(document.name if document.row is None else "sessions.db", editor)
    _, template = template_of(text, facts.profile)
    label = f"{name} {document.channel}" if name == "context" and document.channel else name
    for section in text.sections:
        title = section.title or "before the first section"
        blocks, names = [], Counter[str]()
        for statement in section.statements:
            form: Form | None = statement_form(text, statement, owned)
            if statement.kind != "bullet" and section.level:
                form = section_form(text, section, owned)
            form = form if text.place is None else None
            slug = _slug(statement, names)
            blocks.append(_statement_block(facts, document, statement, f"{label}: {title}", slug, part, form))
        boxed = title.casefold() == template.pending.casefold()
        new = (
            new_bullet_form(text, section, owned, boxed=boxed)
            if section.level and text.place is None
            else None
        )
        if blocks or section.level == 2:
            yield Tier(f"{label}: {title}", tuple(blocks), new)


def _statement_block(
    facts: WorkspaceFacts,
    document: ContextDocument,
    statement: Statement,
    tier: str,
    name: str,
    part: Component | None,
    form: Form | None,
) -> Block:
    visible, reason = _seen(statement, part)
    if part is None:
        active = document.status == "active"
        text = "not in the prompt of this era" if active else f"the session is {document.status}"
        reason = Reason(ReasonKind.NOT_CHOSEN, text)
    return Block(
        id=name,
        tier=tier,
        type="item" if statement.box is not None else statement.kind,
        text=beginning(statement.text, LONGEST_TEXT),
        tokens=facts.count(f"- {statement.text}\n"),
        visible=visible,
        reason=reason,
        state=("done" if statement.box in ("x", "X") else "open") if statement.box is not None else None,
        origin=document.markdown.origin(statement.line, statement.last),
        form=form,
    )


def _memory(facts: WorkspaceFacts, file: WorkspaceFile, editor: str | None) -> Iterator[Block]:
    part, names = facts.assembly.component("memory"), Counter[str]()
    owned = ownership(file.name, editor)
    for at, (section, statement) in enumerate(file.document.statements()):
        if at >= MOST_BLOCKS:
            return
        visible, reason = _seen(statement, part)
        yield Block(
            id=_slug(statement, names),
            tier="memory",
            type=section.title or "fact",
            text=beginning(statement.text, LONGEST_TEXT),
            tokens=facts.count(f"- {statement.text}\n"),
            visible=visible,
            reason=reason,
            origin=file.document.origin(statement.line, statement.last),
            form=statement_form(file.document, statement, owned),
        )


def _seen(statement: Statement, part: Component | None) -> tuple[bool, Reason | None]:
    """Return whether the model is shown a statement, and why not."""
    if part is None or part.lines is None:
        return False, _left_out(part) if part is not None else None
    first, last = part.lines
    if first <= statement.line <= last:
        return True, None
    return False, _left_out(part)


def _session_block(document: ContextDocument) -> Block:
    why = f"the session is {document.status}" if document.status != "active" else "not the current session"
    return Block(
        id=document.key or document.name,
        tier="other sessions",
        type="session",
        text=beginning(document.body, LONGEST_TEXT),
        visible=False,
        reason=Reason(ReasonKind.NOT_CHOSEN, why),
        state=document.status,
        origin=document.markdown.whole,
    )


def _slug(statement: Statement, names: Counter[str]) -> str:
    """Return a readable name that stays the same while the text does."""
    words = re.findall(r"[\w./-]+", statement.text.lower())[:5]
    name = "-".join(words)[:40] or f"line-{statement.line}"
    names[name] += 1
    return name if names[name] == 1 else f"{name}-{names[name]}"
