"""The pack as the runtime's builder builds it: offers, the plan for a budget, pack.json and pack.md.

One broken line in a source of JSON lines makes the builder abort, so every offer is checked as it does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import ESTIMATES, TokenCounter
from ctxview.core.findings import Severity
from ctxview.formats.kit.folder import EntryKind, FolderFile
from ctxview.formats.kit.history import HistoryStream
from ctxview.formats.kit.json_records import JsonRecordFile
from ctxview.formats.session import EVENTS, MESSAGES
from ctxview.formats.session.caps import unread_parts
from ctxview.formats.session.grammar import is_name, tail_count
from ctxview.formats.session.model import ChildChannel, PackItem, Session
from ctxview.formats.session.pack_candidates import (
    DERIVED,
    FENCE,
    PackDecision,
    PackOffer,
    first_fit,
    pack_text,
    pack_value,
    section,
    source_fault,
    tail_lines,
    tail_text,
)
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.survey.facts import SessionFacts

FALLBACK_COUNTER: Final = "bytes/4"
"""The counter for a profile that has no estimate."""

ABORTS: Final = "the rebuild aborts"
REQUIRED_TEXTS: Final = {
    "facts": ("text", "source"),
    "decisions": ("decision", "source"),
    "refs": ("path", "kind", "summary"),
    "child_refs": ("path", "kind", "summary"),
}
"""The texts that a record of each kind must have besides its id."""
MOST_TAIL: Final = 5000
PACKED_FOLDERS: Final = ("", "context", "context/child", "context/pinned")
_FENCED: Final = re.compile(r"(?:^|[\n\r])[ \t]*(`{3,})")
_HEAD: Final = re.compile(
    r"^## (?P<kind>[^\n]{0,80})\n\nsource: (?P<source>[^\n]{1,400})\n"
    r"(?:range: (?P<range>[^\n]{0,80})\n)?(?:tokens: (?P<tokens>[^\n]{0,24})\n)?\n(?P<fence>`{3,64})text\n",
    re.MULTILINE,
)


class PackOffers(Struct, frozen=True):
    """All offers of a session in the builder's order, counted by one counter."""

    items: tuple[PackOffer, ...]
    counter: str
    exact: bool
    aborts: tuple[str, ...] = ()
    """Why the runtime would build no pack at all."""
    unreadable: str | None = None
    """Why a source that the runtime can read cannot be read here, so that no true pack can be built."""


class PackPlan(Struct, frozen=True):
    """The content of a pack for one budget; None and 0 mean no limit."""

    budget: int | None
    counter: str
    exact: bool
    items: tuple[PackDecision, ...]
    aborts: tuple[str, ...] = ()
    unreadable: str | None = None

    @property
    def taken(self) -> tuple[PackOffer, ...]:
        return tuple(each.offer for each in self.items if each.taken)

    @property
    def left_out(self) -> tuple[PackOffer, ...]:
        """The offers that a larger budget would include."""
        return tuple(each.offer for each in self.items if each.over_budget)

    @property
    def used(self) -> int:
        return sum(each.tokens or 0 for each in self.taken)


def pack_offers(
    session: Session,
    messages: HistoryStream,
    profile: Profile,
    counter: TokenCounter | None = None,
    recent: int | None = None,
) -> PackOffers:
    """Return every offer of the session, counted by `counter` or by the profile's estimate."""
    used = counter or ESTIMATES.get(profile.pack.estimator or "") or ESTIMATES[FALLBACK_COUNTER]
    last = profile.pack.recent_messages if recent is None else recent
    records = {"facts": session.facts, "decisions": session.decisions, "refs": session.refs}
    found = [
        *_pinned(session, profile),
        *(_whole(kind, session.part(name), profile, records.get(kind)) for kind, name in DERIVED.items()),
        _recent(messages, last, profile),
        *(offer for child in session.children for offer in _child(child, profile)),
    ]
    measured = [used.measure(each.text) for each in found]
    counted = tuple(
        each if each.obstacle else replace(each, tokens=max(profile.pack.minimum, count.value))
        for each, count in zip(found, measured, strict=True)
    )
    aborts = dict.fromkeys(_aborts(session, messages, counted, profile))
    exact = all(count.exact for count in measured)
    return PackOffers(counted, used.name, exact, tuple(aborts), unread_source(session, messages, last))


def unread_source(session: Session, messages: HistoryStream, recent: int) -> str | None:
    """Return the first source that the runtime can read but that cannot be read here, with the reason."""
    tail = tail_lines(messages, recent) if recent > 0 else []
    lines = (line.problem for line in tail if line.unreadable)
    budget = session.part("context/budget")
    unread = chain(
        ((MESSAGES, why) for why in (messages.problem, *lines) if why is not None),
        ((name, why) for name, why in sorted(session.closed.items()) if _is_packed(name)),
        ((name, why) for name, why in unread_parts(session) if _is_packed(name)),
        [(budget.name, budget.problem)] if budget.exists and not budget.readable else [],
    )
    return next((f"{name or 'the session'}: {why}" for name, why in unread), None)


def _is_packed(folder: str) -> bool:
    """Whether the builder lists a folder or reads sources in it."""
    return folder in PACKED_FOLDERS or folder.rpartition("/")[0] == "context/child"


def plan_pack(offered: PackOffers, budget: int | None) -> PackPlan:
    """Plan the builder's first fit for a budget."""
    decisions = tuple(first_fit(offered.items, budget))
    return PackPlan(budget, offered.counter, offered.exact, decisions, offered.aborts, offered.unreadable)


def pack_json(session: Session, plan: PackPlan) -> bytes:
    """Return pack.json as the runtime writes it: one line."""
    value = pack_value(session, plan.budget, plan.taken)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode("utf-8", "replace")


def pack_markdown(session: Session, plan: PackPlan, profile: Profile) -> bytes:
    """Return pack.md; a source that contains fences gets a longer fence."""
    sections = [pack_text(session, plan.budget, [], profile)]
    for offer in plan.taken:
        text, fence = section(offer), fence_for(offer.text)
        if fence != FENCE:
            head, _, rest = text.partition(f"\n{FENCE}text\n")
            body = rest.removesuffix(f"{FENCE}\n\n")
            text = f"{head}\n{fence}text\n{body}{fence}\n\n"
        sections.append(text)
    return "".join(sections).encode("utf-8", "replace")


def fence_for(text: str) -> str:
    """Return backquotes that no line of `text` can close: three, or one more than its longest fence."""
    longest = max((len(found[1]) for found in _FENCED.finditer(text)), default=0)
    return "`" * max(len(FENCE), longest + 1)


class PackSection(Struct, frozen=True):
    """One source in pack.md; `start` and `end` are characters of the text, `fence` is its backquotes."""

    kind: str
    source: str
    fence: str
    body: str
    start: int
    end: int


def packed_sections(facts: SessionFacts) -> dict[str, PackSection]:
    """Return the sections of pack.md by source, in their order; the first one of a source counts."""
    return {section.source: section for section in reversed(sections_in(facts.session.pack.markdown.text))}


def sections_in(text: str) -> list[PackSection]:
    """Split pack.md into sections. A body ends where the next section begins: it may contain a fence."""
    heads = list(_HEAD.finditer(text))
    found = []
    for index, head in enumerate(heads):
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        fence = head["fence"]
        body = text[head.end() : end].removesuffix("\n").removesuffix(f"{fence}\n")
        found.append(PackSection(head["kind"], head["source"], fence, body, head.start(), end))
    return found


def source_text(facts: SessionFacts, item: PackItem) -> str | None:
    """Return the present text of an item's source, or None when the source has none."""
    source = item.source
    if source is None or source == EVENTS or source_fault(source) is not None:
        return None
    if source == MESSAGES:
        if facts.history.messages.problem is not None:
            return None
        count = tail_count(item.range or "")
        return tail_text(facts.history.messages, count)[0] if count and count <= MOST_TAIL else None
    part = facts.session.folder.read(source)
    return part.text if part.readable else None


def _pinned(session: Session, profile: Profile) -> Iterator[PackOffer]:
    for part in session.pinned:
        if any(char in part.name for char in "\0\t\n"):
            yield _out("system", part.name, "its name holds a control character: the builder skips it")
        elif part.kind is not EntryKind.FILE:
            yield _out("system", part.name, f"{part.kind.description}: the builder skips it")
        elif source_fault(part.name) is not None:
            yield _out("system", part.name, f"not a name that a pack can hold: {ABORTS}")
        else:
            yield _whole("system", part, profile)


def _recent(messages: HistoryStream, count: int, profile: Profile) -> PackOffer:
    text, found = tail_text(messages, count) if count > 0 else ("", 0)
    if not found:
        why = "blank" if count > 0 else "none were asked for"
        return _out("recent_messages", MESSAGES, why if messages.problem is None else messages.problem)
    if text is None:
        return _out("recent_messages", MESSAGES, "cannot be read here, unlike by the runtime")
    if any(line.cut for line in messages.tail(count)):
        return _out("recent_messages", MESSAGES, "a message is too long to be put into a pack")
    limit = profile.limits.pack_source
    remark = f"the file is {_over(limit)}: {ABORTS}" if limit is not None and messages.size > limit else None
    return PackOffer("recent_messages", MESSAGES, text, 0, f"tail:{found}", remark=remark)


def _child(child: ChildChannel, profile: Profile) -> Iterator[PackOffer]:
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


def _whole(kind: str, part: FolderFile, profile: Profile, records: JsonRecordFile | None = None) -> PackOffer:
    """Return the offer of a source that is taken whole, or why it cannot be taken."""
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
    if records is not None and (fault := _broken_record(kind, records)):
        return _out(kind, part.name, f"{fault}: {ABORTS}")
    return PackOffer(kind, part.name, text, 0)


def _out(kind: str, source: str, obstacle: str) -> PackOffer:
    return PackOffer(kind, source, "", 0, obstacle=obstacle)


def _over(limit: int) -> str:
    mebibytes = limit / 1024 / 1024
    return f"over {mebibytes:g} MiB" if mebibytes >= 1 else f"over {limit:,} bytes"


def _aborts(
    session: Session, messages: HistoryStream, offered: tuple[PackOffer, ...], profile: Profile
) -> Iterator[str]:
    """Yield every reason that makes the runtime's builder abort."""
    if not is_name(session.name):
        yield "the session's folder has an invalid name"
    if session.agent is not None and not is_name(session.agent):
        yield "the agent's folder has an invalid name"
    if session.budget is None and not session.part("context/budget").is_blank:
        yield "context/budget is not one plain number"
    for each in offered:
        for note in (each.obstacle, each.remark):
            if note is not None and note.endswith(ABORTS):
                yield f"{each.source}: {note.removesuffix(f': {ABORTS}')}"
    for entry in session.odd_children:
        if not is_name(entry.name):
            yield f"context/child/{entry.name}: a bad child name"
    limit = profile.limits.pack_source
    if limit is not None and messages.size <= limit and (fault := _broken_message(messages, profile)):
        yield f"{MESSAGES}: {fault}"


def _broken_record(kind: str, records: JsonRecordFile) -> str | None:
    """Return the fault of the first line that is not a record of its kind, or None."""
    for record in records.records:
        if record.problem is not None:
            return f"line {record.line} is broken"
        if not is_name(record.text("id") or ""):
            return f"line {record.line} has no valid id"
        missing = next((name for name in REQUIRED_TEXTS[kind] if not record.text(name)), None)
        if missing is not None:
            return f"line {record.line} has no {missing}"
    return None


def _broken_message(messages: HistoryStream, profile: Profile) -> str | None:
    """Return the first line that the rules refuse as a message, or None when they accept all."""
    from ctxview.formats.session.rules.history_lines import broken_line, message_shape, provider_native_key

    for number, line in enumerate(messages.scan(), 1):
        for check in (broken_line, message_shape, provider_native_key):
            for hit in check(line, profile):
                if hit.severity in (None, Severity.ERROR):
                    return f"line {number} is not a valid message"
    return None
