"""`ctxview diff A B`: tells two states apart by meaning. Exit 0 equal, 1 different, 2 trouble.

The two may be of two sources, or two revisions of one.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from ctxview.commands.looking import add_look, lens, opened, revision_index
from ctxview.commands.trouble import Trouble
from ctxview.formats import Source
from ctxview.formats.revisions import HOW, before


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", type=Path, help="the earlier file or session")
    parser.add_argument(
        "after", metavar="B", type=Path, nargs="?", help="the later one; without it, revisions of A"
    )
    parser.add_argument("--at", metavar="REV", nargs="+", default=[], help=f"one revision, or two: {HOW}")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    add_look(parser)


def run(arguments: Namespace) -> int:
    from ctxview.analysis.diff import diff

    if len(arguments.at) > 2:
        raise Trouble(f"--at takes one revision or two, not {len(arguments.at)}; paths come before it")
    look = lens(arguments)
    found = diff(*(source.reading(number, look).state for source, number in _sides(arguments)))
    if arguments.json:
        from ctxview.reports.json_text import dumps

        print(dumps(found.as_json()))
    else:
        from ctxview.reports.console import tell

        tell(found.as_lines())
    return 1 if found else 0


def _sides(arguments: Namespace) -> tuple[tuple[Source, int], tuple[Source, int]]:
    """What to compare: two paths at one revision each, or one path at two, or at one and what led to it."""
    first, last = (arguments.at[0], arguments.at[-1]) if arguments.at else (None, None)
    source = opened(arguments.before, arguments)
    if arguments.after is not None:
        other = opened(arguments.after, arguments)
        return (source, _named(source, first)), (other, _named(other, last))
    number = revision_index(source, last)
    if len(arguments.at) == 2:
        return (source, revision_index(source, first)), (source, number)
    earlier = before(source.revisions, number)
    if earlier is None:
        told = source.revisions[number].label
        raise Trouble(f"{source.path}: nothing comes before {told}; name a second path, or two revisions")
    return (source, earlier), (source, number)


def _named(source: Source, wanted: str | None) -> int:
    """The revision asked for, or the latest in the very file that was named: later ones may lie beside it."""
    own = [number for number, each in enumerate(source.revisions) if each.file == source.path]
    if wanted is None and own and source.revisions[-1].file.is_file():
        return own[-1]
    return revision_index(source, wanted)
