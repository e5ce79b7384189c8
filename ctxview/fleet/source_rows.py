"""Read one source into its rows. What a row holds passed the gates: secrets are masked, nothing is withheld.

A source that cannot be read is one row with the error.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ctxview import __version__
from ctxview.analysis.revisions.window import is_estimate, main_budget, unit_of
from ctxview.analysis.secrets import mask_secrets
from ctxview.analysis.tokens import ESTIMATES, byte_size
from ctxview.core.revision_signs import COMPACTION
from ctxview.core.state import ContextState, TodoItem
from ctxview.files.reading import ReadError, error_text
from ctxview.fleet.stamps import digest_bytes, digest_source, review_files, stamp_source
from ctxview.fleet.tables import (
    FindingRow,
    InstructionRow,
    RevisionRow,
    SourceRow,
    SourceRows,
    ToolRow,
)
from ctxview.formats import Hurry, Lens, OpenError, Peek, Revision, Source
from ctxview.formats.discovery import DiscoveredSource, Look, look_at, members_of, names_below
from ctxview.formats.registry import open_peek
from ctxview.formats.revisions import choose_revisions, parse_time, previous_revision

MOST_READ = 200
"""Revisions of a source that are read; of further ones only names and times are known."""
LENS = Lens(ESTIMATES["bytes/4"])
HANDOFF = "envelope"
"""The format of which every source is meant to be handed on, and so to be reviewed."""
NOT_REVIEWED = "not reviewed"
REVIEWS = {2: "cannot be verified", 4: "changed since", 5: "rejected", 6: "bad signature"}
"""The state of a review, by the exit code that verifying it has."""
STATES = replace(LENS, hurry=Hurry.LINKS)
"""For the states: the findings are asked for once, for all revisions together."""


class RowOptions(Struct, frozen=True):
    """How the rows are written, and under which name: `name` replaces the path of a copied source."""

    messages: bool = True
    name: str | None = None
    below: Path | None = None
    """The copied folder that `name` stands for."""

    def name_of(self, path: Path) -> str:
        if self.name is None or self.below is None:
            return name_in_rows(str(path))
        rest = path.relative_to(self.below).as_posix()
        return name_in_rows(self.name if rest == "." else f"{self.name}/{rest}")

    def text(self, text: str) -> str:
        """Return a text for a row: without secrets, and without the place of a temporary copy."""
        if self.name is not None and self.below is not None:
            text = text.replace(str(self.below), self.name)
        return _gated(text)


def read_rows(path: Path, options: RowOptions, *, named: bool = False) -> list[SourceRows]:
    """Return the rows of what is at `path`, those of each session for a store of several.

    `named`: the user asked for it, so it is read as raw at least.
    """
    peek = Peek(path) if named else Peek(path, inside=path.parent)
    begun = time.time()
    row = new_row(options.name_of(path))

    def read() -> list[SourceRows]:
        look = look_at(peek)
        if look.below is not None:
            names_below(path, look.below)  # a folder that cannot be listed has an error
        looked_at = replace(row, below=look.below)
        if look.found is None and not (named and look.below is None):
            stamp = stamp_source(path, below=look.below)
            return [SourceRows(replace(looked_at, stamp=stamp.text, moving=stamp.changed_since(begun)))]
        if look.found is not None and look.found.matches and look.found.matches[0].members:
            return _store_rows(row, path, look.found, options, begun)
        return [_rows_of(looked_at, path, look, options, begun)]

    try:
        return _attempt(row, path, options, read)
    finally:
        peek.release()


def _attempt(
    row: SourceRow, path: Path, options: RowOptions, read: Callable[[], list[SourceRows]]
) -> list[SourceRows]:
    """Return the rows that `read` makes, or the row of a source that cannot be read."""
    try:
        return read()
    except (OpenError, ReadError) as error:
        problem = options.text(str(error))
    except OSError as error:
        problem = error_text(error)
    except Exception as error:  # noqa: BLE001 - one bad source must not end a run
        problem = f"reading it failed: {type(error).__name__}: {error}"
    return [error_rows(row, path, problem)]


def _store_rows(
    row: SourceRow, path: Path, store: DiscoveredSource, options: RowOptions, begun: float
) -> list[SourceRows]:
    """Return the rows of all sessions of a store. Only the store as a whole has a stamp."""
    stamp, digest = stamp_source(path), digest_source(path)
    rows: list[SourceRows] = []
    for found in members_of(store):
        own = new_row(options.name_of(found.path))

        def read(found: DiscoveredSource = found, own: SourceRow = own) -> list[SourceRows]:
            return [_rows_of(own, found.path, Look(found), options, begun, digest)]

        rows += _attempt(own, found.path, options, read)
    moving = stamp_source(path).text != stamp.text or stamp.changed_since(begun)
    return [SourceRows(replace(row, stamp=stamp.text, moving=moving)), *rows]


def error_rows(row: SourceRow, path: Path, problem: str) -> SourceRows:
    """Return the only row of a source that cannot be read."""
    stamp = stamp_source(path)
    return SourceRows(
        replace(row, stamp=stamp.text, bytes=stamp.bytes, modified=stamp.time, error=_gated(problem))
    )


def new_row(name: str) -> SourceRow:
    now = datetime.now(UTC).replace(tzinfo=None)
    return SourceRow(source=name, stamp="", digest="", read_at=now, ctxview=__version__)


def name_in_rows(place: str) -> str:
    """Return what a path or URL is called in rows: one with a secret in it is masked, and stays unique."""
    masked = mask_secrets(place)
    return clean(masked if masked == place else f"{masked} {digest_bytes(os.fsencode(place))}")


def clean(text: str) -> str:
    """Return `text` as Parquet can hold it: a byte of a name that is not UTF-8 is spelled out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _rows_of(
    row: SourceRow, path: Path, look: Look, options: RowOptions, begun: float, digest: str | None = None
) -> SourceRows:
    """Return the rows of one source; `digest` is that of the store which it is a part of."""
    found = look.found
    source = found.open() if found is not None else open_peek(Peek(path))
    findings = source.findings(LENS)
    scope = source.abilities.file_scope
    parts = None
    if scope is not None and [*scope.made_of] != [path]:
        parts = tuple(sorted(os.path.relpath(each, path) for each in scope.made_of))
        if any(mask_secrets(name) != name for name in parts):
            parts = None  # a name with a secret reaches no row, so the stamp is that of the whole folder
    stamp = stamp_source(path, parts, look.below)
    digest = digest or digest_source(path, parts, look.below)
    read = _Readings(source)
    own = row.source, digest
    revisions = tuple(_revision_rows(source, read, own))
    times = [each.utc for each in revisions if each.utc is not None]
    ended, last = max(times, default=None), read.states[len(source.revisions) - 1]
    fullest = read.fullest
    tokens, counts = read.tokens(fullest)[0], read.states[fullest].counts
    todos = last.todo.items if last.todo is not None else None
    after = stamp_source(path, parts, look.below)
    row = replace(
        row,
        stamp=stamp.text,
        digest=digest,
        bytes=stamp.bytes,
        format=source.format,
        title=_gated(last.title),
        revisions=len(revisions),
        findings=len(findings),
        started=min(times, default=None),
        ended=ended,
        modified=stamp.time,
        model=_gated(last.extra["model"]) if "model" in last.extra else None,
        open_todos=len(_open(todos)) if todos is not None else None,
        compactions=sum(each.is_compaction for each in revisions),
        tokens_max=tokens,
        estimator=counts.estimator,
        review=_review(source, options),
        moving=after.text != stamp.text or stamp.changed_since(begun),
        parts=tuple(map(clean, parts)) if parts is not None else None,
    )
    return SourceRows(
        row,
        revisions,
        [
            FindingRow(
                source=row.source,
                digest=digest,
                rule=each.rule,
                severity=each.severity.value,
                effect=each.effect.value,
                message=options.text(each.message) if options.messages else None,
                file=_gated(_relative(each.origin.file, path)),
                line=each.origin.line,
                pointer=_gated(each.origin.pointer) if each.origin.pointer is not None else None,
                utc=ended or row.modified,
            )
            for each in findings
        ],
        tuple(_tool_rows(read.states[fullest], fullest, own)),
        tuple(_instruction_rows(source, last, own)),
    )


class _Readings:
    """The states of a source, or of some of its revisions when there are very many."""

    def __init__(self, source: Source) -> None:
        self.states: Mapping[int, ContextState] = {
            number: source.reading(number, STATES).state for number in choose_revisions(source, MOST_READ)
        }

    @property
    def fullest(self) -> int:
        """The revision with most tokens in its window, the latest of several."""
        return max(self.states, key=lambda number: (self.tokens(number)[0], number))

    def tokens(self, number: int) -> tuple[int, bool, int | None]:
        """Return the tokens in the window, whether that is exact, and the limit where one is known."""
        state = self.states[number]
        budget = main_budget(state.budgets)
        if budget is None or budget.used is None or unit_of(budget) != "tokens":
            return state.counts.tokens, state.counts.tokens_exact, None
        return budget.used, not is_estimate(budget), budget.limit


def _revision_rows(source: Source, read: _Readings, own: tuple[str, str]) -> Iterator[RevisionRow]:
    revisions = source.revisions
    for number, revision in enumerate(revisions):
        state = read.states.get(number)
        previous = previous_revision(revisions, number)
        before = read.states.get(previous) if previous is not None else None
        row = RevisionRow(
            source=own[0],
            digest=own[1],
            n=number,
            label=_gated(revision.label),
            kind=revision.kind,
            time=_gated(revision.time) if revision.time is not None else None,
            utc=_utc(revision),
            is_compaction=revision.sign is COMPACTION or _has_new_compaction(before, state),
        )
        if state is None:
            yield row
            continue
        tokens, exact, limit = read.tokens(number)
        items = state.todo.items if state.todo is not None else None
        yield replace(
            row,
            blocks=state.counts.blocks,
            visible=state.counts.visible,
            tokens=tokens,
            tokens_exact=exact,
            budget_limit=limit,
            todos_open=len(_open(items)) if items is not None else None,
            todos_lost=_lost_todos(before, state) if row.is_compaction and before is not None else None,
        )


def _has_new_compaction(before: ContextState | None, state: ContextState | None) -> bool:
    if before is None or state is None:
        return False
    return not {each.id for each in state.compactions} <= {each.id for each in before.compactions}


def _lost_todos(before: ContextState, after: ContextState) -> int:
    """Count the items that were open before a compaction and are in no list after it, or recorded as lost."""
    kept = {item.title.casefold() for item in (after.todo.items if after.todo is not None else ())}
    recorded = [entry.casefold() for each in after.compactions for entry in each.lost]
    titles = {item.title.casefold() for item in _open(before.todo.items if before.todo is not None else ())}
    return sum(
        title not in kept or any(entry.endswith(title) for entry in recorded) for title in titles if title
    )


def _open(items: Sequence[TodoItem]) -> list[TodoItem]:
    return [item for item in items if not item.is_done and not item.is_dropped]


def _tool_rows(state: ContextState, number: int, own: tuple[str, str]) -> Iterator[ToolRow]:
    shown = [block for block in state.blocks() if block.tool is not None and block.visible is not False]
    for tool in sorted({block.tool or "" for block in shown}):
        blocks = [block for block in shown if block.tool == tool]
        kinds = [block.type for block in blocks]
        yield ToolRow(
            source=own[0],
            digest=own[1],
            n=number,
            tool=_gated(tool),
            # A call and its result are two blocks; some formats have only the results.
            calls=max(kinds.count(kind) for kind in {*kinds}),
            bytes=sum(byte_size(block.text) for block in blocks),
            tokens=sum(block.tokens or 0 for block in blocks),
        )


def _instruction_rows(source: Source, state: ContextState, own: tuple[str, str]) -> Iterator[InstructionRow]:
    parts = state.assembly.components if state.assembly is not None else ()
    for name, tokens in {part.source: part.whole_tokens or part.tokens for part in parts}.items():
        if name is None:
            continue
        try:
            data = source.bytes_of(str(source.path / name))
        except ReadError:
            continue
        yield InstructionRow(
            source=own[0],
            digest=own[1],
            file=_gated(name),
            content=digest_bytes(data),
            bytes=len(data),
            tokens=tokens,
        )


def _review(source: Source, options: RowOptions) -> str | None:
    """Return how the review of a source stands; None for a source that needs none and has none."""
    if options.name is not None:
        return None  # the records beside it were not copied
    without = NOT_REVIEWED if source.format == HANDOFF else None
    if not review_files(source.path):
        return without
    from ctxview.review.rules import exit_code, judge
    from ctxview.review.subject import records_beside
    from ctxview.review.verification import VerifyOptions, check_source
    from ctxview.review.words import SignatureState

    if not records_beside(source.path):
        return without
    checked = check_source(source, LENS, VerifyOptions())
    if code := exit_code(judge(checked)):
        return REVIEWS.get(code, NOT_REVIEWED)
    signed = any(each.signature.state is not SignatureState.UNSIGNED for each in checked.approvals)
    return "approved" if signed else "approved, not signed"


def _utc(revision: Revision) -> datetime | None:
    """Return the time of a revision in UTC; a time without a zone is taken as UTC."""
    found = parse_time(revision.time or "")
    if found is None:
        return None
    try:
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo is not None else found
    except (OverflowError, ValueError):
        return None


def _relative(file: str, path: Path) -> str:
    return path.name if file == str(path) else file.removeprefix(f"{path}/")


def _gated(text: str) -> str:
    return clean(mask_secrets(text))
