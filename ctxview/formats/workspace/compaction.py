"""A compaction by hand: the prompt of the source document, and the cleaning and checking of an answer.

No model is called here, and nothing is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from ctxview.analysis.secrets import mask_secrets
from ctxview.core.findings import Finding
from ctxview.files.visible_text import visible
from ctxview.formats.workspace.database import read_messages
from ctxview.formats.workspace.history_checks import HistoryMessage, history_message
from ctxview.formats.workspace.markdown import MarkdownDocument
from ctxview.formats.workspace.model import ContextDocument, Role, Workspace
from ctxview.formats.workspace.profile import Template
from ctxview.formats.workspace.rules.document_text import CHAT_MARKER, REASONING
from ctxview.formats.workspace.survey import HistoryStreams

SHARE = 2 / 3
"""The part of a window that the conversation may fill."""
MOST_LINES = 20_000
_RULES = """\
Extract facts from this conversation into the template below.
Rules:
1. Copy technical terms, file paths, numbers EXACTLY
2. One sentence per bullet, max 10 bullets per section
3. Skip anything you're unsure about
4. No meta-commentary ("I should...", "Let me...")
5. No thinking tags
6. ONLY output the filled template, nothing else
"""
_QUESTIONS = {
    "Task": "What is the user doing?",
    "Current Task": "What is the user doing?",
    "Completed Tasks": "What is finished?",
    "Decisions": "What was decided?",
    "Facts": "What was discovered?",
    "Key Facts": "What was discovered?",
    "Pending": "What's still to do?",
    "Errors": "What went wrong?",
}
_TAGS = r"<(think|thinking|scratchpad|reasoning)\s*>"
_THOUGHT = re.compile(rf"{_TAGS}.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(rf"{_TAGS}.*?(?=^#{{1,2}} |\Z)", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"^```\w*\n(.*?^## .*?)^```\s*$", re.DOTALL | re.MULTILINE)


class CleanedAnswer(Struct, frozen=True):
    """An answer without what does not belong into a document, and what was removed."""

    text: str
    removed: tuple[str, ...]


def compaction_prompt(messages: Iterable[HistoryMessage], template: Template, budget: int) -> tuple[str, int]:
    """Return the prompt with the newest messages that fit into `budget` bytes, and how many were left out."""
    sections = (f"## {title}\n[{_QUESTIONS.get(title, title)}]\n" for title in template.sections)
    head = f"{_RULES}\n# {template.heading}\n\n" + "\n".join(sections)
    lines = [f"{message.role}: {message.text.strip()}" for message in messages if message.text.strip()]
    used, kept = len(head.encode()), len(lines)
    while kept > 0 and used + len(lines[kept - 1].encode("utf-8", "replace")) + 1 <= budget:
        used += len(lines[kept - 1].encode("utf-8", "replace")) + 1
        kept -= 1
    shown = "\n".join(visible(line) for text in lines[kept:] for line in text.split("\n"))
    # The command behind `--with` may send the prompt anywhere.
    return f"{head}\n---\n\n{mask_secrets(shown)}\n", kept


def raw_messages(
    workspace: Workspace, streams: HistoryStreams, document: ContextDocument | None
) -> list[HistoryMessage]:
    """Return the messages of the document's session, oldest first, without what a rotation copied.

    Raises `ReadError` when the database cannot be read.
    """
    key = document.key if document is not None else None
    names = workspace.histories
    if key is not None:
        safe_key = re.sub(r"[^\w.-]", "_", key)
        prefix = f"sessions/{safe_key}_"
        names = tuple(name for name in names if name.startswith(prefix)) or names
    if names:
        return _from_lines(streams, names)
    database = workspace.database
    if database is None:
        return []
    sessions = [each for each in database.sessions if each.key == key] or list(database.sessions)
    newest = max(sessions, key=lambda each: each.updated_at or "", default=None)
    stored = read_messages(Path(database.file), newest.id) if newest is not None else ()
    return [each.message for each in stored if each.message.role != "clear"]


def _from_lines(streams: HistoryStreams, names: Iterable[str]) -> list[HistoryMessage]:
    found: list[HistoryMessage] = []
    for name in names:
        stream = streams.named(name)
        values = [line.value for line in stream.tail(MOST_LINES)] if stream is not None else []
        messages = [history_message(each) for each in values if each is not None and "_type" not in each]
        last = [each.identity for each in found[-len(messages) :]]
        copied = next(
            (
                size
                for size in range(min(10, len(last), len(messages)), 0, -1)
                if last[-size:] == [each.identity for each in messages[:size]]
            ),
            0,
        )
        found += messages[copied:]
    return found


def clean_answer(answer: str, template: Template) -> CleanedAnswer:
    """Remove reasoning, markers of chat templates, a fence, and talk around the template."""
    removed: list[str] = []
    text = answer.replace("\r\n", "\n")
    for pattern, what in (
        (_THOUGHT, "a reasoning block"),
        (_UNCLOSED, "a reasoning block"),
        (REASONING, "a stray reasoning tag"),
        (CHAT_MARKER, "a marker of a chat template"),
    ):
        text, count = pattern.subn("", text)
        removed += [what] if count and what not in removed else []
    if (fenced := _FENCE.search(text)) is not None:
        around = text[: fenced.start()] + text[fenced.end() :]
        removed.append("text before the template" if around.strip() else "the fence around the answer")
        text = fenced[1]
    lines = text.strip("\n").split("\n")
    titles = {title.casefold() for title in template.sections}
    first = next((at for at, line in enumerate(lines) if _title(line) in titles), None)
    if first:
        if any(line.strip() and not line.startswith("# ") for line in lines[:first]):
            removed.append("text before the template")
        lines = lines[first:]
    if template.strict:
        lines[:0] = [f"# {template.heading}", ""]
    return CleanedAnswer("\n".join(line.rstrip() for line in lines).strip("\n") + "\n", tuple(removed))


def _title(line: str) -> str | None:
    return line[3:].strip().casefold() if line.startswith("## ") else None


def new_bytes(document: ContextDocument, text: str) -> bytes:
    """Return the document with another body; its front matter stays as it is."""
    markdown: MarkdownDocument = document.markdown
    head = markdown.data[: markdown.starts[markdown.body_line]] if markdown.body_line else b""
    gap = b"\n" if head else b""
    return head + gap + text.encode("utf-8", "replace")


def compacted_documents(workspace: Workspace, era: str | None) -> list[ContextDocument]:
    """Return the files that a compaction of the current session overwrites; era B has two equal ones."""
    current = workspace.current
    files = [current] if current is not None and current.part is not None else []
    if era == "B" or not files:
        channel = current.channel if current is not None else None
        contexts = [each for each in workspace.documents if each.role is Role.CONTEXT]
        files += [each for each in contexts if each.channel in (channel, None)] or contexts[:1]
    return files


def of_document(findings: Iterable[Finding], document: ContextDocument) -> list[Finding]:
    """Return the findings about the document itself."""
    return [
        each for each in findings if each.origin.file == document.markdown.file and each.rule[:3] == "DOC"
    ]
