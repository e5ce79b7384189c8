"""The records of one line: usually one, and for a damaged line those that can be recovered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from msgspec import Struct

from ctxview.analysis.wording import counted
from ctxview.core.origin import Origin
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.transcript.model import LineProblem, Record

BOM = b"\xef\xbb\xbf"
_NULS = re.compile(rb"\x00+")
_DECODER = json.JSONDecoder(strict=False)
_MEMBER = re.compile(r'"\s*:\s*\Z')
"""What stands right before a value of an object."""
_LONGEST_HALF = 6
"""The most characters between the place that the decoder names and the cut: half an escape or a word."""
LONGEST_RECOVERED = 8 * 1024 * 1024


class FoundRecords(Struct, frozen=True):
    """The records of a line with their byte spans, and what is wrong with the line."""

    records: tuple[tuple[Record, int, int], ...]
    problems: tuple[LineProblem, ...] = ()
    pending: bool = False
    """Whether the line is the unfinished end of the file."""


def records_of(line: HistoryLine, longest: int = LONGEST_RECOVERED) -> FoundRecords:
    """Return the records of a line; a blank line has none."""
    if line.is_blank:
        return FoundRecords(())
    value = line.value
    if value is not None and line.size <= longest and line.ending == 1:
        return FoundRecords(((value, line.start, line.end),))
    return _examined(line, value, longest)


def record_of(content: bytes) -> Record | None:
    """Return the record of the bytes of a row, also of one that was recovered from a damaged line."""
    line = HistoryLine("", "", None, 0, len(content), content, 1)
    return next((record for record, _, _ in records_of(line).records), None)


def is_record(value: object) -> bool:
    """Whether an object of a damaged line is a whole record, and not an inner part of a cut one."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    return any(name in value for name in ("uuid", "sessionId", "payload", "leafUuid"))


def _examined(line: HistoryLine, value: Record | None, longest: int) -> FoundRecords:
    problems: list[LineProblem] = []
    if line.size > longest:
        text = f"the line has {line.size:,} bytes; it is shown from its beginning"
        problems.append(_problem(line, "TRF008", text))
        if line.cut:
            return FoundRecords((), tuple(problems))
    skipped = _skipped(line)
    if skipped:
        problems.append(_problem(line, "TRF004", skipped))
    if value is not None:
        return FoundRecords(((value, line.start, line.end),), tuple(problems))
    content = line.content
    lead = len(content) - len(content.removeprefix(BOM).lstrip(b"\0 \t"))
    if not content[lead:].strip(b"\0 \t\r"):
        return FoundRecords((), tuple(problems))
    if content[lead : lead + 2] == b"//":
        return FoundRecords((), (*problems, _problem(line, "TRF009", "a comment line of an export")))
    plain = _NULS.sub(lambda run: b" " * len(run[0]), content).removeprefix(BOM)
    found = [] if not line.ending and _is_cut_off(plain) else list(_recovered(plain, lead))
    spans = [(record, line.start + start, line.start + end) for record, start, end in found]
    covered = sum(end - start for _, start, end in found)
    whole = covered >= len(content.strip(b"\0 \t\r").removeprefix(BOM).replace(b"\0", b""))
    if not line.ending and not found:
        return FoundRecords((), tuple(problems), pending=True)
    if whole and len(found) > 1:
        text = f"{len(found)} records stand on one line"
        problems.append(_problem(line, "TRF003", text))
    elif not whole or not skipped:
        rescued = counted(len(found), "record") if found else "nothing"
        why = (line.problem or "unreadable").removeprefix("not JSON: ")
        text = f"the line is not JSON: {why}; {rescued} could be recovered from it"
        problems.append(_problem(line, "TRF001", text))
    return FoundRecords(tuple(spans), tuple(problems))


def _skipped(line: HistoryLine) -> str:
    words = []
    if line.content.startswith(BOM):
        words.append("a byte order mark")
    if line.ending == 2:
        words.append("a carriage return")
    if nuls := line.content.count(0):
        words.append(counted(nuls, "NUL byte"))
    return f"{' and '.join(words)} skipped" if words else ""


def _recovered(content: bytes, lead: int) -> Iterator[tuple[Record, int, int]]:
    """Yield the whole records of a damaged line with their byte spans."""
    shift = lead if content[:lead].strip() else 0
    text = content.decode("utf-8", "surrogateescape")
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find('{"', at + 1)
            continue
        first = at == text.find("{") and isinstance(value, dict) and "type" in value
        if first or (is_record(value) and not _is_member(text, at, value)):
            before = len(text[:at].encode("utf-8", "surrogateescape")) + shift
            size = len(text[at:end].encode("utf-8", "surrogateescape"))
            yield value, before, before + size
            at = text.find("{", end)
        else:
            at = text.find('{"', at + 1)


def _is_cut_off(content: bytes) -> bool:
    """Whether the first value goes on to the end of the content and is not finished there."""
    text = content.decode("utf-8", "surrogateescape").rstrip()
    try:
        _DECODER.raw_decode(text, len(text) - len(text.lstrip()))
    except json.JSONDecodeError as error:
        return error.pos >= len(text) - _LONGEST_HALF or error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return False
    return False


def _is_member(text: str, at: int, value: Record) -> bool:
    """Whether an object is a member of a cut record: such copies of rows do not name their session."""
    named = "sessionId" in value or "payload" in value
    return not named and _MEMBER.search(text[max(0, at - 80) : at]) is not None


def _problem(line: HistoryLine, rule: str, message: str) -> LineProblem:
    origin: Origin = line.origin()
    return LineProblem(rule, origin, message)
