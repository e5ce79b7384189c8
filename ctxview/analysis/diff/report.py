"""A difference as JSON for programs and as lines for people. Adds no judgement of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ctxview.analysis.diff.compaction import LOST
from ctxview.analysis.diff.model import Change, Delta, Group, Kind, StateDiff
from ctxview.analysis.diff.values import printable, same, shown
from ctxview.analysis.diff.words import Piece
from ctxview.analysis.wording import counted
from ctxview.files.visible import visible
from ctxview.origin import JsonValue

TITLES = {
    Group.BLOCKS: "Memory",
    Group.ORDER: "Order shown to the model",
    Group.COMPACTIONS: "Compactions",
    Group.CURSOR: "Cursor",
    Group.TODO: "Todo",
    Group.FIELDS: "Fields",
    Group.BUDGET: "Budget",
    Group.REFS: "References",
    Group.MISSING: "Missing",
}
SIGNS = {
    Kind.ADDED: "+",
    Kind.REMOVED: "-",
    Kind.MOVED: ">",
    Kind.OPENED: "+",
    Kind.CLOSED: "-",
    Kind.BROKEN: "!",
}
SYSTEM_NOTE = "the system's field"
TAMPERED_NOTE = "TAMPERED: not the writer's to change"
IN_HISTORY = "out of the window; the history still has it"
NOTHING = "No difference in meaning."

_LONGEST = 160
_AROUND = 24


def json_of(diff: StateDiff) -> dict[str, JsonValue]:
    sides: dict[str, JsonValue] = {
        name: {"title": side.title, "source": side.source, "revision": side.revision}
        for name, side in (("before", diff.before), ("after", diff.after))
    }
    counts: dict[str, JsonValue] = {kind.value: count for kind, count in diff.counts().items()}
    groups: dict[str, JsonValue] = {
        group.value: [_json_change(each) for each in diff.of(group)] for group in Group
    }
    return {"equal": not diff, **sides, "counts": counts, **groups}


def lines_of(diff: StateDiff) -> list[str]:
    if not diff:
        return [NOTHING]
    return [line for group, changes in diff.groups() for line in _group_lines(group, changes)]


def tally(changes: Sequence[Change]) -> str:
    """`2 added · 1 moved · 1 newly hidden`, in the order of kinds."""
    kinds = Counter(change.kind for change in changes if not change.in_history)
    words = [f"{kinds[kind]} {'newly ' if kind in _SIGHT else ''}{kind}" for kind in Kind if kinds[kind]]
    courses = Counter(change.course for change in changes if change.course)
    losses = Counter(change.loss for change in changes if change.loss)
    tampered = sum(len(change.tampered) for change in changes)
    rolled = sum(change.in_history for change in changes)
    words += [f"{rolled} out of the window"] if rolled else []
    unseen = Counter(change.sight for change in changes if change.kind is Kind.MOVED and change.sight)
    more = [f"{count} of them newly {sight}" for sight, count in unseen.items()]
    more += [f"{count} of them {way}" for way, count in courses.items()]
    more += [f"{losses['recorded']} of them lost in a compaction"] if losses["recorded"] else []
    more += [f"{losses['inferred']} of them perhaps lost in a compaction"] if losses["inferred"] else []
    more += [f"{counted(tampered, 'field')} tampered with"] if tampered else []
    return " · ".join([*words, *more])


def headline(change: Change) -> str:
    """What happened, in one unescaped phrase: name, chief fact, reason."""
    words = [change.name]
    if change.came_from is not None:
        words.append(f"{change.course or 'moved here'} from {change.came_from}")
    if change.sight == "hidden":
        words.append(f"no longer shown to the model{_reason(change.why)}")
    elif change.sight == "shown":
        words.append(f"now shown to the model{_reason(change.why)}")
    elif change.kind in (Kind.ADDED, Kind.REMOVED) and change.group is Group.BLOCKS:
        hidden = f", hidden{_reason(change.why)}" if change.why else ""
        words.append(IN_HISTORY if change.in_history else f"{change.kind}{hidden}")
    elif change.kind is Kind.CHANGED or change.group is Group.FIELDS:
        words.append(change.why)
    elif change.kind is not Kind.MOVED:
        words.append(change.kind + _reason(change.why))
    words.append(LOST[change.loss] if change.loss else "")
    return "  ".join(word for word in words if word)


def delta_text(found: Delta) -> str:
    """`decay  0.4 → 0.7 (raised)`, unescaped; prose with its changed words marked `[-…-]` and `{+…+}`."""
    note = note_on(found)
    return f"{_change_text(found)}   {note}" if note else _change_text(found)


def note_on(found: Delta) -> str:
    """What is to be said about whose the value is; empty when it is the model's own."""
    return TAMPERED_NOTE if found.tampered else SYSTEM_NOTE if found.system else ""


def _change_text(found: Delta) -> str:
    if found.pieces:
        return f"{found.name}  {marked(found.pieces)}"
    if found.word == "added":
        return f"{found.name}  {_cut(shown(found.after))}"
    if found.word == "removed":
        return f"{found.name}  was {_cut(shown(found.before))}"
    lists = isinstance(found.before, list) and isinstance(found.after, list)
    if lists and (listed := _list_text(found)):
        return f"{found.name}  {listed}"
    arrow = f"{found.name}  {_cut(shown(found.before))} → {_cut(shown(found.after))}"
    facts: list[str] = [found.word] if found.word in ("raised", "lowered") else []
    facts += [found.crossed] if found.crossed else []
    return f"{arrow} ({', '.join(facts)})" if facts else arrow


def _list_text(found: Delta) -> str:
    """What left a list and what joined it; empty when only the order is another."""
    before, after = (side if isinstance(side, list) else [] for side in (found.before, found.after))
    left = [each for each in before if not any(same(each, other) for other in after)]
    joined = [each for each in after if not any(same(each, other) for other in before)]
    told = [f"[-{_cut(shown(each))}-]" for each in left]
    return " ".join([*told, *(f"{{+{_cut(shown(each))}+}}" for each in joined)])


def details(change: Change) -> list[str]:
    """One line a delta; of what came or went whole, its facts on one line and its text on another.

    Nothing of what a history still has: whoever wants it finds it there.
    """
    if change.in_history:
        return []
    if not change.one_sided:
        return [delta_text(found) for found in change.deltas]
    values = {
        found.name: shown(found.before if found.after is None else found.after) for found in change.deltas
    }
    text = values.pop("text", "")
    facts = " · ".join(f"{name} {value}" for name, value in values.items())
    return [line for line in (_cut(facts), _cut(text)) if line]


def marked(pieces: Sequence[Piece]) -> str:
    """Pieces on one line; what stayed is shortened to what surrounds a change."""
    marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    return "".join(marks[piece.side][0] + text + marks[piece.side][1] for piece, text in shortened(pieces))


def shortened(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, str]]:
    last = len(pieces) - 1
    for index, piece in enumerate(pieces):
        if piece.side != "same":
            yield piece, _cut(piece.text)
            continue
        head = "" if index == 0 else piece.text[:_AROUND]
        tail = "" if index == last else piece.text[-_AROUND:]
        yield piece, piece.text if len(piece.text) <= 2 * _AROUND else f"{head}…{tail}"


_SIGHT = (Kind.HIDDEN, Kind.SHOWN)


def _group_lines(group: Group, changes: Sequence[Change]) -> Iterator[str]:
    yield f"{TITLES[group]}: {tally(changes)}"
    for change in changes:
        sign = SIGNS.get(change.kind, "~")
        if group is Group.FIELDS:
            yield f"  {sign} {visible(delta_text(change.deltas[0]))}"
            continue
        yield f"  {sign} {visible(headline(change))}"
        yield from (f"      {visible(line)}" for line in details(change))


def _json_change(change: Change) -> JsonValue:
    return {
        "kind": change.kind.value,
        "subject": change.subject,
        "place": change.place or None,
        "from": change.came_from,
        "course": change.course,
        "lost": change.loss,
        "in_history": change.in_history,
        "visibility": change.sight,
        "why": change.why or None,
        "deltas": [_json_delta(found) for found in change.deltas],
    }


def _json_delta(found: Delta) -> JsonValue:
    return {
        "name": found.name,
        "before": printable(found.before),
        "after": printable(found.after),
        "word": found.word,
        "owner": found.owner.value if found.owner else None,
        "system": found.system,
        "crossed": found.crossed or None,
        "tampered": found.tampered,
        "pieces": [[piece.side, piece.text] for piece in found.pieces] or None,
    }


def _reason(why: str) -> str:
    return f": {why}" if why else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
