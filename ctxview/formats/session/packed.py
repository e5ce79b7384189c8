"""What a pack shows: the sections of pack.md, and the present text of each source. Judges nothing."""

from __future__ import annotations

import re

from ctxview.formats.session.candidates import tail_text
from ctxview.formats.session.look import Look
from ctxview.formats.session.model import PackItem
from ctxview.formats.session.names import EVENTS, MESSAGES, tail_count
from ctxview.formats.session.pack_sources import source_fault
from ctxview.quick_dataclass import dataclass

MOST_TAIL = 5000
_HEAD = re.compile(
    r"^## (?P<kind>[^\n]{0,80})\n\nsource: (?P<source>[^\n]{1,400})\n"
    r"(?:range: (?P<range>[^\n]{0,80})\n)?(?:tokens: (?P<tokens>[^\n]{0,24})\n)?\n(?P<fence>`{3,64})text\n",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Section:
    """One source in pack.md; `start` and `end` are its characters in the text, `fence` its backquotes."""

    kind: str
    source: str
    fence: str
    body: str
    start: int
    end: int


def packed_sections(look: Look) -> dict[str, Section]:
    """The sections of pack.md by source, in their order; the first one of a source counts."""
    return {section.source: section for section in reversed(sections_in(look.session.pack.markdown.text))}


def sections_in(text: str) -> list[Section]:
    """A section's body ends where the next section begins: a fence inside it is part of it."""
    heads = list(_HEAD.finditer(text))
    found = []
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(text)
        fence = head["fence"]
        body = text[head.end() : end].removesuffix("\n").removesuffix(f"{fence}\n")
        found.append(Section(head["kind"], head["source"], fence, body, head.start(), end))
    return found


def source_text(look: Look, item: PackItem) -> str | None:
    """The text an item stands for as its source is now; None when there is no such text."""
    source = item.source
    if source is None or source == EVENTS or source_fault(source) is not None:
        return None
    if source == MESSAGES:
        count = tail_count(item.range or "")
        return tail_text(look.history.messages, count)[0] if count and count <= MOST_TAIL else None
    part = look.session.folder.read(source)
    return part.text if part.readable else None
