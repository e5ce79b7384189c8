"""The raw history as rows: the newest file of JSON lines, or the messages of the newest stored session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ctxview.core.origin import Origin
from ctxview.core.transcript import END, Row, Transcript
from ctxview.files.reading import ReadError
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
    return StoredTranscript(database.file, newest.id)


def _row(line: HistoryLine, index: int) -> Row:
    value = line.value
    number = line.number if line.number is not None else index
    if value is None:
        text = line.content.decode("utf-8", "replace")[:LONGEST_ROW]
        kind = "blank" if line.is_blank else "broken"
        return Row(number, None, kind, text, None, line.origin(), line.size, line.problem)
    if value.get("_type") == "metadata":
        return Row(
            number, "metadata", "metadata", "the metadata of the session", None, line.origin(), line.size
        )
    message = history_message(value)
    kind = "text" if not message.calls else "tool call"
    text = message.text[:LONGEST_ROW]
    return Row(number, message.role, kind, text, None, line.origin(), line.size, number=number + 1)


def _text(line: HistoryLine) -> str:
    return history_message(line.value).text if line.value is not None else ""


class StoredTranscript:
    """The messages of one session of the database, read when the first row is asked for."""

    complete = True
    ending = 0

    def __init__(self, file: str, session: str) -> None:
        self._file = file
        self._session = session
        self._messages: list[StoredMessage] | None = None

    def _all(self) -> list[StoredMessage]:
        if self._messages is None:
            try:
                self._messages = list(read_messages(Path(self._file), self._session))
            except ReadError:
                self._messages = []
        return self._messages

    def __len__(self) -> int:
        return len(self._all())

    def row(self, index: int) -> Row:
        messages = self._all()
        place = index + len(messages) if index < 0 else index
        stored = messages[place] if 0 <= place < len(messages) else None
        if stored is None:
            raise IndexError(f"there is no message {index}")
        message = stored.message
        origin = Origin(self._file, f"/messages/{stored.id}")
        kind = "tool call" if message.calls else "text"
        text = message.text[:LONGEST_ROW]
        return Row(place, message.role, kind, text, None, origin, len(text), number=place + 1)

    def raw(self, index: int) -> bytes:
        return self.row(index).text.encode("utf-8", "replace")

    def find(self, needle: str, start: int, backwards: bool, cancelled: Callable[[], bool]) -> int | None:
        if not needle:
            return None
        total = len(self)
        begin = total if start == END else max(0, start + total) if start < 0 else min(start, total)
        places = range(begin - 1, -1, -1) if backwards else range(begin, total)
        for place in places:
            if cancelled():
                return None
            text = self.row(place).text
            if needle in (text.lower() if needle == needle.lower() else text):
                return place
        return None
