"""Text files that are edited as one text, and the check of every edit against its write policy.

Each format decides which fields may be written.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ctxview.core.edits import Edit, EditRefused, SetValue, WritePolicy
from ctxview.core.fields import Field, Form, TextShape
from ctxview.files.strict_json.splice import SpliceError
from ctxview.formats.kit.folder import FolderFile
from ctxview.formats.kit.ownership import EditMode, FileOwnership

LARGEST_EDITED = 1024 * 1024
NOT_TEXT = "The file is not UTF-8 text, so it cannot be edited without damage."
NO_TEXT = "The text contains a NUL or characters that UTF-8 cannot encode."


def text_form(part: FolderFile, owned: FileOwnership) -> Form | None:
    """Return the form of a text file, which is one field; None when the file does not exist."""
    if not part.exists:
        return None
    why = owned.why or _unreadable_reason(part)
    shape = TextShape(multiline=True, required=False) if owned.editing is EditMode.TEXT and not why else None
    name = part.name.rpartition("/")[2]
    return Form(part.file, "", (Field(name, part.text, owned.owner, "", shape, why),))


def _unreadable_reason(part: FolderFile) -> str:
    if part.data is None:
        return f"The file cannot be read: {part.problem}."
    if len(part.data) > LARGEST_EDITED:
        return "The file is too large to be edited here."
    try:
        part.data.decode("utf-8")
    except UnicodeDecodeError:
        return NOT_TEXT
    return ""


def checked_edit(policy: WritePolicy, data: bytes, make: Callable[[], bytes]) -> bytes:
    """Return the result of `make` if only writable fields of `data` differ in it; raises `EditRefused`."""
    try:
        new = make()
    except SpliceError as error:
        raise EditRefused(f"This cannot be changed without changing other bytes: {error}") from None
    if reason := policy.tampering(data, new):
        raise EditRefused(reason)
    return new


class TextPolicy(Struct, frozen=True):
    """A file that is edited as one text; its pointer is empty."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        if not isinstance(edit, SetValue) or edit.pointer != "" or not isinstance(edit.value, str):
            raise EditRefused("This file is plain text and can only be replaced as a whole.")
        text = edit.value
        if b"\r\n" in data and "\r" not in text:
            text = text.replace("\n", "\r\n")
        return checked_edit(self, data, lambda: text.encode("utf-8", "surrogatepass"))

    def tampering(self, before: bytes, after: bytes) -> str | None:
        if not is_text(before):
            return NOT_TEXT
        return None if is_text(after) else NO_TEXT


def is_text(data: bytes) -> bool:
    """Whether `data` can be edited as text and written back without damage."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
