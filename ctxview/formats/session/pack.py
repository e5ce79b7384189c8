"""The context pack as the runtime's builder builds it, with the reason why each candidate is in or out.

Pure: `offers` looks at a session and counts tokens once, `plan_pack` then answers for any budget at once.
The builder offers its sources in a fixed order, skips blank ones, and takes whatever still fits, so that a
later, smaller source may pass a bigger one. Rendering gives bytes; writing them is `derived`'s business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import field, replace
from typing import Final

from ctxview.analysis.tokens import ESTIMATES, TokenCounter
from ctxview.formats.session.candidates import DERIVED, Candidate, pack_text, pack_value, section, tail_text
from ctxview.formats.session.folder import EntryKind, Part
from ctxview.formats.session.history import Stream
from ctxview.formats.session.model import Child, Session
from ctxview.formats.session.names import MESSAGES, is_name
from ctxview.formats.session.pack_faults import broken_message, broken_record
from ctxview.formats.session.pack_sources import source_fault
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.records import RecordFile
from ctxview.quick_dataclass import dataclass

FALLBACK: Final = "bytes/4"
"""Counts for a profile that has no estimate of its own."""

ABORTS: Final = "the rebuild aborts"
_FENCED: Final = re.compile(r"(?:^|[\n\r])[ \t]*(`{3,})")
_FENCE: Final = "```"


@dataclass(frozen=True, slots=True)
class Offer:
    """Something the builder looks at. `obstacle` says why no budget would let it in."""

    kind: str
    source: str
    text: str = field(repr=False)
    tokens: int
    range: str | None = None
    obstacle: str | None = None
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class Offers:
    """All candidates of a session in the builder's order, counted by one counter."""

    items: tuple[Offer, ...]
    counter: str
    exact: bool
    aborts: tuple[str, ...] = ()
    """Why the runtime itself would build no pack at all."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate and its fate."""

    offer: Offer
    taken: bool
    why: str
    for_room: bool = False
    """Whether only the budget keeps it out."""


@dataclass(frozen=True, slots=True)
class PackPlan:
    """What a pack for this budget holds; None and 0 mean no limit."""

    budget: int | None
    counter: str
    exact: bool
    items: tuple[Placed, ...]
    aborts: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[Offer, ...]:
        return tuple(each.offer for each in self.items if each.taken)

    @property
    def left_out(self) -> tuple[Offer, ...]:
        """What would be in with a larger budget."""
        return tuple(each.offer for each in self.items if each.for_room)

    @property
    def used(self) -> int:
        return sum(each.tokens for each in self.taken)


def offers(
    session: Session,
    messages: Stream,
    profile: Profile,
    counter: TokenCounter | None = None,
    recent: int | None = None,
) -> Offers:
    """Every candidate of the session, counted by `counter` or by the profile's own estimate."""
    used = counter or ESTIMATES.get(profile.pack.estimator or "") or ESTIMATES[FALLBACK]
    last = profile.pack.recent_messages if recent is None else recent
    found = [
        *_pinned(session, profile),
        *_derived(session, profile),
        _recent(messages, last, profile),
        *(offer for child in session.children for offer in _child(child, profile)),
    ]
    measured = [used.measure(each.text) for each in found]
    counted = tuple(
        each if each.obstacle else replace(each, tokens=max(profile.pack.minimum, count.value))
        for each, count in zip(found, measured, strict=True)
    )
    aborts = dict.fromkeys(_aborts(session, messages, counted, profile))
    return Offers(counted, used.name, all(count.exact for count in measured), tuple(aborts))


def plan_pack(offered: Offers, budget: int | None) -> PackPlan:
    """The builder's first fit for a budget."""
    placed, used = [], 0
    for each in offered.items:
        remark = f"; {each.remark}" if each.remark else ""
        if each.obstacle is not None:
            placed.append(Placed(each, False, each.obstacle))
        elif not budget:
            placed.append(Placed(each, True, f"no budget: everything is taken{remark}"))
        elif used + each.tokens <= budget:
            used += each.tokens
            placed.append(Placed(each, True, f"fits: {used:,} of {budget:,} used{remark}"))
        else:
            why = f"does not fit: {each.tokens:,} tokens, {budget - used:,} left"
            placed.append(Placed(each, False, why, for_room=True))
    return PackPlan(budget, offered.counter, offered.exact, tuple(placed), offered.aborts)


def pack_json(session: Session, plan: PackPlan) -> bytes:
    """What pack.json holds: one line, as the runtime writes it."""
    value = pack_value(session, plan.budget, [_candidate(each) for each in plan.taken])
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode("utf-8", "replace")


def pack_markdown(session: Session, plan: PackPlan, profile: Profile) -> bytes:
    """What pack.md holds; a source that has fences of its own stands in a longer one."""
    head = pack_text(session, plan.budget, [], profile)
    sections = (_section(_candidate(each)) for each in plan.taken)
    return "".join([head, *sections]).encode("utf-8", "replace")


def fence_for(text: str) -> str:
    """Backquotes that no line of the text can close: three, or one more than the longest it begins with."""
    longest = max((len(found[1]) for found in _FENCED.finditer(text)), default=0)
    return "`" * max(len(_FENCE), longest + 1)


def _section(candidate: Candidate) -> str:
    plain, fence = section(candidate), fence_for(candidate.text)
    if fence == _FENCE:
        return plain
    head, _, rest = plain.partition(f"\n{_FENCE}text\n")
    body = rest.removesuffix(f"{_FENCE}\n\n")
    return f"{head}\n{fence}text\n{body}{fence}\n\n"


def _candidate(offer: Offer) -> Candidate:
    return Candidate(offer.kind, offer.source, offer.text, offer.tokens, offer.range)


def _pinned(session: Session, profile: Profile) -> Iterator[Offer]:
    for part in session.pinned:
        if any(char in part.name for char in "\0\t\n"):
            yield _out("system", part.name, "its name holds a control character: the builder skips it")
        elif part.kind is not EntryKind.FILE:
            yield _out("system", part.name, f"{part.kind.told}: the builder skips it")
        elif source_fault(part.name) is not None:
            yield _out("system", part.name, f"not a name that a pack can hold: {ABORTS}")
        else:
            yield _whole("system", part, profile)


def _derived(session: Session, profile: Profile) -> Iterator[Offer]:
    records = {"facts": session.facts, "decisions": session.decisions, "refs": session.refs}
    for kind, name in DERIVED.items():
        yield _whole(kind, session.part(name), profile, records.get(kind))


def _recent(messages: Stream, count: int, profile: Profile) -> Offer:
    text, found = tail_text(messages, count) if count > 0 else ("", 0)
    if not found:
        return _out("recent_messages", MESSAGES, "blank" if count > 0 else "none were asked for")
    if any(line.cut for line in messages.tail(count)):
        return _out("recent_messages", MESSAGES, "a message is too long to be put into a pack")
    limit = profile.limits.pack_source
    remark = f"the file is {_over(limit)}: {ABORTS}" if limit is not None and messages.size > limit else None
    return Offer("recent_messages", MESSAGES, text, 0, f"tail:{found}", remark=remark)


def _child(child: Child, profile: Profile) -> Iterator[Offer]:
    if not is_name(child.name):
        for kind, name in (("child_result", "result.md"), ("child_refs", "refs.jsonl")):
            yield _out(kind, f"context/child/{child.name}/{name}", f"a bad child name: {ABORTS}")
        return
    terminal = profile.words.terminal_statuses
    active = bool(terminal) and child.status not in terminal
    for offer in (
        _whole("child_result", child.result, profile),
        _whole("child_refs", child.part("refs.jsonl"), profile, child.refs),
    ):
        if active and offer.obstacle == "blank":
            yield replace(offer, obstacle="blank: the child is still active")
        else:
            yield replace(offer, remark="the child is still active") if active else offer


def _whole(kind: str, part: Part, profile: Profile, records: RecordFile | None = None) -> Offer:
    """A source that is taken whole, or why it cannot be."""
    limit = profile.limits.pack_source
    if not part.exists:
        return _out(kind, part.name, "missing")
    if part.data is None:
        return _out(kind, part.name, f"{part.problem}: {ABORTS}")
    if limit is not None and len(part.data) > limit:
        return _out(kind, part.name, f"{_over(limit)}: {ABORTS}")
    try:
        text = part.data.decode()
    except UnicodeDecodeError:
        return _out(kind, part.name, f"not UTF-8: {ABORTS}")
    if not text.strip():
        return _out(kind, part.name, "blank")
    if records is not None and (fault := broken_record(kind, records)):
        return _out(kind, part.name, f"{fault}: {ABORTS}")
    return Offer(kind, part.name, text, 0)


def _out(kind: str, source: str, obstacle: str) -> Offer:
    return Offer(kind, source, "", 0, obstacle=obstacle)


def _over(limit: int) -> str:
    mebibytes = limit / 1024 / 1024
    return f"over {mebibytes:g} MiB" if mebibytes >= 1 else f"over {limit:,} bytes"


def _aborts(
    session: Session, messages: Stream, offered: tuple[Offer, ...], profile: Profile
) -> Iterator[str]:
    """Everything that makes the runtime's builder give up."""
    if not is_name(session.name):
        yield "the session's folder has no proper name"
    if session.agent is not None and not is_name(session.agent):
        yield "the agent's folder has no proper name"
    if session.budget is None and not session.part("context/budget").is_blank:
        yield "context/budget is not one plain number"
    for each in offered:
        for told in (each.obstacle, each.remark):
            if told is not None and told.endswith(ABORTS):
                yield f"{each.source}: {told.removesuffix(f': {ABORTS}')}"
    for entry in session.odd_children:
        if not is_name(entry.name):
            yield f"context/child/{entry.name}: a bad child name"
    limit = profile.limits.pack_source
    if limit is not None and messages.size <= limit and (fault := broken_message(messages, profile)):
        yield f"{MESSAGES}: {fault}"
