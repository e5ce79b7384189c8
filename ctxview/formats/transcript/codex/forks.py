"""Find the beginning of a rollout that was copied from the session it was forked from."""

from __future__ import annotations

from ctxview.analysis.rfc3339 import parse_time
from ctxview.formats.transcript.model import Record
from ctxview.formats.transcript.values import number, text

_VERSION = 14
"""Where the version of an id stands in its text."""


class CopiedBeginning:
    """Says row after row whether all rows so far were copied.

    By the ordinal that the first row names; else by times older than this session; else, when the copies have
    new times, by turns that began before this session: those are turns of the parent.
    """

    def __init__(self) -> None:
        self.is_likely = False
        """Whether a row says that something was copied."""
        self._began: str | None = None
        """When this file's own session began."""
        self._born: int | None = None
        """The same in milliseconds, for turns."""
        self._starts_at: int | None = None
        """The ordinal of the first row that was not copied from the parent."""
        self._metas = 0
        self._has_times = self._in_parent = self._has_own = False

    def copy(self) -> CopiedBeginning:
        made = CopiedBeginning()
        made.__dict__.update(self.__dict__)
        return made

    def take_meta(self, payload: Record, time: str | None) -> bool:
        """Take a first row of a session; return whether it is the parent's."""
        self._metas += 1
        if self._metas == 1:
            self._began = time
            self._starts_at = number(payload, "subagent_history_start_ordinal")
            self._born = _born(text(payload, "id"))
            if self._born is None and (began := parse_time(time)) is not None:
                self._born = int(began.timestamp() * 1000)
        self.is_likely = self._starts_at is not None or self._metas > 1
        return self._metas > 1

    def reaches(self, value: Record, payload: object, time: str | None) -> bool:
        """Whether the copied beginning reaches up to this row."""
        if self._starts_at is not None:
            ordinal = number(value, "ordinal")
            return ordinal is not None and ordinal < self._starts_at
        if time is not None and time < (self._began or ""):
            self._has_times = True
            return True
        turn = _born(text(payload, "turn_id")) if isinstance(payload, dict) else None
        if turn is not None and self._born is not None:
            self._in_parent = turn < self._born and not self._has_own
            self._has_own = self._has_own or turn >= self._born
        return self._in_parent and not self._has_times


def _born(name: str | None) -> int | None:
    """Return when an id was made, in milliseconds, if its version says so."""
    if name is None or len(name) != 36 or name[_VERSION] != "7":
        return None
    try:
        return int(name[:8] + name[9:13], 16)
    except ValueError:
        return None
