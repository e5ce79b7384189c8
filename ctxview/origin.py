"""Where something stands on disk, and what JSON can hold: the words that even the lightest command needs."""

from __future__ import annotations

from typing import TypeAlias

from ctxview.quick_dataclass import dataclass

# What JSON.parse can return, as Python holds it.
JsonValue: TypeAlias = bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something stands on disk, so that `o` can open the very bytes."""

    file: str
    pointer: str | None = None
    start: int | None = None
    end: int | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = "".join(f":{part}" for part in (self.line, self.column) if part is not None)
        return f"{self.file}{place}"
