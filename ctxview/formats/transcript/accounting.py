"""Give every part of a context its tokens, so that all of them sum to the size the provider reported.

The growth from one call to the next is reported, so most parts need no tokenizer: what is new in
a step shares the growth of the step. What is sent and in no row (system prompt,
tools, memory files) is the baseline.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from msgspec import Struct

from ctxview.formats.transcript.model import (
    MADE_BY_MODEL,
    Dialect,
    LiveContext,
    LogPart,
    Mark,
    ModelCall,
    PartKind,
    TranscriptLog,
)
from ctxview.formats.transcript.profile import Profile

SEGMENTS = (
    *("baseline", "system", "tools", "memory", "skills", "summary", "user", "assistant", "thinking"),
    *("tool calls", "tool results", "attachments", "images", "not accounted for"),
)
STATED_SEGMENTS = {
    "system prompt": "system",
    "system tools": "tools",
    "mcp tools": "tools",
    "custom agents": "tools",
    "memory files": "memory",
    "skills": "skills",
}
LEAST_CALIBRATING = 3000
LEAST_STEPS = 5
_MOST_PLACEHOLDER = 8


class ContextSizes(Struct, frozen=True):
    """The tokens of a context. `total` is reported when `reported`, otherwise the sum of estimates."""

    total: int
    reported: bool
    parts: dict[tuple[int, int], int]
    derived: frozenset[tuple[int, int]]
    """Parts whose size is a difference of reported sizes."""
    baseline: int
    unplaced: int
    segments: dict[str, int]
    estimator: str
    newer: int
    """Tokens of parts that came after the last call, estimated; they are in `total`."""

    def of(self, part: LogPart) -> int:
        return self.parts.get((part.row, part.place), 0)


class _Shares:
    def __init__(self) -> None:
        self.parts: dict[tuple[int, int], int] = {}
        self.derived: set[tuple[int, int]] = set()
        self.baseline = 0
        self.unplaced = 0

    @property
    def total(self) -> int:
        return sum(self.parts.values()) + self.baseline + self.unplaced


class Estimator(Struct, frozen=True):
    """Tokens by characters, with the density that this file itself shows where it has enough steps."""

    density: float
    image: int
    name: str

    def tokens(self, part: LogPart) -> int:
        size = part.size
        if part.mark is Mark.ENCRYPTED and part.detail is not None:
            # The vendor's own estimate of encrypted content.
            return max(0, (size * 3 // 4 - 650) // 4)
        return (max(1, round(size / self.density)) if size else 0) + part.images * self.image


def estimator_of(log: TranscriptLog, profile: Profile) -> Estimator:
    """Return the estimator of a file: calibrated by its own growth, else the table's."""
    codex = log.dialect is Dialect.CODEX
    image = profile.limits.codex_image_tokens if codex else profile.limits.image_tokens
    model = next(reversed(log.models), None)
    if not codex and log.density[0] != len(log.calls):
        ratios = _measured(log)
        found = max(1.0, median(ratios)) if len(ratios) >= LEAST_STEPS else None
        log.density = len(log.calls), found
    if not codex and log.density[1] is not None:
        density = log.density[1]
        return Estimator(density, image, f"characters/{density:.1f}, calibrated on this file")
    density = profile.density(model)
    return Estimator(density, image, f"characters/{density:g}")


def _measured(log: TranscriptLog) -> list[float]:
    found = []
    for before, call in zip(log.calls, log.calls[1:], strict=False):
        if call.previous not in (None, before.number - 1) or not before.sent or not call.sent:
            continue
        if not before.output_known or before.out is None:
            continue
        rows = log.rows[before.row : call.row]
        new = [part for row in rows for part in row.parts if part.kind not in MADE_BY_MODEL and not row.side]
        size = sum(part.size for part in new)
        growth = call.sent - before.sent - before.out
        plain = all(part.kind is PartKind.RESULT and not part.images for part in new)
        if plain and size > LEAST_CALIBRATING and growth > 0 and 1 <= size / growth <= 12:
            found.append(size / growth)
    return found


def mark_placeholders(log: TranscriptLog) -> None:
    """Note the calls whose written output size cannot be true for the text they wrote."""
    sizes: dict[str, int] = defaultdict(int)
    for row in log.rows:
        if row.message is not None:
            for part in row.parts:
                sizes[row.message] += part.size
    for call in log.calls:
        size = sizes.get(call.id or "", 0)
        call.output_known = call.out is not None and not (
            call.out <= _MOST_PLACEHOLDER and size > 12 * call.out + 20
        )


def account(
    log: TranscriptLog, context: LiveContext, call: ModelCall | None, profile: Profile
) -> ContextSizes:
    """Return the sizes of a context: that of `call`, or the present one."""
    estimator = estimator_of(log, profile)
    calls = [each for each in context.calls if each.sent is not None and each is not call]
    if call is not None:
        calls = [each for each in calls if each.row < call.row]
        if call.sent is not None:
            calls.append(call)
    shares = _Shares()
    if not calls:
        for part in context.parts:
            shares.parts[_key(part)] = estimator.tokens(part)
        shares.baseline = baseline_of(log, estimator) or 0
        return _sizes(log, context, shares, estimator, reported=False, newer=0)
    made, given, newer = _steps(log, context, calls, call)
    _first(log, context, shares, estimator, calls[0], given[0])
    for place in range(len(calls) - 1):
        _step(context, shares, estimator, calls[place : place + 2], (made[place], given[place + 1]))
    if call is None or call.sent is None:
        last = calls[-1]
        _share_output(shares, estimator, last, made[-1], (last.out or 0) if last.output_known else None)
        for part in newer:
            shares.parts[_key(part)] = estimator.tokens(part)
    fresh = sum(shares.parts[_key(part)] for part in newer)
    return _sizes(log, context, shares, estimator, reported=True, newer=fresh)


def baseline_of(log: TranscriptLog, estimator: Estimator) -> int | None:
    """Return what the first call was sent beyond the rows before it; None when it is not known."""
    first = next((call for call in log.calls if call.sent is not None), None)
    if first is None or log.partial:
        return None
    parts = (part for row in log.rows[: first.row] if not row.side for part in row.parts)
    return max(0, (first.sent or 0) - sum(map(estimator.tokens, parts)))


def shared_out(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide `amount` in proportion to `weights` by largest remainder; the result sums to `amount`."""
    total = sum(weights)
    if not weights:
        return []
    if not total:
        weights, total = [1] * len(weights), len(weights)
    shares = [amount * weight // total for weight in weights]
    rest = amount - sum(shares)
    order = sorted(range(len(weights)), key=lambda at: -(amount * weights[at] % total))
    for at in order[:rest]:
        shares[at] += 1
    return shares


Step = list[list[LogPart]]


def _steps(
    log: TranscriptLog, context: LiveContext, calls: Sequence[ModelCall], moment: ModelCall | None
) -> tuple[Step, Step, list[LogPart]]:
    """Sort the parts: made by each call, given to each call, and newer than all calls."""
    numbers = {call.id: at for at, call in enumerate(calls)}
    made: Step = [[] for _ in calls]
    given: Step = [[] for _ in calls]
    newer: list[LogPart] = []
    rows = [call.row for call in calls]
    for part in context.parts:
        row = log.rows[part.row]
        maker = numbers.get(row.message) if row.message is not None else None
        if part.kind in MADE_BY_MODEL and maker is not None:
            made[maker].append(part)
            continue
        following = bisect_right(rows, part.row)
        if following < len(calls):
            given[following].append(part)
        elif moment is not None and moment.sent is not None:
            given[-1].append(part)
        else:
            newer.append(part)
    return made, given, newer


def _first(
    log: TranscriptLog,
    context: LiveContext,
    shares: _Shares,
    estimator: Estimator,
    call: ModelCall,
    parts: list[LogPart],
) -> None:
    sent = call.sent or 0
    estimates = [estimator.tokens(part) for part in parts]
    known = baseline_of(log, estimator) if context.start is not None else None
    if known is not None and parts and known < sent:
        shares.baseline = known
    else:
        shares.baseline = max(0, sent - sum(estimates))
    rest = sent - shares.baseline
    if not parts:
        shares.baseline = sent
        return
    for part, tokens in zip(parts, shared_out(rest, estimates), strict=True):
        shares.parts[_key(part)] = tokens


def _step(
    context: LiveContext,
    shares: _Shares,
    estimator: Estimator,
    pair: Sequence[ModelCall],
    parts: tuple[list[LogPart], list[LogPart]],
) -> None:
    """Share the growth from one call to the next among what is new in it."""
    before, after = pair
    made, given = parts
    target = after.sent or 0
    growth = target - (before.sent or 0)
    out = before.out if before.output_known else None
    if out is not None and growth >= out:
        _share_output(shares, estimator, before, made, out)
        new, pool = given, growth - out
    else:
        new, pool = [*made, *given], growth
    estimates = [estimator.tokens(part) for part in new]
    changed = before.model != after.model
    jump = pool - sum(estimates)
    if pool < 0 or (changed and abs(jump) > max(2000, sum(estimates))):
        # Something was taken away, or the model counts differently: keep the estimates and adjust the rest.
        for part, tokens in zip(new, estimates, strict=True):
            shares.parts[_key(part)] = tokens
        if changed:
            shares.baseline = max(0, shares.baseline + target - shares.total)
        _reduce(context, shares, target, {_key(part) for part in new})
    elif new:
        for part, tokens in zip(new, shared_out(pool, estimates), strict=True):
            shares.parts[_key(part)] = tokens
        if len(new) == 1:
            shares.derived.add(_key(new[0]))
    else:
        shares.unplaced += pool


def _share_output(
    shares: _Shares, estimator: Estimator, call: ModelCall, parts: list[LogPart], out: int | None
) -> None:
    estimates = [estimator.tokens(part) for part in parts]
    if out is None:
        for part, tokens in zip(parts, estimates, strict=True):
            shares.parts[_key(part)] = tokens
        return
    if not parts:
        shares.unplaced += out
        return
    hidden = [at for at, part in enumerate(parts) if part.kind is PartKind.THINKING]
    if hidden and (call.thinking is not None or any(parts[at].mark is Mark.ENCRYPTED for at in hidden)):
        # The size of thinking is written, or it is what the other parts leave of the output.
        others = sum(tokens for at, tokens in enumerate(estimates) if at not in hidden)
        thought = call.thinking if call.thinking is not None else max(0, out - others)
        for at, tokens in zip(hidden, shared_out(min(thought, out), [1] * len(hidden)), strict=True):
            shares.parts[_key(parts[at])] = tokens
        rest = [at for at in range(len(parts)) if at not in hidden]
        left = out - min(thought, out)
        if not rest:
            shares.unplaced += left
        for at, tokens in zip(rest, shared_out(left, [estimates[at] for at in rest]), strict=True):
            shares.parts[_key(parts[at])] = tokens
        return
    for part, tokens in zip(parts, shared_out(out, estimates), strict=True):
        shares.parts[_key(part)] = tokens
    if len(parts) == 1:
        shares.derived.add(_key(parts[0]))


def _reduce(context: LiveContext, shares: _Shares, target: int, new: set[tuple[int, int]]) -> None:
    """Bring the sum to `target`: first what probably went, such as thinking of earlier turns."""
    excess = shares.total - target
    if excess < 0:
        shares.unplaced -= excess
        return
    taken = min(excess, shares.unplaced)
    shares.unplaced -= taken
    excess -= taken

    def order(part: LogPart) -> tuple[int, int]:
        if part.kind is PartKind.THINKING:
            return 0, part.row
        if part.row in context.beside_walk:
            return 1, part.row
        return (2 if part.kind is PartKind.RESULT else 3), part.row

    old = [part for part in context.parts if _key(part) in shares.parts and _key(part) not in new]
    for part in sorted(old, key=order):
        if excess <= 0:
            return
        taken = min(excess, shares.parts[_key(part)])
        shares.parts[_key(part)] -= taken
        shares.derived.discard(_key(part))
        excess -= taken
    taken = min(excess, shares.baseline)
    shares.baseline -= taken
    excess -= taken
    for key in sorted(new, reverse=True):
        taken = min(excess, shares.parts[key])
        shares.parts[key] -= taken
        excess -= taken


def _sizes(
    log: TranscriptLog,
    context: LiveContext,
    shares: _Shares,
    estimator: Estimator,
    *,
    reported: bool,
    newer: int,
) -> ContextSizes:
    segments = dict.fromkeys(SEGMENTS, 0)
    for part in context.parts:
        segments[part.segment] += shares.parts.get(_key(part), 0)
    stated = {name: log.stated[name] for name in STATED_SEGMENTS if log.stated.get(name)}
    placed = min(shares.baseline, sum(stated.values()))
    for name, tokens in zip(stated, shared_out(placed, list(stated.values())), strict=True):
        segments[STATED_SEGMENTS[name]] += tokens
    # What the program did not list by name keeps the name that says nothing.
    segments["baseline"] = shares.baseline - placed
    segments["not accounted for"] = shares.unplaced
    return ContextSizes(
        shares.total,
        reported,
        shares.parts,
        frozenset(shares.derived),
        shares.baseline,
        shares.unplaced,
        {name: tokens for name, tokens in segments.items() if tokens},
        estimator.name,
        newer,
    )


def _key(part: LogPart) -> tuple[int, int]:
    return part.row, part.place
