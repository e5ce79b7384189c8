"""How the shared history code reads a session: the row, the counted text and the checked text of a line."""

from __future__ import annotations

from ctxview.analysis.wording import beginning
from ctxview.core.transcript import Row
from ctxview.formats.kit.history import HistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.history_passes import CountingRecipe
from ctxview.formats.kit.transcript import HistoryTranscript
from ctxview.formats.session import MESSAGES
from ctxview.formats.session.forms import message_form
from ctxview.formats.session.messages import message_in
from ctxview.formats.session.profile import Profile
from ctxview.formats.session.prompt_history import why_dropped
from ctxview.formats.session.survey.facts import Survey

LONGEST_ROW = 256 * 1024
"""How many characters of a text one row carries; the origin covers the whole text."""

CHECKED_EVENTS = ("tool_call", "error", "approval_request", "approval_result")
"""Events whose text is checked; the others repeat the messages."""


def row_of(line: HistoryLine, index: int, profile: Profile, survey: Survey | None = None) -> Row:
    """Return one line as a row; `index` is its number when the line has none yet."""
    message = message_in(line)
    number = None
    if survey is not None and line.number is not None and message.kind != "blank":
        number = survey.messages.record_at(line.number)
    broken = message.kind in ("broken", "too long")
    return Row(
        index=line.number if line.number is not None else index,
        role=message.role,
        kind=message.kind,
        text=beginning(message.text, LONGEST_ROW),
        run=message.run,
        origin=line.origin(),
        size=line.size,
        problem=line.problem if broken else None,
        unseen=why_dropped(line, profile) if message.kind != "blank" else None,
        number=number,
        form=message_form(line, message.text),
    )


def message_transcript(
    stream: HistoryStream, profile: Profile, lines: int | None = None, survey: Survey | None = None
) -> HistoryTranscript:
    """Return the messages as rows, or only the first `lines` of them."""
    return HistoryTranscript(
        stream,
        lambda line, index: row_of(line, index, profile, survey),
        lambda line: message_in(line).text,
        lines,
    )


def _counted_text(content: bytes) -> str:
    return message_in(HistoryLine("", "", None, 0, len(content), content)).text


MESSAGE_RECIPE = CountingRecipe("session message 1", _counted_text, ("system", "user", "assistant", "tool"))


def checked_text(line: HistoryLine) -> str | None:
    """Return the text of a line that is checked for secrets and deceiving characters, or None."""
    if line.stream == MESSAGES:
        return message_in(line).text
    if (line.value or {}).get("type") in CHECKED_EVENTS:
        return line.content.decode("utf-8", "replace")
    return None
