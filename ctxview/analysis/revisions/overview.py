"""The overview of one revision: the window, the blocks, the todo, what is missing, and what changed.

Everything is said in sentences, from the neutral state and from what is known of the other revisions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.diff.model import BlockCounts
from ctxview.analysis.gaps import gap_order, open_gaps
from ctxview.analysis.revisions.events import RevisionEvent
from ctxview.analysis.revisions.facts import BlockKey, KnownRevisions, RevisionFacts, WorstFinding
from ctxview.analysis.revisions.reasons import ReasonGroup, is_shown_in_part, reason_groups
from ctxview.analysis.revisions.window import (
    Growth,
    counter_of,
    growth_of,
    main_budget,
    same_budget,
    second_budget,
    unit_of,
)
from ctxview.analysis.wording import counted, excerpt, listed
from ctxview.core.lazy import lazy_pattern
from ctxview.core.state import Budget, ContextState, Gap, Ref, RefStatus, Todo, progress_text

_BROKEN = (RefStatus.DANGLING, RefStatus.MISMATCH, RefStatus.STALE)
_PAIRS = {RefStatus.CONTRADICTION: "contradicts", RefStatus.DUPLICATE: "repeats"}
MOST_PAIRS = 8
_DONE_OF = lazy_pattern(r"(\d+)\s*/\s*(\d+)")


class TierSummary(Struct, frozen=True):
    name: str
    shown: int
    total: int
    tokens: int
    """The size of the shown blocks: in the window, or by the counter of the blocks."""


class BlockSummary(Struct, frozen=True):
    """The blocks by whether the model is shown them. `unknown`: no record says so."""

    shown: int
    in_part: tuple[str, ...]
    hidden: int
    unknown: int
    tiers: tuple[TierSummary, ...]
    reasons: tuple[ReasonGroup, ...]
    counter: str = ""
    """How the sizes of the tiers were counted, when the window was counted in another way."""


class WindowSummary(Struct, frozen=True):
    """The window; `of` names the prompt of a reply. `growth` has the largest cause first."""

    budget: Budget | None
    second: Budget | None = None
    of: str | None = None
    since: str | None = None
    grown: int | None = None
    growth: tuple[Growth, ...] = ()
    stage: RevisionEvent | None = None
    later: tuple[str, int] | None = None
    """A figure of the provider for this call that a later revision records, and the name of that one."""
    waits: bool = False
    """Whether the prompt that a reply answers is not read yet."""


class ChangeSummary(Struct, frozen=True):
    """The blocks that changed since the previous revision."""

    since: str
    counts: BlockCounts
    added: tuple[BlockKey, ...]
    changed: tuple[tuple[BlockKey, str], ...]
    removed: tuple[BlockKey, ...]
    hidden_before: int


class Overview(Struct, frozen=True):
    """What the first screen says about one revision."""

    number: int
    window: WindowSummary
    blocks: BlockSummary
    todo: tuple[str, ...]
    refs: str
    missing: tuple[str, ...]
    pairs: tuple[str, ...] = ()
    """What contradicts or repeats something else, with both places."""
    reply: str | None = None
    """What a reply does; None for a whole state."""
    changes: ChangeSummary | None = None


def summarise(state: ContextState, known: KnownRevisions, number: int) -> Overview:
    """Return the overview of revision `number`, whose state is `state`."""
    name, facts = known.names[number], known.facts.get(number)
    whole = state.kept
    window = _window(state, known, number)
    return Overview(
        number,
        window,
        _blocks(whole, window.budget, main_budget(state.budgets) if name.is_reply else window.budget),
        tuple(_todo(whole.todo)),
        refs_sentence(state.refs),
        tuple(missing_sentences(whole)),
        tuple(
            f"{excerpt(ref.id)} {_PAIRS[ref.status]} {excerpt(ref.target)}"
            for ref in state.refs
            if ref.status in _PAIRS
        )[:MOST_PAIRS],
        _reply(facts) if name.is_reply and facts is not None else None,
        changes_at(known, number),
    )


def changes_at(known: KnownRevisions, number: int) -> ChangeSummary | None:
    """What changed since the revision before; None without one, or while it is not known."""
    facts, previous = known.facts.get(number), known.names[number].previous
    if facts is None or previous is None:
        return None
    since = known.names[previous].name
    return ChangeSummary(since, facts.counts, facts.added, facts.changed, facts.removed, facts.hidden_before)


def worst_sentence(known: KnownRevisions, worst: WorstFinding) -> str:
    """The worst finding with its revision, unless there is only one."""
    place, message = known.names[worst.number].name.removeprefix("the "), worst.finding.message
    if len(known.names) == 1:
        return message
    # A message about a reply names it already.
    is_named = message.startswith("the reply ")
    return f"{place}{message.removeprefix('the reply')}" if is_named else f"{place}: {message}"


def hidden_since(known: KnownRevisions, number: int, key: BlockKey) -> int:
    """The first of the prompts up to `number` in which the block is hidden without a break."""
    since, place = number, known.names[number].previous
    while place is not None and (facts := known.facts.get(place)) is not None:
        block = (facts.blocks or {}).get(key)
        if block is None or block.visible is not False:
            break
        since, place = place, known.names[place].previous
    return since


def _window(state: ContextState, known: KnownRevisions, number: int) -> WindowSummary:
    prompt = known.window_revision(number)
    facts = known.facts.get(prompt)
    # Until the answered prompt is read, a reply would show a window of its own.
    waits = bool(state.outcome) and (prompt == number or facts is None) and not known.is_read
    budgets = state.budgets if prompt == number else facts.budgets if facts is not None else ()
    if waits:
        budgets = ()
    budget = main_budget(budgets)
    earlier = known.names[prompt].previous
    before = known.facts.get(earlier) if earlier is not None else None
    old = same_budget(before.budgets, budget) if before is not None and budget is not None else None
    comparable = old is not None and budget is not None and None not in (old.used, budget.used)
    return WindowSummary(
        budget,
        second_budget(budgets),
        known.names[prompt].name if prompt != number else None,
        known.names[earlier].name if earlier is not None and comparable else None,
        (budget.used or 0) - (old.used or 0) if comparable and budget and old else None,
        growth_of(old, budget),
        next((each for each in known.events_of(prompt) if each.kind == "stage"), None),
        _counted_later(known, prompt),
        waits,
    )


def _counted_later(known: KnownRevisions, number: int) -> tuple[str, int] | None:
    """The input that the provider counted for the call of this prompt, as the next prompt records it."""
    following = next(
        (
            place
            for place, name in enumerate(known.names[number + 1 :], number + 1)
            if name.previous == number and not name.is_reply and _is_whole(known, place)
        ),
        None,
    )
    if following is None:
        return None
    for budget in known.facts[following].budgets:
        if budget.target == "counted by the provider":
            used = next((each.used for each in budget.segments if each.name == "input"), None)
            return (known.names[following].name, used) if used is not None else None
    return None


def _is_whole(known: KnownRevisions, number: int) -> bool:
    return number in known.facts and known.facts[number].whole


def _blocks(state: ContextState, window: Budget | None, budget: Budget | None) -> BlockSummary:
    """Count the blocks; the sizes of tiers are those of `budget`, which is the window unless for a reply."""
    blocks = [*state.blocks()]
    in_tokens = budget is not None and unit_of(budget) == "tokens"
    sizes = {each.name: each.used for each in budget.segments} if budget is not None and in_tokens else {}
    sized = any(tier.name in sizes for tier in state.tiers)
    counter = counter_of(budget) if sized and budget is not None else state.counts.estimator
    same = window is not None and counter.replace(" ", "") in (counter_of(window), window.unit)
    tiers = []
    for tier in state.tiers:
        shown = [block for block in tier.blocks if block.visible is True]
        counted_here = sum(block.tokens or 0 for block in shown)
        size = sizes.get(tier.name, counted_here)
        tiers.append(TierSummary(tier.name, len(shown), len(tier.blocks), size))
    return BlockSummary(
        sum(block.visible is True for block in blocks),
        tuple(block.id for block in blocks if is_shown_in_part(block)),
        sum(block.visible is False for block in blocks),
        sum(block.visible is None for block in blocks),
        tuple(each for each in tiers if each.total),
        reason_groups(blocks),
        "" if same or window is None else counter,
    )


def _reply(facts: RevisionFacts) -> str:
    counts = facts.counts
    parts = [
        f"{sign} {number}{word}"
        for sign, number, word in (
            ("+", counts.added, ""),
            ("~", counts.changed + counts.moved, ""),
            ("−", counts.removed, " erased"),
        )
        if number
    ]
    return ", ".join(parts) or "nothing changes"


def _todo(todo: Todo | None) -> Iterator[str]:
    """The progress, the cursor in words, and its note; nothing without a todo list."""
    if todo is None:
        return
    if todo.step is not None and todo.total:
        done = todo.done
        if done is None and (found := _DONE_OF.search(todo.summary or "")) and int(found[2]) == todo.total:
            done = int(found[1])
        yield f"Step {todo.step} of {todo.total}" + (f", {done} done" if done is not None else "")
    elif todo.items and any(item.is_done or item.current or item.is_dropped for item in todo.items):
        yield progress_text(todo.items)
    elif todo.total == 0:
        yield "The list is empty"
    elif todo.summary:
        yield excerpt(todo.summary, 80)
    cursor, current = todo.cursor, next((each for each in todo.items if each.current), None)
    if cursor is not None:
        named = (cursor.next or "").startswith("todo_")
        step = (cursor.next or "").removeprefix("todo_").replace("_", " ").removeprefix("none")
        target = f" item {cursor.target}" if cursor.target is not None and named else ""
        phase = (cursor.phase or "").capitalize()
        yield "; ".join(filter(None, (excerpt(phase), f"next: {excerpt(step)}{target}" if step else "")))
        if cursor.note:
            yield excerpt(cursor.note, 200)
    elif current is not None:
        yield f"Now: {excerpt(current.title, 120)}"


def refs_sentence(refs: Sequence[Ref]) -> str:
    """`46 references: 30 resolve, 16 outside; 21 shared`; empty without references."""
    if not refs:
        return ""
    kinds = {
        "resolve": sum(each.status is RefStatus.RESOLVED for each in refs),
        "dangle": sum(each.status in _BROKEN for each in refs),
        "contradictory": sum(each.status is RefStatus.CONTRADICTION for each in refs),
        "said twice": sum(each.status is RefStatus.DUPLICATE for each in refs),
        "can be rebuilt": sum(each.status is RefStatus.REBUILDABLE for each in refs),
        "outside": sum(each.status is RefStatus.EXTERNAL for each in refs),
        "unused": sum(each.status is RefStatus.ORPHAN for each in refs),
        "cannot be checked": sum(each.status in (RefStatus.UNKNOWN, RefStatus.PLACEHOLDER) for each in refs),
    }
    use = {
        "swapped out": sum("swap" in each.kind for each in refs),
        "shared": sum(len(each.used_by) > 1 for each in refs),
    }
    first, second = (
        ", ".join(f"{number:,} {word}" for word, number in words.items() if number) for words in (kinds, use)
    )
    return f"{counted(len(refs), 'reference')}: {'; '.join(filter(None, (first, second)))}"


def missing_sentences(state: ContextState) -> Iterator[str]:
    """The open gaps that are not hidden blocks, equal ones together, and what waits for them."""
    gaps = sorted(open_gaps(state), key=gap_order)
    if not gaps:
        return
    steps = [item.title for item in state.todo.items] if state.todo is not None else []
    actions = {name for gap in gaps for name in gap.blocks if any(step.startswith(name) for step in steps)}
    groups: dict[str, list[Gap]] = {}
    uses = Counter(gap.why for gap in gaps)
    for gap in gaps:
        alike = gap.why if uses[gap.why] > 1 else gap.id
        groups.setdefault(alike, []).append(gap)
    for own in groups.values():
        gap = own[0]
        waiting = actions.intersection(name for each in own for name in each.blocks)
        blocks = f" {'blocks' if len(own) == 1 else 'block'} {counted(len(waiting), 'action')}"
        name = f"{_together(own)}{blocks if waiting else ''}"
        says_more = not _kind(gap) and gap.question not in gap.id
        about = excerpt(gap.question, 120) if len(own) == 1 and says_more else ""
        why = excerpt(gap.why, 120)
        yield f"{name}: {about or why}{f' ({why})' if about and not waiting else ''}"
    if not actions:
        yield "No action waits"


def _together(gaps: Sequence[Gap]) -> str:
    """`3 recalled texts` when all gaps ask the same, else their names."""
    kind = _kind(gaps[0])
    if len(gaps) > 1 and kind and all(gap.question == gaps[0].question for gap in gaps):
        return counted(len(gaps), kind)
    return listed([gap.id for gap in gaps], 2)


def _kind(gap: Gap) -> str:
    """`file` of a gap that asks for "a file"; empty for a gap that asks for one thing."""
    article, _, thing = gap.question.partition(" ")
    return excerpt(thing) if article == "a" and " of " not in thing else ""
