"""How far something came on its way to each target, in signs and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ctxview.state import Block, Sight
from ctxview.tui.text import MARK, Line, Span, join, show

GLYPHS: Mapping[Sight, str] = {
    Sight.INJECTED: "●",
    Sight.ASSEMBLED: "◐",
    Sight.ALLOWED: "○",
    Sight.DENIED: "✗",
    Sight.UNKNOWN: "·",
}

WORDS: Mapping[Sight, str] = {
    Sight.INJECTED: "injected",
    Sight.ASSEMBLED: "assembled",
    Sight.ALLOWED: "allowed",
    Sight.DENIED: "denied",
    Sight.UNKNOWN: "not said",
}

SENTENCES: Mapping[Sight, str] = {
    Sight.INJECTED: "injected",
    Sight.ASSEMBLED: "put together, nothing says that it arrived",
    Sight.ALLOWED: "allowed, not put together",
    Sight.DENIED: "denied",
    Sight.UNKNOWN: "not said",
}


def targets(blocks: Iterable[Block]) -> list[str]:
    """All targets that any block tells of, in the order they are told."""
    return list(dict.fromkeys(target for block in blocks for target in block.sights))


def legend() -> Line:
    """What the signs mean, on one line."""
    return join(
        *((Span(f"{GLYPHS[each]} ", style(each)), Span(WORDS[each], "dim")) for each in Sight), gap="  "
    )


def in_words(block: Block) -> Iterator[Line]:
    """Every target of one block, a line for those it came equally far to: "model, tool: injected"."""
    for sight in Sight:
        names = [target for target, reached in block.sights.items() if reached is sight]
        if names:
            sign: Line = (Span(f"{GLYPHS[sight]} ", style(sight)),)
            yield join(sign, show(f"{', '.join(names)}: "), show(SENTENCES[sight], style(sight)))


def style(sight: Sight) -> str:
    return f"sight.{sight}"


def short_names(names: Sequence[str], cells: int) -> list[str]:
    """Names of at most `cells`: whole, or their first word or as much as there is room for with a mark."""
    return [_short(name, max(2, cells)) for name in names]


def _short(name: str, cells: int) -> str:
    if len(name) <= cells:
        return name
    first = name.replace("-", "_").partition("_")[0]
    return f"{first if 2 <= len(first) < cells else name[: cells - 1]}{MARK}"
