"""Our signs for terminals, files and readers that know no more than ASCII: one character for each sign.

Signs that may stand in the same place stay different. What is none of ours becomes the letter it is made
from, or a question mark.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Mapping
from typing import Final

UNKNOWN: Final = "?"

SIGNS: Final[Mapping[str, str]] = {
    # verdicts, severities, owners, references
    **dict(zip("✓✗·✖▲●", "+x.X!*", strict=True)),
    **dict(zip("✎⊘⊖∑⇥", "w#~=>", strict=True)),
    **dict(zip("○↗≠±↺◌◐", "o^%~@.a", strict=True)),
    # revisions, hollow and filled
    **dict(zip("◇◆□■▷▶◎◉▿▾•", "rRlL)>O@vV*", strict=True)),
    # columns, rails, bars and what they are drawn in
    **dict(zip("▁▂▃▄▅▆▇█", "_.-:=+*#", strict=True)),
    **dict(zip("▏▎▍▌▋▊▉", "||||###", strict=True)),
    **dict(zip("━╸─░▒▓▐▕", "==-.:%#|", strict=True)),
    # frames and branches
    **dict(zip("╭╮╰╯┌┐┘├┤┬┴┼└", "++++++++++++`", strict=True)),
    **dict(zip("│┃┊┆┄┈╌⋮", "||::..-:", strict=True)),
    # where to
    **dict(zip("→←↑↓↕↳◀◂▸▴▼‖↦", "><^v|`<<>^v|>", strict=True)),
    # figures and words
    **dict(zip("…≈×−–—“”‘’‹›«»⏎", "~~x---\"\"''<><>/", strict=True)),
    # what the toolkit draws frames and scroll bars of its own with
    **dict(zip("▔▕▎▊▁┏┓┗┛┣┫╱╲", "-||#_++++||/\\", strict=True)),
}


def sign(character: str) -> str:
    """One character of ASCII for any one."""
    if character.isascii():
        return character
    found = SIGNS.get(character)
    if found is None:
        base = unicodedata.normalize("NFKD", character)[0]
        found = " " if base.isspace() else base if base.isascii() and base.isprintable() else UNKNOWN
    return found


def _instead(error: UnicodeError) -> tuple[str, int]:
    """What stands for what an encoding does not know: our own signs in ASCII, all else escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(SIGNS.get(each) or _escaped(each) for each in wrong), error.end


def _escaped(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode()


ERRORS: Final = "ctxview.signs"
"""The name under which a stream finds this."""

codecs.register_error(ERRORS, _instead)
