"""A prompt for other programs: its bytes, its messages and its parts as JSON, and the notes about it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from ctxview.core.origin import JsonValue
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptMessage, PromptPart

if TYPE_CHECKING:
    from ctxview.analysis.tokens import TokenCounter


MOST_NAMED = 4


def text_bytes(text: str) -> bytes:
    """Return a text as UTF-8; half of a surrogate pair, where content was cut, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def messages_json(prompt: Prompt) -> list[JsonValue]:
    """Return role and content of each message; one that no file holds says so."""
    return [
        {"role": each.role, "content": each.text}
        if each.absent is None
        else {"role": each.role, "content": None, "missing": _missing(each.absent)}
        for each in prompt.messages
    ]


def prompt_json(
    prompt: Prompt, revision: str, target: str | None, counter: TokenCounter
) -> dict[str, JsonValue]:
    """Return the whole prompt with the tokens of each part, counted by `counter` unless it names another."""
    import hashlib

    from ctxview.analysis.prompt_tokens import counted_prompt, counter_for

    data = text_bytes(prompt.text)
    counter = counter_for(prompt, counter)
    counted = counted_prompt(prompt, counter)
    printed = (part for each in counted.messages if each.in_text for part in each.parts)
    return {
        "revision": revision,
        "target": target or "model",
        "exact": prompt.exact,
        "complete": prompt.complete,
        "notes": [*prompt.notes],
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "tokens": sum(part.tokens or 0 for part in printed),
        "tokens_exact": counter.exact,
        "estimator": counter.name,
        "messages": [_message(each) for each in counted.messages],
    }


def note_lines(prompt: Prompt) -> Iterator[str]:
    """Yield a line for each note, then one for each reason why content is not in the text."""
    yield from prompt.notes
    absent = [cut for cut in prompt.cuts() if cut.kind in (CutKind.ABSENT, CutKind.WITHHELD)]
    for reason, cuts in groupby(absent, key=lambda cut: cut.reason):
        names = [*map(_sized, cuts)]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        yield f"not in the text: {', '.join(names[:MOST_NAMED])}{more}: {reason}"


def size_text(cut: PromptCut) -> str:
    """Return the size of a cut in words; empty when it is not known."""
    amount, unit = (cut.bytes, "bytes") if cut.tokens is None else (cut.tokens, "tokens")
    by = f", {cut.counted_by}" if cut.counted_by else ""
    return f"{amount:,} {unit}{by}" if amount is not None else ""


def _sized(cut: PromptCut) -> str:
    size = size_text(cut)
    return f"{cut.what} ({size})" if size else cut.what


def _message(message: PromptMessage) -> JsonValue:
    return {
        "role": message.role,
        "in_text": message.in_text,
        "missing": _missing(message.absent) if message.absent is not None else None,
        "parts": [_part(part) for part in message.parts],
    }


def _part(part: PromptPart) -> JsonValue:
    from ctxview.reports.json_output import as_json

    cut = part.cut
    return {
        "text": part.text,
        "block": part.block,
        "tier": part.tier,
        "field": part.field,
        "tokens": part.tokens,
        "origin": as_json(part.origin),
        "cut": {"kind": cut.kind.value, "reason": cut.reason, **_missing(cut)} if cut is not None else None,
    }


def _missing(cut: PromptCut) -> dict[str, JsonValue]:
    return {"what": cut.what, "tokens": cut.tokens, "bytes": cut.bytes, "by": cut.counted_by}
