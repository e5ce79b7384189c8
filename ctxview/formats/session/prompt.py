"""Which messages the next prompt would show: the end of the history, cut as the profile's runtime cuts it.

This is not the pack: the runtime builds its prompt from the newest messages alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import prompt_text, size_of
from ctxview.formats.session.profile import Profile
from ctxview.quick_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """Whether a line reaches the prompt, and if not why."""

    line: HistoryLine
    visible: bool
    reason: str | None


def prompt_view(tail: Sequence[HistoryLine], profile: Profile) -> list[Shown]:
    """Each of the last lines of the history with its fate, in their order; blank ones are left out."""
    room = _Room(profile)
    view = [Shown(line, reason is None, reason) for line in reversed(tail) for reason in room.taken(line)]
    return view[::-1]


class _Room:
    """The room in the prompt, filled from the newest message back until the first that does not fit."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._read = self._used = 0
        self._full = False

    def taken(self, line: HistoryLine) -> Iterator[str | None]:
        """Why the line is not shown, None when it is; nothing at all for a blank line."""
        self._read += line.size + line.ending
        if not line.is_blank:
            yield why_dropped(line, self._profile) or self._why_no_room(line)

    def _why_no_room(self, line: HistoryLine) -> str | None:
        window, most = self._profile.limits.prompt_window, self._profile.limits.prompt_history
        if window is not None and self._read > window:
            return f"the prompt looks only at the last {window:,} bytes of the messages"
        if most is None:
            return None
        cost = prompt_bytes(line) + (self._used > 0)
        self._full = self._full or self._used + cost > most
        if self._full:
            return f"the prompt holds only {most:,} bytes of messages, the newest first"
        self._used += cost
        return None


def prompt_bytes(line: HistoryLine) -> int:
    """What a message takes in the prompt: the bytes of `- role: text`."""
    value = line.value or {}
    return len("- : ") + size_of(str(value.get("role"))) + size_of(prompt_text(value).strip())


def why_dropped(line: HistoryLine, profile: Profile) -> str | None:
    """Why a line never reaches the prompt, however new it is; None when it may."""
    limit = profile.limits.prompt_line
    if limit is not None and line.size > limit:
        return f"{line.size:,} bytes: lines over {limit:,} never reach the prompt"
    value = line.value
    if value is None:
        return line.problem or "the line cannot be read"
    if not isinstance(value.get("role"), str):
        return "nobody knows who says this: there is no role"
    return None if prompt_text(value).strip() else "there is no text in it"
