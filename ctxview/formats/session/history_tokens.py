"""What the whole history costs in tokens, by who speaks: counted once, kept by content, stopped any time.

Exact counts go through the cache, so that a second time costs no more than reading. Estimates are quick.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ctxview.analysis.token_cache import TokenCounts
from ctxview.analysis.tokens import Count, TokenCounter
from ctxview.formats.session.history import Cancelled, Report, Stream
from ctxview.formats.session.history_line import HistoryLine
from ctxview.formats.session.message import message_in
from ctxview.formats.session.pace import Pace
from ctxview.quick_dataclass import dataclass

RECIPE = "session message 1"
"""Names what is counted of a line; another number when that changes."""
ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class RoleTokens:
    role: str
    messages: int
    tokens: int
    exact: bool


@dataclass(frozen=True, slots=True)
class HistoryTokens:
    """What the messages of some lines cost."""

    roles: tuple[RoleTokens, ...]
    lines: int = 0
    final: bool = True
    """False when the last line has no newline, so that it may become another one."""


def count_history(
    stream: Stream,
    counter: TokenCounter,
    cancelled: Cancelled,
    report: Report | None = None,
    before: HistoryTokens | None = None,
) -> HistoryTokens | None:
    """The tokens of all messages, known roles first; None when cancelled.

    `before` is what was counted when the history was shorter.
    """
    start = before if before is not None and before.final else HistoryTokens(())
    walk = _Walk(stream, report, start.lines)
    if counter.exact and stream.size > 0:
        counted = TokenCounts(counter.name, _text, RECIPE).each(walk.contents(), cancelled)
    else:
        counted = (counter.measure(_text(content)) for content in walk.contents())
    totals = {each.role: each for each in start.roles}
    for count in counted:
        if cancelled():
            return None
        role = walk.roles.popleft()
        totals[role] = _more(totals.get(role, RoleTokens(role, 0, 0, True)), count)
    if walk.roles:
        # The counting ended before the history did: somebody cancelled it.
        return None
    known = [totals[role] for role in ROLES if role in totals]
    others = (each for role, each in totals.items() if role not in ROLES)
    return HistoryTokens((*known, *others), walk.lines, walk.final)


class _Walk:
    """Hands out the lines of a history, and keeps who speaks in those that wait for their count."""

    def __init__(self, stream: Stream, report: Report | None, first: int) -> None:
        self._stream = stream
        self._report = report
        self.lines = first
        self.final = True
        self.roles: deque[str] = deque()

    def contents(self) -> Iterator[bytes]:
        done, pace = 0, Pace()
        for line in self._stream.scan(self.lines):
            done += line.size + line.ending
            self.lines += 1
            self.final = line.ending > 0
            if self._report is not None and pace.due(line.size):
                self._report(done, self._stream.size)
            value = line.value
            if value is None:
                continue
            role = value.get("role")
            self.roles.append(role if isinstance(role, str) else "none")
            yield line.content


def _more(total: RoleTokens, count: Count) -> RoleTokens:
    return RoleTokens(total.role, total.messages + 1, total.tokens + count.value, total.exact and count.exact)


def _text(content: bytes) -> str:
    return message_in(HistoryLine("", "", None, 0, len(content), content)).text
