"""What the write policies of all formats share: an edit is made and then proved; a text is edited as one.

Which fields may be written is each format's own to say.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxview.edits import Edit, Refused, SetValue, WritePolicy
from ctxview.files.splice import SpliceError
from ctxview.quick_dataclass import dataclass

NO_TEXT = "The text holds a NUL or something that UTF-8 cannot spell."


def proved(policy: WritePolicy, data: bytes, make: Callable[[], bytes]) -> bytes:
    """What `make` makes of a file with `data`, if only writable fields differ then; raises `Refused`."""
    try:
        new = make()
    except SpliceError as error:
        raise Refused(f"This cannot be changed without touching more: {error}") from None
    if reason := policy.tampering(data, new):
        raise Refused(reason)
    return new


@dataclass(frozen=True, slots=True)
class TextPolicy:
    """A file that is edited as one text; its pointer is empty."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        if not isinstance(edit, SetValue) or edit.pointer != "" or not isinstance(edit.value, str):
            raise Refused("This file is a plain text and can only be replaced by another.")
        text = edit.value
        if b"\r\n" in data and "\r" not in text:
            text = text.replace("\n", "\r\n")
        return proved(self, data, lambda: text.encode("utf-8", "surrogatepass"))

    def tampering(self, before: bytes, after: bytes) -> str | None:
        if not is_text(before):
            return "The file is not UTF-8 text, so it cannot be edited without damage."
        return None if is_text(after) else NO_TEXT


def is_text(data: bytes) -> bool:
    """Whether a text can be edited and written back without damage."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data
