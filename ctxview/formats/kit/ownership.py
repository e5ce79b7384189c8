"""The owner of each file of a source, and how a person may change it: one table for forms and policies.

A format writes one `OwnershipTable`. The editor shows the fields of a locked file with the reason, and
`record_file.policy_for` refuses the edits that the table refuses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from ctxview.core.fields import Field, Form, Owner
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.tree import join


class EditMode(StrEnum):
    """How a person may change a file."""

    TEXT = "as a whole text"
    NUMBER = "as one number"
    RECORDS = "record by record"
    NOT = "not at all"


class FileOwnership(Struct, frozen=True):
    """The owner of a file, and how a person may change it."""

    owner: Owner
    editing: EditMode = EditMode.NOT
    why: str = ""
    """Why the file cannot be changed here; empty when it can."""

    def locked_form(self, file: str, pointer: str, members: Mapping[str, JsonValue]) -> Form:
        """Return the form of a record that is read-only here; `file` is its name in origins."""
        fields = (
            Field(key, value, self.owner, join(pointer, key), why=self.why) for key, value in members.items()
        )
        return Form(file, pointer, tuple(fields))


class OwnershipTable(Struct, frozen=True):
    """The ownership of files by patterns of their relative names; the first pattern that matches holds."""

    rows: tuple[tuple[str, FileOwnership], ...]
    otherwise: FileOwnership

    def of(self, name: str) -> FileOwnership:
        """Return the ownership of a file; `name` is relative to the folder of the source."""
        return next(
            (owned for pattern, owned in self.rows if re.fullmatch(pattern, name, re.DOTALL)), self.otherwise
        )
