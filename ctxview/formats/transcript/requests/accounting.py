"""Give every part of a request its tokens, so that all of them sum to the size that its answer reports.

The parts of the first request of a conversation share its size. What a later one adds shares the growth, so
that the same text has the same size in both.
"""

from __future__ import annotations

from ctxview.analysis.tokens import TokenCounter
from ctxview.formats.transcript.accounting import SEGMENTS, ContextSizes, Estimator, shared_out
from ctxview.formats.transcript.model import LogPart, ModelCall, TranscriptLog
from ctxview.formats.transcript.profile import Profile
from ctxview.formats.transcript.texts import Texts


def account_request(
    log: TranscriptLog, call: ModelCall, profile: Profile, texts: Texts, counter: TokenCounter | None
) -> ContextSizes:
    """Return the sizes of the parts of a request.

    Without a reported size, `counter` counts them if it is that of the model.
    """
    density = profile.density(call.model)
    estimator = Estimator(density, profile.limits.image_tokens, f"characters/{density:g}")
    parts = _parts(log, call)
    if call.sent is None and counter is not None and counter.name == profile.tokenizer(call.model):
        image = profile.limits.image_tokens
        tokens = [counter.count(texts.whole(part)) + part.images * image for part in parts]
        derived: set[int] = set()
        estimator = Estimator(density, image, f"{counter.name}, without the frame of the provider")
    else:
        tokens, derived = _shares(log, call, estimator)
    segments = dict.fromkeys(SEGMENTS, 0)
    for part, size in zip(parts, tokens, strict=True):
        segments[part.segment] += size
    unplaced = (call.sent or 0) - sum(tokens) if call.sent is not None else 0
    segments["not accounted for"] = unplaced
    return ContextSizes(
        total=sum(tokens) + unplaced,
        reported=call.sent is not None,
        parts={(part.row, part.place): size for part, size in zip(parts, tokens, strict=True)},
        derived=frozenset((parts[at].row, parts[at].place) for at in derived),
        baseline=0,
        unplaced=unplaced,
        segments={name: size for name, size in segments.items() if size},
        estimator=estimator.name,
        newer=0,
    )


def _parts(log: TranscriptLog, call: ModelCall) -> list[LogPart]:
    request = log.requests[call.number - 1]
    return [part for row in log.rows[request.first : request.answer] for part in row.parts]


def _shares(log: TranscriptLog, call: ModelCall, estimator: Estimator) -> tuple[list[int], set[int]]:
    """Return the tokens of the parts of a request, and which of them are differences of reported sizes."""
    chain = [call]
    while (previous := chain[-1].previous) is not None:
        chain.append(log.calls[previous])
    before: list[tuple[object, ...]] = []
    tokens: list[int] = []
    derived: set[int] = set()
    for each in reversed(chain):
        parts = _parts(log, each)
        estimates = [estimator.tokens(part) for part in parts]
        signs = [_sign(log, part) for part in parts]
        grown = (each.sent or 0) - sum(tokens)
        count = len(parts) - len(before)
        if each.sent is None:
            tokens, derived = estimates, set()
        elif before and signs[: len(before)] == before and (grown > 0 if count else grown == 0):
            tokens = [*tokens, *shared_out(grown, estimates[len(before) :])]
            derived |= {len(before)} if count == 1 else set()
        else:
            tokens, derived = shared_out(each.sent, estimates), set()
        before = signs if each.sent is not None else []
    return tokens, derived


def _sign(log: TranscriptLog, part: LogPart) -> tuple[object, ...]:
    """Return what two requests must have in common for a part to be the same in both."""
    return log.rows[part.row].id, part.place, part.kind, part.size, part.tool, part.call_id, part.digest
