"""Everything that the rules about one request look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from ctxview.core.origin import Origin
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.model import (
    Api,
    LogPart,
    ModelCall,
    PartKind,
    RequestBody,
    TranscriptRow,
)


class RequestFacts:
    """One request, with its messages, tools and cache breakpoints."""

    def __init__(self, facts: TranscriptFacts, body: RequestBody, call: ModelCall) -> None:
        self.facts, self.body, self.call = facts, body, call

    @property
    def anthropic(self) -> bool:
        return self.body.api is Api.ANTHROPIC

    def rows_of(self, body: RequestBody) -> Sequence[tuple[int, TranscriptRow]]:
        return [(at, self.facts.log.rows[at]) for at in range(body.first, body.answer)]

    @cached_property
    def messages(self) -> Sequence[tuple[int, TranscriptRow]]:
        """The rows of the messages, without system prompts."""
        skipped = ("tool", "system")
        return [
            each
            for each in self.rows_of(self.body)
            if each[1].sort not in skipped and each[1].role is not None
        ]

    @cached_property
    def tools(self) -> Sequence[LogPart]:
        return [part for part in self.facts.context.parts if part.kind is PartKind.SCHEMA]

    @cached_property
    def marks(self) -> Sequence[LogPart]:
        return [part for part in self.facts.context.parts if part.cache]

    def origin(self, row: int) -> Origin:
        return self.facts.log.origin(row)

    def name(self, row: int) -> str:
        return self.facts.log.name(row)

    def tokens(self, part: LogPart) -> int:
        return self.facts.sizes.of(part)

    @property
    def place(self) -> Origin:
        """The place of the request as a whole."""
        return self.body.origin

    def running_turn(self) -> Iterator[tuple[int, TranscriptRow]]:
        """Yield the answers since the last prompt when the request ends with results: the turn that runs."""
        if not self.messages or not _of_kind(self.messages[-1][1], PartKind.RESULT):
            return
        for at, row in reversed(self.messages):
            if row.role == "user" and not _of_kind(row, PartKind.RESULT):
                return
            if row.role == "assistant":
                yield at, row


def _of_kind(row: TranscriptRow, kind: PartKind) -> bool:
    return any(part.kind is kind for part in row.parts)
