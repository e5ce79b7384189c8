"""What was read of a laid out moment, told in the names it had then, and closed to every change.

Goes through any value of the neutral state: texts that name the private folder are rewritten, forms lose
what makes them editable. Nothing is read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from ctxview.later import Later
from ctxview.quick_dataclass import dataclass
from ctxview.state import ContextState, Field, Form, Origin, Row, Tier, Transcript

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Naming:
    """Where the files lie, what that folder is called to people, and why nothing in it can be changed."""

    folder: str
    base: str
    shown: str
    why: str
    held: object = None
    """What must not go while somebody uses the names."""

    def of(self, value: T) -> T:
        """The same value with the names people know."""
        return cast(T, self._of(value))

    @property
    def prefix(self) -> str:
        """What comes before the names of files; nothing in the folder where the person is."""
        return "" if self.shown == "." else f"{self.shown.removesuffix('/')}/"

    def text(self, text: str) -> str:
        if self.base not in text:
            return text
        named = text.replace(f"{self.folder}/", self.prefix).replace(self.folder, self.shown)
        return named.replace(f"{self.base}/", "")

    def name(self, file: str) -> str | None:
        """The name in the folder behind one that people know; None when it is none of ours."""
        return file.removeprefix(self.prefix) if file.startswith(self.prefix) else None

    def _of(self, value: object) -> object:
        match value:
            case None | bool() | int() | float():
                return value
            case str():
                return self.text(value)
            case tuple():
                changed = tuple(map(self._of, value))
                same = all(new is old for new, old in zip(changed, value, strict=True))
                return value if same else changed
            case Later():
                return Later(lambda: [self._of(each) for each in value])
            case Origin():
                file = self.text(value.file)
                return value if file is value.file else replace(value, file=file)
            case Field() if value.shape is not None:
                return self._fields_of(replace(value, shape=None, why=self.why))
            case Form():
                return self._fields_of(replace(value, removable=False))
            case Tier():
                return self._fields_of(replace(value, new=None))
            case ContextState() if value.transcript is not None:
                rows = NamedTranscript(value.transcript, self)
                return replace(self.of(replace(value, transcript=None)), transcript=rows)
            case Mapping():
                return {key: self._of(each) for key, each in value.items()}
            case _ if is_dataclass(value):
                return self._fields_of(value)
        return value

    def _fields_of(self, value: Any) -> object:
        now = {each.name: self._of(getattr(value, each.name)) for each in fields(value)}
        changed = {name: new for name, new in now.items() if new is not getattr(value, name)}
        return replace(value, **changed) if changed else value


@dataclass(frozen=True, slots=True)
class NamedTranscript:
    """Rows of a laid out moment in the names they had then."""

    rows: Transcript
    naming: Naming

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def complete(self) -> bool:
        return self.rows.complete

    @property
    def ending(self) -> int:
        return self.rows.ending

    def row(self, index: int) -> Row:
        return self.naming.of(self.rows.row(index))

    def raw(self, index: int) -> bytes:
        return self.rows.raw(index)

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        return self.rows.find(needle, start, backwards, cancelled)
