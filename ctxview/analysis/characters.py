"""Characters that deceive a reader or act on a terminal: patterns, names, and where they are legitimate."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from ctxview.core.lazy import lazy_pattern

# One whole terminal command, or one bare control character. Tab, line feed and CR LF are ordinary;
# U+0085 is left to LINE_BREAK. All quantifiers are bounded: the text is hostile.
ACTING: Final = lazy_pattern(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]?"
    r"|\x1b[ -/]{0,4}[0-~]?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x8f\x91-\x97\x99\x9a\x9c]{1,4096}"
    r"|\r(?!\n)"
)
DIRECTION: Final = lazy_pattern("[\u202a-\u202e\u2066-\u2069]{1,4096}|[\u061c\u200e\u200f]")
INVISIBLE: Final = lazy_pattern(
    "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0080-\U000e0fff]"
)
TAGS: Final = lazy_pattern("[\U000e0000-\U000e007f]{1,100000}")
SELECTORS: Final = lazy_pattern("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,100000}")
LINE_BREAK: Final = lazy_pattern("[\u0085\u2028\u2029]")
FLAG_TAGS: Final = lazy_pattern("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")

_OPERATING = {"0": "sets the window title", "1": "sets the icon name", "2": "sets the window title"}
_OPERATING |= {"8": "makes a link", "9": "shows a notification", "52": "writes the clipboard"}
_OPERATING |= {
    "4": "changes colours",
    "10": "changes colours",
    "11": "changes colours",
    "777": "shows a notification",
}
_CONTROL = {
    "m": "changes colours",
    "J": "erases the screen",
    "K": "erases the line",
    "n": "asks for an answer",
}
_CONTROL |= {
    "c": "asks for an answer",
    "H": "moves the cursor",
    "f": "moves the cursor",
    "r": "sets scrolling",
}
_CONTROL |= dict.fromkeys("ABCDEFG", "moves the cursor") | dict.fromkeys("hl", "switches a terminal mode")

# Letters of other scripts that look like a Latin one, clear cases only: μ, π, α and the like occur in
# honest Latin text.
LOOK_ALIKES: Final = dict(
    zip(
        "аеорсухіјѕԁԛԝһӏАВЕКМНОРСТУХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳօոսհ",
        "aeopcyxijsdqwhlABEKMHOPCTYXIJSoABEZHIKMNOPTYXcjonuh",
        strict=True,
    )
)
ANY_LOOK_ALIKE: Final = lazy_pattern(f"[{''.join(LOOK_ALIKES)}]")

# One fast search for every character that any pattern above begins with, and for a few harmless ones.
SUSPECT: Final = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
    f"{''.join(LOOK_ALIKES)}]"
)


def meaning_of_command(sequence: str) -> str:
    """Say in a few words what a terminal does when it reads an escape sequence."""
    body = sequence.lstrip("\x1b")
    if sequence[0] == "\x9b" or body.startswith("["):
        return _CONTROL.get(sequence[-1], "commands the terminal")
    if sequence[0] == "\x9d" or body.startswith("]"):
        number = re.match(r"[\]\x9d]?(\d{0,4})", body)
        return _OPERATING.get(number[1] if number else "", "commands the terminal")
    if body[:1] == "c":
        return "resets the terminal"
    return "commands the terminal"


def name_of(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()


def is_innocent(text: str, index: int) -> bool:
    """Whether the invisible character at `index` serves its purpose there, such as joining an emoji."""
    char = text[index]
    before = text[index - 1] if index else ""
    after = text[index + 1] if index + 1 < len(text) else ""
    if char == "\ufeff" and index == 0:
        return True
    if char in "\u200c\u200d" and before and after:
        in_emoji = unicodedata.category(after) == "So" and unicodedata.category(before) in ("So", "Sk", "Mn")
        # Otherwise it may shape letters of a script that has joiners.
        return in_emoji or ("\u0600" <= before <= "\u1cff" and unicodedata.category(before)[0] in "LM")
    if char in "\ufe0e\ufe0f":
        return bool(before) and (before in "#*" or unicodedata.category(before)[0] in "SPN")
    if char == "\u2800":
        return "\u2800" < before <= "\u28ff" or "\u2801" <= after <= "\u28ff"
    if "\ufe00" <= char <= "\ufe0d" or char >= "\U000e0100":
        return bool(before) and unicodedata.category(before) in ("Lo", "Sm", "So")
    return False


def decode_tags(run: str) -> str:
    """The text that a run of tag characters encodes."""
    return "".join(chr(ord(char) - 0xE0000) for char in run if 0xE0020 <= ord(char) <= 0xE007E)


def decode_selectors(run: str) -> str:
    """The text that a run of variation selectors encodes, one byte each."""
    return bytes(ord(char) - 0xFE00 if char <= "\ufe0f" else ord(char) - 0xE0100 + 16 for char in run).decode(
        "utf-8", "replace"
    )
