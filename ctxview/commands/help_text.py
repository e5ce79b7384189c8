"""What `--help` prints: how a command is called, what it takes, examples. At most 80 columns, short.

Laid out from the parser that reads the arguments, so that it cannot say anything else.
"""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterator, Sequence
from typing import NamedTuple

WIDTH = 80
WIDEST_NAME = 20
WIDEST_EXAMPLE = 40
BELOW = 6
"""Cells before what is said of an example that is too long for its column."""
GAP = 2


class Example(NamedTuple):
    typed: str
    says: str


def help_text(parser: ArgumentParser, examples: Sequence[Example], more: Sequence[str] = ()) -> str:
    """`more` stands between the arguments and the examples."""
    told = sorted(_told(parser), key=lambda each: bool(each.option_strings))
    taken = [(_name(each), _help(each)) for each in told]
    shown = [(each.typed, each.says) for each in examples]
    sections = [
        [f"usage: {_usage(parser)}"],
        [*(parser.description or "").strip().splitlines()],
        [*_columns(taken, WIDEST_NAME)],
        [*more],
        ["examples:", *_columns(shown, WIDEST_EXAMPLE, BELOW)],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _usage(parser: ArgumentParser) -> str:
    """The shortest that works: what must be given, and that there is more."""
    if parser.usage is not None:
        return parser.usage
    places = [_place(each) for each in parser._actions if not each.option_strings]
    musts = [_name(each) for each in parser._actions if each.option_strings and each.required]
    either = [
        f"({' | '.join(map(_name, group._group_actions))})"
        for group in parser._mutually_exclusive_groups
        if group.required
    ]
    more = ["[OPTIONS]"] if any(each.option_strings for each in _told(parser)) else []
    return " ".join([parser.prog, *places, *musts, *either, *more])


def _told(parser: ArgumentParser) -> list[Action]:
    return [each for each in parser._actions if each.help is not SUPPRESS]


def _place(action: Action) -> str:
    name = str(action.metavar or action.dest.upper())
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def _name(action: Action) -> str:
    if not action.option_strings:
        return str(action.metavar or action.dest.upper())
    value = "" if action.nargs == 0 else f" {action.metavar or 'WORD'}"
    more = " ..." if action.nargs == "+" else ""
    return f"{', '.join(action.option_strings)}{value}{more}"


def _help(action: Action) -> str:
    """With the words there are, where it does not name them itself."""
    told, bracket, default = (action.help or "").partition(" (default")
    words = [str(each) for each in action.choices or ()]
    if words and not all(word in told for word in words):
        told = f"{told}: {', '.join(words)}"
    return f"{told}{bracket}{default}" % vars(action)


def _columns(rows: Sequence[tuple[str, str]], widest: int, below: int | None = None) -> Iterator[str]:
    """What is said beside what is named; below it, from the column `below` on, where there is no room."""
    room = max((len(name) for name, _ in rows if len(name) <= widest), default=0)
    beside = room + 2 * GAP
    for name, says in rows:
        lines = [*_wrapped(says, WIDTH - beside)]
        if len(name) > room or (below is not None and len(lines) > 1):
            at = beside if below is None else below
            yield f"  {name}"
            yield from (f"{'':{at}}{line}" for line in _wrapped(says, WIDTH - at))
        else:
            yield f"  {name:<{room}}  {lines[0]}"
            yield from (f"{'':{beside}}{line}" for line in lines[1:])


def _wrapped(text: str, room: int) -> Iterator[str]:
    """As `textwrap` would, without its import."""
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > room:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    if line:
        yield line
