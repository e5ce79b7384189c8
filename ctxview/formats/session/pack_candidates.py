"""The candidates for a pack in the builder's order, the first fit for a budget, and allowed sources.

The order, the estimate and the text layout are those of the profile. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.origin import JsonValue
from ctxview.formats.kit.folder import EntryKind, FolderFile
from ctxview.formats.kit.history import HistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.grammar import is_hash_id, is_name
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile

FENCE = "```"
LONGEST_COUNTED = 2_000_000
EXACT_COUNTER = "o200k_base"
DERIVED = {
    "summary": "context/summary.md",
    "facts": "context/facts.jsonl",
    "decisions": "context/decisions.jsonl",
    "todo": "context/todo.md",
    "refs": "context/refs.jsonl",
}
"""The files that are taken whole, by kind."""
SESSION_SOURCES = frozenset(
    (MESSAGES, EVENTS, "latest.md", "state", "cwd", "created_at", "updated_at", "meta.json")
)
CONTEXT_SOURCES = frozenset(
    ("budget", "pack.json", "pack.md", "plan.json", *(name.rpartition("/")[2] for name in DERIVED.values()))
)
CHILD_SOURCES = frozenset(("handoff.md", "result.md", "refs.jsonl"))


class PackOffer(Struct, frozen=True):
    """One source the builder considers; `obstacle` says why it is left out for every budget."""

    kind: str
    source: str
    text: str
    tokens: int | None
    """By the selected counter or the profile's estimate; None when it has none."""
    range: str | None = None
    obstacle: str | None = None
    remark: str | None = None


class PackDecision(Struct, frozen=True):
    """An offer, whether the pack takes it, and why or why not."""

    offer: PackOffer
    taken: bool
    why: str
    over_budget: bool = False
    """Whether only the budget leaves it out."""


def estimate(text: str, profile: Profile) -> int | None:
    """Return the tokens of `text` by the profile's estimate, or None when the profile has none."""
    counter = ESTIMATES.get(profile.pack.estimator or "")
    return None if counter is None else max(profile.pack.minimum, counter.count(text))


def candidates(
    session: Session, messages: HistoryStream, profile: Profile, recent: int | None = None
) -> list[PackOffer]:
    """Return all candidates of the builder: each source that exists and is not blank."""
    count = profile.pack.recent_messages if recent is None else recent
    found: list[PackOffer] = []
    for part in session.pinned:
        # The builder silently skips links and names that a path cannot safely hold.
        if part.kind is EntryKind.FILE and not any(char in part.name for char in "\0\t\n"):
            found += _whole("system", part, profile)
    for kind, name in DERIVED.items():
        found += _whole(kind, session.part(name), profile)
    text, lines = tail_text(messages, count) if count > 0 else ("", 0)
    if lines and text is not None:
        found.append(PackOffer("recent_messages", MESSAGES, text, estimate(text, profile), f"tail:{lines}"))
    for child in session.children:
        found += _whole("child_result", child.part("result.md"), profile)
        found += _whole("child_refs", child.part("refs.jsonl"), profile)
    return found


def first_fit(offered: Iterable[PackOffer], budget: int | None) -> Iterator[PackDecision]:
    """Choose in order every offer that still fits; a smaller one may fit after a larger one did not."""
    used = 0
    for each in offered:
        cost, remark = each.tokens or 0, f"; {each.remark}" if each.remark else ""
        if each.obstacle is not None:
            yield PackDecision(each, False, each.obstacle)
        elif not budget:
            yield PackDecision(each, True, f"no budget: everything is taken{remark}")
        elif used + cost <= budget:
            used += cost
            yield PackDecision(each, True, f"fits: {used:,} of {budget:,} used{remark}")
        else:
            why = f"does not fit: needs {cost:,}, {budget - used:,} left"
            yield PackDecision(each, False, why, over_budget=True)


def tail_text(messages: HistoryStream, count: int) -> tuple[str | None, int]:
    """Return the last messages as the pack holds them, and how many there are; None if one is unreadable."""
    lines = tail_lines(messages, count)
    if any(line.unreadable for line in lines):
        return None, len(lines)
    text = "".join(f"{line.content.decode('utf-8', 'replace')}\n" for line in lines)
    return text, len(lines)


def tail_lines(messages: HistoryStream, count: int) -> list[HistoryLine]:
    """Return the last lines that are not blank."""
    found: list[HistoryLine] = []
    if messages.complete:
        # Known blank lines are skipped unread: there may be a million of them at the end.
        blanks, at = messages.blanks, len(messages.blanks) - 1
        for number in range(len(messages) - 1, -1, -1):
            if at >= 0 and blanks[at] == number:
                at -= 1
            elif not (line := messages.line(number)).is_blank:
                found.append(line)
                if len(found) == count:
                    break
        return found[::-1]
    wanted = count
    while True:
        tail = messages.tail(wanted)
        found = [line for line in tail if not line.is_blank][-count:]
        if len(found) == count or len(tail) < wanted:
            return found
        wanted *= 2


def pack_value(session: Session, budget: int | None, taken: Sequence[PackOffer]) -> dict[str, JsonValue]:
    """Return the content of pack.json."""
    items: list[JsonValue] = []
    for each in taken:
        item: dict[str, JsonValue] = {"kind": each.kind, "source": each.source, "tokens": each.tokens}
        items.append(item | ({"range": each.range} if each.range is not None else {}))
    value: dict[str, JsonValue] = {"session": session.name, "items": items}
    if session.agent is not None:
        value["agent"] = session.agent
    if budget is not None:
        value["budget_tokens"] = budget
    return value


def pack_text(session: Session, budget: int | None, taken: Sequence[PackOffer], profile: Profile) -> str:
    """Return the content of pack.md."""
    head = [("session", session.name), ("agent", session.agent), ("budget_tokens", budget)]
    pieces = [f"{profile.pack.title or '# Context Pack'}\n\n"]
    pieces += [f"{key}: {value}\n" for key, value in head if value is not None]
    return "".join([*pieces, "\n", *(section(each) for each in taken)])


def section(offer: PackOffer) -> str:
    """Return the section of one source in pack.md."""
    head = [("source", offer.source), ("range", offer.range), ("tokens", offer.tokens)]
    lines = "".join(f"{key}: {value}\n" for key, value in head if value is not None)
    body = offer.text if offer.text.endswith("\n") else f"{offer.text}\n"
    return f"## {offer.kind}\n\n{lines}\n{FENCE}text\n{body}{FENCE}\n\n"


def _whole(kind: str, part: FolderFile, profile: Profile) -> Iterator[PackOffer]:
    if part.readable and not part.is_blank:
        yield PackOffer(kind, part.name, part.text, estimate(part.text, profile))


def source_fault(source: str) -> str | None:
    """Return why a pack may not take `source`, or None when it may."""
    if not source:
        return "it is empty"
    if source.startswith("/"):
        return "it is absolute"
    parts = source.split("/")
    for part, reason in (("", "an empty part"), (".", "a part ."), ("..", "a part ..")):
        if part in parts:
            return f"it has {reason}"
    match parts:
        case [name] if name in SESSION_SOURCES:
            return None
        case ["context", name] if name in CONTEXT_SOURCES:
            return None
        case ["context", "pinned" | "swap" | "dedup", name] if is_name(name) or is_hash_id(name):
            return None
        case ["context", "child", name, file] if is_name(name) and file in CHILD_SOURCES:
            return None
        case ["context", "child", name, "artifact", file] if is_name(name) and is_name(file):
            return None
        case ["context", "child", *_]:
            return "of a child only handoff.md, result.md, refs.jsonl and artifacts can be taken"
    return "it is not the place of a pack source"


def is_child_history(source: str) -> bool:
    """Return whether `source` is the history of a child, which only the child may use."""
    parts = source.split("/")
    return parts[-1] in (MESSAGES, EVENTS) and len(parts) > 1


def counted_by(tokens: int, text: str, profile: Profile) -> str | None:
    """Return the name of a counter that gives `tokens` for `text`, the profile's first, or None."""
    if estimate(text, profile) == tokens:
        return profile.pack.estimator
    for name, counter in ESTIMATES.items():
        if max(1, counter.count(text)) == tokens:
            return name
    if len(text) > LONGEST_COUNTED:
        return None
    # Loading the table is slow, so it is tried only when all estimates have failed.
    from ctxview.analysis.tokens import exact_counter

    counter = exact_counter(EXACT_COUNTER)
    return counter.name if counter.exact and counter.count(text) == tokens else None
