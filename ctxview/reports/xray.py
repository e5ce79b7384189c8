"""A prompt as rows to show: one for each line of its text, and one where something is left out.

Secrets are masked here, in whole parts, because one may run over several lines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.diff.model import WordPiece, word_pieces
from ctxview.analysis.prompt_tokens import HEADER, TierTokens, counted_prompt, counter_for, tokens_by_tier
from ctxview.analysis.secrets import mask_secrets
from ctxview.analysis.tokens import TokenCounter
from ctxview.core.origin import Origin
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptMessage, PromptPart
from ctxview.reports.prompt import text_bytes

TAB = 4
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class XrayRow(Struct, frozen=True):
    """One line of the text, or a cut, or the heading of a message. `tokens` of a line are not estimated."""

    text: str = ""
    tokens: int | None = None
    tier: str | None = None
    block: str | None = None
    field: str | None = None
    origin: Origin | None = None
    cut: PromptCut | None = None
    heading: str | None = None
    is_first: bool = False
    """Whether it is the first line of its block."""
    lines: int = 1
    """The lines of the text that it stands for; more than one for folded fields."""

    @property
    def is_content(self) -> bool:
        """Whether it is text of a block, and not one of its fields."""
        return self.block is not None and self.field is None and self.cut is None


class Xray(Struct, frozen=True, dict=True):
    """A prompt as rows, with its size by tier."""

    rows: tuple[XrayRow, ...]
    tiers: tuple[TierTokens, ...]
    lines: int
    bytes: int
    sha256: str
    counter: str
    counter_exact: bool
    exact: bool
    notes: tuple[str, ...] = ()
    other_tokens: int = 0
    """The tokens of the messages that are not part of the text."""

    @property
    def tokens(self) -> int:
        return sum(tier.total for tier in self.tiers)

    @property
    def field_tokens(self) -> int:
        return sum(tier.fields for tier in self.tiers)

    def cuts(self, *kinds: CutKind) -> list[XrayRow]:
        return [row for row in self.rows if row.cut is not None and row.cut.kind in kinds]

    @cached_property
    def has_fields(self) -> bool:
        """Whether the blocks have fields around their text."""
        return any(row.field is not None for row in self.rows)

    @cached_property
    def elsewhere(self) -> list[XrayRow]:
        """The parts that the model is given and that are not in the text."""
        return self.cuts(CutKind.ABSENT, CutKind.WITHHELD)

    @property
    def names_the_rest(self) -> bool:
        """Whether a grey line has the size of what the model is given besides the text."""
        return any(row.cut is not None and row.cut.tokens for row in self.cuts(CutKind.ABSENT))

    @cached_property
    def hidden(self) -> list[XrayRow]:
        """The blocks that are stored and not shown."""
        return self.cuts(CutKind.HIDDEN)

    def block_tokens(self, block: str, tier: str | None) -> tuple[int, int]:
        """The tokens of a block: those of its text, and those of its fields."""
        return self._sizes.get((block, tier), (0, 0))

    @cached_property
    def _sizes(self) -> dict[tuple[str | None, str | None], tuple[int, int]]:
        sizes: dict[tuple[str | None, str | None], tuple[int, int]] = {}
        for row in self.rows:
            content, fields = sizes.get((row.block, row.tier), (0, 0))
            tokens = row.tokens or 0
            added = (content + tokens, fields) if row.is_content else (content, fields + tokens)
            sizes[row.block, row.tier] = added
        return sizes


def make_xray(prompt: Prompt, counter: TokenCounter) -> Xray:
    """Count and mask a prompt. It takes as long as counting its tokens, so it runs in a job."""
    counter = counter_for(prompt, counter)
    counted = counted_prompt(prompt, counter)
    shown = [message for message in prompt.messages if message.absent is None and message.parts]
    rows: list[XrayRow] = []
    for message, with_tokens in zip(prompt.messages, counted.messages, strict=True):
        if message.absent is not None:
            rows.append(XrayRow(cut=message.absent))
            continue
        if len(shown) > 1:
            rows.append(XrayRow(heading=message.role))
        rows += _rows(message, with_tokens)
    data = text_bytes(prompt.text)
    return Xray(
        rows=tuple(rows),
        tiers=tokens_by_tier(counted),
        lines=prompt.text.count("\n") + 1 if prompt.text else 0,
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        counter=counter.name,
        counter_exact=counter.exact,
        exact=prompt.exact,
        notes=prompt.notes,
        other_tokens=sum(
            part.tokens or 0 for message in counted.messages if not message.in_text for part in message.parts
        ),
    )


def folded(rows: Sequence[XrayRow]) -> Iterator[XrayRow]:
    """Yield the rows with the fields of a block as one row, all but its first line."""
    run: list[XrayRow] = []
    for row in (*rows, None):
        is_field = row is not None and row.field is not None and not row.is_first and row.cut is None
        if run and (not is_field or row is None or row.block != run[0].block):
            names = ", ".join(dict.fromkeys(name for each in run if (name := each.field)))
            count = f"{len(run)} lines" if len(run) > 1 else "1 line"
            tokens = sum(each.tokens or 0 for each in run)
            indent = len(run[0].text) - len(run[0].text.lstrip(" "))
            text = f"{' ' * indent}▸ {count}: {names}"
            yield replace(run[0], text=text, tokens=tokens, lines=len(run))
            run = []
        if row is not None and is_field:
            run.append(row)
        elif row is not None:
            yield row


def _rows(message: PromptMessage, counted: PromptMessage) -> Iterator[XrayRow]:
    """Yield a row for each line; parts on the same line share it, and cuts follow their line."""
    lines = iter(counted.parts)
    open_row: XrayRow | None = None
    waiting: list[XrayRow] = []
    block: tuple[str | None, str | None] = (None, None)
    for part in message.parts:
        if part.cut is not None:
            next(lines)
            waiting.append(XrayRow(tier=part.tier, block=part.block, origin=part.origin, cut=part.cut))
        for text, tokens in _masked_lines(part, lines):
            if open_row is None:
                yield from waiting
                waiting = []
            row = XrayRow(
                text=text.removesuffix("\n").expandtabs(TAB),
                tokens=tokens,
                tier=part.tier,
                block=part.block,
                field=part.field,
                origin=part.origin,
                is_first=part.block is not None and (part.block, part.tier) != block,
            )
            block = (part.block, part.tier)
            open_row = row if open_row is None else _joined(open_row, row)
            if text.endswith("\n"):
                yield open_row
                open_row = None
    yield from ([open_row] if open_row is not None else [])
    yield from waiting


def _masked_lines(part: PromptPart, counted: Iterator[PromptPart]) -> list[tuple[str, int | None]]:
    """Return the lines of a part without its secrets, each with its tokens."""
    exact = _LINES.findall(part.text)
    tokens = [next(counted).tokens for _ in exact]
    masked = _LINES.findall(mask_secrets(part.text))
    if len(masked) == len(exact):
        return [*zip(masked, tokens, strict=True)]
    # A secret of several lines became one: the first line has the tokens of all.
    total = sum(each or 0 for each in tokens)
    return [(line, total if at == 0 else 0) for at, line in enumerate(masked)]


def _joined(left: XrayRow, right: XrayRow) -> XrayRow:
    named = left if left.block is not None or left.tier is not None else right
    tokens = (
        None if left.tokens is None and right.tokens is None else (left.tokens or 0) + (right.tokens or 0)
    )
    return replace(
        named, text=left.text + right.text, tokens=tokens, is_first=left.is_first or right.is_first
    )


# -- the difference between two prompts ----------------------------------------------------------------


class PromptChange(Struct, frozen=True):
    """A block, or the text around the blocks, that two prompts do not have in common."""

    sign: str
    """`+` added, `−` removed, `~` changed."""
    name: str
    tier: str | None
    pieces: tuple[WordPiece, ...]
    why: str = ""
    """Why the later prompt does not show a removed block, if it is still stored."""


def prompt_changes(before: Xray, after: Xray) -> list[PromptChange]:
    """Compare two prompts word by word, block by block, in the order of the later one."""
    old, new = _texts(before), _texts(after)
    hidden = {(row.tier, row.block): row.cut.reason for row in after.hidden if row.cut is not None}
    changes: list[PromptChange] = []
    for (tier, block), text in new.items():
        name = block or tier or HEADER
        earlier = old.get((tier, block))
        if earlier is None:
            changes.append(PromptChange("+", name, tier, (WordPiece("added", text.content),)))
        elif earlier != text:
            changes.append(PromptChange("~", name, tier, word_pieces(earlier.whole, text.whole)))
    for (tier, block), text in old.items():
        if (tier, block) not in new:
            why = hidden.get((tier, block), "")
            name = block or tier or HEADER
            changes.append(PromptChange("−", name, tier, (WordPiece("removed", text.content),), why))
    return changes


class _BlockText(Struct, frozen=True):
    """All lines of a block, and those of its content; the same when it has no fields."""

    whole: str
    content: str


def _texts(xray: Xray) -> Mapping[tuple[str | None, str | None], _BlockText]:
    """Return the text of each block, and the text around the blocks by tier."""
    found: dict[tuple[str | None, str | None], list[XrayRow]] = {}
    for row in xray.rows:
        if row.cut is None and row.heading is None:
            found.setdefault((row.tier, row.block), []).append(row)
    return {
        key: _BlockText(
            "\n".join(row.text for row in rows),
            "\n".join(row.text.strip(" ") for row in rows if row.is_content or key[1] is None),
        )
        for key, rows in found.items()
    }
