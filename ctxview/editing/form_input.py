"""The input of a form: from field values to editable text, and from typed text to values, problems and edits.

Characters that are not printable are escaped as in JSON, without loss: the toolkit's editors would draw them
as they are and break lines at invisible ones, which must not happen with a hostile value.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from ctxview.core.edits import DeleteValue, Edit, InsertItem, SetValue
from ctxview.core.fields import (
    ChoiceShape,
    Field,
    FieldShape,
    Form,
    JsonShape,
    NumberShape,
    TagsShape,
    TextShape,
)
from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.strict_json.values import same_value
from ctxview.files.visible_text import is_safe

LONGEST, MOST_LINES = 100_000, 2_000
"""With a longer text the toolkit's editor is noticeably slow at every key."""

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_TAG = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)')
_LONGEST_NUMBER = 40
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|$)", re.DOTALL)
_MEANINGS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "\\": "\\", '"': '"', "/": "/"}
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


class InputProblem(Struct, frozen=True):
    """A problem with typed text. Only an `error` stops the edit."""

    message: str
    error: bool = True


class InputValue(Struct, frozen=True):
    """A value, or an empty input (`filled` is False), with its problems. An error makes the value void."""

    value: JsonValue = None
    filled: bool = True
    problems: tuple[InputProblem, ...] = ()

    @property
    def error(self) -> bool:
        return any(problem.error for problem in self.problems)


NOTHING = InputValue(filled=False)


class FieldInput(Struct, frozen=True):
    """One editable field with the value that is typed in its editor."""

    field: Field
    typed: InputValue
    changed: bool

    @property
    def problems(self) -> tuple[InputProblem, ...]:
        return self.typed.problems

    @property
    def error(self) -> bool:
        return self.typed.error


def first_text(form: Form, field: Field) -> str | None:
    """Return the initial text of the editor of a field, or None when its value cannot be edited as text.

    The suggested value of an absent field is not shown for an existing object: it would look stored.
    """
    if field.shape is None:
        return None
    if form.exists and not field.present:
        return ""
    try:
        text = input_text(field.shape, field.value)
    except RecursionError:
        return None
    return text if len(text) <= LONGEST and text.count("\n") <= MOST_LINES else None


def field_input(form: Form, field: Field, text: str) -> FieldInput:
    """Return the input that `text` means in the editor of `field`."""
    if field.shape is None:
        return FieldInput(field, NOTHING, False)
    typed = parse_input(field.shape, text)
    if form.exists and text == first_text(form, field):
        # A problem of an untouched field is reported but does not stop the edit.
        eased = tuple(replace(problem, error=False) for problem in typed.problems)
        return FieldInput(field, replace(typed, problems=eased), False)
    if not typed.filled:
        typed = _emptied(form, field, typed)
    changed = typed.error or not form.exists or _differs(field, typed)
    return FieldInput(field, typed, changed)


def edits_of_form(form: Form, answers: Mapping[str, FieldInput]) -> tuple[Edit, ...]:
    """Return the edits of a form without errors: the changed fields, or the whole object when it is new."""
    if not form.exists:
        whole: dict[str, JsonValue] = {}
        for field in form.fields:
            found = answers.get(field.name)
            if found is not None and found.typed.filled:
                _put(whole, form.pointer, field.pointer, found.typed.value)
            elif found is None and field.value is not None:
                # The format fixed this value.
                _put(whole, form.pointer, field.pointer, field.value)
        is_element = form.pointer.endswith("/-")
        return (InsertItem(form.pointer, whole) if is_element else SetValue(form.pointer, whole),)
    changed = (answers[field.name] for field in form.fields if field.name in answers)
    return tuple(
        SetValue(each.field.pointer, each.typed.value)
        if each.typed.filled
        else DeleteValue(each.field.pointer)
        for each in changed
        if each.changed
    )


def _emptied(form: Form, field: Field, typed: InputValue) -> InputValue:
    """Return the input of an empty editor: allowed for an optional field, and for one that was absent."""
    shape = field.shape
    optional = isinstance(shape, JsonShape) or (isinstance(shape, TextShape) and not shape.required)
    if optional and form.exists and field.present:
        return replace(typed, problems=(InputProblem("will be removed", error=False),))
    if optional or (form.exists and not field.present):
        return typed
    words = "must not be blank" if isinstance(shape, TextShape) else "must not be empty"
    return input_error(words if isinstance(shape, TextShape | NumberShape) else "choose one")


def _differs(field: Field, typed: InputValue) -> bool:
    if not typed.filled or not field.present:
        return typed.filled != field.present
    return not same_value(field.value, typed.value)


def _put(whole: dict[str, JsonValue], base: str, pointer: str, value: JsonValue) -> None:
    tokens = pointer.removeprefix(base).removeprefix("/").split("/")
    *parents, last = (token.replace("~1", "/").replace("~0", "~") for token in tokens)
    inside = whole
    for parent in parents:
        below = inside.setdefault(parent, {})
        if not isinstance(below, dict):
            below = inside[parent] = {}
        inside = below
    inside[last] = value


def parse_input(shape: FieldShape, text: str) -> InputValue:
    """Return `text` as a value of `shape`."""
    if isinstance(shape, NumberShape):
        return _read_number(shape, text.strip())
    if isinstance(shape, ChoiceShape):
        return InputValue(text) if text in shape.words else input_error("choose one") if text else NOTHING
    if isinstance(shape, TagsShape):
        return _read_tags(shape, text)
    if isinstance(shape, JsonShape):
        return _read_json(text)
    return _read_text(shape, text)


def input_text(shape: FieldShape, value: JsonValue) -> str:
    """Return `value` as a person would type it, or as JSON when it does not fit `shape`."""
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


def step_number(shape: NumberShape, text: str, steps: int) -> str:
    """Return the number in `text`, moved by `steps` whole steps within its range."""
    size = 1.0 if shape.integer or shape.maximum is None or shape.maximum > 1 else 0.05
    found = _read_number(shape, text.strip()).value
    start = float(found) if isinstance(found, int | float) else shape.minimum - size * max(steps, 0)
    # Round to the next step first, so that 0.04 becomes 0.05 and not 0.09.
    on_step = math.floor(start / size + 1e-9) if steps > 0 else math.ceil(start / size - 1e-9)
    moved = max(shape.minimum, (on_step + steps) * size)
    return _number_text(round(moved if shape.maximum is None else min(shape.maximum, moved), 6))


MOST_SAID = 2**53
"""The largest limit that is worth saying: larger ones are those of a data type."""


def range_words(shape: NumberShape) -> str:
    """Return the range in words, such as `between 0 and 1` or `whole number, at least 1, or empty`."""
    low = _number_text(shape.minimum)
    words = f"between {low} and {_number_text(shape.maximum)}" if shape.maximum is not None else ""
    if shape.maximum is None or shape.maximum > MOST_SAID:
        words = f"at least {low}"
    elif shape.maximum == shape.minimum:
        words = f"only {low}"
    return f"{'whole number, ' if shape.integer else ''}{words}{', or empty' if shape.nullable else ''}"


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units, as the runtimes count it."""
    return len(text) + sum(char > "\uffff" for char in text)


def input_error(message: str) -> InputValue:
    return InputValue(problems=(InputProblem(message),))


def _read_number(shape: NumberShape, text: str) -> InputValue:
    if not text:
        return InputValue(None) if shape.nullable else NOTHING
    if not _NUMBER.fullmatch(text) or len(text) > _LONGEST_NUMBER:
        return input_error("not a number")
    number = float(text)
    if not math.isfinite(number):
        return input_error("too large")
    if shape.integer and not number.is_integer():
        return input_error("must be a whole number")
    if number < shape.minimum or (shape.maximum is not None and number > shape.maximum):
        return input_error(f"must be {range_words(NumberShape(shape.minimum, shape.maximum))}")
    whole = shape.integer or ("." not in text and "e" not in text.lower())
    return InputValue(int(number) if whole else number)


def _read_text(shape: TextShape, text: str) -> InputValue:
    if not text:
        return NOTHING
    if not text.strip():
        return input_error("must not be blank")
    length = utf16_length(text)
    if shape.max_length is not None and length > shape.max_length:
        cut = length - shape.max_length
        return InputValue(
            text,
            problems=(
                InputProblem(
                    f"{length} long, {shape.max_length} are kept: the last {cut} would be cut", False
                ),
            ),
        )
    return InputValue(text)


def _read_tags(shape: TagsShape, text: str) -> InputValue:
    tags: list[str] = []
    at = 0
    try:
        while at < len(text):
            match = _TAG.match(text, at)
            if match is None:
                raise ValueError(text[at:])
            at = match.end()
            tag = match[1].strip()
            tag = str(json.loads(tag)) if tag.startswith('"') else tag
            tags += [tag] if tag else []
    except ValueError:
        return input_error("a quoted tag is not a valid JSON string: check its quotes")
    return InputValue([*tags], problems=tuple(_tag_problems(shape, tags)))


def _tag_problems(shape: TagsShape, tags: list[str]) -> Iterator[InputProblem]:
    if len(tags) > shape.max_items:
        yield InputProblem(f"{len(tags)} tags, {shape.max_items} are kept", error=False)
    for tag, count in Counter(tags).items():
        if count > 1:
            yield InputProblem(f"{tag} appears {'twice' if count == 2 else f'{count} times'}", error=False)
        if utf16_length(tag) > shape.max_length:
            yield InputProblem(
                f"{tag[:12]}… is {utf16_length(tag)} long, {shape.max_length} are kept", error=False
            )


def _tag_text(tag: str) -> str:
    plain = tag and tag == tag.strip() and "," not in tag and not tag.startswith('"')
    return tag if plain else json.dumps(tag, ensure_ascii=False)


def _read_json(text: str) -> InputValue:
    if not text.strip():
        return NOTHING
    try:
        document = parse(text.encode("utf-8", "surrogatepass"))
        repeated = document.duplicates
    except JsonError as error:
        return input_error(str(error))
    problems = tuple(
        InputProblem(f"{pointer} appears more than once: the last one wins", False) for pointer in repeated
    )
    return InputValue(document.value, problems=problems)


def _number_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


class EscapeError(ValueError):
    """An invalid escape; the message names it."""


def needs_escapes(text: str, *, multiline: bool) -> bool:
    return not is_safe(text.replace("\n", "") if multiline else text)


def escape(text: str, *, multiline: bool) -> str:
    """Return `text` with unsafe characters as `\\uXXXX`; with `multiline`, line ends are kept."""
    return "".join(_escaped(char, multiline) for char in text)


def escape_json(text: str) -> str:
    """Return JSON text with unsafe characters escaped; its value stays the same."""
    return "".join(char if char in "\n\\" else _escaped(char, multiline=True) for char in text)


def unescape(text: str) -> str:
    """Return `text` with its escapes replaced by their characters; raises `EscapeError`."""
    joined = _ESCAPE.sub(_character, text)
    # Join the two escaped surrogates of one character; a lone surrogate stays.
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _escaped(char: str, multiline: bool) -> str:
    if char == "\n" and multiline:
        return char
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    if is_safe(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def _character(match: re.Match[str]) -> str:
    code, short = match.groups()
    if code is not None:
        return chr(int(code, 16))
    if short in _MEANINGS:
        return _MEANINGS[short]
    raise EscapeError(f"{match[0]} is not an escape; write a backslash as \\\\")
