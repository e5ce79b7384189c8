"""What a person typed, read as a value of a shape, with what is wrong with it in words for that person.

Pure: the same text and shape always give the same answer. Drawing it is the editors' business.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator

from ctxview.files.json_document import JsonError, parse
from ctxview.quick_dataclass import dataclass
from ctxview.state import ChoiceShape, JsonShape, JsonValue, NumberShape, Shape, TagsShape, TextShape

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_TAG = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)')
_LONGEST_NUMBER = 40


@dataclass(frozen=True, slots=True)
class Problem:
    """`error` stops the edit; the rest is worth knowing."""

    message: str
    error: bool = True


@dataclass(frozen=True, slots=True)
class Typed:
    """A value, or nothing (`filled` False), and the problems with it. After an error the value is void."""

    value: JsonValue = None
    filled: bool = True
    problems: tuple[Problem, ...] = ()

    @property
    def error(self) -> bool:
        return any(problem.error for problem in self.problems)


NOTHING = Typed(filled=False)


def read(shape: Shape, text: str) -> Typed:
    """`text` as a value of `shape`."""
    if isinstance(shape, NumberShape):
        return _read_number(shape, text.strip())
    if isinstance(shape, ChoiceShape):
        return Typed(text) if text in shape.words else wrong("choose one") if text else NOTHING
    if isinstance(shape, TagsShape):
        return _read_tags(shape, text)
    if isinstance(shape, JsonShape):
        return _read_json(text)
    return _read_text(shape, text)


def written(shape: Shape, value: JsonValue) -> str:
    """`value` as a person would type it; one that does not fit the shape shows itself as JSON."""
    if value is None:
        return ""
    if isinstance(shape, JsonShape):
        return json.dumps(value, ensure_ascii=False, indent=2)
    if isinstance(value, str) and isinstance(shape, TextShape | ChoiceShape):
        return value
    if isinstance(shape, NumberShape) and isinstance(value, int | float) and not isinstance(value, bool):
        return _number_text(value)
    if (
        isinstance(shape, TagsShape)
        and isinstance(value, list)
        and all(isinstance(tag, str) for tag in value)
    ):
        return ", ".join(_tag_text(str(tag)) for tag in value)
    return json.dumps(value, ensure_ascii=False)


def step(shape: NumberShape, text: str, steps: int) -> str:
    """The number in `text` moved by so many whole steps, within its range."""
    size = 1.0 if shape.integer or shape.maximum is None or shape.maximum > 1 else 0.05
    found = _read_number(shape, text.strip()).value
    start = float(found) if isinstance(found, int | float) else shape.minimum - size * max(steps, 0)
    # From between two steps to the next of them, so that 0.04 becomes 0.05 and not 0.09.
    on_step = math.floor(start / size + 1e-9) if steps > 0 else math.ceil(start / size - 1e-9)
    moved = max(shape.minimum, (on_step + steps) * size)
    return _number_text(round(moved if shape.maximum is None else min(shape.maximum, moved), 6))


def range_words(shape: NumberShape) -> str:
    """`between 0 and 1`, `whole number, at least 1`, `or empty`."""
    low = _number_text(shape.minimum)
    words = f"at least {low}" if shape.maximum is None else f"between {low} and {_number_text(shape.maximum)}"
    return f"{'whole number, ' if shape.integer else ''}{words}{', or empty' if shape.nullable else ''}"


def utf16_length(text: str) -> int:
    """Length as the runtimes count it: in UTF-16 units."""
    return len(text) + sum(char > "\uffff" for char in text)


def wrong(message: str) -> Typed:
    return Typed(problems=(Problem(message),))


def _read_number(shape: NumberShape, text: str) -> Typed:
    if not text:
        return Typed(None) if shape.nullable else NOTHING
    if not _NUMBER.fullmatch(text) or len(text) > _LONGEST_NUMBER:
        return wrong("not a number")
    number = float(text)
    if not math.isfinite(number):
        return wrong("too large")
    if shape.integer and not number.is_integer():
        return wrong("must be a whole number")
    if number < shape.minimum or (shape.maximum is not None and number > shape.maximum):
        return wrong(range_words(NumberShape(shape.minimum, shape.maximum)))
    whole = shape.integer or ("." not in text and "e" not in text.lower())
    return Typed(int(number) if whole else number)


def _read_text(shape: TextShape, text: str) -> Typed:
    if not text:
        return NOTHING
    if not text.strip():
        return wrong("must not be blank")
    length = utf16_length(text)
    if shape.max_length is not None and length > shape.max_length:
        cut = length - shape.max_length
        return Typed(
            text,
            problems=(
                Problem(f"{length} long, {shape.max_length} are kept: the last {cut} would be cut", False),
            ),
        )
    return Typed(text)


def _read_tags(shape: TagsShape, text: str) -> Typed:
    try:
        tags = list(_tags(text))
    except ValueError:
        return wrong("a quoted tag does not end well")
    return Typed([*tags], problems=tuple(_tag_problems(shape, tags)))


def _tags(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        match = _TAG.match(text, at)
        if match is None:
            raise ValueError(text[at:])
        at = match.end()
        tag = match[1].strip()
        tag = str(json.loads(tag)) if tag.startswith('"') else tag
        if tag:
            yield tag


def _tag_problems(shape: TagsShape, tags: list[str]) -> Iterator[Problem]:
    if len(tags) > shape.max_items:
        yield Problem(f"{len(tags)} tags, {shape.max_items} are kept", error=False)
    for tag, count in Counter(tags).items():
        if count > 1:
            yield Problem(f"{tag} is there {'twice' if count == 2 else f'{count} times'}", error=False)
        if utf16_length(tag) > shape.max_length:
            yield Problem(
                f"{tag[:12]}… is {utf16_length(tag)} long, {shape.max_length} are kept", error=False
            )


def _tag_text(tag: str) -> str:
    plain = tag and tag == tag.strip() and "," not in tag and not tag.startswith('"')
    return tag if plain else json.dumps(tag, ensure_ascii=False)


def _read_json(text: str) -> Typed:
    if not text.strip():
        return NOTHING
    try:
        document = parse(text.encode("utf-8", "surrogatepass"))
        repeated = document.duplicates
    except JsonError as error:
        return wrong(str(error))
    problems = tuple(
        Problem(f"{pointer} is there more than once: the last one wins", False) for pointer in repeated
    )
    return Typed(document.value, problems=problems)


def _number_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)
