"""Editing of workspace files: owners, the forms of statements and sections, and the write policy.

A statement is named by its text, `/s/DIGEST.N` with N for the Nth equal one, so that an edit finds it again
in a file that changed meanwhile. Lines that an edit does not name stay as they are, byte for byte.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from ctxview.core.edits import DeleteValue, Edit, EditRefused, InsertItem, SetValue, WritePolicy
from ctxview.core.fields import ChoiceShape, Field, Form, Owner, TextShape
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.tree import join, split
from ctxview.formats.kit.ownership import EditMode, FileOwnership, OwnershipTable
from ctxview.formats.kit.text_file import NO_TEXT, NOT_TEXT, checked_edit, is_text
from ctxview.formats.workspace.markdown import BOX, MarkdownDocument, Section, Statement

MODEL = "model"
PERSON = "person"
_HISTORY = "Raw histories and logs are never written here."
_REFLECTOR = "MEMORY.md belongs to the reflector, which replaces the whole file; the model does not write it."
_PERSON = "This file belongs to the person; choose the editor person to change it."
_DOCUMENTS = r"(?:workspace/)?(?:CONTEXT(?:-[^/]+)?\.md|memory/sessions/SESSION_\w+\.md)"
_BOOTSTRAP = r"(?:workspace/)?(?:AGENTS|SOUL|USER|TOOLS|IDENTITY|HEARTBEAT)\.md"

_AS_MODEL = OwnershipTable(
    (
        (_DOCUMENTS, FileOwnership(Owner.MODEL, EditMode.TEXT)),
        (r"(?:.*/)?MEMORY\.md", FileOwnership(Owner.SYSTEM, EditMode.NOT, _REFLECTOR)),
        (r".*\.(?:jsonl|db|db-wal)", FileOwnership(Owner.APPEND_ONLY, EditMode.NOT, _HISTORY)),
        (
            r"config\.json",
            FileOwnership(Owner.SYSTEM, EditMode.NOT, "config.json holds keys; it is not opened here."),
        ),
    ),
    FileOwnership(Owner.SYSTEM, EditMode.NOT, _PERSON),
)
_AS_PERSON = OwnershipTable(
    (
        (
            r".*\.(?:mdc?|cursorrules|windsurfrules)|\.(?:cursorrules|windsurfrules)",
            FileOwnership(Owner.MODEL, EditMode.TEXT),
        ),
        *_AS_MODEL.rows[2:],
    ),
    FileOwnership(Owner.SYSTEM, EditMode.NOT, "This is not one of the Markdown files of the workspace."),
)


def ownership(name: str, editor: str | None) -> FileOwnership:
    """Return who owns a file and how `editor` may change it; `name` is relative to the opened folder."""
    return (_AS_PERSON if editor == PERSON else _AS_MODEL).of(name)


def policy_of(name: str, editor: str | None) -> WritePolicy | None:
    return MarkdownPolicy() if ownership(name, editor).editing is EditMode.TEXT else None


def statement_form(document: MarkdownDocument, statement: Statement, owned: FileOwnership) -> Form:
    """Return the form of one statement: its text and, when it has one, its box."""
    pointer = join("", "s", statement_id(document, statement))
    writable = owned.editing is EditMode.TEXT
    shape = TextShape() if writable else None
    fields = [Field("text", statement.text, owned.owner, f"{pointer}/text", shape, owned.why)]
    if statement.box is not None:
        words = ChoiceShape(("open", "done")) if writable else None
        state = "done" if statement.box in ("x", "X") else "open"
        fields.append(Field("box", state, owned.owner, f"{pointer}/box", words, owned.why))
    return Form(document.file, pointer, tuple(fields), removable=writable)


def section_form(document: MarkdownDocument, section: Section, owned: FileOwnership) -> Form:
    """Return the form of a section as one text."""
    text = "\n".join(document.lines[section.line : section.last]).strip("\n")
    shape = TextShape(multiline=True, required=False) if owned.editing is EditMode.TEXT else None
    pointer = join("", "h", section.title)
    return Form(
        document.file, pointer, (Field("text", text, owned.owner, f"{pointer}/text", shape, owned.why),)
    )


def new_bullet_form(
    document: MarkdownDocument, section: Section, owned: FileOwnership, *, boxed: bool
) -> Form | None:
    """Return the form of a new bullet at the end of a section, or None when the file is locked."""
    if owned.editing is not EditMode.TEXT:
        return None
    pointer = join("", "h", section.title, "-")
    fields = [Field("text", "", owned.owner, f"{pointer}/text", TextShape(), present=False)]
    if boxed:
        shape = ChoiceShape(("open", "done"))
        fields.append(Field("box", "open", owned.owner, f"{pointer}/box", shape, present=False))
    return Form(document.file, pointer, tuple(fields), exists=False)


def whole_form(document: MarkdownDocument, owned: FileOwnership) -> Form:
    """Return the form of a whole file as one text."""
    shape = TextShape(multiline=True, required=False) if owned.editing is EditMode.TEXT else None
    text = "\n".join(document.lines) + ("\n" if document.data.endswith(b"\n") else "")
    return Form(document.file, "", (Field("text", text, owned.owner, "", shape, owned.why),))


def statement_id(document: MarkdownDocument, wanted: Statement) -> str:
    found = next((name for name, each in _named(document) if each is wanted), None)
    return found or f"{_digest(wanted.text)}.0"


def _named(document: MarkdownDocument) -> Iterator[tuple[str, Statement]]:
    seen: Counter[str] = Counter()
    for _, statement in document.statements():
        digest = _digest(statement.text)
        yield f"{digest}.{seen[digest]}", statement
        seen[digest] += 1


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class MarkdownPolicy(Struct, frozen=True):
    """A Markdown file that is edited by statement, by section or whole. Its front matter never changes."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        return checked_edit(self, data, lambda: _Editing(data).changed(edit))

    def tampering(self, before: bytes, after: bytes) -> str | None:
        if not is_text(before):
            return NOT_TEXT
        if not is_text(after):
            return NO_TEXT
        old, new = MarkdownDocument("", before), MarkdownDocument("", after)
        if old.lines[: old.body_line] != new.lines[: old.body_line]:
            return "The front matter is written by the program and cannot be changed here."
        return None


class _Editing:
    """One edit of one file, line by line."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._document = MarkdownDocument("", data)
        self._end = "\r\n" if b"\r\n" in data else "\n"

    def changed(self, edit: Edit) -> bytes:
        tokens = split(edit.pointer)
        match edit, tokens:
            case SetValue(value=str(text)), []:
                return self._encoded(text)
            case SetValue(value=value), ["s", name, field]:
                return self._set(self._statement(name), field, value)
            case DeleteValue(), ["s", name, *_]:
                return self._remove(self._statement(name))
            case SetValue(value=str(text)), ["h", title, "text"]:
                return self._fill(self._section(title), text)
            case DeleteValue(), ["h", title, "text"]:
                return self._fill(self._section(title), "")
            case InsertItem(value=dict(value)), ["h", title, "-"]:
                return self._insert(self._section(title), value)
        raise EditRefused("A statement can be changed, ticked or removed, a section filled; nothing else.")

    def _statement(self, name: str) -> Statement:
        found = next((each for known, each in _named(self._document) if known == name), None)
        if found is None:
            raise EditRefused("The statement is no longer in the file as it was.")
        return found

    def _section(self, title: str) -> Section:
        found = next((each for each in self._document.sections if each.title == title), None)
        if found is None:
            raise EditRefused(f"There is no section {title} in the file.")
        return found

    def _set(self, statement: Statement, field: str, value: JsonValue) -> bytes:
        first = self._document.lines[statement.line - 1]
        if field == "box" and value in ("open", "done"):
            start = first.find("[")
            box = BOX.match(first[start:]) if start >= 0 else None
            if box is None:
                raise EditRefused("This statement has no box.")
            mark = "x" if value == "done" else " "
            return self._replaced(
                statement.line, statement.line, [f"{first[:start]}[{mark}] {first[start + box.end() :]}"]
            )
        if field != "text" or not isinstance(value, str) or not value.strip():
            raise EditRefused("A statement needs a text.")
        if "\n" in value:
            raise EditRefused("A statement is one line; add another bullet for another statement.")
        marker = first[: len(first) - len(first.lstrip(" \t-*+0123456789.)"))] if statement.depth else ""
        box_text = f"[{statement.box}] " if statement.box is not None else ""
        return self._replaced(statement.line, statement.last, [f"{marker}{box_text}{value}"])

    def _remove(self, statement: Statement) -> bytes:
        lines, last = self._document.lines, statement.last
        below = lines[last] if last < len(lines) else ""
        indent = len(lines[statement.line - 1]) - len(lines[statement.line - 1].lstrip())
        if statement.depth and below.strip() and len(below) - len(below.lstrip()) > indent:
            raise EditRefused("It has text or bullets below it that belong to it; edit the section instead.")
        return self._replaced(statement.line, last, [])

    def _fill(self, section: Section, text: str) -> bytes:
        lines = [line.rstrip() for line in text.strip("\n").split("\n")] if text.strip() else []
        if any(line.startswith("#") for line in lines):
            raise EditRefused("The text of a section cannot hold a heading.")
        if section.last < len(self._document.lines):
            lines.append("")
        return self._replaced(section.line + 1, section.last, lines)

    def _insert(self, section: Section, value: dict[str, JsonValue]) -> bytes:
        text, box = value.get("text"), value.get("box")
        if not isinstance(text, str) or not text.strip() or "\n" in text:
            raise EditRefused("A bullet is one line of text.")
        mark = "" if box is None else "[x] " if box == "done" else "[ ] "
        last = max((each.last for each in section.statements), default=section.line)
        return self._replaced(last + 1, last, [f"- {mark}{text.strip()}"])

    def _replaced(self, first: int, last: int, lines: list[str]) -> bytes:
        """Return the file with the lines from `first` to `last` replaced; an empty range inserts."""
        starts = [*self._document.starts]
        start = starts[first - 1] if first <= len(self._document.lines) else len(self._data)
        end = (
            starts[last]
            if last >= first and last < len(starts)
            else (len(self._data) if last >= first else start)
        )
        new = "".join(f"{line}{self._end}" for line in lines).encode("utf-8", "surrogatepass")
        if start == len(self._data) and self._data and not self._data.endswith(b"\n"):
            new = self._end.encode() + new
        return self._data[:start] + new + self._data[end:]

    def _encoded(self, text: str) -> bytes:
        if self._end == "\r\n" and "\r" not in text:
            text = text.replace("\n", "\r\n")
        return text.encode("utf-8", "surrogatepass")
