"""`ctxview review PATH …`: see what has to be decided, decide, and sign off. `--verify` checks that for CI.

Exit codes of `--verify`: 0 approved, 2 unreadable, 3 not reviewed, 4 changed since, 5 rejected, 6 signature.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from ctxview.analysis.wording import did_you_mean
from ctxview.commands.arguments import (
    add_reading_arguments,
    lens_from,
    open_whole_source,
    sources_below,
    unsigned_integer,
)
from ctxview.commands.inspect import add_screen_arguments, is_terminal, open_inspector
from ctxview.core.edits import EditRefused
from ctxview.core.findings import Finding
from ctxview.files.create import CreateRefused
from ctxview.files.save import SaveConflict, SaveRefused
from ctxview.files.visible_text import visible
from ctxview.formats import Lens, OpenError, Source
from ctxview.formats.interface import GapChange
from ctxview.reports.console import UserError, console_for, print_error, print_masked
from ctxview.reports.findings import finding_lines, github_lines, sarif
from ctxview.reports.json_output import dumps, masked_values
from ctxview.review.decisions import DecisionKind, DecisionRefused
from ctxview.review.gap_notes import source_of, write_gap
from ctxview.review.listing import review_json, review_lines, verification_json, verification_lines
from ctxview.review.points import Point
from ctxview.review.record import ReviewStatement
from ctxview.review.review import Review
from ctxview.review.rules import exit_code, judge
from ctxview.review.sign_off import (
    SignOffRefused,
    SignOffRequest,
    keep_progress,
    open_review,
    reviewer_name,
    sign_off,
)
from ctxview.review.ssh_signature import SigningFailed
from ctxview.review.verification import CheckedPath, VerifyOptions, verify_path
from ctxview.review.words import SignOff

EXIT_NOT_READY = 1
EXIT_UNREADABLE = 2
MOST_NAMED = 4
FORMATS = ("text", "json", "sarif", "github")
_WITHOUT_SCREEN = (
    *("approve", "reject", "accept", "looked_at", "ask", "answer", "waive"),
    *("comment", "sign", "to", "json"),
)
"""The arguments that decide or print; without them a terminal gets the review of the inspector."""
_GAP_CHANGES: dict[DecisionKind, Literal["ask", "answer", "waive"]] = {
    DecisionKind.ASKED: "ask",
    DecisionKind.ANSWERED: "answer",
    DecisionKind.WAIVED: "waive",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path, help="files, sessions or folders")
    whole = parser.add_mutually_exclusive_group()
    whole.add_argument(
        "--approve", action="store_true", help="sign off: everything may be handed on as it is"
    )
    whole.add_argument("--reject", action="store_true", help="sign off: it may not; needs --comment")
    whole.add_argument("--verify", action="store_true", help="check the sign-off, for CI")
    for option, value, text in (
        ("--accept", "POINT=REASON", "accept a point, by its id, rule or kind, for a written reason"),
        ("--looked-at", "POINT", "mark a point that does not block as looked at; all for all of them"),
        ("--ask", "POINT=QUESTION", "ask for context about a point; a QUESTION alone is about the whole"),
        ("--answer", "GAP=TEXT", "answer a gap"),
        ("--waive", "GAP=REASON", "let a gap stay open, for a written reason"),
    ):
        parser.add_argument(option, metavar=value, action="append", default=[], help=text)
    parser.add_argument("--comment", metavar="TEXT", default="", help="a comment for the record")
    parser.add_argument("--reviewer", metavar="NAME", help="who decides (default: your user name)")
    parser.add_argument("--sign", metavar="KEY", type=Path, help="sign the record with this SSH key")
    parser.add_argument(
        "--to",
        metavar="FILE",
        type=Path,
        help="the record, *.ctxreview.json (default: beside the first path)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="output format of --verify (default: text)"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        action="append",
        type=Path,
        default=[],
        help="verify this record instead of those beside the path",
    )
    parser.add_argument("--require-signature", action="store_true", help="only signed approvals count")
    parser.add_argument(
        "--allowed-signers", metavar="FILE", type=Path, help="the known keys of reviewers, as for git"
    )
    parser.add_argument(
        "--not-before", metavar="DATE", type=_moment, help="older approvals do not count: 2026-11-01"
    )
    parser.add_argument(
        "--reviewers", metavar="N", type=unsigned_integer, default=1, help="so many must approve (default: 1)"
    )
    add_screen_arguments(parser)
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    if arguments.verify:
        return _verify(arguments)
    if is_terminal() and not any(getattr(arguments, name) for name in _WITHOUT_SCREEN):
        return open_inspector(arguments.paths, arguments, view="REVIEW")
    return _review(arguments)


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a date such as 2026-11-01, found '{text}'") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _review(arguments: Namespace) -> int:
    sources = [open_whole_source(path, arguments) for path in arguments.paths]
    for path, source in zip(arguments.paths, sources, strict=True):
        if path.is_dir() and source.path.resolve() != path.resolve():
            print_error(f"note: only {source.path} is reviewed, not all of {path}")
    lens = lens_from(arguments)
    try:
        review = _decided(sources, lens, arguments)
        done = _signed_off(review, sources, arguments)
    except SignOffRefused as error:
        print_error(str(error))
        return EXIT_NOT_READY
    except (
        OpenError,
        DecisionRefused,
        CreateRefused,
        SigningFailed,
        SaveRefused,
        SaveConflict,
        OSError,
    ) as error:
        raise UserError(str(error)) from error
    if done is not None:
        print_masked([visible(f"{done[1].predicate.decision}: {done[0]}")])
        return 0
    if arguments.json:
        print(dumps(masked_values(review_json(review))))
    else:
        print_masked(review_lines(review, console_for()))
    return EXIT_NOT_READY if review.undecided else 0


def _decided(sources: list[Source], lens: Lens, arguments: Namespace) -> Review:
    """Return the review with the decisions of the command line, which are kept for the next time.

    Questions, answers and waivers are also written into sources that have records of gaps; `sources` are then
    opened again.
    """
    reviewer = arguments.reviewer or reviewer_name()
    review = open_review(sources, lens)
    for point, kind, text in [*_gap_decisions(review, arguments)]:
        # What may not be decided is refused before anything is written.
        review = review.with_decision(point, kind, text, reviewer) if point is not None else review
        keep_progress(review)
        if _is_written(sources, point, kind, text, reviewer):
            review = open_review(sources, lens)
    for kind, texts in (
        (DecisionKind.ACCEPTED, arguments.accept),
        (DecisionKind.LOOKED_AT, [f"{name}=" for name in arguments.looked_at]),
    ):
        for point, text in _named(review, texts):
            review = review.with_decision(point, kind, text, reviewer)
    if review.decisions:
        keep_progress(review)
    return review


def _is_written(
    sources: list[Source], point: Point | None, kind: DecisionKind, text: str, reviewer: str
) -> bool:
    """Write a question, an answer or a waiver into its source; False when the source has no place for it."""
    source = source_of(point, sources)
    gap, title = (point.gap, point.title) if point is not None else (None, "")
    try:
        file = write_gap(source, GapChange(_GAP_CHANGES[kind], text, reviewer, gap, title))
    except EditRefused as refusal:
        print_error(f"note: it is kept in the review only: {refusal}")
        return False
    if file is None:
        return False
    print_error(f"note: written to {file}")
    sources[sources.index(source)] = source.again()
    return True


def _signed_off(
    review: Review, sources: list[Source], arguments: Namespace
) -> tuple[Path, ReviewStatement] | None:
    """Write the record that the command line asks for; None when it asks for none."""
    asks = [each for each in arguments.ask if source_of(None, sources).abilities.gap_writer is None]
    if arguments.approve or arguments.reject:
        decision = SignOff.APPROVED if arguments.approve else SignOff.REJECTED
    elif asks:
        decision = SignOff.ASKED
    else:
        return None
    reviewer = arguments.reviewer or reviewer_name()
    comment = (
        "\n".join(filter(None, (arguments.comment, *asks)))
        if decision is SignOff.ASKED
        else arguments.comment
    )
    return sign_off(
        review, sources, SignOffRequest(decision, reviewer, comment, arguments.to, arguments.sign)
    )


def _gap_decisions(review: Review, arguments: Namespace) -> Iterator[tuple[Point | None, DecisionKind, str]]:
    """Yield the questions, answers and waivers of the command line; None for a question about the whole."""
    for text in arguments.ask:
        if not text.strip():
            raise UserError("--ask needs a question")
        if not _names_point(review, text):
            yield None, DecisionKind.ASKED, text
    asked = [each for each in arguments.ask if _names_point(review, each)]
    yield from ((point, DecisionKind.ASKED, text) for point, text in _named(review, asked))
    yield from ((point, DecisionKind.ANSWERED, text) for point, text in _named(review, arguments.answer))
    yield from ((point, DecisionKind.WAIVED, text) for point, text in _named(review, arguments.waive))


def _named(review: Review, texts: Sequence[str]) -> Iterator[tuple[Point, str]]:
    """Yield the points and texts of arguments POINT=TEXT; raises `UserError` for a name that no point has."""
    for name, _, text in (each.partition("=") for each in texts):
        points = review.points_named(name.strip())
        if not points and name != "all":
            names = [each for point in review.points for each in (point.id, point.group)]
            raise UserError(f"no point is named {name}{did_you_mean(name, names)}")
        yield from ((point, text) for point in points)


def _names_point(review: Review, text: str) -> bool:
    """Whether a text has the form POINT=QUESTION."""
    name, sign, _ = text.partition("=")
    return bool(sign and review.points_named(name.strip()))


def _verify(arguments: Namespace) -> int:
    signers: Path | None = arguments.allowed_signers
    if signers is not None and not signers.is_file():
        raise UserError(f"{signers}: this is not a file of allowed signers")
    options = VerifyOptions(
        arguments.require_signature,
        signers,
        arguments.not_before,
        arguments.reviewers,
        tuple(arguments.record),
    )
    lens = lens_from(arguments)
    checked: list[tuple[CheckedPath, tuple[Finding, ...]]] = []
    unreadable = False
    for path in arguments.paths:
        try:
            found = verify_path(path, lens, options, arguments.as_format)
        except OpenError as error:
            # What lies below is not taken instead: the approval of a part says nothing about the whole.
            below = [str(each.path) for each in sources_below(path)[0]]
            what = ", ".join([*below[:MOST_NAMED], *(["…"] if len(below) > MOST_NAMED else [])])
            print_error(f"{path}: name what was reviewed: {what}" if below else str(error))
            unreadable = True
            continue
        checked.append((found, judge(found)))
    findings = tuple(each for _, found in checked for each in found)
    code = EXIT_UNREADABLE if unreadable else exit_code(findings)
    if arguments.json or arguments.format == "json":
        print(dumps(masked_values(verification_json(checked, code))))
    elif arguments.format == "sarif":
        print(dumps(sarif(findings)))
    elif arguments.format == "github":
        for line in github_lines(findings):
            print(line)
    else:
        print_masked([*verification_lines(checked), *finding_lines(findings, console_for())])
    return code
