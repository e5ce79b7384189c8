"""A log that is read whole and kept in memory: its texts, its rows for History, and the source around it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol, overload

from ctxview.analysis.wording import beginning
from ctxview.core.edits import WritePolicy
from ctxview.core.findings import Finding, worst_first
from ctxview.core.origin import JsonValue
from ctxview.core.prompt import Prompt
from ctxview.core.revision_signs import COMPACTION, WHOLE_STATE
from ctxview.core.transcript import END, Row
from ctxview.formats.interface import AS_ON_DISK, Abilities, Hurry, Lens, Reading, Revision
from ctxview.formats.kit.file_source import Memo
from ctxview.formats.kit.history_passes import tallied
from ctxview.formats.transcript.facts import TranscriptFacts
from ctxview.formats.transcript.format import NAME
from ctxview.formats.transcript.loading import LogHolder
from ctxview.formats.transcript.model import LogPart, ModelCall, TranscriptLog
from ctxview.formats.transcript.profile import PROFILES, load_profile
from ctxview.formats.transcript.prompt import build_prompt
from ctxview.formats.transcript.requests.parts import part_text
from ctxview.formats.transcript.state import build_state
from ctxview.formats.transcript.texts import LONGEST_ROW, LONGEST_TEXT

NOW = "now"


class CallRevisions(Sequence[Revision]):
    """A revision for every call, made when it is first wanted, and then those in `more`."""

    def __init__(self, log: TranscriptLog, path: Path, *more: Revision) -> None:
        self._log, self._path, self._more = log, path, more
        self._made: dict[int, Revision] = {}

    def __len__(self) -> int:
        return len(self._log.calls) + len(self._more)

    @overload
    def __getitem__(self, at: int) -> Revision: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Revision, ...]: ...
    def __getitem__(self, at: int | slice) -> Revision | tuple[Revision, ...]:
        places = range(len(self))[at]
        return self._revision(places) if isinstance(places, int) else tuple(map(self._revision, places))

    def _revision(self, at: int) -> Revision:
        calls = self._log.calls
        if at >= len(calls):
            return self._more[at - len(calls)]
        if at not in self._made:
            self._made[at] = self._of_call(at, calls[at])
        return self._made[at]

    def _of_call(self, at: int, call: ModelCall) -> Revision:
        follows = None
        if call.previous is not None and call.previous != at - 1:
            follows = f"call {call.previous + 1}"
        before = self._log.calls[at - 1].row if at else -1
        sign = COMPACTION if self._log.compacted_between(before, call.row) else WHOLE_STATE
        label = f"call {call.number}"
        return Revision(label, "call", self._path, call.number, call.time, follows, sign=sign, id=label)


class WholeLog(LogHolder, Protocol):
    """A log with the value of every row: the blocks or the schema that its texts are in."""

    values: list[JsonValue]


class HeldTexts:
    """The texts of the parts of a log in memory."""

    def __init__(self, held: WholeLog) -> None:
        self._values = held.values

    def text(self, part: LogPart, limit: int = LONGEST_TEXT) -> str:
        return beginning(self.whole(part), limit)

    def whole(self, part: LogPart) -> str:
        return part_text(self._values[part.row], part)

    def same_bytes(self, row: int, other: int) -> bool:
        return self._values[row] == self._values[other]


class HeldRows:
    """Rows of a log for the History pane, each made when it is shown."""

    complete = True
    ending = 0

    def __init__(
        self, held: WholeLog, texts: HeldTexts, rows: Sequence[int], absent: Mapping[int, str]
    ) -> None:
        self._log, self._texts, self._rows, self._absent = held.log, texts, rows, absent

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Row:
        place = index + len(self._rows) if index < 0 else index
        if not 0 <= place < len(self._rows):
            raise IndexError(f"there is no row {index}")
        at = self._rows[place]
        row = self._log.rows[at]
        text = beginning("\n".join(map(self._texts.whole, row.parts)), LONGEST_ROW)
        kind = row.parts[0].kind.value if row.parts else row.sort
        unseen = self._absent.get(at)
        if not row.parts and unseen is None:
            unseen = "not part of the conversation"
        size = row.end - row.start or len(text)
        return Row(place, row.role, kind, text, None, self._log.origin(at), size, None, unseen, place + 1)

    def raw(self, index: int) -> bytes:
        return self.row(index).text.encode("utf-8", "replace")

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        if not needle:
            return None
        total = len(self)
        begin = total if start == END else max(0, start + total) if start < 0 else min(start, total)
        for place in range(begin - 1, -1, -1) if backwards else range(begin, total):
            if cancelled():
                return None
            text = self.row(place).text
            if needle in (text.lower() if needle == needle.lower() else text):
                return place
        return None


class WholeLogSource(ABC):
    """The part of a source that follows from its log: revisions, readings, findings and prompts."""

    format = NAME
    profiles: Sequence[str] = PROFILES
    targets: Sequence[str] = ()

    def __init__(self) -> None:
        self._readings: Memo[Reading] = Memo(32)

    @property
    @abstractmethod
    def path(self) -> Path: ...

    @property
    @abstractmethod
    def held(self) -> WholeLog: ...

    @property
    @abstractmethod
    def general_findings(self) -> Sequence[Finding]:
        """The findings of the rules that need no format."""

    @abstractmethod
    def history(self, facts: TranscriptFacts) -> Sequence[int]:
        """Return the rows that History shows for a moment."""

    @cached_property
    def texts(self) -> HeldTexts:
        return HeldTexts(self.held)

    @property
    def title(self) -> str:
        return self.path.name

    @property
    def abilities(self) -> Abilities:
        return Abilities(prompt=self)

    @property
    @abstractmethod
    def revisions(self) -> Sequence[Revision]: ...

    def policy(self, file: str) -> WritePolicy | None:  # noqa: ARG002 - a transcript is the agent's own record
        return None

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:  # noqa: ARG002
        key = (revision, lens.profile, lens.hurry, lens.counter.name)
        return self._readings.once(key, lambda: self._reading(revision, lens))

    def _reading(self, revision: int, lens: Lens) -> Reading:
        facts = self.facts(revision, lens)
        linked = lens.hurry is not Hurry.LINKS
        absent = {row: why.value for why, rows in facts.context.absent.items() for row in rows}
        rows = HeldRows(self.held, self.texts, self.history(facts), absent)
        title = facts.log.facts.get("title", self.title)
        state = build_state(facts, title, self.revisions[revision].label, rows, linked=linked)
        if lens.hurry is not Hurry.NONE:
            return Reading(state, (), judged=False, linked=linked)
        return Reading(state, self.checked(facts))

    def findings(self, lens: Lens) -> Sequence[Finding]:
        return self.checked(self.facts(len(self.revisions) - 1, lens))

    def findings_of(self, revision: int, lens: Lens, overlay: Mapping[str, bytes]) -> Sequence[Finding]:  # noqa: ARG002
        return self.reading(revision, lens).findings

    def prompt(self, revision: int, lens: Lens, target: str | None = None) -> Prompt:  # noqa: ARG002
        return build_prompt(self.facts(revision, lens))

    def outline(self, lens: Lens) -> TranscriptFacts:
        """Return the facts of the present moment."""
        return self.facts(len(self.revisions) - 1, lens)

    def facts(self, revision: int, lens: Lens) -> TranscriptFacts:
        call = self.call(revision)
        facts = TranscriptFacts(self.held, call, load_profile(lens.profile), self.texts, {}, False)
        facts.counter = lens.counter if lens.counter.exact else None
        return facts

    def call(self, revision: int) -> ModelCall | None:
        calls = self.held.log.calls
        return calls[revision] if 0 <= revision < len(calls) else None

    def checked(self, facts: TranscriptFacts) -> tuple[Finding, ...]:
        from ctxview.formats.transcript.rules import check_transcript

        return worst_first(tallied((*check_transcript(facts), *self.general_findings)))
