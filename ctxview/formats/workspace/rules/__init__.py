"""The rules about workspaces: DOC documents, WMF session files, WSP the workspace, HIS histories.

A rule's docstring is its explanation, and the tests run its examples: `Bad` must give a finding of the rule
and `Good` must not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxview.analysis.text_rules import check_characters
from ctxview.core.findings import Finding, group_rules, run
from ctxview.core.origin import Origin
from ctxview.formats.kit.file_rules import (
    check_encoding,
    report_invalid_texts,
    report_partly_read,
    report_unreadable,
)
from ctxview.formats.kit.folder import EntryKind
from ctxview.formats.workspace.facts import WorkspaceFacts
from ctxview.formats.workspace.model import Role

(RULES,) = group_rules(__name__, "facts")


def check_workspace(facts: WorkspaceFacts) -> Iterator[Finding]:
    """Yield all findings; those about histories only after they were read."""
    yield from run(RULES, facts)
    workspace = facts.workspace
    for file, reason in workspace.unreadable:
        yield from report_unreadable(file, reason)
    for name, target in workspace.links.items():
        kind = workspace.folder.entry(target).kind
        file, reason = workspace.folder.file(name), "this is a symbolic link, which is not followed"
        if workspace.is_home or kind in (EntryKind.ABSENT, EntryKind.LINK):
            yield from report_unreadable(file, reason)
        elif kind is EntryKind.FOLDER:
            yield from report_partly_read(file, f"{reason}: the files in {target} were not read")
    if workspace.database is not None:
        database, survey = workspace.database, facts.survey
        if database.problem is not None:
            yield from report_unreadable(database.file, database.problem)
        read = survey.invalid_texts if survey is not None else {}
        yield from report_invalid_texts(database.file, {**database.invalid_texts, **read})
    for file, reason in facts.survey.problems if facts.survey is not None else ():
        yield from report_unreadable(file, reason)
    for name, more in workspace.folder.seen.capped.items():
        yield from report_partly_read(
            workspace.folder.file(name),
            f"{more:,} more {'entry was' if more == 1 else 'entries were'} not read",
        )
    for file, why in facts.left_out:
        yield from report_partly_read(file, why)
    # WSP019 reports the secrets of these files.
    for each in workspace.files:
        document = each.document
        if each.role not in (Role.CONTEXT, Role.SESSION):  # those are documents, and DOC019 is about them
            yield from check_encoding(each.file, document.data)
        text = document.data.decode("utf-8", "replace")
        starts = document.starts

        def place(
            start: int, _end: int, text: str = text, file: str = each.file, starts: list[int] = starts
        ) -> Origin:
            line = text.count("\n", 0, start) + 1
            column = start - (text.rfind("\n", 0, start) + 1) + 1
            return Origin(file, None, starts[line - 1], None, line, column)

        yield from check_characters(text, place)
