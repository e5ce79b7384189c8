"""The window of a session: written by the program, proven by a call, or inferred from a table."""

from __future__ import annotations

from msgspec import Struct

from ctxview.formats.transcript.model import Dialect, ModelCall, TranscriptLog
from ctxview.formats.transcript.profile import Profile

AUTO_COMPACTION = 200_000
_NEAR = (160_000, 180_000)


class SessionWindow(Struct, frozen=True):
    """The window, how it is known, and what is kept free of it."""

    size: int
    known_by: str
    inferred: bool
    exceeded: bool = False
    """Whether a call is larger than what was inferred at first."""
    reserved: int | None = None
    assumed: bool = False
    """Whether it is a guess: the model is not in the table."""


def window_of(log: TranscriptLog, profile: Profile, call: ModelCall | None = None) -> SessionWindow:
    """Return the window at a call, or at the end."""
    limits = profile.limits
    last = call or next(reversed(log.calls), None)
    model = last.model if last is not None else next(reversed(log.models), None)
    peak = max((each.sent or 0 for each in log.calls), default=0)
    codex = log.dialect is Dialect.CODEX
    if log.window is not None:
        reserved = log.window * limits.codex_reserve_percent // 100 if codex else None
        if log.dialect is Dialect.CLAUDE_CODE:
            reserved = limits.reserve_output + limits.reserve_margin
        return SessionWindow(log.window, log.window_from or "written", inferred=False, reserved=reserved)
    reserved = limits.reserve_output + limits.reserve_margin if not codex else None
    by_api = log.dialect in (Dialect.BODY, Dialect.OPENCODE)
    if log.dialect is Dialect.OPENCODE:
        reserved = limits.reserve_output
    if log.dialect is Dialect.BODY:
        reserved = call.limit if call is not None else None
    table = profile.window(model, by_api=by_api)
    size = table or AUTO_COMPACTION
    by = f"inferred from the model {model}" if table is not None else "assumed: the model is not known"
    if table is None and any(
        each.trigger == "auto" and each.before is not None and _NEAR[0] <= each.before <= _NEAR[1]
        for each in log.compactions
    ):
        by = "inferred from an automatic compaction near 167,000"
    if peak > size:
        larger = profile.larger_window(peak)
        if log.dialect is Dialect.CLAUDE_CODE and peak > AUTO_COMPACTION:
            larger = max(larger, 1_000_000)
        by = f"inferred from a call of {peak:,} tokens"
        return SessionWindow(larger, by, inferred=True, exceeded=True, reserved=reserved)
    return SessionWindow(size, by, inferred=True, reserved=reserved, assumed=table is None)
