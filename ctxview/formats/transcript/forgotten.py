"""What the model had and lost, or was named and never given: instructions, files, results, tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxview.formats.transcript.facts import MOST_PROMPTS, TranscriptFacts
from ctxview.formats.transcript.model import LogPart, Mark, PartKind

_NAMED_FILE = re.compile(
    r"(?<![\w/.@:-])(?:[\w.-]{1,60}/){0,8}[\w-]{1,60}\."
    r"(?:md|txt|py|tsx?|js|go|rs|sql|toml|ya?ml|json|html|css|c|h|cpp|java|rb|sh)\b"
)
_STANDING = re.compile(r"\b(?:always|never|from now on|in future)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?\n]")
_LONGEST_HALF = 200
"""The characters of a sentence that are taken before and behind its standing word."""
_WORD = re.compile(r"[^\W\d_]{5,}")


def vanished_texts(facts: TranscriptFacts) -> Iterator[LogPart]:
    """Yield the results that refer to an earlier read whose text is not in the context."""
    had: set[str | None] = set()
    for part in facts.context.parts:
        if part.kind is PartKind.REMINDER or (part.kind is PartKind.RESULT and part.error is None):
            if part.mark is Mark.UNCHANGED and part.about not in had:
                yield part
            elif part.mark not in (Mark.UNCHANGED, Mark.CLEARED):
                had.add(part.about)


def lost_instructions(facts: TranscriptFacts) -> list[tuple[str, int]]:
    """Return standing instructions of a person that no live text repeats, with their rows."""
    told = [
        (sentence, part.row)
        for part in facts.lost_prompts[-MOST_PROMPTS:]
        for sentence in _standing_sentences(facts.texts.text(part))
    ]
    if not told or any(part.mark is Mark.ENCRYPTED for part in facts.context.parts):
        return []
    kinds = (PartKind.SUMMARY, PartKind.MEMORY, PartKind.PROMPT, PartKind.SYSTEM)
    live = " ".join(facts.texts.text(part) for part in facts.context.parts if part.kind in kinds).casefold()
    found = []
    for sentence, row in told:
        words = {word.casefold() for word in _WORD.findall(sentence)} - {"always", "never", "future"}
        if words and sum(word in live for word in words) * 2 < len(words):
            found.append((sentence, row))
    return found


def _standing_sentences(text: str) -> Iterator[str]:
    """Yield the sentences with a word of a standing instruction, without what follows their end."""
    done = 0
    for match in _STANDING.finditer(text):
        if match.start() < done:
            continue
        # One sentence is looked for around the word: a pattern for it would be tried at every character.
        before = text[max(done, match.start() - _LONGEST_HALF) : match.start()]
        end = _SENTENCE_END.search(text, match.end(), match.end() + _LONGEST_HALF)
        done = end.start() if end is not None else min(len(text), match.end() + _LONGEST_HALF)
        if done > match.end():
            yield (_SENTENCE_END.split(before)[-1] + text[match.start() : done]).strip()


def named_files(facts: TranscriptFacts) -> dict[str, int]:
    """Return the files that a person named and that no call, attachment or result mentions, with the row."""
    named: dict[str, int] = {}
    for part in facts.live_prompts[-MOST_PROMPTS:]:
        for match in _NAMED_FILE.finditer(facts.texts.text(part)):
            named.setdefault(match[0], part.row)
    if not named:
        return {}
    seen = [part.about for part in facts.history if part.about]
    left = {path: row for path, row in named.items() if not any(path in about for about in seen)}
    for part in facts.context.parts if left else ():
        if part.kind is PartKind.RESULT:
            text = facts.texts.text(part)
            left = {path: row for path, row in left.items() if path not in text}
    return left
