"""The literal prompt of one model call: messages made of parts, and where something is left out.

A format fills these values; `ctxview prompt` prints the text, the X-ray shows the parts. A part never invents
text: content that no file holds is a cut, which has a size and a reason and no text.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from ctxview.core.origin import Origin


class PromptError(Exception):
    """A revision for which the runtime would make no prompt; the message says why."""


class CutKind(StrEnum):
    HIDDEN = "hidden"
    """Stored, but the runtime does not show it to the model."""
    SHORTENED = "shortened"
    """The rest of a text that a limit cut."""
    WITHHELD = "withheld"
    """Removed by a redaction; never printed."""
    ABSENT = "absent"
    """Given to the model, but in no file."""


class PromptCut(Struct, frozen=True, kw_only=True):
    """Content that is not in the text at this place, with its size where that is known."""

    kind: CutKind
    what: str
    """The name of the content: the id of a block, or words such as `base prompt`."""
    reason: str
    tokens: int | None = None
    bytes: int | None = None
    counted_by: str | None = None
    """The counter or record behind the size; None when the lens's counter counted it or there is no size."""


class PromptPart(Struct, frozen=True, kw_only=True):
    """A piece of text, usually a line with its newline, or a cut, which has no text."""

    text: str = ""
    block: str | None = None
    """The id of the block that the part belongs to; None for headings and the frame."""
    tier: str | None = None
    """The name of the tier; a heading of a tier has one too."""
    field: str | None = None
    """The field of the block that the part writes; None for the text of the block itself."""
    tokens: int | None = None
    """Formats leave it None; `analysis.prompt_tokens` counts all parts of a prompt together."""
    origin: Origin | None = None
    cut: PromptCut | None = None


class PromptMessage(Struct, frozen=True):
    """One message of the call. Its exact text is that of its parts, joined without anything between them."""

    role: str
    parts: tuple[PromptPart, ...] = ()
    absent: PromptCut | None = None
    """Set when no file holds the message; it then has no parts."""
    in_text: bool = True
    """Whether the text form of the prompt has this message, and not only the list of messages."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


class Prompt(Struct, frozen=True):
    """The messages of one model call in their order."""

    messages: tuple[PromptMessage, ...]
    exact: bool = True
    """Whether the text is known to be the runtime's, byte for byte; False for a text that is put together
    without a proof."""
    notes: tuple[str, ...] = ()
    """Sentences about the text as a whole: which proof it has, how the next call will differ."""
    encoding: str | None = None
    """The token encoding by which the runtime measures the text; None for the one of the lens."""

    @property
    def text(self) -> str:
        return "".join(message.text for message in self.messages if message.in_text)

    def cuts(self) -> Iterator[PromptCut]:
        """Yield all cuts in the order of the text."""
        for message in self.messages:
            if message.absent is not None:
                yield message.absent
            yield from (part.cut for part in message.parts if part.cut is not None)

    @property
    def complete(self) -> bool:
        """Whether all that the model is given is in the messages."""
        return all(cut.kind is not CutKind.ABSENT for cut in self.cuts())
