"""Why a block is not shown: its life over all known revisions, as steps with their causes and origins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ctxview.analysis.diff.values import is_same_but_cut
from ctxview.analysis.revisions.facts import BlockKey, KnownRevisions, PastBlock, RevisionFacts, find_blocks
from ctxview.analysis.revisions.reasons import group_text
from ctxview.analysis.revisions.why_answer import (
    LifePoint,
    Sign,
    Why,
    WhySource,
    WhyStatus,
    WhyStep,
    since_words,
    span_words,
)
from ctxview.analysis.revisions.why_item import explain_items
from ctxview.analysis.revisions.window import main_budget, stage_of
from ctxview.analysis.wording import counted, excerpt
from ctxview.core.figures import Reason
from ctxview.core.findings import Effect, Finding
from ctxview.core.origin import Origin

_ERASING = (Effect.WIPED, Effect.DELETED, Effect.DROPPED)


def explain(known: KnownRevisions, name: str) -> tuple[Why, ...]:
    """Return the life of every block with that name; one answer for each copy that existed beside another.

    Without such a block, that of references, gaps and todo items with the name.
    """
    found = find_blocks(known, name)
    answers = [_explain(known, own) for own in _lives(known, found.keys)]
    if found.more:
        more = f"{counted(found.more, 'more block')} {'matches' if found.more == 1 else 'match'}."
        note = f"{answers[-1].note} {more}".lstrip()
        answers[-1] = replace(answers[-1], note=note)
    return tuple(answers) or explain_items(known, name)


def _lives(known: KnownRevisions, keys: Sequence[BlockKey]) -> Iterator[tuple[BlockKey, ...]]:
    """Group keys: tiers of one id that never hold it at the same time are one life with moves."""
    by_id: dict[str, list[BlockKey]] = {}
    for key in keys:
        by_id.setdefault(key[1], []).append(key)
    for own in by_id.values():
        beside = any(sum(key in (facts.blocks or ()) for key in own) > 1 for facts in known.in_order)
        yield from ([(key,) for key in own] if beside else [tuple(own)])


def _explain(known: KnownRevisions, keys: tuple[BlockKey, ...]) -> Why:
    life = _Life(known, keys)
    for facts in known.in_order:
        if facts.blocks is not None:
            life.take(facts)
    answer = life.answer()
    return replace(answer, sources=tuple(_sources(known, answer.block)))


def _sources(known: KnownRevisions, block: PastBlock) -> Iterator[WhySource]:
    """Yield what the block refers to in the last revision that has it."""
    facts = next((each for each in reversed(known.in_order) if block.key in (each.blocks or ())), None)
    if facts is None or facts.blocks is None:
        return
    for each in facts.texts:
        if each.kind == "reference" and each.name == block.id:
            found = next((held for key, held in facts.blocks.items() if key[1] == each.target), None)
            text = each.text.removeprefix(each.target).strip()
            yield WhySource(each.target, text, found.origin if found is not None else None)


class _Life:
    """Follows one block from revision to revision."""

    def __init__(self, known: KnownRevisions, keys: tuple[BlockKey, ...]) -> None:
        self._known = known
        self._keys = keys
        self._steps: list[WhyStep] = []
        self._points: list[LifePoint] = []
        self._now: PastBlock | None = None
        """The block as the last whole state or reply has it."""
        self._last: PastBlock | None = None
        self._is_new = True
        """Whether something happened since the last row about a prompt."""
        self._reason: Reason | None = None
        self._erased_with: int | None = None
        self._row_reason = ""
        self._origin_text = ""
        """How the block came in with a whole state, for the row about that state."""

    def take(self, facts: RevisionFacts) -> None:
        name = self._known.names[facts.number]
        found = next((block for key in self._keys if (block := (facts.blocks or {}).get(key))), None)
        if name.previous is None and facts.number and not name.is_reply:
            # Not a continuation of what came before: nothing can be said about the block in between.
            self._now = None
        if found is None and not facts.whole:
            return
        self._changed(facts, found)
        if not name.is_reply and facts.whole:
            self._state(facts, found)
        self._now = found
        self._last = found or self._last

    def _changed(self, facts: RevisionFacts, found: PastBlock | None) -> None:
        """Add the step of a block that was written, changed or removed."""
        before = self._now
        if found is None:
            if before is not None:
                text, rule, origin = self._removal(facts, before)
                self._erased_with = facts.number
                self._add("−", facts, text, origin or before.origin, rule)
        elif before is None:
            again = " again" if self._last is not None else ""
            what = f" as {excerpt(found.type)}" if found.type else ""
            figures = "".join(f", {name} {value:g}" for name, value in found.figures if name == "confidence")
            if self._known.names[facts.number].is_reply:
                self._add("+", facts, f"written{again}{what}{figures}", found.origin)
            else:
                self._origin_text, self._is_new = f"new{again}{what}; ", True
        elif changes := list(_changes(before, found)):
            self._add("~", facts, ", ".join(changes), found.origin)

    def _state(self, facts: RevisionFacts, found: PastBlock | None) -> None:
        """Add the life point of a whole state, and a row when it begins something new."""
        gone: Sign = "−" if self._last is not None or self._now is not None else "·"
        sign: Sign = gone if found is None else _SIGNS[found.visible]
        if found is not None and found.visible is False:
            reason = found.reason
            self._reason = self._reason or (reason if reason is not None and reason.figure else None)
        self._points.append(LifePoint(facts.number, sign))
        if found is None:
            return
        row = self._steps[-1] if self._steps else None
        same, self._row_reason = self._row_reason, group_text(found.reason)
        if not self._is_new and row is not None and row.sign == sign and same == self._row_reason:
            self._steps[-1] = replace(row, last=facts.number, place=self._span(row.first, facts.number))
            return
        tokens = f", {found.tokens:,} tok" if found.tokens is not None else ""
        text = {
            "●": f"shown{tokens}",
            "○": f"not shown: {excerpt(found.why, 90)}" if found.why else "not shown, still stored",
        }.get(sign, f"stored{tokens}")
        rule = _finding_about(facts.findings, found)
        text, self._origin_text = self._origin_text + text, ""
        hidden = found.reason if sign == "○" else None
        self._add(sign, facts, text, found.origin, rule.rule if rule is not None else None, hidden)
        self._is_new = False

    def _removal(self, facts: RevisionFacts, before: PastBlock) -> tuple[str, str | None, Origin | None]:
        """How the block left: text, rule and origin."""
        gone = [key for key in facts.removed if key[0] == before.tier]
        if before.key in facts.left_window:
            return "left the window; the history still has it", None, None
        if self._known.names[facts.number].is_reply:
            fault = next((each for each in facts.findings if _erases(each, before.tier)), None)
            if fault is not None:
                return f"the reply erases all {len(gone)} {before.tier} blocks", fault.rule, fault.origin
            return "the reply removes it", None, None
        for record in facts.compactions:
            if before.id in record.covers:
                into = f" into {excerpt(record.summary)}" if record.summary else ""
                return f"compacted{into} by {excerpt(record.id)}", None, record.origin
        if (stage := stage_of(main_budget(facts.budgets))) is not None:
            return f"removed at {stage}", None, None
        return "no longer in the file", None, None

    def _add(
        self,
        sign: Sign,
        facts: RevisionFacts,
        text: str,
        origin: Origin | None,
        rule: str | None = None,
        reason: Reason | None = None,
    ) -> None:
        number, place = facts.number, self._span(facts.number, facts.number)
        self._steps.append(WhyStep(sign, number, number, place, text, origin, 0, rule, reason))
        self._is_new = True

    def _span(self, first: int, last: int) -> str:
        return span_words(self._known.names[first].name, self._known.names[last].name)

    def answer(self) -> Why:
        last, points = self._last, self._points
        assert last is not None, "only names that some revision has are explained"
        shown = [each.number for each in points if each.sign == "●"]
        final = points[-1] if points else None
        status: WhyStatus = (
            "written" if final is None or final.sign == "·" else _STATUSES.get(final.sign, "stored")
        )
        since = _since(points) if status != "written" else None
        ends = {each.number for each in points if each.sign == "●"}
        steps = [
            replace(each, text=f"{each.text}; the last time")
            if status != "shown" and each.sign == "●" and each.last == max(ends)
            else each
            for each in self._steps
        ]
        if status == "gone" and since is not None:
            text = "no later revision has it"
            steps.append(WhyStep("−", since, points[-1].number, f"since {self._called(since)}", text))
        reason = self._reason
        figure, limit = (reason.figure, reason.limit) if reason is not None else (None, None)
        return Why(
            name=last.id,
            tier=last.tier,
            status=status,
            sentence=self._sentence(status, since, shown, last),
            steps=tuple(_with_causes(steps)),
            life=tuple(self._with_figures(figure)),
            last_shown=shown[-1] if shown else None,
            since=since,
            figure=figure,
            limit=limit,
            block=last,
            note=self._note() if status == "gone" else "",
        )

    def _sentence(self, status: WhyStatus, since: int | None, shown: Sequence[int], last: PastBlock) -> str:
        name = excerpt(last.id, 60)
        from_then = since_words(self._called(since)) if since is not None else ""
        if since is not None and since == self._points[0].number:
            from_then = " in all revisions" if len(self._points) > 1 else ""
        unknown = any(each.sign == "?" for each in self._points)
        never = "No record says whether the model saw it." if unknown else "The model never saw it."
        seen = f"The model last saw it in {self._called(shown[-1])}." if shown else never
        match status:
            case "shown":
                place = f", at position {last.rank + 1}" if last.rank is not None else ""
                return f"{name} is shown{from_then}{place}."
            case "hidden":
                why = f": {excerpt(last.why, 80)}" if last.why else ""
                return f"{name} is stored but not shown{from_then}{why}. {seen}"
            case "gone":
                left = (
                    self._erased_with is not None
                    and last.key in self._known.facts[self._erased_with].left_window
                )
                gone = "is no longer in the window" if left else "is gone"
                return f"{name} {gone}{from_then}. {seen}"
            case "stored":
                return f"{name} is stored{from_then}; no record says whether the model is shown it."
            case "written":
                return (
                    f"{name} was written by {self._called(self._steps[-1].first)}; no later prompt is known."
                )

    def _called(self, number: int) -> str:
        return self._known.names[number].name

    def _note(self) -> str:
        if self._erased_with is None:
            return ""
        facts = self._known.facts[self._erased_with]
        if len(facts.removed) < 2 or facts.left_window:
            return ""
        back, never = self._known.written_again(self._erased_with)
        if not back:
            return f"None of the {len(facts.removed)} blocks that left with it comes back."
        names = ", ".join(excerpt(key[1]) for key in back[:3])
        more = f" and {len(back) - 3} more" if len(back) > 3 else ""
        all_of_them = f"of the {len(facts.removed)} that left with it"
        return f"{names}{more} {all_of_them} are written again; {len(never)} never."

    def _with_figures(self, figure: str | None) -> Iterator[LifePoint]:
        for point in self._points:
            blocks = self._known.facts[point.number].blocks or {}
            block = next((found for key in self._keys if (found := blocks.get(key))), None)
            value = dict(block.figures).get(figure) if block is not None and figure is not None else None
            reason = block.reason if block is not None and block.visible is False else None
            broken = reason is not None and reason.figure == figure
            yield replace(point, value=value, is_broken=broken and value is not None)


_STATUSES: dict[Sign, WhyStatus] = {"●": "shown", "○": "hidden", "−": "gone"}
_SIGNS: dict[bool | None, Sign] = {True: "●", False: "○", None: "?"}


def _changes(before: PastBlock, after: PastBlock) -> Iterator[str]:
    """What changed in the content of a block."""
    if before.tier != after.tier:
        yield f"moved from {excerpt(before.tier)} to {excerpt(after.tier)}"
    old, new = dict(before.figures), dict(after.figures)
    for name in {**old, **new}:
        if old.get(name) != new.get(name):
            yield f"{name} {_figure(old.get(name))} → {_figure(new.get(name))}"
    if before.text != after.text and not is_same_but_cut(before.text, after.text):
        yield "text rewritten"
    if before.type != after.type:
        yield f"type {before.type or 'none'} → {after.type or 'none'}"


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"


def _since(points: Sequence[LifePoint]) -> int | None:
    """The revision at which the last sign began."""
    found = None
    for point in reversed(points):
        if point.sign != points[-1].sign:
            break
        found = point.number
    return found


def _erases(finding: Finding, tier: str) -> bool:
    pointer = finding.origin.pointer or ""
    return finding.effect in _ERASING and (pointer.endswith(f"/{tier}") or tier in finding.message)


def _finding_about(findings: Sequence[Finding], block: PastBlock) -> Finding | None:
    """The worst finding inside the bytes of a block."""
    start, end = block.origin.start, block.origin.end
    if start is None or end is None:
        return None
    inside = (
        each
        for each in findings
        if each.origin.file == block.origin.file and start <= (each.origin.start or 0) < end and start
    )
    return next((each for each in inside if each.effect is Effect.HIDDEN), None)


def _with_causes(steps: Sequence[WhyStep]) -> Iterator[WhyStep]:
    """Number the causes: the change before a block is hidden, or the hiding itself, and the removal."""
    causes = 0
    marked = [*steps]
    for at, step in enumerate(steps):
        if step.sign == "○":
            before = steps[at - 1] if at else None
            reason = step.reason
            caused = before is not None and before.sign in "~+" and reason is not None and reason.figure
            place = at - 1 if caused and before and reason and f"{reason.figure} " in before.text else at
            causes += 1
            text = marked[place].text
            if place < at and reason is not None and reason.bound:
                parts = text.split(", ")
                crossing = next(n for n, part in enumerate(parts) if f"{reason.figure} " in part)
                text = ", ".join([*parts[: crossing + 1], reason.bound, *parts[crossing + 1 :]])
            marked[place] = replace(marked[place], cause=causes, text=text)
        elif step.sign == "−" and step.origin is not None:
            causes += 1
            marked[at] = replace(step, cause=causes)
    yield from marked
