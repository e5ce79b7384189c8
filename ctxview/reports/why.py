"""The life of a block, as `ctxview why` prints it: plain text with masked secrets, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.revisions.facts import KnownRevisions, near_names
from ctxview.analysis.revisions.why_answer import Why, WhyStep
from ctxview.analysis.wording import excerpt, quoted
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.visible_text import visible
from ctxview.reports.json_output import as_json


def why_lines(answer: Why, known: KnownRevisions) -> Iterator[str]:
    """Yield the sentence, the text of the block, its steps with origins, and the note."""
    yield answer.sentence
    if answer.block.text:
        yield f"  {quoted(' '.join(answer.block.text.split()), 110)}"
    width = max((len(step.place) for step in answer.steps), default=0)
    for step in answer.steps:
        marks = [f"cause {step.cause}"] if step.cause else []
        marks += [step.rule] if step.rule is not None else []
        marks += [visible(short_origin(step.origin))] if step.origin is not None else []
        yield "  ".join([f"  {step.sign} {visible(step.place):<{width}}", step.text, *marks])
    for source in answer.sources:
        place = f"  {visible(short_origin(source.origin))}" if source.origin is not None else ""
        yield f"  → {excerpt(source.name)}{place}"
        yield from (f"    {excerpt(line, 110)}" for line in source.text.split("\n") if line.strip())
    if answer.note:
        yield f"  {answer.note}"
    if (searched := _searched(known)) < len(known.names):
        yield f"  Only {searched} of {len(known.names)} revisions were searched."


def why_json(name: str, answers: Sequence[Why], known: KnownRevisions) -> dict[str, JsonValue]:
    """Return JSON with stable keys; a key that does not apply is null."""
    return {
        "name": name,
        "searched": _searched(known),
        "revisions": len(known.names),
        "answers": [_answer_json(each, known) for each in answers],
        "near": [] if answers else [*near_names(known, name)],
    }


def short_origin(origin: Origin) -> str:
    """File name and line of an origin: `round-09.reply.txt:78`."""
    name = origin.file.replace("\\", "/").rpartition("/")[2]
    return f"{name}:{origin.line}" if origin.line is not None else name


def _searched(known: KnownRevisions) -> int:
    return sum(each.blocks is not None for each in known.facts.values())


def _answer_json(answer: Why, known: KnownRevisions) -> dict[str, JsonValue]:
    def label(number: int | None) -> JsonValue:
        return known.names[number].label if number is not None else None

    return {
        "id": answer.name,
        "tier": answer.tier,
        "status": answer.status,
        "sentence": answer.sentence,
        "since": label(answer.since),
        "last_shown": label(answer.last_shown),
        "figure": answer.figure,
        "limit": answer.limit,
        "text": answer.block.text,
        "note": answer.note or None,
        "sources": [
            {"id": each.name, "text": each.text, "origin": as_json(each.origin)} for each in answer.sources
        ],
        "steps": [_step_json(each, label(each.first), label(each.last)) for each in answer.steps],
        "life": [
            {"revision": label(each.number), "state": _WORDS[each.sign], "value": each.value}
            for each in answer.life
        ],
    }


def _step_json(step: WhyStep, first: JsonValue, last: JsonValue) -> dict[str, JsonValue]:
    return {
        "event": _WORDS[step.sign],
        "from": first,
        "to": last,
        "text": step.text,
        "cause": step.cause or None,
        "rule": step.rule,
        "origin": as_json(step.origin),
    }


_WORDS = {
    "+": "written",
    "●": "shown",
    "~": "changed",
    "○": "hidden",
    "−": "gone",
    "?": "stored",
    "·": "absent",
}
"""The signs as words."""


def not_found_text(name: str, known: KnownRevisions) -> str:
    """The sentence for a name that no revision has, with the nearest names."""
    near = near_names(known, name)
    nearest = f"; nearest: {', '.join(map(excerpt, near))}" if near else ""
    return f"No revision has {quoted(name)} ({_searched(known)} searched){nearest}."
