"""Passes over whole histories: token counts by role, text checks, and a bounded tally of findings.

The format supplies functions that read a line.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.characters import SUSPECT
from ctxview.analysis.secret_patterns import could_hold_secret
from ctxview.analysis.secrets import check_secrets
from ctxview.analysis.text_rules import check_characters
from ctxview.analysis.token_cache import TokenCounts
from ctxview.analysis.tokens import TokenCounter
from ctxview.core.findings import Finding, Hit, LazyHit, Rule, finding_of
from ctxview.core.origin import Origin
from ctxview.formats.kit.history import Cancelled, HistoryStream, Report
from ctxview.formats.kit.history_line import HistoryLine, PassClock

MOST_OF_A_KIND = 100
SEARCHED_TOGETHER = 16 * 1024


class FindingTally:
    """Takes any number of findings and keeps at most `most` of each rule, severity and file."""

    def __init__(self, most: int = MOST_OF_A_KIND) -> None:
        self._most = most
        self._kept: list[Finding] = []
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._last: dict[tuple[str, str, str], Callable[[], Finding]] = {}

    def copy(self) -> FindingTally:
        made = FindingTally(self._most)
        made._kept, made._counts, made._last = list(self._kept), self._counts.copy(), dict(self._last)
        return made

    def add(self, finding: Finding) -> None:
        self._add((finding.rule, finding.severity.value, finding.origin.file), lambda: finding)

    def add_hit(self, found_by: Rule, hit: Hit | LazyHit, file: str) -> None:
        """Take one result of a rule about `file`; it becomes a finding only if that is kept."""
        severity = hit.severity or found_by.severity
        self._add((found_by.id, severity.value, file), partial(finding_of, found_by, hit))

    def _add(self, kind: tuple[str, str, str], finding: Callable[[], Finding]) -> None:
        self._counts[kind] += 1
        if self._counts[kind] <= self._most:
            self._kept.append(finding())
        else:
            self._last[kind] = finding

    def findings(self) -> tuple[Finding, ...]:
        """Return the kept findings; where there were more, a last finding says how many."""
        found = list(self._kept)
        for kind, make in self._last.items():
            last, more = make(), self._counts[kind] - self._most
            text = f"{last.message} (the last of {more:,} more like the ones before)"
            found.append(replace(last, message=text))
        return tuple(found)


def tallied(findings: Iterable[Finding], most: int = MOST_OF_A_KIND) -> tuple[Finding, ...]:
    tally = FindingTally(most)
    for finding in findings:
        tally.add(finding)
    return tally.findings()


class CountingRecipe(Struct, frozen=True):
    """The format's part in counting the tokens of a history."""

    name: str
    """Names the counted text in the token cache; change it when `text_of` changes."""
    text_of: Callable[[bytes], str]
    roles: tuple[str, ...]
    """The known roles, in the order of the totals."""


class RoleTokens(Struct, frozen=True):
    role: str
    messages: int
    tokens: int
    exact: bool


class HistoryTokens(Struct, frozen=True):
    """The tokens of the messages of a history, by role."""

    roles: tuple[RoleTokens, ...]
    lines: int = 0
    final: bool = True
    """False when the last line has no newline, so that it may still grow."""


def count_history(
    stream: HistoryStream,
    counter: TokenCounter,
    recipe: CountingRecipe,
    cancelled: Cancelled,
    report: Report | None = None,
    before: HistoryTokens | None = None,
) -> HistoryTokens | None:
    """Count the tokens of all messages, known roles first; None when cancelled.

    `before` is the result for the same history when it was shorter.
    """
    start = before if before is not None and before.final else HistoryTokens(())
    walk = _Walk(stream, report, start.lines)
    if counter.exact and stream.size > 0:
        counted = TokenCounts(counter.name, recipe.text_of, recipe.name).each(walk.contents(), cancelled)
    else:
        counted = (counter.measure(recipe.text_of(content)) for content in walk.contents())
    totals = {each.role: each for each in start.roles}
    for count in counted:
        if cancelled():
            return None
        role = walk.roles.popleft()
        old = totals.get(role, RoleTokens(role, 0, 0, True))
        totals[role] = RoleTokens(role, old.messages + 1, old.tokens + count.value, old.exact and count.exact)
    if walk.roles:
        # Counting ended before the history did, so it was cancelled.
        return None
    known = [totals[role] for role in recipe.roles if role in totals]
    others = (each for role, each in totals.items() if role not in recipe.roles)
    return HistoryTokens((*known, *others), walk.lines, walk.final)


class _Walk:
    """Yields the lines of a history, and queues the roles of lines that wait for their count."""

    def __init__(self, stream: HistoryStream, report: Report | None, first: int) -> None:
        self._stream = stream
        self._report = report
        self.lines = first
        self.final = True
        self.roles: deque[str] = deque()

    def contents(self) -> Iterator[bytes]:
        done, pace = 0, PassClock()
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


class SlicedPass:
    """Work over a whole history that can be interrupted and continued.

    A subclass has `size`, the bytes of the work, `_done`, those that are done, and `_pass`, which yields
    `_done` after each slice.
    """

    size = 0
    _done = 0

    def __init__(self) -> None:
        self.complete = False
        self._working = Lock()
        self._steps = self._pass()

    def advance(self, cancelled: Cancelled, report: Report | None = None) -> bool:
        """Work until the end or until cancelled; return whether the end was reached."""
        while not self.complete and not cancelled():
            with self._working:
                done = next(self._steps, None)
                self.complete = self.complete or done is None
            if report is not None and done is not None:
                report(done, self.size)
        return self.complete

    @property
    def left(self) -> int:
        """The bytes that are still to be read."""
        return 0 if self.complete else max(0, self.size - self._done)

    def _pass(self) -> Iterator[int]:
        raise NotImplementedError


_ESCAPES = re.compile(rb"\\[bfru/]")


class TextPass(SlicedPass):
    """Checks the text of every line of some histories for deceiving characters and secrets.

    `text_of` returns the text of a line to check, or None when the line has none; `searched` returns the
    bytes of a line in which secrets are searched.
    """

    def __init__(
        self,
        streams: Sequence[HistoryStream],
        text_of: Callable[[HistoryLine], str | None],
        searched: Callable[[HistoryLine], bytes] = attrgetter("content"),
    ) -> None:
        self._streams = tuple(streams)
        self._text_of = text_of
        self._searched = searched
        self._tally = FindingTally()
        self._lines = {stream.name: 0 for stream in streams}
        self._done = 0
        self.size = sum(stream.size for stream in self._streams)
        self.findings: tuple[Finding, ...] = ()
        """The findings; empty before the end of the pass."""
        super().__init__()

    def on(self, streams: Sequence[HistoryStream]) -> TextPass:
        """Return a pass over `streams` that continues from here; they must begin with the current ones."""
        made = TextPass(streams, self._text_of, self._searched)
        with self._working:
            made._tally, made._lines, made._done = self._tally.copy(), dict(self._lines), self._done
            if made._streams == self._streams:
                made.findings, made.complete = self.findings, self.complete
        return made

    def _pass(self) -> Iterator[int]:
        pace = PassClock()
        torn: list[HistoryLine] = []
        for stream in self._streams:
            batch: list[HistoryLine] = []
            for line in stream.scan(self._lines[stream.name]):
                if not line.ending:
                    torn.append(line)
                    continue
                batch.append(line)
                if pace.due(line.size):
                    yield self._take(batch)
            self._take(batch)
        # A last line without a newline may still grow.
        whole = self._tally.copy() if torn else self._tally
        self._add(whole, torn)
        self.findings = whole.findings()

    def _take(self, batch: list[HistoryLine]) -> int:
        """Check the lines of a batch, empty it, and return the number of all bytes that are done."""
        self._add(self._tally, batch)
        for line in batch:
            self._lines[line.stream] = (line.number or 0) + 1
            self._done += line.size + line.ending
        batch.clear()
        return self._done

    def _add(self, tally: FindingTally, batch: Sequence[HistoryLine]) -> None:
        lines = [(line, self._searched(line)) for line in batch if not line.is_blank and not line.cut]
        suspects = set(_suspects([content for _, content in lines]))
        for at, (line, content) in enumerate(lines):
            # A callable, because the origin is needed only for a finding and takes time.
            origin = partial(_origin_of, line)
            if at in suspects:
                # Of the whole line: arguments of tools and metadata hold secrets as well as the text.
                for finding in check_secrets(content.decode("utf-8", "replace"), origin):
                    tally.add(finding)
            if _may_deceive(content) and (text := self._text_of(line)) is not None:
                for finding in check_characters(text, origin):
                    tally.add(finding)


def _origin_of(line: HistoryLine, _start: int, _end: int) -> Origin:
    return line.origin()


def _may_deceive(content: bytes) -> bool:
    """Whether a line may hold a deceiving character; the bytes of nearly all lines show that it does not."""
    if _ESCAPES.search(content) is not None or b"\x7f" in content:
        return True
    return not content.isascii() and SUSPECT.search(content.decode("utf-8", "replace")) is not None


def _suspects(contents: Sequence[bytes]) -> Iterator[int]:
    """Yield the numbers of the lines that could hold a secret; searching short ones together is faster."""
    first, room = 0, SEARCHED_TOGETHER
    for at in range(len(contents) + 1):
        if at == len(contents) or len(contents[at]) > room:
            group = range(first, at)
            if could_hold_secret(b"\n".join(contents[first:at])):
                yield from (each for each in group if len(group) == 1 or could_hold_secret(contents[each]))
            first, room = at, SEARCHED_TOGETHER
        if at < len(contents):
            room -= len(contents[at])
