"""The prompt of a session: the system message, which is a template with eight values, and the user's input.

Values that no file holds stay as their placeholder in the text and are cuts. The program that a session may
name to summarise its history is never run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.tokens import TokenCounter
from ctxview.core.origin import Origin
from ctxview.core.prompt import CutKind, Prompt, PromptCut, PromptError, PromptMessage, PromptPart
from ctxview.formats.kit.folder import EntryKind, FolderFile, SourceFolder
from ctxview.formats.kit.history import HistoryStream
from ctxview.formats.kit.history_line import HistoryLine
from ctxview.formats.session.grammar import is_name
from ctxview.formats.session.messages import message_in, size_of
from ctxview.formats.session.model import Session
from ctxview.formats.session.profile import Profile, PromptPolicy
from ctxview.formats.session.prompt_history import WHITE_SPACE, PromptVerdict, prompt_view

TIER = "recent"
LARGEST_PROGRAM_OUTPUT = 16 * 1024
LARGEST_FILE = 1024 * 1024


class SessionPromptInputs(Struct, frozen=True):
    """The session, its messages, and the last line at a past point; None for now."""

    session: Session
    messages: HistoryStream
    profile: Profile
    counter: TokenCounter
    last: int | None = None
    is_past: bool = False


def session_prompt(inputs: SessionPromptInputs) -> Prompt:
    """Return the two messages of the next model call. Raises `PromptError`."""
    policy = inputs.profile.prompt
    if policy is None:
        raise PromptError(f"the profile {inputs.profile.name} describes no runtime, so there is no prompt")
    if inputs.is_past and inputs.last is None:
        raise PromptError("it is not known which messages were there at that point")
    lines, asked = _lines_of_call(inputs)
    control = _control_folder(inputs.session.folder.root, inputs.session.agent)
    template = control.read("prompt.template.md", LARGEST_FILE) if control is not None else None
    text = template.text if template is not None and template.readable else policy.template
    parts = [PromptPart(text=text, origin=_whole(template) if text is not policy.template else None)]
    values = dict(_values(inputs, policy, control, lines))
    for name in policy.values:
        parts = list(_filled(parts, f"{{{{{name}}}}}", values.get(name) or _absent_value(name)))
    notes = ["The text of the next call; a value that no file holds is its placeholder."]
    if inputs.is_past:
        notes.append("The instructions, rules and skills are those of now.")
    system = PromptMessage("system", tuple(part for part in parts if part.text or part.cut is not None))
    return Prompt((system, _user(asked)), notes=tuple(notes))


def _user(asked: HistoryLine | None) -> PromptMessage:
    if asked is None:
        new = PromptCut(kind=CutKind.ABSENT, what="user input", reason="the next input is not known")
        return PromptMessage("user", absent=new, in_text=False)
    part = PromptPart(text=message_in(asked).text, origin=asked.origin())
    return PromptMessage("user", (part,), in_text=False)


# -- the lines of the history --------------------------------------------------------------------------


def _lines_of_call(inputs: SessionPromptInputs) -> tuple[list[HistoryLine], HistoryLine | None]:
    """Return the lines that the call reads as history, and the line of its own input, if that is known.

    While a session is active, its last user line is the input of the running call.
    """
    asked = None
    if inputs.session.state == "active" and not inputs.is_past:
        newer = _newest_first(inputs)
        asked = next((line for line in newer if (line.value or {}).get("role") == "user"), None)
        older = newer if asked is not None else _newest_first(inputs)
    else:
        older = _newest_first(inputs)
    window = inputs.profile.limits.prompt_window
    lines: list[HistoryLine] = []
    read = 0
    for line in older:
        lines.append(line)
        read += line.size + line.ending
        if window is not None and read > window:
            break
    return lines[::-1], asked


def _newest_first(inputs: SessionPromptInputs) -> Iterator[HistoryLine]:
    stream = inputs.messages
    if stream.complete:
        last = len(stream) - 1 if inputs.last is None else min(inputs.last, len(stream) - 1)
        yield from map(stream.line, range(last, -1, -1))
        return
    # The lines are not counted yet: take more and more of the last ones.
    taken, count = 0, 64
    while True:
        lines = stream.tail(count)
        yield from reversed(lines[: len(lines) - taken])
        if len(lines) < count:
            return
        taken, count = len(lines), count * 2


def _history(
    inputs: SessionPromptInputs, policy: PromptPolicy, control: SourceFolder | None, lines: list[HistoryLine]
) -> list[PromptPart]:
    verdicts = prompt_view(lines, inputs.profile)
    limit = inputs.profile.limits.prompt_history
    shown = [each.entry for each in verdicts if each.visible and each.entry is not None]
    omitted = [each.entry for each in verdicts if not each.visible and each.entry is not None]
    recent = "\n".join(shown)
    parts = [*_earlier(inputs, lines), *_entries(inputs, verdicts, len(lines))]
    strategy, program = _strategy(control)
    if not shown and not omitted:
        none = policy.empty if strategy == "summarize" else policy.no_history
        return [*parts, PromptPart(text=none)]
    if not omitted or limit is None:
        return parts
    room = limit - size_of(recent) - len(policy.summary) - 3
    if program is not None:
        most = f"up to {min(room, LARGEST_PROGRAM_OUTPUT):,} bytes by {program}, which is never run here"
        summary = PromptCut(kind=CutKind.ABSENT, what="summary of earlier messages", reason=most)
        return [PromptPart(tier=TIER, cut=summary), *parts] if room > 0 else parts
    if strategy == "summarize":
        if room <= 0:
            return parts
        head = f"{policy.summary}\n{_first_bytes(chr(10).join(omitted), room)}\n\n"
        return [PromptPart(text=head if shown else head.rstrip(WHITE_SPACE), tier=TIER), *parts]
    between = "\n" if recent else ""
    warned = _first_bytes(f"{recent}{between}{policy.warning}", limit)
    return [*parts, PromptPart(text=warned[len(recent) :].rstrip(WHITE_SPACE))]


def _entries(inputs: SessionPromptInputs, verdicts: list[PromptVerdict], count: int) -> Iterator[PromptPart]:
    """Yield the shown messages as lines and the others as cuts."""
    newest = next((each for each in reversed(verdicts) if each.visible), None)
    for place, each in enumerate(verdicts):
        line = each.line
        name = _name(inputs, line, count - place)
        part = PromptPart(block=name, tier=TIER, origin=line.origin())
        if each.visible:
            yield replace(part, text=f"{each.entry}\n" if each is not newest else each.entry or "")
        else:
            tokens = inputs.counter.count(each.entry) if each.entry is not None else None
            size = size_of(each.entry) if each.entry is not None else line.size
            reason = each.reason or ""
            cut = PromptCut(kind=CutKind.HIDDEN, what=name, reason=reason, tokens=tokens, bytes=size)
            yield replace(part, cut=cut)


def _name(inputs: SessionPromptInputs, line: HistoryLine, back: int) -> str:
    """Return the id of the message's block."""
    if line.number is None:
        return f"message −{back}"
    return f"message {line.number + 1 - bisect_left(inputs.messages.blanks, line.number)}"


def _earlier(inputs: SessionPromptInputs, lines: list[HistoryLine]) -> Iterator[PromptPart]:
    """Yield one cut for all messages before the window, which are not read."""
    if lines and lines[0].start > 0:
        window = inputs.profile.limits.prompt_window or 0
        reason = f"the prompt reads only the last {window:,} bytes of the messages"
        cut = PromptCut(kind=CutKind.HIDDEN, what="earlier messages", reason=reason, bytes=lines[0].start)
        yield PromptPart(tier=TIER, cut=cut, origin=Origin(lines[0].file, None, 0, lines[0].start, 1, 1))


def _strategy(control: SourceFolder | None) -> tuple[str, str | None]:
    """Return `truncate` or `summarize`, and the name of the program that summarises, if it exists."""
    named = control.read("compact.strategy", LARGEST_FILE) if control is not None else None
    word = named.text.strip(WHITE_SPACE) if named is not None else ""
    if control is None or word in ("summarize", "truncate") or not is_name(word):
        return word if word == "summarize" else "truncate", None
    exists = control.entry(f"compact.d/{word}").kind is EntryKind.FILE
    return "truncate", f"compact.d/{word}" if exists else None


# -- the template --------------------------------------------------------------------------------------


def _values(
    inputs: SessionPromptInputs, policy: PromptPolicy, control: SourceFolder | None, lines: list[HistoryLine]
) -> Iterator[tuple[str, list[PromptPart]]]:
    """Yield the values that files hold."""
    session = inputs.session
    if session.agent is not None:
        yield "agent", [PromptPart(text=session.agent)]
    files = {
        "agent_instructions": control.read("system.md", LARGEST_FILE) if control is not None else None,
        "rules": session.folder.read("AGENTS.md", LARGEST_FILE),
        "skills": session.folder.read("SKILLS.md", LARGEST_FILE),
    }
    for name, file in files.items():
        # A control folder without instructions gives none; a session without the others was never run.
        if file is not None and (file.readable or (name == "agent_instructions" and not file.exists)):
            text = file.text.strip(WHITE_SPACE) or policy.empty
            yield name, [PromptPart(text=text, block=file.name, tier=name, origin=_whole(file))]
    yield "history_messages", _history(inputs, policy, control, lines)


def _absent_value(name: str) -> list[PromptPart]:
    cut = PromptCut(kind=CutKind.ABSENT, what=name, reason="filled in by the runtime")
    return [PromptPart(text=f"{{{{{name}}}}}"), PromptPart(cut=cut)]


def _filled(parts: list[PromptPart], placeholder: str, value: list[PromptPart]) -> Iterator[PromptPart]:
    """Replace a placeholder wherever the text has it, also where it runs over several parts."""
    text = "".join(part.text for part in parts)
    at, pieces = 0, text.split(placeholder)
    for piece in pieces[:-1]:
        yield from _between(parts, at, at + len(piece))
        yield from value
        at += len(piece) + len(placeholder)
    yield from _between(parts, at, len(text) + 1)


def _between(parts: Iterable[PromptPart], start: int, end: int) -> Iterator[PromptPart]:
    """Yield the parts from `start` up to `end` of their text, cuts included."""
    at = 0
    for part in parts:
        after = at + len(part.text)
        if part.cut is not None:
            if start <= at < end:
                yield part
        elif max(at, start) < min(after, end):
            yield replace(part, text=part.text[max(0, start - at) : end - at])
        at = after


def _first_bytes(text: str, count: int) -> str:
    """Return as much of a text as `count` bytes hold, cut between characters."""
    return text.encode()[:count].decode("utf-8", "ignore")


def _whole(file: FolderFile | None) -> Origin | None:
    return Origin(file.file, None, 0, len(file.data), 1, 1) if file is not None and file.data else None


def _control_folder(session: Path, agent: str | None) -> SourceFolder | None:
    """Return `<agent>.d` beside the agent's folder, else that of all users at the root, else None."""
    if agent is None:
        return None
    agents = session.absolute().parent.parent.parent
    places = [agents / f"{agent}.d"]
    if agents.name == "agent" and agents.parent.parent.name == "home":
        places.append(agents.parent.parent.parent / "agent" / f"{agent}.d")
    return next((SourceFolder(place) for place in places if place.is_dir()), None)
