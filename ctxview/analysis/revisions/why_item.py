"""Since when a reference, a gap or a todo item is there: the answer for names that no block has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ctxview.analysis.revisions.facts import KnownRevisions, PastBlock, RevisionFacts, TextFacts
from ctxview.analysis.revisions.why_answer import LifePoint, Why, WhyStep, since_words, span_words
from ctxview.analysis.wording import excerpt
from ctxview.core.origin import Origin

_KINDS = ("reference", "missing", "todo")


def explain_items(known: KnownRevisions, name: str) -> tuple[Why, ...]:
    """Return the life of every reference, gap and todo item with that name, one for each kind."""
    word = name.strip().casefold()
    states = [
        each
        for each in known.in_order
        if each.blocks is not None and each.whole and not known.names[each.number].is_reply
    ]
    found = ([_held(facts, kind, word) for facts in states] for kind in _KINDS)
    return tuple(_explain(known, states, held) for held in found if any(held))


def _held(facts: RevisionFacts, kind: str, word: str) -> tuple[TextFacts, ...]:
    return tuple(each for each in facts.texts if each.kind == kind and each.name.casefold() == word)


def _explain(
    known: KnownRevisions, states: Sequence[RevisionFacts], held: Sequence[tuple[TextFacts, ...]]
) -> Why:
    last = next(each for each in reversed(held) if each)[-1]
    steps = list(_steps(known, states, held))
    is_gone = not held[-1]
    since = steps[-1].first
    if is_gone:
        since = next(facts.number for facts in states if facts.number > steps[-1].last)
        place = f"since {known.names[since].name}"
        steps.append(WhyStep("−", since, states[-1].number, place, "no later revision has it"))
    if all(held):
        from_then = ", in all revisions" if len(held) > 1 else ""
    else:
        from_then = f"{'; gone' if is_gone else ','}{since_words(known.names[since].name)}"
    nothing = PastBlock(last.kind, last.name, None, "", None, None, (), None, None, (), Origin(""))
    return Why(
        name=last.name,
        tier=last.kind,
        status="gone" if is_gone else "stored",
        sentence=f"{excerpt(last.name, 60)} is not a block, but {_NOUNS[last.kind]}{from_then}.",
        steps=tuple(steps),
        life=tuple(
            LifePoint(facts.number, "?" if has else "·") for facts, has in zip(states, held, strict=True)
        ),
        block=nothing if last.origin is None else nothing._replace(origin=last.origin),
        since=since,
    )


def _steps(
    known: KnownRevisions, states: Sequence[RevisionFacts], held: Sequence[tuple[TextFacts, ...]]
) -> Iterator[WhyStep]:
    """Yield a step for each span of states with the same words about it."""
    first, words = 0, [_words(each) for each in held]
    for at in range(1, len(words) + 1):
        if at < len(words) and words[at] == words[first]:
            continue
        if words[first]:
            start, end = states[first].number, states[at - 1].number
            place = span_words(known.names[start].name, known.names[end].name)
            yield WhyStep("?", start, end, place, words[first], held[first][0].origin)
        first = at


def _words(texts: Sequence[TextFacts]) -> str:
    if not texts:
        return ""
    if texts[0].kind == "reference":
        more = f" and {len(texts) - 2} more" if len(texts) > 2 else ""
        return f"leads to {', '.join(excerpt(each.target, 110) for each in texts[:2])}{more}"
    return excerpt(texts[0].text, 110) or "in the list"


_NOUNS = {"reference": "a reference", "missing": "context that is missing", "todo": "a todo item"}
