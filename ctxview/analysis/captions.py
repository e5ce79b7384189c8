"""What happened from one state to the next, in sentences for somebody who watches, and why it matters.

Made from the semantic difference alone, the most important first. Knows no format and no screen; texts from
files are cut and made safe to print.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ctxview.analysis.diff.ladders import course
from ctxview.analysis.diff.model import Change, Delta, Group, Kind, StateDiff
from ctxview.analysis.diff.values import shown as spelled
from ctxview.analysis.wording import counted, quoted, shown
from ctxview.quick_dataclass import dataclass
from ctxview.state import ContextState, Event, JsonValue, Owner

NOTHING = "Nothing changed in meaning."
MATTERS = 50
"""From this weight on a player stops for it when somebody asks for the next event."""

_TELLING = {
    "error": 75,
    "stop": 70,
    "child": 60,
    "approval": 55,
    "compaction": 80,
    "file gone": 90,
    "file truncated": 61,
    "file appeared": 51,
}
"""Kinds of events on the timeline that are worth telling, by weight."""
_LIMIT = re.compile(r"(decay|confidence|age|quality) ([\d.]+) ([<>]=?) ([\d.]+)(?: rounds)?(?: \(\w+\))?")
_ARRIVED = {
    "longterm": "It outlives the task: a later session will know it, too.",
    "core": "It is always shown now, whatever the task.",
    "injected": "A record says that it was shown.",
    "assembled": "It was put together to be shown; nothing says yet that it was.",
    "omitted": "It was left out: nobody is shown it.",
    "compacted": "Only a summary stands for it now.",
    "redacted": "It must not be shown to anybody.",
}
"""What it means to have come to a tier."""
_BREACH = {
    Owner.SYSTEM: "Only the system writes that; a runtime ignores it or rejects the reply.",
    Owner.DERIVED: "The system works that out by itself; a runtime ignores it or rejects the reply.",
    Owner.APPEND_ONLY: "History is only ever added to.",
}
"""What it means that somebody wrote a field of that owner."""
_NUMBERED = re.compile(r"(.*?)(\d+)")
_FEW = 3


@dataclass(frozen=True, slots=True)
class Caption:
    """One thing that happened. `why` says what it means for the agent; empty when that is plain."""

    said: str
    why: str = ""
    weight: int = 0
    change: Change | None = None
    """What it is about, the first of several."""

    @property
    def matters(self) -> bool:
        return self.weight >= MATTERS


def captions(diff: StateDiff, after: ContextState, events: Sequence[Event] = ()) -> tuple[Caption, ...]:
    """Everything worth telling of a change, the most important first; empty when nothing changed.

    `events` are those of the timeline that led to it.
    """
    if not after.tiers:
        # Nothing could be read, and what cannot be read has not therefore been forgotten.
        return tuple(sorted((*_gaps(diff), *_events(events)), key=lambda each: -each.weight))
    told = [
        *_blocks(diff.of(Group.BLOCKS), after),
        *_gaps(diff),
        *_refs(diff.of(Group.REFS)),
        *_cursor(diff.of(Group.CURSOR)),
        *_todo(diff.of(Group.TODO)),
        *_budgets(diff.of(Group.BUDGET)),
        *_fields(diff.of(Group.FIELDS)),
        *_order(diff.of(Group.ORDER)),
        *_compactions(diff.of(Group.COMPACTIONS)),
        *_tampered(diff.changes, after),
        *_events(events),
    ]
    return tuple(sorted(told, key=lambda each: -each.weight))


# -- memory ----------------------------------------------------------------------------------------------


def _blocks(changes: Sequence[Change], after: ContextState) -> Iterator[Caption]:
    groups: dict[tuple[str, str, str], list[Change]] = defaultdict(list)
    for change in changes:
        what = change.sight or change.kind.value
        reason = _kind_of_reason(change.why) if change.sight == "hidden" else ""
        groups[change.place, "moved" if change.came_from else what, change.came_from or reason].append(change)
    for (tier, what, more), found in groups.items():
        match what:
            case "hidden":
                yield _hidden(found)
            case "shown":
                yield _shown(found)
            case "moved":
                yield _moved(found, more, tier)
            case Kind.REMOVED:
                yield _removed(found, tier, after)
            case Kind.ADDED:
                yield _added(found, tier)
            case _:
                yield from _changed(found)


def _hidden(found: Sequence[Change]) -> Caption:
    first = found[0]
    if len(found) == 1:
        reason = _reason(first.why)
        said = f"{shown(first.subject)} is no longer shown to the model" + (f": {reason}." if reason else ".")
        if _kind_of_reason(first.why) == "done":
            return Caption(said, "It is finished business; the model will not be reminded of it.", 35, first)
        return Caption(said, "It is still stored, but the model now acts without knowing it.", 85, first)
    reason = _kind_of_reason(first.why)
    told = f"{_names(found)} are no longer shown to the model" + (f": {reason}." if reason else ".")
    if reason == "done":
        return Caption(told, "Finished business; the model will not be reminded of it.", 40, first)
    return Caption(told, "They are still stored, but the model now acts without knowing them.", 86, first)


def _shown(found: Sequence[Change]) -> Caption:
    are = "is" if len(found) == 1 else "are"
    was = _reason(found[0].why.removeprefix("was ")) if len(found) == 1 else ""
    hidden = f" It was hidden because {was}." if was else ""
    said = f"{_names(found)} {are} shown to the model again.{hidden}"
    return Caption(said, "The model can act on it from now on.", 65, found[0])


def _moved(found: Sequence[Change], left: str, tier: str) -> Caption:
    was = "was" if len(found) == 1 else "were"
    way = course(left, tier)
    said = f"{_names(found)} {was} {way or 'moved'} from {left} to {tier}."
    why = _ARRIVED.get(tier) or (
        "It counts for less now, and will be let go sooner." if way == "demoted" else ""
    )
    return Caption(said, why, 60, found[0])


def _removed(found: Sequence[Change], tier: str, after: ContextState) -> Caption:
    left = next((each.blocks for each in after.tiers if each.name == tier), ())
    is_, it, them = ("is", "It", "it") if len(found) == 1 else ("are", "They", "them")
    if not left and len(found) > 1:
        names = ", ".join(shown(change.subject) for change in found[:_FEW])
        said = f"The {tier} tier is empty: all {len(found)} blocks are gone, {names} among them."
        return Caption(said, "What they said is lost unless something else in memory says it.", 100, found[0])
    if _is_reply(after):
        return Caption(f"The reply leaves out {_names(found)} of {tier}.", "", 20, found[0])
    said = f"{_names(found)} {is_} gone from {tier}."
    lost = [change for change in found if change.loss]
    if lost:
        what = "it" if len(found) == 1 else f"{len(lost)} of them"
        named = all(change.loss == "recorded" for change in lost)
        why = "A compaction names it as taken" if named else "A summary changed at the same time"
        why = f"{why}; what a summary leaves out is forgotten."
        return Caption(f"{said} No summary has the words and figures of {what}.", why, 88, lost[0])
    if all(change.in_history for change in found):
        told = f"{_names(found)} left the window; the history still has {them}."
        return Caption(told[:1].upper() + told[1:], "", 15, found[0])
    if all(change.why for change in found):
        return Caption(said, f"{it} had not been shown to the model any more.", 30, found[0])
    text = _value(found[0], "text") if len(found) == 1 else ""
    why = f"The model is no longer shown {them}; what nothing else keeps is forgotten."
    return Caption(said, f"It said {quoted(text, 90)}" if text else why, 70, found[0])


def _added(found: Sequence[Change], tier: str) -> Caption:
    if len(found) == 1:
        text = _value(found[0], "text")
        hidden = f", but not shown to the model: {_reason(found[0].why)}." if found[0].why else "."
        said = f"{shown(found[0].subject)} is new in {tier}{hidden}"
        return Caption(said, quoted(text, 110) if text else "", 45 if not found[0].why else 40, found[0])
    return Caption(f"{_names(found)} are new in {tier}.", "", 44, found[0])


def _changed(found: Sequence[Change]) -> Iterator[Caption]:
    for change in found:
        deltas = {each.name: each for each in change.deltas}
        if (text := deltas.get("text")) is not None:
            yield Caption(f"{shown(change.subject)} was re-worded.", quoted(str(text.after), 110), 38, change)
        elif (sure := deltas.get("confidence")) is not None and sure.word in ("raised", "lowered"):
            more = "surer" if sure.word == "raised" else "less sure"
            said = f"The agent is {more} of {shown(change.subject)}: confidence {_figures(sure)}."
            yield Caption(said, "", 48 if sure.crossed else 32, change)
        elif (decay := deltas.get("decay")) is not None:
            fades = "fades" if decay.word == "raised" else "is fresh again"
            said = f"{shown(change.subject)} {fades}: decay {_figures(decay)}."
            yield Caption(said, "", 47 if decay.crossed else 25, change)


def _figures(found: Delta) -> str:
    crossed = f", {found.crossed}" if found.crossed else ""
    return f"{spelled(found.before)} → {spelled(found.after)}{crossed}"


# -- everything else -------------------------------------------------------------------------------------


def _gaps(diff: StateDiff) -> Iterator[Caption]:
    """Those that are not about a block which is told of anyway."""
    blocks = {change.subject for change in diff.of(Group.BLOCKS)}
    opened, closed = [], []
    for change in diff.of(Group.MISSING):
        if change.subject not in blocks and change.kind in (Kind.OPENED, Kind.ADDED):
            opened.append(change)
        elif change.subject not in blocks and change.kind in (Kind.CLOSED, Kind.REMOVED):
            closed.append(change)
    if len(opened) == 1:
        question = _value(opened[0], "question")
        about = f"{shown(opened[0].subject)}, {shown(question, 80)}" if question else shown(opened[0].subject)
        yield Caption(f"Something is missing: {about}.", _sentence(opened[0].why), 62, opened[0])
    elif opened:
        yield Caption(f"{len(opened)} more things are missing: {_names(opened)}.", "", 63, opened[0])
    if closed:
        what = "thing is" if len(closed) == 1 else "things are"
        yield Caption(f"{len(closed)} {what} no longer missing: {_names(closed)}.", "", 28, closed[0])


def _refs(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        name = f"{change.place} {shown(change.subject)}"
        if change.kind is Kind.BROKEN:
            yield Caption(
                f"The reference {name} leads nowhere now.", "What it stood for cannot be had.", 72, change
            )
        elif change.kind is Kind.HEALED:
            yield Caption(f"The reference {name} leads somewhere again.", "", 52, change)


def _cursor(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        values = {each.name: each for each in change.deltas}
        note = _value(change, "note")
        why = f"Its note: {quoted(note, 90)}" if note else ""
        if change.kind is Kind.REMOVED:
            yield Caption("The agent no longer says what it will do next.", "", 45, change)
        elif "phase" in values:
            phase = spelled(values["phase"].after)
            blocked = phase == "blocked"
            said = "The agent is blocked." if blocked else f"The agent goes over to {phase}."
            yield Caption(said, why, 68 if blocked else 36, change)
        elif "target" in values and values["target"].after is not None:
            yield Caption(f"Step {spelled(values['target'].after)} comes next.", why, 31, change)
        elif "next" in values and values["next"].after is not None:
            yield Caption(f"{spelled(values['next'].after)} comes next.", why, 30, change)


def _todo(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        values = {each.name: each for each in change.deltas}
        if change.subject != "progress":
            title, status = _value(change, "title"), _value(change, "status")
            name = quoted(title, 60) if title else shown(change.subject)
            if change.kind is Kind.CHANGED and status:
                yield Caption(f"Todo {name} is {shown(status)} now.", "", 37, change)
        elif (step := values.get("step")) is not None:
            back = isinstance(step.before, int) and isinstance(step.after, int) and step.after < step.before
            said = f"The work {'fell back to' if back else 'is at'} step {spelled(step.after)}."
            why = "Something that was done is open again." if back and step.after else ""
            yield Caption(said, why, 58 if back and step.after else 34, change)


def _budgets(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        if change.why.startswith("over"):
            why = "What does not fit is cut or left out, and nobody asks which."
            # One that was not there before may only not have been known.
            weight = 78 if change.kind is Kind.CHANGED else 46
            yield Caption(f"{shown(change.subject)}: {change.why}.", why, weight, change)
        elif change.why == "fits again":
            yield Caption(f"{shown(change.subject)} fits its budget again.", "", 50, change)


def _compactions(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        if change.kind is Kind.ADDED:
            values = {each.name: each.after for each in change.deltas}
            took, notes = values.get("took"), values.get("lost, it says")
            count = counted(len(took), "block") if isinstance(took, list) else "nothing it names"
            stands = f"; {shown(str(values['summary']))} stands for it" if values.get("summary") else ""
            lost = "; ".join(quoted(str(note), 90) for note in notes) if isinstance(notes, list) else ""
            said = f"The compaction {shown(change.subject)} took {count}{stands}."
            yield Caption(said, f"It says what was lost: {lost}" if lost else "", 80, change)


def _tampered(changes: Sequence[Change], after: ContextState) -> Iterator[Caption]:
    """What was written by somebody whose it is not."""
    who = "The reply changes" if _is_reply(after) else "Somebody changed"
    for change in changes:
        for found in change.tampered:
            whole = change.group is Group.FIELDS
            name = shown(found.name) if whole else f"{shown(found.name)} of {shown(change.subject)}"
            said = f"{who} {name}: {shown(spelled(found.before), 40)} → {shown(spelled(found.after), 40)}."
            yield Caption(said, _BREACH.get(found.owner or Owner.MODEL, ""), 66, change)


def _fields(changes: Sequence[Change]) -> Iterator[Caption]:
    """What the agent is about; the rest is bookkeeping."""
    for change in changes:
        value = change.deltas[0].after
        prose = isinstance(value, str) and bool(change.deltas[0].pieces) and not change.deltas[0].system
        if prose and change.subject != "text" and change.kind is Kind.CHANGED:
            yield Caption(f"{shown(change.subject)} is now {quoted(str(value), 90)}.", "", 39, change)


def _order(changes: Sequence[Change]) -> Iterator[Caption]:
    for change in changes:
        yield Caption(f"The model is shown {shown(change.subject)} in another order.", "", 10, change)


def _events(events: Sequence[Event]) -> Iterator[Caption]:
    for event in events:
        if event.kind in _TELLING:
            yield Caption(_sentence(shown(event.label, 160)), "", _TELLING[event.kind])


# -- words -----------------------------------------------------------------------------------------------


def _is_reply(state: ContextState) -> bool:
    """A reply is not a whole state: what it leaves out may well be kept."""
    return state.written_by is Owner.MODEL


def _names(found: Sequence[Change]) -> str:
    """The subjects in a few words; neighbours in a count as a range: `messages 15–32`."""
    names = [change.subject for change in found]
    numbers = [match for name in names if (match := _NUMBERED.fullmatch(name))]
    if len(numbers) == len(names) > _FEW and len({match[1] for match in numbers}) == 1:
        values = sorted(int(match[2]) for match in numbers)
        if values[-1] - values[0] == len(values) - 1:
            word = numbers[0][1]
            return f"{shown(word.rstrip())}{'s ' if word.endswith(' ') else ''}{values[0]}–{values[-1]}"
    told = ", ".join(map(shown, names[:_FEW]))
    if len(names) <= _FEW:
        return told
    return f"{counted(len(names), 'block')} ({told} …)"


def _kind_of_reason(why: str) -> str:
    """What several reasons have in common, without their figures."""
    if limit := _LIMIT.search(why):
        side = "too high" if limit[3].startswith(">") else "too low"
        return "too old" if limit[1] == "age" else f"{limit[1]} {side}"
    return "done" if "done" in why else shown(why, 60)


def _reason(why: str) -> str:
    """`decay 0.70 > 0.65 (working)` as somebody would say it."""
    limit = _LIMIT.search(why)
    if limit is None:
        return "it is done" if "done" in why else shown(why, 90)
    over = limit[3].startswith(">")
    if limit[1] == "age":
        return f"it is {limit[2]} rounds old, and {limit[4]} is the limit"
    return f"its {limit[1]} {limit[2]} is {'over' if over else 'under'} {limit[4]}"


def _value(change: Change, name: str) -> str:
    found = next((each for each in change.deltas if each.name == name), None)
    value: JsonValue = (found.after if found.after is not None else found.before) if found else None
    return value if isinstance(value, str) else ""


def _sentence(text: str) -> str:
    text = shown(text, 160)
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith((".", "…", "!", "?")) else ".")
