"""`ctxview compact WORKSPACE`: prompt for the state of a session, check an answer, and replace the document.

Only `--write` writes, only the document, and never an answer with errors. The raw history is only read.
"""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import TYPE_CHECKING

from ctxview.commands.arguments import add_profile_argument, size_in_tokens
from ctxview.core.findings import Finding, Severity
from ctxview.core.origin import JsonValue
from ctxview.reports.console import UserError

if TYPE_CHECKING:
    from ctxview.formats.workspace.compaction import CleanedAnswer
    from ctxview.formats.workspace.model import ContextDocument
    from ctxview.formats.workspace.profile import Template
    from ctxview.formats.workspace.source import WorkspaceSource

LARGEST_ANSWER = 1024 * 1024
SECONDS = 600
"""The time that a command may take."""


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("workspace", metavar="WORKSPACE", type=Path, help="a workspace or home of an agent")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--prompt", action="store_true", help="print the compaction prompt and end")
    way.add_argument(
        "--with",
        dest="command",
        metavar="COMMAND",
        help="give the prompt to a shell command, take its answer",
    )
    way.add_argument(
        "--from", dest="answer", metavar="FILE", type=Path, help="take the answer from a file, - is stdin"
    )
    parser.add_argument(
        "--write", action="store_true", help="replace the document if the answer has no errors"
    )
    parser.add_argument(
        "--window",
        metavar="N",
        type=size_in_tokens,
        default=128 * 1024,
        help="window of the model: 16K, 128K (default)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_profile_argument(parser)


def run(arguments: Namespace) -> int:
    from ctxview.files.reading import ReadError
    from ctxview.formats.kit.profiles import ProfileError
    from ctxview.formats.workspace.compaction import clean_answer, compacted_documents, new_bytes, of_document
    from ctxview.formats.workspace.profile import load_profile, template_of
    from ctxview.formats.workspace.source import WorkspaceSource

    source = _opened(arguments.workspace, WorkspaceSource)
    workspace = source.workspace
    documents = compacted_documents(workspace, workspace.era)
    try:
        profile = load_profile(arguments.profile)
        template = (
            _usable(template_of(documents[0].markdown, profile)[1])
            if documents
            else load_profile("T1").template
        )
        prompt = _prompt(source, arguments, template, documents[0] if documents else None)
    except (ProfileError, ReadError) as error:
        raise UserError(str(error)) from error
    if arguments.prompt:
        sys.stdout.write(prompt)
        return 0
    if not documents:
        raise UserError(f"{arguments.workspace}: {_no_document(source)}")
    cleaned = clean_answer(_answer(arguments, prompt), template)
    new = {each.markdown.file: new_bytes(each, cleaned.text) for each in documents}
    findings = source.check_answer(new, arguments.profile)
    found = of_document(findings, documents[0])
    errors = any(each.severity is Severity.ERROR for each in found)
    wrote = _write(documents, new) if arguments.write and not errors else []
    _report(arguments, documents, new, cleaned, found, wrote)
    return 1 if errors else 0


def _opened(path: Path, kind: type[WorkspaceSource]) -> WorkspaceSource:
    from ctxview.formats import OpenError, open_source

    try:
        source = open_source(path)
    except OpenError as error:
        raise UserError(str(error)) from error
    if not isinstance(source, kind) or not source.workspace.is_home:
        raise UserError(f"{path}: this is not the workspace of an agent with a context document")
    return source


def _usable(template: Template) -> Template:
    """Return the template, or the one of the source document when it has no sections."""
    from ctxview.formats.workspace.profile import load_profile

    return template if template.sections else load_profile("T1").template


def _no_document(source: WorkspaceSource) -> str:
    current = source.workspace.current
    if current is not None and current.row is not None:
        return "the working memory is a row of sessions.db, which is never written here; use --prompt"
    return "there is no context document to replace"


def _prompt(
    source: WorkspaceSource, arguments: Namespace, template: Template, document: ContextDocument | None
) -> str:
    """Return the prompt; an answer that exists already needs none, and no raw history."""
    from ctxview.formats.workspace.compaction import SHARE, compaction_prompt
    from ctxview.reports.console import print_error

    messages = source.raw_messages(document)
    if not messages and arguments.answer is None:
        raise UserError(f"{source.path}: there is no raw history to compact")
    if not messages:
        print_error("there is no raw history: paths and numbers of the answer are not looked up")
    prompt, left_out = compaction_prompt(messages, template, int(arguments.window * SHARE) * 4)
    if left_out and arguments.answer is None:
        print_error(f"the {left_out:,} oldest messages do not fit into the window and were left out")
    return prompt


def _answer(arguments: Namespace, prompt: str) -> str:
    from ctxview.files.reading import ReadError, read_bytes

    try:
        if arguments.command is not None:
            data = _command_output(arguments.command, prompt)
        elif str(arguments.answer) == "-":
            data = sys.stdin.buffer.read(LARGEST_ANSWER + 1)
        else:
            data = read_bytes(arguments.answer, LARGEST_ANSWER)
    except ReadError as error:
        raise UserError(str(error)) from error
    if len(data) > LARGEST_ANSWER or not data.strip():
        raise UserError(
            "the answer is empty" if not data.strip() else "the answer is too large for a document"
        )
    return data.decode("utf-8", "replace")


def _command_output(command: str, prompt: str) -> bytes:
    """Return what a command answers to the prompt; one that does not end is stopped, by time or by size."""
    with TemporaryFile() as given:
        given.write(prompt.encode())
        given.seek(0)
        with subprocess.Popen(command, shell=True, stdin=given, stdout=subprocess.PIPE) as process:
            late = Timer(SECONDS, process.kill)
            late.start()
            try:
                data = process.stdout.read(LARGEST_ANSWER + 1) if process.stdout is not None else b""
                code = process.wait() if len(data) <= LARGEST_ANSWER else 0
                in_time = late.is_alive()
            finally:
                late.cancel()
                process.kill()
    if not in_time:
        raise UserError(f"the command took longer than {SECONDS} seconds")
    if code:
        raise UserError(f"the command ended with exit code {code}")
    return data


def _write(documents: list[ContextDocument], new: dict[str, bytes]) -> list[str]:
    from ctxview.files.save import SaveConflict, SaveRefused, save

    wrote = []
    for document in documents:
        data = new[document.markdown.file]
        if data == document.markdown.data:
            continue
        try:
            save(Path(document.markdown.file), data, document.markdown.data)
        except SaveConflict:
            raise UserError(
                f"{document.markdown.file}: changed meanwhile; nothing was written to it"
            ) from None
        except SaveRefused as refusal:
            raise UserError(f"{document.markdown.file}: {refusal}") from refusal
        wrote.append(document.markdown.file)
    return wrote


def _report(
    arguments: Namespace,
    documents: list[ContextDocument],
    new: dict[str, bytes],
    cleaned: CleanedAnswer,
    found: list[Finding],
    wrote: list[str],
) -> None:
    from ctxview.reports.console import print_masked
    from ctxview.reports.json_output import dumps, finding_as_json

    main = documents[0]
    if arguments.json:
        value: dict[str, JsonValue] = {
            "document": main.markdown.file,
            "text": cleaned.text,
            "removed": list(cleaned.removed),
            "findings": [finding_as_json(each) for each in found],
            "written": list(wrote),
        }
        print(dumps(value))
        return
    print_masked(_lines(main, new[main.markdown.file], cleaned, found, wrote, arguments))


def _lines(
    document: ContextDocument,
    new: bytes,
    cleaned: CleanedAnswer,
    found: list[Finding],
    wrote: list[str],
    arguments: Namespace,
) -> Iterator[str]:
    from ctxview.files.visible_text import visible

    name = visible(document.markdown.file)
    old = document.markdown.data.decode("utf-8", "replace").split("\n")
    for line in unified_diff(old, new.decode().split("\n"), f"{name} (now)", f"{name} (new)", lineterm=""):
        yield visible(line)
    for each in cleaned.removed:
        yield f"removed from the answer: {each}"
    for finding in found:
        yield f"line {finding.origin.line}: {finding.severity.value} {finding.rule} {finding.message}"
    if wrote:
        yield from (f"written: {visible(each)}" for each in wrote)
    elif any(each.severity is Severity.ERROR for each in found):
        yield "not written: the answer has errors"
    elif not arguments.write:
        yield "nothing was written; --write replaces the document"
    else:
        yield "nothing was written: the document is already the same"
