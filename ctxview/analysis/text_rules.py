"""The rules about characters that deceive a reader or act on a terminal (TXT), and the checks of any text.

Independent of formats: the caller passes `origin_at`, which maps a span of characters to its place.
In the examples of the rules `‮` stands for the character itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import TypeAlias

from msgspec.structs import replace

from ctxview.analysis import characters
from ctxview.analysis.secrets import check_secrets
from ctxview.analysis.wording import counted, excerpt, quoted
from ctxview.core.findings import Finding, Hit, Severity, rule, rules_in, run
from ctxview.core.lazy import lazy_pattern
from ctxview.core.origin import JsonValue, Origin
from ctxview.files.line_columns import LineColumns
from ctxview.files.strict_json.values import JsonPath, all_values, path_pointer, walk

OriginAt: TypeAlias = Callable[[int, int], Origin]
"""Maps start and end of a span (indexes of the `str`) to its place on disk."""
_MOST_HITS = 20
"""How many places one rule reports in one text: more would hide other findings."""
_WORD = lazy_pattern(r"[^\W\d_]{1,64}")


def check_text(text: str, origin_at: OriginAt) -> Iterator[Finding]:
    """Run the TXT and SEC rules on `text`; nearly free when the text is clean."""
    yield from check_characters(text, origin_at)
    yield from check_secrets(text, origin_at)


def check_characters(text: str, origin_at: OriginAt) -> Iterator[Finding]:
    """Run the TXT rules on `text`."""
    if characters.SUSPECT.search(text):
        yield from run(_RULES, text, origin_at)


def check_strings(
    value: JsonValue,
    origin_of: Callable[[str], Origin],
    already_checked: Callable[[str, str], bool] = lambda _pointer, _string: False,
) -> Iterator[Finding]:
    """Run the TXT and SEC rules on every key and string, except those that are `already_checked`."""
    together = "\n".join(_plain_strings(value))
    if next(check_text(together, lambda _start, _end: Origin("")), None) is None:
        return
    for path, string in json_strings(value):
        pointer = path_pointer(path)
        if already_checked(pointer, string):
            continue
        found = list(check_text(string, place := _everywhere(origin_of, pointer)))
        yield from found
        name = path[1] if path is not None else None
        if isinstance(name, str) and not any(each.rule.startswith("SEC") for each in found):
            # The name of a member may say that its value is a secret.
            yield from check_secrets(f"{name}: {string}", place)


def check_bytes(file: str, data: bytes, begin: int = 0, end: int | None = None) -> Iterator[Finding]:
    """Run the TXT and SEC rules on the text from `begin` to `end` of a file with the bytes `data`."""
    text = data[begin:end].decode("utf-8", "replace")
    yield from check_text(text, _place_in(file, text, LineColumns(data), begin))


def _place_in(file: str, text: str, places: LineColumns, begin: int = 0) -> OriginAt:
    """Map spans of `text`, which begins at the byte `begin` of a file, to their places."""

    def origin_at(first: int, last: int) -> Origin:
        start = begin + len(text[:first].encode("utf-8", "replace"))
        place = places.at(start)
        stop = start + len(text[first:last].encode("utf-8", "replace"))
        return Origin(file, start=start, end=stop, line=place.line, column=place.column)

    return origin_at


def check_lines(file: str, data: bytes) -> Iterator[Finding]:
    """Run the rules on a file; each TXT rule reports a line once, with the number of places."""
    text, places = data.decode("utf-8", "replace"), LineColumns(data)
    reported: Counter[str] = Counter()
    reached = offset = 0
    while found := characters.SUSPECT.search(text, reached):
        begin = text.rfind("\n", reached, found.start()) + 1 or reached
        end = text.find("\n", found.start())
        end = len(text) if end < 0 else end
        offset += len(text[reached:begin].encode("utf-8", "replace"))
        line = text[begin:end]
        origin_at = _place_in(file, line, places, offset)
        for rule_id, group in groupby(run(_RULES, line, origin_at), key=lambda each: each.rule):
            hits = list(group)
            worst = min(hits, key=lambda each: each.severity.rank)
            reported[rule_id] += 1
            if reported[rule_id] <= _MOST_HITS:
                least = "at least " if len(hits) >= _MOST_HITS else ""
                note = f" (and {least}{len(hits) - 1} more in this line)" if hits[1:] else ""
                yield replace(worst, message=worst.message + note)
        offset += len(line.encode("utf-8", "replace"))
        reached = end
    yield from check_secrets(text, _place_in(file, text, places))


def json_strings(value: JsonValue) -> Iterator[tuple[JsonPath, str]]:
    """Yield every key and string with its path, in document order, at any depth."""
    for path, current in walk(value):
        if isinstance(current, str):
            yield path, current
        elif isinstance(current, dict):
            yield from (((path, key), key) for key in current)


@rule("TXT001", name="terminal-control", severity=Severity.WARNING)
def terminal_control(text: str, origin_at: OriginAt) -> Iterator[Hit]:
    r"""A text holds control characters that a terminal obeys instead of showing.

    ## Why
    Printed as it is, an escape sequence can hide lines, write the clipboard, change the window title or
    make the terminal answer as if someone had typed. Any program that shows agent memory in a terminal or a
    log passes it on. Whole escape sequences are errors; single control characters and a carriage return that
    overwrites its line are warnings.
    ## Bad
    The build is \u001b[2Jgreen
    ## Good
    The build is green
    ## Fix
    Remove the characters where they came from: usually captured command output. Strip colours before
    storing it.
    ## Source
    ECMA-48; promise 5 of this program: content cannot act.
    """
    for found in islice(characters.ACTING.finditer(text), _MOST_HITS):
        sequence = found[0]
        origin = origin_at(found.start(), found.end())
        if sequence[0] in "\x1b\x90\x98\x9b\x9d\x9e\x9f":
            does = characters.meaning_of_command(sequence)
            yield Hit(origin, f"escape sequence {excerpt(sequence, 24)} {does}", Severity.ERROR)
        elif sequence == "\r":
            yield Hit(origin, "a carriage return alone: what follows overwrites the line on a terminal")
        else:
            yield Hit(origin, f"{counted(len(sequence), 'control character')}: {excerpt(sequence, 16)}")


@rule("TXT002", name="direction-override", severity=Severity.WARNING)
def direction_override(text: str, origin_at: OriginAt) -> Iterator[Hit]:
    r"""Characters that change the reading direction make a text look like another one.

    ## Why
    The model reads the characters in the order in which they are stored; a person sees them rearranged.
    Approving such a text means approving something else. Overrides, embeddings and isolates are warnings;
    the marks that ordinary Arabic and Hebrew text uses are only mentioned.
    ## Bad
    run \u202egnp.exe
    ## Good
    run gnp.exe
    ## Fix
    Remove the characters, or quote the text with the characters written as escapes.
    ## Source
    Unicode UAX #9 (bidirectional algorithm), UTR #36 (security considerations).
    """
    for found in islice(characters.DIRECTION.finditer(text), _MOST_HITS):
        origin = origin_at(found.start(), found.end())
        name = characters.name_of(found[0][0])
        if found[0] in "\u061c\u200e\u200f":
            yield Hit(origin, f"{name}, an invisible direction mark", Severity.INFO)
        elif not found[0].strip("\u202c\u2069"):
            yield Hit(origin, f"{name} ends a change of the reading direction", Severity.INFO)
        else:
            yield Hit(origin, f"{name} makes the text after it read in another order than it is stored")


@rule("TXT003", name="invisible-characters", severity=Severity.WARNING)
def invisible_characters(text: str, origin_at: OriginAt) -> Iterator[Hit]:
    r"""A text holds characters that cannot be seen, such as zero-width spaces.

    ## Why
    They split words so that search and comparison fail, make two ids look the same, and mark texts for
    tracking. A byte order mark at the very start is left to other rules. Joiners inside emoji and inside
    scripts that need them, and selectors behind a symbol, are left alone. A soft hyphen is only mentioned.
    ## Bad
    pass\u200bword
    ## Good
    password
    ## Fix
    Remove them.
    ## Source
    Unicode UTR #36 (security considerations), UAX #44 (Default_Ignorable_Code_Point).
    """
    guilty = [
        found.start()
        for found in characters.INVISIBLE.finditer(text)
        if not characters.is_innocent(text, found.start()) and not _in_selector_run(text, found.start())
    ]
    for start, end in islice(_runs(guilty), _MOST_HITS):
        name = characters.name_of(text[start])
        many = f" and {end - start - 1} more" if end - start > 1 else ""
        severity = Severity.INFO if text[start:end] == "\u00ad" else None
        yield Hit(
            origin_at(start, end), f"invisible {name}{many} after {quoted(text[:start][-12:])}", severity
        )


@rule("TXT004", name="hidden-message", severity=Severity.ERROR)
def hidden_message(text: str, origin_at: OriginAt) -> Iterator[Hit]:
    r"""Invisible tag characters or variation selectors spell out a hidden text.

    ## Why
    A person sees nothing, a model reads a sentence: the usual way to smuggle instructions past a review.
    The message says what is spelled. Flag emoji such as those of Scotland and Wales, which are made of
    tags, are fine.
    ## Bad
    Hello\U000e0068\U000e0069
    ## Good
    Hello \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f
    ## Fix
    Remove the run, and distrust where the text came from.
    ## Source
    Unicode chapter 23.9 (tag characters); UTR #36.
    """
    for found in islice(characters.TAGS.finditer(text), _MOST_HITS):
        if text[found.start() - 1 : found.start()] == "\U0001f3f4" and characters.FLAG_TAGS.fullmatch(
            found[0]
        ):
            continue
        spelled = characters.decode_tags(found[0])
        number = counted(len(found[0]), "invisible tag character")
        yield Hit(origin_at(*found.span()), f"{number} spell {quoted(spelled, 80)}")
    for found in islice(characters.SELECTORS.finditer(text), _MOST_HITS):
        spelled = characters.decode_selectors(found[0])
        yield Hit(
            origin_at(*found.span()), f"{len(found[0])} variation selectors spell {quoted(spelled, 80)}"
        )


@rule("TXT005", name="look-alike-letters", severity=Severity.WARNING)
def look_alike_letters(text: str, origin_at: OriginAt) -> Iterator[Hit]:
    r"""A Latin word contains letters of another script that look the same.

    ## Why
    `pаypal` with a Cyrillic а is another word for every program, and the right one for every reader. Only
    words whose foreign letters all have a Latin twin are named, so that honestly mixed words stay quiet.
    ## Bad
    log in at p\u0430ypal
    ## Good
    log in at paypal, скачать USB-кабель
    ## Fix
    Write the word anew in one script.
    ## Source
    Unicode UTS #39 (confusables, mixed-script detection).
    """
    hits = end = 0
    for found in characters.ANY_LOOK_ALIKE.finditer(text):
        if found.start() < end or hits == _MOST_HITS:
            continue
        word = _word_around(text, found.start())
        start, end = word.span()
        foreign = [char for char in word[0] if not char.isascii()]
        if len(foreign) == len(word[0]) or any(char not in characters.LOOK_ALIKES for char in foreign):
            continue
        hits += 1
        twin = characters.LOOK_ALIKES[found[0]]
        message = f"{quoted(word[0])} mixes scripts: {characters.name_of(found[0])} looks like {twin}"
        yield Hit(origin_at(start, end), message)


@rule("TXT006", name="odd-line-break", severity=Severity.INFO)
def odd_line_break(text: str, origin_at: OriginAt) -> Iterator[Hit]:
    r"""A text holds a line break that only some programs see: U+0085, U+2028 or U+2029.

    ## Why
    JSON allows them in strings, but tools that split a log into lines with them cut a record in two, and
    older JavaScript refuses U+2028 and U+2029 in source text.
    ## Bad
    first\u2028second
    ## Good
    first second
    ## Fix
    Use a line feed, or write the character as an escape.
    ## Source
    Unicode chapter 5.8 (newline guidelines); ECMAScript before 2019.
    """
    for found in islice(characters.LINE_BREAK.finditer(text), _MOST_HITS):
        name = characters.name_of(found[0])
        yield Hit(origin_at(*found.span()), f"{name} breaks the line for some programs and not for others")


_RULES = rules_in(__name__)


def _in_selector_run(text: str, index: int) -> bool:
    """Whether TXT004 already reports this character."""
    found = characters.SELECTORS.match(text, max(0, index - 1)) or characters.SELECTORS.match(text, index)
    return found is not None


def _runs(indexes: list[int]) -> Iterator[tuple[int, int]]:
    """Neighbouring indexes as (start, end)."""
    start = previous = None
    for index in indexes:
        if start is not None and previous is not None and index != previous + 1:
            yield start, previous + 1
            start = index
        start = index if start is None else start
        previous = index
    if start is not None and previous is not None:
        yield start, previous + 1


def _word_around(text: str, index: int) -> re.Match[str]:
    start = index
    while start > 0 and index - start < 32 and text[start - 1].isalpha():
        start -= 1
    found = _WORD.match(text, start)
    assert found is not None, "there is a letter at `index`, so there is a word"
    return found


def _everywhere(origin_of: Callable[[str], Origin], pointer: str) -> Callable[[int, int], Origin]:
    """Every span of a string inside JSON has the place of the string: escapes hide that of a character."""
    return lambda _start, _end: origin_of(pointer)


def _plain_strings(value: JsonValue) -> Iterator[str]:
    """Yield every key and string in no order: most files have nothing to find, so no path is needed."""
    for current in all_values(value):
        if isinstance(current, str):
            yield current
        elif isinstance(current, dict):
            yield from (f"{key}: {each}" if isinstance(each, str) else key for key, each in current.items())
