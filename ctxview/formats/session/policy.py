"""The write policies of a session: summary, facts, decisions, todo, references, pinned files and budget.

Nothing is written to disk here, and the histories have no policy.
"""

from __future__ import annotations

from msgspec import Struct

from ctxview.core.edits import Edit, EditRefused, SetValue, WritePolicy
from ctxview.formats.kit import record_file
from ctxview.formats.kit.ownership import EditMode
from ctxview.formats.kit.text_file import checked_edit
from ctxview.formats.session.forms import OWNERSHIP

LARGEST_BUDGET = 2**64 - 1


def policy_for(name: str) -> WritePolicy | None:
    """Return the policy for a file by its relative name, or None when the file is read-only."""
    owned = OWNERSHIP.of(name)
    return BudgetFilePolicy() if owned.editing is EditMode.NUMBER else record_file.policy_for(owned)


class BudgetFilePolicy(Struct, frozen=True):
    """A file with one unsigned number on a line, or an empty file; its pointer is empty."""

    def apply(self, data: bytes, edit: Edit) -> bytes:
        if not isinstance(edit, SetValue) or edit.pointer != "":
            raise EditRefused("The budget is one number.")
        value = edit.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            new = b""
        elif isinstance(value, int) and not isinstance(value, bool):
            new = f"{value}\n".encode()
        else:
            raise EditRefused("The budget is a whole number of tokens; 0 means no limit.")
        return checked_edit(self, data, lambda: new)

    def tampering(self, _before: bytes, after: bytes) -> str | None:
        lines = [line for line in after.split(b"\n") if line.strip()]
        if not lines:
            return None
        digits = lines[0]
        sound = len(lines) == 1 and digits.isdigit() and len(digits) <= 20 and int(digits) <= LARGEST_BUDGET
        return None if sound else "The budget is a whole number of tokens; 0 means no limit."
