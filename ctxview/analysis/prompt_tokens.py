"""The tokens of each part of a prompt, so that they add up to the tokens of the whole text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import TokenCounter, exact_counter
from ctxview.core.lazy import lazy_pattern
from ctxview.core.prompt import Prompt, PromptMessage, PromptPart

_LINES = lazy_pattern(r"[^\n]*\n|[^\n]+")
_STARTS_WORDS = lazy_pattern(r"(?!/)[^\S\r\n]*\S")
"""No token of the exact counters reaches over a line break before such a line; a slash may belong to one."""
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
ORDINARY_LENGTH = 10_000
HEADER = "header"
"""The name of all text that belongs to no tier."""
MOST_PREFIXES = 50
"""In a longer run of parts that share tokens, the first one has the tokens of all."""


class TierTokens(Struct, frozen=True):
    """The tokens of one tier: the text of its blocks, and everything around it."""

    name: str
    content: int
    fields: int

    @property
    def total(self) -> int:
        return self.content + self.fields


def in_lines(prompt: Prompt) -> Prompt:
    """Return the prompt with parts of at most one line."""
    return replace(prompt, messages=tuple(_message_in_lines(message) for message in prompt.messages))


def counter_for(prompt: Prompt, counter: TokenCounter) -> TokenCounter:
    """The counter of the runtime's own encoding, where the prompt names one; an estimate stays one."""
    return exact_counter(prompt.encoding) if prompt.encoding is not None and counter.exact else counter


def counted_prompt(
    prompt: Prompt, counter: TokenCounter, cancelled: Callable[[], bool] = lambda: False
) -> Prompt:
    """Return the prompt in lines, each with its tokens; without tokens from the message that is cancelled."""
    messages = (
        _counted(message, counter) if not cancelled() else message for message in in_lines(prompt).messages
    )
    return replace(prompt, messages=tuple(messages))


def measured_prompt(prompt: Prompt, counter: TokenCounter) -> Prompt:
    """Return the prompt with the tokens of each stretch of content or fields: faster than line by line.

    An estimate counts line by line, because it rounds each count.
    """
    if not counter.exact:
        return counted_prompt(prompt, counter)
    messages = (replace(each, parts=tuple(_stretches(each.parts))) for each in prompt.messages)
    return replace(prompt, messages=tuple(_counted(each, counter) for each in messages))


def _counted(message: PromptMessage, counter: TokenCounter) -> PromptMessage:
    tokens = iter(_part_tokens([part.text for part in message.parts if part.text], counter))
    parts = (replace(part, tokens=next(tokens)) if part.text else part for part in message.parts)
    return replace(message, parts=tuple(parts))


def _stretches(parts: Sequence[PromptPart]) -> Iterator[PromptPart]:
    """Join neighbours of one tier that are all content or all not; cuts have no text and are left out."""
    shown = [part for part in parts if part.text]
    for _, found in groupby(shown, lambda part: (part.tier, is_content(part))):
        first, *others = found
        text = "".join([first.text, *(part.text for part in others)])
        yield PromptPart(text=text, block=first.block, tier=first.tier, field=first.field)


def is_content(part: PromptPart) -> bool:
    """Whether a part is the text of a block, and not a field or what stands around the blocks."""
    return part.block is not None and part.field is None


def tokens_by_tier(counted: Prompt) -> tuple[TierTokens, ...]:
    """Return the tokens of the text of a counted prompt, which add up to those of the whole text."""
    sizes: dict[str, TierTokens] = {}
    for part in (part for message in counted.messages if message.in_text for part in message.parts):
        if part.text:
            name, tokens = part.tier or HEADER, part.tokens or 0
            before = sizes.get(name, TierTokens(name, 0, 0))
            sizes[name] = (
                replace(before, content=before.content + tokens)
                if is_content(part)
                else replace(before, fields=before.fields + tokens)
            )
    return tuple(sizes.values())


def _message_in_lines(message: PromptMessage) -> PromptMessage:
    if all(part.text.find("\n") in (-1, len(part.text) - 1) for part in message.parts):
        return message
    return replace(message, parts=tuple(_split(message.parts)))


def _split(parts: Sequence[PromptPart]) -> Iterator[PromptPart]:
    for part in parts:
        if part.cut is not None:
            yield part
        else:
            yield from (replace(part, text=line) for line in _LINES.findall(part.text))


def _part_tokens(texts: Sequence[str], counter: TokenCounter) -> list[int]:
    runs = [*_runs(texts)]
    counts = [tokens for run in runs for tokens in _run_tokens(run, counter)]
    if counter.exact and all(is_ordinary("".join(run)) for run in runs):
        return counts
    total, summed = counter.count("".join(texts)), sum(counts)
    if summed == total or not counts:
        return counts
    if not summed:
        return [*counts[:-1], total]
    # An estimate rounds every count: spread the difference over all parts.
    reached = [0, *(each * total // summed for each in accumulate(counts))]
    return [after - before for before, after in pairwise(reached)]


def is_ordinary(text: str) -> bool:
    """Whether an exact counter surely counts a text exactly: it is not very long and has no surrogates."""
    return len(text) <= ORDINARY_LENGTH and (text.isascii() or not _SURROGATE.search(text))


def _runs(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the texts in runs between which no token can reach: a line break before a line with words."""
    run: list[str] = []
    for text in texts:
        if run and run[-1].endswith("\n") and _STARTS_WORDS.match(text):
            yield run
            run = []
        run.append(text)
    if run:
        yield run


def _run_tokens(run: Sequence[str], counter: TokenCounter) -> list[int]:
    """Return the tokens of each text of a run, as the differences of the counts of its beginnings."""
    if len(run) == 1 or len(run) > MOST_PREFIXES:
        return [counter.count("".join(run)), *[0] * (len(run) - 1)]
    counts = [0, *(counter.count(text) for text in accumulate(run))]
    # A longer text can have fewer tokens: a line break that is added may join with others.
    reached = [*accumulate(reversed(counts), min)][::-1]
    return [after - before for before, after in pairwise(reached)]
