"""A difference as JSON for programs and as lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from ctxview.analysis.diff.compaction import LOST
from ctxview.analysis.diff.model import (
    Change,
    ChangeGroup,
    ChangeKind,
    Delta,
    StateDiff,
    WordPiece,
    block_counts,
)
from ctxview.analysis.diff.values import printable, value_text
from ctxview.analysis.wording import beginning, counted
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.values import same_value
from ctxview.files.visible_text import visible

TITLES = {
    ChangeGroup.BLOCKS: "Memory",
    ChangeGroup.ORDER: "Order shown to the model",
    ChangeGroup.COMPACTIONS: "Compactions",
    ChangeGroup.CURSOR: "Cursor",
    ChangeGroup.TODO: "Todo",
    ChangeGroup.FIELDS: "Fields",
    ChangeGroup.BUDGET: "Budget",
    ChangeGroup.REFS: "References",
    ChangeGroup.MISSING: "Missing",
}
SIGNS = {
    ChangeKind.ADDED: "+",
    ChangeKind.REMOVED: "-",
    ChangeKind.MOVED: ">",
    ChangeKind.OPENED: "+",
    ChangeKind.CLOSED: "-",
    ChangeKind.BROKEN: "!",
}
IN_HISTORY = "out of the window; the history still has it"
NOTHING = "No difference in meaning."
_NEWLY = {ChangeKind.HIDDEN: "newly hidden", ChangeKind.SHOWN: "newly shown"}
_LONGEST = 160
_AROUND = 24


def json_of(diff: StateDiff) -> dict[str, JsonValue]:
    """Return JSON with stable keys; a key that does not apply is null."""
    sides: dict[str, JsonValue] = {
        name: {"title": side.title, "source": side.source, "revision": side.revision}
        for name, side in (("before", diff.before), ("after", diff.after))
    }
    counts: dict[str, JsonValue] = {kind.value: count for kind, count in diff.counts().items()}
    groups: dict[str, JsonValue] = {
        group.value: [_json_change(each) for each in diff.of(group)] for group in ChangeGroup
    }
    return {"equal": not diff, **sides, "counts": counts, **groups}


def lines_of(diff: StateDiff) -> list[str]:
    """Return lines of plain text, safe to print."""
    if not diff:
        return [NOTHING]
    return [line for group, changes in diff.groups() for line in _group_lines(group, changes)]


def change_counts(changes: Sequence[Change]) -> str:
    """`2 added · 1 moved · 1 newly hidden`, in the order of kinds."""
    kinds = Counter(change.kind for change in changes if not change.in_history)
    if blocks := [change for change in changes if change.group is ChangeGroup.BLOCKS]:
        kinds[ChangeKind.CHANGED] = block_counts(blocks).changed
    words = [f"{kinds[kind]} {_NEWLY.get(kind, kind)}" for kind in ChangeKind if kinds[kind]]
    courses = Counter(change.course for change in changes if change.course)
    losses = Counter(change.loss for change in changes if change.loss)
    tampered = sum(len(change.tampered) for change in changes)
    left = sum(change.in_history for change in changes)
    words += [f"{left} out of the window"] if left else []
    moved = [change for change in changes if change.kind is ChangeKind.MOVED and change.visibility]
    more = [f"{n} of them newly {word}" for word, n in Counter(each.visibility for each in moved).items()]
    more += [f"{count} of them {course}" for course, count in courses.items()]
    more += [f"{losses['recorded']} of them lost in a compaction"] if losses["recorded"] else []
    more += [f"{losses['inferred']} of them perhaps lost in a compaction"] if losses["inferred"] else []
    more += [f"{counted(tampered, 'field')} tampered with"] if tampered else []
    return " · ".join([*words, *more])


def headline(change: Change) -> str:
    """The change in one unescaped phrase: name, main fact, reason."""
    words = [change.name]
    if change.came_from is not None:
        words.append(f"{change.course or 'moved here'} from {change.came_from}")
    if change.visibility == "hidden":
        words.append(f"no longer shown to the model{_reason(change.why)}")
    elif change.visibility == "shown":
        words.append(f"now shown to the model{_reason(change.why)}")
    elif change.kind in (ChangeKind.ADDED, ChangeKind.REMOVED) and change.group is ChangeGroup.BLOCKS:
        hidden = f", hidden{_reason(change.why)}" if change.why else ""
        words.append(IN_HISTORY if change.in_history else f"{change.kind}{hidden}")
    elif change.kind is ChangeKind.CHANGED or change.group is ChangeGroup.FIELDS:
        words.append(change.why)
    elif change.kind is not ChangeKind.MOVED:
        words.append(change.kind + _reason(change.why))
    words.append(LOST[change.loss] if change.loss else "")
    return "  ".join(word for word in words if word)


def delta_text(found: Delta) -> str:
    """`decay  0.4 → 0.7 (raised)`, unescaped; changed words of prose are marked `[-…-]` and `{+…+}`."""
    note = note_on(found)
    return f"{_change_text(found)}   {note}" if note else _change_text(found)


def side_text(found: Delta, side: Literal["before", "after"]) -> str:
    """The value of one side on one line, unescaped; an estimate is marked `≈`."""
    value = found.before if side == "before" else found.after
    if found.counts and isinstance(value, int):
        return f"{'≈' if found.estimate else ''}{value:,}"
    return f"{'≈' if found.estimate else ''}{value_text(value)}"


def note_on(found: Delta) -> str:
    """A note about the owner of the value; empty when the model owns it."""
    if found.tampered:
        return "TAMPERED: the writer may not change it"
    return "the system's field" if found.system else ""


def details(change: Change) -> list[str]:
    """One line for each delta; for a subject on one side only, a line of facts and a line of text.

    None for a block that the history still has: it can be read there.
    """
    if change.in_history:
        return []
    if not change.one_sided:
        return [delta_text(found) for found in change.deltas]
    values = {
        found.name: side_text(found, "before" if found.after is None else "after") for found in change.deltas
    }
    text = values.pop("text", "")
    facts = " · ".join(f"{name} {value}" for name, value in values.items())
    return [line for line in (_cut(facts), _cut(text)) if line]


def marked(pieces: Sequence[WordPiece]) -> str:
    """Pieces on one line; same text is shortened to the words around a change."""
    marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    return "".join(marks[piece.side][0] + text + marks[piece.side][1] for piece, text in shortened(pieces))


def shortened(pieces: Sequence[WordPiece]) -> Iterator[tuple[WordPiece, str]]:
    """Each piece with its text, shortened if it is long or far from a change."""
    last = len(pieces) - 1
    for index, piece in enumerate(pieces):
        if piece.side != "same":
            yield piece, _cut(piece.text)
            continue
        head = "" if index == 0 else piece.text[:_AROUND]
        tail = "" if index == last else piece.text[-_AROUND:]
        yield piece, piece.text if len(piece.text) <= 2 * _AROUND else f"{head}…{tail}"


def _change_text(found: Delta) -> str:
    if found.pieces:
        return f"{found.name}  {marked(found.pieces)}"
    if found.word == "added":
        return f"{found.name}  {_cut(side_text(found, 'after'))}"
    if found.word == "removed":
        return f"{found.name}  was {_cut(side_text(found, 'before'))}"
    lists = isinstance(found.before, list) and isinstance(found.after, list)
    if lists and (listed := _list_text(found)):
        return f"{found.name}  {listed}"
    arrow = f"{found.name}  {_cut(side_text(found, 'before'))} → {_cut(side_text(found, 'after'))}"
    facts: list[str] = [found.word] if found.word in ("raised", "lowered") else []
    facts += [found.crossed] if found.crossed else []
    return f"{arrow} ({', '.join(facts)})" if facts else arrow


def _list_text(found: Delta) -> str:
    """The items that left and joined a list; empty when only the order changed."""
    before, after = (side if isinstance(side, list) else [] for side in (found.before, found.after))
    left = [each for each in before if not any(same_value(each, other) for other in after)]
    joined = [each for each in after if not any(same_value(each, other) for other in before)]
    removed = [f"[-{_cut(value_text(each))}-]" for each in left]
    return " ".join([*removed, *(f"{{+{_cut(value_text(each))}+}}" for each in joined)])


def _group_lines(group: ChangeGroup, changes: Sequence[Change]) -> Iterator[str]:
    yield f"{TITLES[group]}: {change_counts(changes)}"
    for change in changes:
        sign = SIGNS.get(change.kind, "~")
        if group is ChangeGroup.FIELDS:
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
        "visibility": change.visibility,
        "why": change.why or None,
        "deltas": [
            {
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
            for found in change.deltas
        ],
    }


def _reason(why: str) -> str:
    return f": {why}" if why else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{beginning(text, _LONGEST)}…"
