"""Who in a session's context names a chunk or a blob; rather one mention too many than too few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from ctxview.formats.session.model import Session
from ctxview.quick_dataclass import dataclass

NAMING = ("pack.json", "summary.md", "todo.md", "facts.jsonl", "decisions.jsonl", "refs.jsonl", "plan.json")
INDEXES = ("swap/index.jsonl", "dedup/index.jsonl")


@dataclass(frozen=True)
class Mentions:
    """The texts of a session that can name other parts of it. pack.md only repeats what others say."""

    session: Session

    def of(self, words: str, besides: str = "") -> tuple[str, ...]:
        """The files, besides one, that hold these words: an id or a path."""
        return tuple(name for name, text in self._texts.items() if name != besides and words in text)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return dict(self._collect())

    def _collect(self) -> Iterator[tuple[str, str]]:
        for name in (*NAMING, *INDEXES):
            yield f"context/{name}", self.session.part(f"context/{name}").text
        for child in self.session.children:
            for part in child.parts.values():
                yield part.name, part.text
