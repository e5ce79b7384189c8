"""Which messages the next prompt would show: the end of the history, cut as the profile's runtime cuts it.

This is not the pack: the runtime builds its prompt from the newest messages alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import prompt_text, size_of
from ctxview.formats.session.profile import Profile


@dataclass(frozen=True, slots=True)
class Shown:
    """Whether a line reaches the prompt, and if not why."""

    line: HistoryLine
    visible: bool
    reason: str | None


def prompt_view(tail: Sequence[HistoryLine], profile: Profile) -> list[Shown]:
    """Each of the last lines of the history with its fate, in their order."""
    limits = profile.limits
    if limits.prompt_history is None:
        return [Shown(line, True, None) for line in tail if not line.is_blank]
    view: list[Shown] = []
    read = used = 0
    full = False
    for line in reversed(tail):
        if line.is_blank:
            read += line.size + line.ending
            continue
        read += line.size + line.ending
        beyond = limits.prompt_window is not None and read > limits.prompt_window
        reason = _why_dropped(line, profile)
        if reason is None and (full or beyond):
            most = limits.prompt_window if beyond else limits.prompt_history
            reason = f"the prompt holds only the last {most:,} bytes of messages"
        elif reason is None:
            cost = _cost(line) + (used > 0)
            full = used + cost > limits.prompt_history
            used += 0 if full else cost
            reason = (
                f"the prompt holds only the last {limits.prompt_history:,} bytes of messages"
                if full
                else None
            )
        view.append(Shown(line, reason is None, reason))
    return view[::-1]


def _why_dropped(line: HistoryLine, profile: Profile) -> str | None:
    limit = profile.limits.prompt_line
    if limit is not None and line.size > limit:
        return f"{line.size:,} bytes: lines over {limit:,} never reach the prompt"
    value = line.value
    if value is None:
        return line.problem or "the line cannot be read"
    if not isinstance(value.get("role"), str):
        return "nobody knows who says this: there is no role"
    return None if prompt_text(value).strip() else "there is no text in it"


def _cost(line: HistoryLine) -> int:
    """The bytes of `- role: text`."""
    value = line.value or {}
    return len("- : ") + size_of(str(value.get("role"))) + size_of(prompt_text(value).strip())
