"""Text as an editor can hold it without harm: what is not printable is spelled as JSON spells it.

Loses nothing. The toolkit's editors draw what they hold and cut lines at characters nobody sees: neither may
happen to a hostile value.
"""

from __future__ import annotations

import re

from ctxview.files.visible import is_safe

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.)|$)", re.DOTALL)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "\\": "\\", '"': '"', "/": "/"}
_NAMES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


class BadSpelling(ValueError):
    """An escape that means nothing; the message names it."""


def needs_spelling(text: str, *, multiline: bool) -> bool:
    return not is_safe(text.replace("\n", "") if multiline else text)


def spell(text: str, *, multiline: bool) -> str:
    """`text` with everything unsafe as `\\uXXXX`; in several lines the line ends stay what they are."""
    return "".join(_spelled(char, multiline) for char in text)


def spell_json(text: str) -> str:
    """The same for JSON text, where such escapes mean what they stand for anyway."""
    return "".join(char if char in "\n\\" else _spelled(char, multiline=True) for char in text)


def unspell(text: str) -> str:
    """What `text` spells; raises `BadSpelling`."""
    joined = _ESCAPE.sub(_character, text)
    # Two escaped halves of one character are that character again; a lone half stays.
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _spelled(char: str, multiline: bool) -> str:
    if char == "\n" and multiline:
        return char
    if char in _NAMES:
        return _NAMES[char]
    if is_safe(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def _character(match: re.Match[str]) -> str:
    code, short = match.groups()
    if code is not None:
        return chr(int(code, 16))
    if short in _SHORT:
        return _SHORT[short]
    raise BadSpelling(f"{match[0]} is no escape; a backslash itself is \\\\")
