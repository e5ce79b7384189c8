"""`ctxview diff A B`: compare two states by meaning. Exit 0 equal, 1 different, 2 error.

The states are of two sources, or two revisions of one source.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.commands.arguments import add_reading_arguments, lens_from, open_whole_source, revision_index
from ctxview.core.lazy import lazy_pattern
from ctxview.formats import Source, open_source
from ctxview.formats.revisions import REVISION_HELP, previous_revision
from ctxview.reports.console import Console, Style, UserError

SIGN_STYLES = {"+": Style.GOOD, "-": Style.BAD, "~": Style.WARNING, ">": Style.NOTE, "!": Style.BAD}
_CHANGED_WORDS = lazy_pattern(r"\[-.*?-\]|\{\+.*?\+\}")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", type=Path, help="the earlier file, session or folder")
    parser.add_argument(
        "after", metavar="B", type=Path, nargs="?", help="the later one; without B, two revisions of A"
    )
    parser.add_argument(
        "--at", metavar="REV", nargs="+", default=[], help=f"one revision or two: {REVISION_HELP}"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_reading_arguments(parser)


def run(arguments: Namespace) -> int:
    from ctxview.analysis.diff import diff
    from ctxview.analysis.diff.report import json_of, lines_of

    if len(arguments.at) > 2:
        raise UserError(f"--at takes one revision or two, not {len(arguments.at)}; write paths before --at")
    lens = lens_from(arguments)
    found = diff(*(source.reading(number, lens).state for source, number in _sides(arguments)))
    if arguments.json:
        from ctxview.reports.json_output import dumps

        print(dumps(json_of(found)))
    else:
        from ctxview.analysis.secrets import mask_secrets
        from ctxview.reports.console import console_for, print_lines

        # Secrets are masked first: colours inside a text would hide them.
        masked = mask_secrets("\n".join(lines_of(found))).split("\n")
        print_lines(_painted(line, console_for()) for line in masked)
    return 1 if found else 0


def _painted(line: str, console: Console) -> str:
    """A line of the difference with its title, its sign and its changed words in colour."""
    if not line.startswith(" "):
        title, colon, counts = line.partition(": ")
        return f"{console.paint(title, Style.HEADING)}{colon}{console.paint(counts, Style.QUIET)}"
    words = _CHANGED_WORDS.sub(
        lambda found: console.paint(found[0], Style.BAD if found[0].startswith("[") else Style.GOOD), line
    )
    sign = line[2:3]
    return f"  {console.paint(sign, SIGN_STYLES[sign])}{words[3:]}" if sign in SIGN_STYLES else words


def _sides(arguments: Namespace) -> tuple[tuple[Source, int], tuple[Source, int]]:
    """Return both sides: two paths at one revision each, or one path at two revisions.

    With one path and at most one revision, the other side is the revision before it.
    """
    first, last = (arguments.at[0], arguments.at[-1]) if arguments.at else (None, None)
    source = open_whole_source(arguments.before, arguments)
    if arguments.after is not None:
        other = _as_reply(open_whole_source(arguments.after, arguments), source, arguments)
        redactor, other_redactor = source.abilities.joint_redactor, other.abilities.joint_redactor
        if redactor is not None and other_redactor is not None:
            # The second call sees the texts that the first one found in `source`.
            source = redactor.withholding(other)
            other = other_redactor.withholding(source)
        number = _named(source, first)
        if (replies := other.abilities.replies) is not None:
            other = replies.answering(source, number)
        return (source, number), (other, _named(other, last))
    number = revision_index(source, last)
    if len(arguments.at) == 2:
        return (source, revision_index(source, first)), (source, number)
    earlier = previous_revision(source.revisions, number)
    if earlier is None:
        label = source.revisions[number].label
        raise UserError(
            f"{source.path}: no revision comes before {label}; name a second path or two revisions"
        )
    return (source, earlier), (source, number)


def _as_reply(other: Source, source: Source, arguments: Namespace) -> Source:
    """Return a plain text after a snapshot as a reply without a snapshot, which changes nothing."""
    is_text = other.format == "raw" and arguments.as_format is None and other.path.is_file()
    if not is_text or source.abilities.replies is None:
        return other
    reply = open_source(other.path, source.format)
    return reply if reply.revisions[-1].kind == "reply" else other


def _named(source: Source, wanted: str | None) -> int:
    """The revision `wanted`, or the latest in the file itself: files beside it may have later ones."""
    own = [number for number, each in enumerate(source.revisions) if each.file == source.path]
    if wanted is None and own and source.revisions[-1].file.is_file():
        return own[-1]
    return revision_index(source, wanted)
