"""Captions: sentences that say what happened from one state to the next and why it matters.

They are made from the semantic difference alone, the most important first. Independent of formats and
screens; texts from files are cut and made safe to print.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.diff.model import Change, ChangeGroup, ChangeKind, Delta, StateDiff
from ctxview.analysis.diff.values import value_text
from ctxview.analysis.wording import counted, excerpt, quoted
from ctxview.core.fields import Owner
from ctxview.core.figures import ReasonKind
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue
from ctxview.core.state import ContextState, Event

NOTHING = "Nothing changed in meaning."
MATTERS = 50
"""From this weight on, the player stops at a caption when it jumps to the next important event."""

_EVENT_WEIGHTS = {
    "error": 75,
    "stop": 70,
    "child": 60,
    "approval": 55,
    "compaction": 80,
    "file gone": 90,
    "file truncated": 61,
    "file appeared": 51,
}
"""Weights of the kinds of timeline events that get a caption."""
_BREACH = {
    Owner.SYSTEM: "Only the system writes that; a runtime ignores the change or rejects the reply.",
    Owner.DERIVED: "The system derives that value; a runtime ignores the change or rejects the reply.",
    Owner.APPEND_ONLY: "A history may only be appended to.",
}
"""What it means that a field of that owner was changed by another writer."""
_NUMBERED = lazy_pattern(r"(.*?)(\d+)")
_FEW = 3


class Caption(Struct, frozen=True):
    """One sentence about a change. `why` says what it means for the agent; empty when that is obvious."""

    text: str
    why: str = ""
    weight: int = 0
    change: Change | None = None
    """The change it describes, the first of several."""

    @property
    def matters(self) -> bool:
        return self.weight >= MATTERS


def captions(diff: StateDiff, after: ContextState, events: Sequence[Event] = ()) -> tuple[Caption, ...]:
    """Return the captions of a difference, the most important first; none when nothing changed.

    `events` are the timeline events that led to `after`.
    """
    if not after.tiers:
        # Nothing could be read. Blocks that cannot be read have not been forgotten.
        return tuple(sorted((*_gaps(diff), *_events(events)), key=lambda each: -each.weight))
    found = [
        *_blocks(diff.of(ChangeGroup.BLOCKS), after),
        *_gaps(diff),
        *_refs(diff.of(ChangeGroup.REFS)),
        *_cursor(diff.of(ChangeGroup.CURSOR)),
        *_todo(diff.of(ChangeGroup.TODO)),
        *_budgets(diff.of(ChangeGroup.BUDGET)),
        *_fields(diff.of(ChangeGroup.FIELDS)),
        *_order(diff.of(ChangeGroup.ORDER)),
        *_compactions(diff.of(ChangeGroup.COMPACTIONS)),
        *_tampered(diff.changes, after),
        *_events(events),
    ]
    return tuple(sorted(found, key=lambda each: -each.weight))


def _blocks(changes: Sequence[Change], after: ContextState) -> Iterator[Caption]:
    groups: dict[tuple[str, str, str], list[Change]] = defaultdict(list)
    for change in changes:
        word = change.visibility or change.kind.value
        reason = _brief(change) if change.visibility == "hidden" else ""
        groups[change.place, "moved" if change.came_from else word, change.came_from or reason].append(change)
    for (tier, word, left), found in groups.items():
        match word:
            case "hidden":
                yield _hidden(found)
            case "shown":
                yield _shown(found)
            case "moved":
                yield _moved(found, left, tier, after)
            case ChangeKind.REMOVED:
                yield _removed(found, tier, after)
            case ChangeKind.ADDED:
                yield _added(found, tier)
            case _:
                yield from _changed(found)


def _hidden(found: Sequence[Change]) -> Caption:
    first = found[0]
    if len(found) == 1:
        reason = _clause(first)
        text = f"{excerpt(first.subject)} is no longer shown to the model" + (
            f": {reason}." if reason else "."
        )
        if _is_done(first):
            return Caption(text, "It is done, so the model is not reminded of it.", 35, first)
        return Caption(text, "It is still stored, but the model now acts without knowing it.", 85, first)
    reason = _brief(first)
    text = f"{_names(found)} are no longer shown to the model" + (f": {reason}." if reason else ".")
    if _is_done(first):
        return Caption(text, "They are done, so the model is not reminded of them.", 40, first)
    return Caption(text, "They are still stored, but the model now acts without knowing them.", 86, first)


def _shown(found: Sequence[Change]) -> Caption:
    are = "is" if len(found) == 1 else "are"
    was = _clause(found[0]) if len(found) == 1 else ""
    hidden = f" It was hidden because {was}." if was else ""
    text = f"{_names(found)} {are} shown to the model again.{hidden}"
    return Caption(text, "The model can act on it from now on.", 65, found[0])


def _moved(found: Sequence[Change], left: str, tier: str, after: ContextState) -> Caption:
    was = "was" if len(found) == 1 else "were"
    direction = found[0].course
    text = f"{_names(found)} {was} {direction or 'moved'} from {left} to {tier}."
    meaning = next((each.meaning for each in after.stated.tiers if each.name == tier), "")
    why = meaning or ("It has a lower rank now and is dropped sooner." if direction == "demoted" else "")
    return Caption(text, why, 60, found[0])


def _removed(found: Sequence[Change], tier: str, after: ContextState) -> Caption:
    left = next((each.blocks for each in after.stated.tiers if each.name == tier), ())
    is_, was, it, them = ("is", "was", "It", "it") if len(found) == 1 else ("are", "were", "They", "them")
    if not left and len(found) > 1:
        names = ", ".join(excerpt(change.subject) for change in found[:_FEW])
        text = f"The {tier} tier is empty: all {len(found)} blocks are gone, {names} among them."
        return Caption(text, "What they said is lost unless something else in memory says it.", 100, found[0])
    if _is_reply(after) and not after.outcome:
        return Caption(f"The reply leaves out {_names(found)} of {tier}.", "", 20, found[0])
    text = f"{_names(found)} {is_} gone from {tier}."
    lost = [change for change in found if change.loss]
    if lost:
        which = "it" if len(found) == 1 else f"{len(lost)} of them"
        named = all(change.loss == "recorded" for change in lost)
        why = "A compaction names it as taken" if named else "A summary changed at the same time"
        why = f"{why}; content that no summary holds is forgotten."
        return Caption(f"{text} No summary has the words and figures of {which}.", why, 88, lost[0])
    if all(change.in_history for change in found):
        text = f"{_names(found)} left the window; the history still has {them}."
        return Caption(text[:1].upper() + text[1:], "", 15, found[0])
    if all(change.why for change in found):
        return Caption(text, f"{it} {was} hidden from the model before.", 30, found[0])
    content = _value(found[0], "text") if len(found) == 1 else ""
    why = f"The model is no longer shown {them}; content that no other block holds is forgotten."
    return Caption(text, f"It said {quoted(content, 90)}" if content else why, 70, found[0])


def _added(found: Sequence[Change], tier: str) -> Caption:
    if len(found) == 1:
        content = _value(found[0], "text")
        hidden = f", but not shown to the model: {_clause(found[0])}." if found[0].why else "."
        text = f"{excerpt(found[0].subject)} is new in {tier}{hidden}"
        return Caption(
            text, quoted(content, 110) if content else "", 45 if not found[0].why else 40, found[0]
        )
    return Caption(f"{_names(found)} are new in {tier}.", "", 44, found[0])


def _changed(found: Sequence[Change]) -> Iterator[Caption]:
    for change in found:
        deltas = {each.name: each for each in change.deltas}
        if (name_change := deltas.get("id")) is not None:
            was = excerpt(value_text(name_change.before))
            yield Caption(f"{was} is called {excerpt(change.subject)} now.", "", 33, change)
        if (wording := deltas.get("text")) is not None:
            name, new = excerpt(change.subject), quoted(str(wording.after), 110)
            yield Caption(f"{name} was reworded.", new, 38, change)
        elif (sure := deltas.get("confidence")) is not None and sure.word in ("raised", "lowered"):
            more = "surer" if sure.word == "raised" else "less sure"
            text = f"The agent is {more} of {excerpt(change.subject)}: confidence {_figures(sure)}."
            yield Caption(text, "", 48 if sure.crossed else 32, change)
        elif (decay := deltas.get("decay")) is not None:
            fades = "fades" if decay.word == "raised" else "is fresh again"
            text = f"{excerpt(change.subject)} {fades}: decay {_figures(decay)}."
            yield Caption(text, "", 47 if decay.crossed else 25, change)
        elif (figure := next((each for each in change.deltas if each.crossed), None)) is not None:
            text = f"{excerpt(change.subject)}: {excerpt(figure.name)} {_figures(figure)}."
            yield Caption(text, "", 46, change)


def _figures(found: Delta) -> str:
    crossed = f", {found.crossed}" if found.crossed else ""
    return f"{value_text(found.before)} → {value_text(found.after)}{crossed}"


def _gaps(diff: StateDiff) -> Iterator[Caption]:
    """Gaps opened and closed, except those of a block that has its own caption."""
    blocks = {change.subject for change in diff.of(ChangeGroup.BLOCKS)}
    opened, closed = [], []
    for change in diff.of(ChangeGroup.MISSING):
        if change.subject not in blocks and change.kind in (ChangeKind.OPENED, ChangeKind.ADDED):
            opened.append(change)
        elif change.subject not in blocks and change.kind is ChangeKind.CLOSED:
            closed.append(change)
    if len(opened) == 1:
        question = _value(opened[0], "question")
        about = (
            f"{excerpt(opened[0].subject)}, {excerpt(question, 80)}"
            if question
            else excerpt(opened[0].subject)
        )
        yield Caption(f"Something is missing: {about}.", _sentence(opened[0].why), 62, opened[0])
    elif opened:
        yield Caption(f"{len(opened)} more things are missing: {_names(opened)}.", "", 63, opened[0])
    if closed:
        things = "thing is" if len(closed) == 1 else "things are"
        yield Caption(f"{len(closed)} {things} no longer missing: {_names(closed)}.", "", 28, closed[0])


def _refs(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        name = f"{change.place} {excerpt(change.subject)}"
        if change.kind is ChangeKind.BROKEN:
            yield Caption(f"The reference {name} is broken now.", "Its target cannot be read.", 72, change)
        elif change.kind is ChangeKind.HEALED:
            yield Caption(f"The reference {name} resolves again.", "", 52, change)


def _cursor(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        values = {each.name: each for each in change.deltas}
        note = _value(change, "note")
        why = f"Its note: {quoted(note, 90)}" if note else ""
        if change.kind is ChangeKind.REMOVED:
            yield Caption("The agent no longer says what it will do next.", "", 45, change)
        elif "phase" in values:
            phase = value_text(values["phase"].after)
            blocked = phase == "blocked"
            text = "The agent is blocked." if blocked else f"The agent is now in the phase {phase}."
            yield Caption(text, why, 68 if blocked else 36, change)
        elif "target" in values and values["target"].after is not None:
            yield Caption(f"Step {value_text(values['target'].after)} comes next.", why, 31, change)
        elif "next" in values and values["next"].after is not None:
            yield Caption(f"{value_text(values['next'].after)} comes next.", why, 30, change)


def _todo(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        values = {each.name: each for each in change.deltas}
        if change.subject != "progress":
            title, status = _value(change, "title"), _value(change, "status")
            name = quoted(title, 60) if title else excerpt(change.subject)
            if change.kind is ChangeKind.CHANGED and status:
                yield Caption(f"Todo {name} is {excerpt(status)} now.", "", 37, change)
        elif (step := values.get("step")) is not None and not step.tampered:
            back = isinstance(step.before, int) and isinstance(step.after, int) and step.after < step.before
            text = f"The work {'fell back to' if back else 'is at'} step {value_text(step.after)}."
            why = "Something that was done is open again." if back and step.after else ""
            yield Caption(text, why, 58 if back and step.after else 34, change)


def _budgets(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        if change.why.startswith("over"):
            why = "Content that does not fit is cut or left out without a warning."
            # A budget that is new here may have been unknown before.
            weight = 78 if change.kind is ChangeKind.CHANGED else 46
            yield Caption(f"{excerpt(change.subject)}: {change.why}.", why, weight, change)
        elif change.why == "fits again":
            yield Caption(f"{excerpt(change.subject)} fits its budget again.", "", 50, change)


def _compactions(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        if change.kind is ChangeKind.ADDED:
            values = {each.name: each.after for each in change.deltas}
            took, notes = values.get("took"), values.get("lost, it says")
            count = counted(len(took), "block") if isinstance(took, list) else "no blocks that it names"
            summary = f"; {excerpt(str(values['summary']))} replaces it" if values.get("summary") else ""
            lost = "; ".join(quoted(str(note), 90) for note in notes) if isinstance(notes, list) else ""
            text = f"The compaction {excerpt(change.subject)} took {count}{summary}."
            yield Caption(text, f"It says what was lost: {lost}" if lost else "", 80, change)


def _tampered(changes: Sequence[Change], after: ContextState) -> Iterator[Caption]:
    """Fields that were changed by a writer who does not own them."""
    for change in changes:
        for found in change.tampered:
            whole = change.group is ChangeGroup.FIELDS
            name = excerpt(found.name) if whole else f"{excerpt(found.name)} of {excerpt(change.subject)}"
            verb = f"The reply changes {name}" if _is_reply(after) else f"{name} was changed"
            text = (
                f"{verb}: {excerpt(value_text(found.before), 40)} → {excerpt(value_text(found.after), 40)}."
            )
            yield Caption(text, _BREACH.get(found.owner or Owner.MODEL, ""), 66, change)


def _fields(changes: Sequence[Change]) -> Iterator[Caption]:
    """Changed prose fields of the whole state, such as the task; the other fields are bookkeeping."""
    for change in changes:
        value = change.deltas[0].after
        prose = isinstance(value, str) and bool(change.deltas[0].pieces) and not change.deltas[0].system
        if prose and change.subject != "text" and change.kind is ChangeKind.CHANGED:
            yield Caption(f"{excerpt(change.subject)} is now {quoted(str(value), 90)}.", "", 39, change)


def _order(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        yield Caption(f"The model is shown {excerpt(change.subject)} in another order.", "", 10, change)


def _events(events: Sequence[Event]) -> Iterator[Caption]:
    for event in events:
        if event.kind in _EVENT_WEIGHTS:
            yield Caption(_sentence(excerpt(event.label, 160)), "", _EVENT_WEIGHTS[event.kind])


def _is_reply(state: ContextState) -> bool:
    """Whether this is a reply; without an outcome, blocks that it leaves out may be kept."""
    return state.written_by is Owner.MODEL


def _names(found: Sequence[Change]) -> str:
    """The subjects in a few words; consecutive numbers become a range: `messages 15–32`."""
    names = [change.subject for change in found]
    numbers = [match for name in names if (match := _NUMBERED.fullmatch(name))]
    if len(numbers) == len(names) > _FEW and len({match[1] for match in numbers}) == 1:
        values = sorted(int(match[2]) for match in numbers)
        if values[-1] - values[0] == len(values) - 1:
            word = numbers[0][1]
            return f"{excerpt(word.rstrip())}{'s ' if word.endswith(' ') else ''}{values[0]}–{values[-1]}"
    first = ", ".join(map(excerpt, names[:_FEW]))
    return first if len(names) <= _FEW else f"{counted(len(names), 'block')} ({first} …)"


def _brief(change: Change) -> str:
    """The reason in few words, without its figures, to group blocks by."""
    return excerpt(change.reason.brief, 60) if change.reason is not None else ""


def _clause(change: Change) -> str:
    """The reason as a clause of a sentence."""
    return excerpt(change.reason.clause, 90) if change.reason is not None else ""


def _is_done(change: Change) -> bool:
    return change.reason is not None and change.reason.kind is ReasonKind.FINISHED


def _value(change: Change, name: str) -> str:
    found = next((each for each in change.deltas if each.name == name), None)
    value: JsonValue = (found.after if found.after is not None else found.before) if found else None
    return value if isinstance(value, str) else ""


def _sentence(text: str) -> str:
    text = excerpt(text, 160)
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith((".", "…", "!", "?")) else ".")
