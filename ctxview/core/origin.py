"""Origins of values on disk, and the type of JSON values: the part that even the fastest command imports."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

# The values that JSON.parse can return, as Python types.
JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None


class Origin(Struct, frozen=True):
    """The place of a value on disk, so that `o` can open exactly these bytes."""

    file: str
    pointer: str | None = None
    start: int | None = None
    end: int | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "".join(f":{part}" for part in (self.line, self.column) if part is not None)
        return f"{self.file}{place}"
