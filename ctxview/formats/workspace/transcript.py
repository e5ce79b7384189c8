"""The raw history as rows: the newest file of JSON lines, or the messages of the newest stored session."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from ctxview.analysis.wording import beginning
from ctxview.core.origin import Origin
from ctxview.core.transcript import Row, Transcript
from ctxview.files.reading import ReadError
from ctxview.formats.kit.history import LoadedHistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.kit.transcript import HistoryTranscript
from ctxview.formats.workspace.database import StoredMessage, read_messages
from ctxview.formats.workspace.history_checks import history_message
from ctxview.formats.workspace.model import Workspace
from ctxview.formats.workspace.survey import HistoryStreams

LONGEST_ROW = 256 * 1024


def workspace_transcript(workspace: Workspace, streams: HistoryStreams) -> Transcript | None:
    """Return the newest history, or None when there is none."""
    if workspace.histories:
        stream = streams.named(workspace.histories[-1])
        return HistoryTranscript(stream, _row, _text) if stream is not None else None
    database = workspace.database
    if database is None or not database.sessions:
        return None
    newest = max(database.sessions, key=lambda each: (each.updated_at or "", each.id))
    stored = StoredHistory(database.file, newest.id)
    return HistoryTranscript(stored, stored.row, stored.text)


def _row(line: HistoryLine, index: int) -> Row:
    value = line.value
    number = line.number if line.number is not None else index
    if value is None:
        text = beginning(line.content.decode("utf-8", "replace"), LONGEST_ROW)
        kind = "blank" if line.is_blank else "broken"
        return Row(number, None, kind, text, None, line.origin(), line.size, line.problem)
    if value.get("_type") == "metadata":
        return Row(
            number, "metadata", "metadata", "the metadata of the session", None, line.origin(), line.size
        )
    message = history_message(value)
    kind = "text" if not message.calls else "tool call"
    text = beginning(message.text, LONGEST_ROW)
    return Row(number, message.role, kind, text, None, line.origin(), line.size, number=number + 1)


def _text(line: HistoryLine) -> str:
    return history_message(line.value).text if line.value is not None else ""


class StoredHistory(LoadedHistoryStream):
    """The messages of one session of the database, read when the first one is asked for."""

    size = 0
    problem: str | None = None

    def __init__(self, file: str, session: str) -> None:
        self.name = session
        self._file = file

    @cached_property
    def _messages(self) -> list[StoredMessage]:
        try:
            return list(read_messages(Path(self._file), self.name))
        except ReadError:
            return []

    def __len__(self) -> int:
        return len(self._messages)

    def line(self, number: int, /) -> HistoryLine:
        place = number + len(self) if number < 0 else number
        if not 0 <= place < len(self):
            raise IndexError(f"there is no message {number}")
        content = self._messages[place].message.text[:LONGEST_ROW].encode("utf-8", "replace")
        return HistoryLine(self.name, self._file, place, 0, len(content), content)

    def row(self, line: HistoryLine, index: int) -> Row:
        stored = self._messages[index]
        kind = "tool call" if stored.message.calls else "text"
        text, origin = self.text(line), Origin(self._file, f"/messages/{stored.id}")
        place = index % len(self)
        return Row(place, stored.message.role, kind, text, None, origin, len(text), number=place + 1)

    def text(self, line: HistoryLine) -> str:
        return line.content.decode("utf-8", "replace")
