"""What a pack could hold, in the builder's order, and which of it fits a budget first; pure, writes nothing.

The order, the estimate and the text layout are those of the profile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats.session.folder import EntryKind, Part
from ctxview.formats.session.history import Stream
from ctxview.formats.session.model import Session
from ctxview.formats.session.names import MESSAGES
from ctxview.formats.session.profile import Profile
from ctxview.quick_dataclass import dataclass
from ctxview.state import JsonValue

FENCE = "```"
DERIVED = {
    "summary": "context/summary.md",
    "facts": "context/facts.jsonl",
    "decisions": "context/decisions.jsonl",
    "todo": "context/todo.md",
    "refs": "context/refs.jsonl",
}
"""What is taken whole, by its kind."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something a pack could hold: `tokens` by the profile's own estimate, None when it has none."""

    kind: str
    source: str
    text: str
    tokens: int | None
    range: str | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate, whether the pack takes it, and why (not)."""

    candidate: Candidate
    taken: bool
    why: str


def estimate(text: str, profile: Profile) -> int | None:
    """What the profile's builder takes a text to cost; None when it does not say."""
    counter = ESTIMATES.get(profile.pack.estimator or "")
    return None if counter is None else max(profile.pack.minimum, counter.count(text))


def candidates(
    session: Session, messages: Stream, profile: Profile, recent: int | None = None
) -> list[Candidate]:
    """Everything the builder would offer: each source that is there and not blank."""
    count = profile.pack.recent_messages if recent is None else recent
    return [*_before(session, profile), *_recent(messages, count, profile), *_children(session, profile)]


def first_fit(offered: Iterable[Candidate], budget: int | None) -> list[Choice]:
    """The builder's choice: in order, whatever still fits; a later, smaller one may pass a bigger one."""
    choices, used = [], 0
    for each in offered:
        cost = each.tokens or 0
        if not budget:
            choices.append(Choice(each, True, "there is no budget, so everything is taken"))
        elif used + cost <= budget:
            used += cost
            choices.append(Choice(each, True, f"fits: {used} of {budget} used"))
        else:
            left = budget - used
            choices.append(Choice(each, False, f"needs {cost}, but only {left} of {budget} are left"))
    return choices


def tail_text(messages: Stream, count: int) -> tuple[str, int]:
    """The last messages as the pack holds them, and how many there really are."""
    wanted = count
    while True:
        tail = messages.tail(wanted)
        lines = [line for line in tail if not line.is_blank][-count:]
        if len(lines) == count or len(tail) < wanted:
            break
        wanted *= 2
    text = "".join(f"{line.content.decode('utf-8', 'replace')}\n" for line in lines)
    return text, len(lines)


def pack_value(session: Session, budget: int | None, taken: Sequence[Candidate]) -> dict[str, JsonValue]:
    """What pack.json holds."""
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


def pack_text(session: Session, budget: int | None, taken: Sequence[Candidate], profile: Profile) -> str:
    """What pack.md holds."""
    head = [("session", session.name), ("agent", session.agent), ("budget_tokens", budget)]
    pieces = [f"{profile.pack.title or '# Context Pack'}\n\n"]
    pieces += [f"{key}: {value}\n" for key, value in head if value is not None]
    return "".join([*pieces, "\n", *(section(each) for each in taken)])


def section(candidate: Candidate) -> str:
    """One source in pack.md."""
    head = [("source", candidate.source), ("range", candidate.range), ("tokens", candidate.tokens)]
    lines = "".join(f"{key}: {value}\n" for key, value in head if value is not None)
    body = candidate.text if candidate.text.endswith("\n") else f"{candidate.text}\n"
    return f"## {candidate.kind}\n\n{lines}\n{FENCE}text\n{body}{FENCE}\n\n"


def _before(session: Session, profile: Profile) -> Iterator[Candidate]:
    for part in session.pinned:
        # The builder silently skips links and names that a path cannot safely hold.
        if part.kind is EntryKind.FILE and not any(char in part.name for char in "\0\t\n"):
            yield from _whole("system", part, profile)
    for kind, name in DERIVED.items():
        yield from _whole(kind, session.part(name), profile)


def _recent(messages: Stream, count: int, profile: Profile) -> Iterator[Candidate]:
    text, found = tail_text(messages, count) if count > 0 else ("", 0)
    if found:
        yield Candidate("recent_messages", MESSAGES, text, estimate(text, profile), f"tail:{found}")


def _children(session: Session, profile: Profile) -> Iterator[Candidate]:
    for child in session.children:
        yield from _whole("child_result", child.part("result.md"), profile)
        yield from _whole("child_refs", child.part("refs.jsonl"), profile)


def _whole(kind: str, part: Part, profile: Profile) -> Iterator[Candidate]:
    if part.readable and not part.is_blank:
        yield Candidate(kind, part.name, part.text, estimate(part.text, profile))
