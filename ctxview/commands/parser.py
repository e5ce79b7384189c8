"""The table of commands, the parser of each, and the text of `--help`.

The help is made from the parser that reads the arguments, so the two cannot differ. It is short and at most
80 columns wide.
"""

from __future__ import annotations

from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser, HelpFormatter
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from ctxview.core.format_spec import CommandSpec
from ctxview.reports.console import UserError

COMMANDS: dict[str, CommandSpec] = {
    "demo": CommandSpec(
        "demo",
        "ctxview.commands.demo",
        "play the bundled stories about agent memory, with captions",
        (
            ("ctxview demo", "choose a story; any key pauses, q quits"),
            ("ctxview demo --loop --speed 2", "all stories in a loop, twice as fast"),
        ),
    ),
    "show": CommandSpec(
        "show",
        "ctxview.commands.show",
        "print the state of a file, session or folder",
        (
            ("ctxview show round-12.json", "an overview as text"),
            ("ctxview show round-12.json --json", "the whole state as JSON"),
            ("ctxview show .agent --at -2", "the revision before the latest; also 12, 'round 12', 02:30"),
        ),
    ),
    "prompt": CommandSpec(
        "prompt",
        "ctxview.commands.prompt",
        "print the literal text that the model is given",
        (
            ("ctxview prompt round-12.json", "the text and nothing else; notes go to stderr"),
            ("ctxview prompt .agent --at 9 --sha256", "exit 1 and the reason when there is no prompt"),
            ("ctxview prompt round-12.json --as messages", "all messages of the call as JSON"),
        ),
    ),
    "check": CommandSpec(
        "check",
        "ctxview.commands.check",
        "find problems and report them as text, JSON, SARIF or for GitHub",
        (
            ("ctxview check .agent", "exit 0 clean, 1 findings, 2 unreadable"),
            ("ctxview check logs --format github --fail-on warning", "annotate a pull request"),
            ("ctxview check session/default --forget", "accept a rewritten history"),
        ),
    ),
    "rules": CommandSpec(
        "rules",
        "ctxview.commands.rules",
        "list the rules, or explain one",
        (
            ("ctxview rules", "every rule with its severity, one per line"),
            ("ctxview rules SNP021", "the reason, a bad and a good example, the fix"),
        ),
    ),
    "formats": CommandSpec(
        "formats",
        "ctxview.commands.formats",
        "list the formats that ctxview reads and how it recognises them",
        (
            ("ctxview formats", "every format, also those of plug-ins"),
            ("ctxview formats --json", "the same as JSON"),
        ),
    ),
    "config": CommandSpec(
        "config",
        "ctxview.commands.config",
        "show the settings and where each one comes from",
        (
            ("ctxview config", "theme, token counter, keys, and the path of the config file"),
            ("ctxview config --json", "the same as JSON"),
        ),
    ),
    "completions": CommandSpec(
        "completions",
        "ctxview.commands.completions",
        "print a completion script for bash, zsh or fish",
        (
            ("ctxview completions bash", "the top of the script says where to install it"),
            ("ctxview completions zsh", "the script for zsh"),
        ),
    ),
    "diff": CommandSpec(
        "diff",
        "ctxview.commands.diff",
        "compare two states by meaning",
        (
            ("ctxview diff round-11.json round-12.json", "exit 0 equal, 1 different"),
            ("ctxview diff .agent --at 9 12", "two revisions; --at 12 alone shows what 12 changed"),
            ("ctxview diff before.json after.json --json", "the same as JSON"),
        ),
    ),
    "why": CommandSpec(
        "why",
        "ctxview.commands.why",
        "say where a block went: last shown, hidden, erased, and by what",
        (
            ("ctxview why .agent h1-time-zone", "its life over all revisions; exit 1 if no revision has it"),
            ("ctxview why .agent h1-time-zone --json", "the same as JSON"),
        ),
    ),
    "export": CommandSpec(
        "export",
        "ctxview.commands.export",
        "write a report to hand on, or a redacted copy",
        (
            ("ctxview export .agent --to html -o report.html", "a page for a browser, a phone or paper"),
            ("ctxview export .agent --at 9 --to md", "the report of a revision; also svg and json"),
            (
                "ctxview export .agent --redact --text billing-ro -o handover",
                "a copy without this text; also --secrets, --block ID and --field FILE#/pointer",
            ),
        ),
    ),
    "review": CommandSpec(
        "review",
        "ctxview.commands.review",
        "decide whether a context may be handed on, and sign off",
        (
            ("ctxview review handoff", "the verdict and the points, worst first; exit 1 while any is open"),
            ("ctxview review handoff --accept ENV075='asked Bram' --looked-at all --approve", "sign off"),
            (
                "ctxview review --verify handoff",
                "for CI: 0 approved, 3 not, 4 changed, 5 rejected, 6 signature",
            ),
        ),
    ),
    "serve": CommandSpec(
        "serve",
        "ctxview.commands.serve",
        "show the inspector in a browser, on this machine only",
        (
            ("ctxview serve .agent --open", "read-only; --write lets viewers save"),
            ("ctxview serve --demo", "the bundled stories, for a meeting"),
        ),
    ),
    "record": CommandSpec(
        "record",
        "ctxview.commands.record",
        "record every change of a file, session or folder",
        (
            ("ctxview record .agent -o night.ctxrec", "record until Ctrl-C; print a line per change"),
            ("ctxview record session/default -o run.ctxrec --for 600", "record for ten minutes"),
            ("ctxview night.ctxrec", "open the recording; show, check and diff read it too"),
        ),
    ),
    "replay": CommandSpec(
        "replay",
        "ctxview.commands.replay",
        "play a recording, or the revisions of a source, with captions",
        (
            ("ctxview replay night.ctxrec", "space pauses, . jumps to the next event, + and - set the speed"),
            ("ctxview replay .agent --speed 2 --loop", "twice as fast, in a loop"),
        ),
    ),
    "fleet": CommandSpec(
        "fleet",
        "ctxview.commands.fleet",
        "read many sources into tables, and answer questions with SQL",
        (
            ("ctxview fleet read logs .agent --into fleet", "read what is new or changed"),
            ("ctxview fleet report fleet lost-todos", "one of the reports that ship"),
            (
                'ctxview fleet sql fleet "FROM findings SELECT rule, count(*) GROUP BY rule"',
                "any question; exit 2 when it cannot be answered",
            ),
        ),
    ),
}
INSPECTOR = CommandSpec(
    "",
    "ctxview.commands.inspect",
    "See what your agent knows, what it was shown, and what it lost.",
    (
        ("ctxview round-12.json", "open a file, session or folder"),
        ("ctxview .agent --profile protocol-3.0", "apply the limits of the protocol only"),
        ("ctxview", "choose from the files found nearby"),
    ),
)
WIDTH = 80
WIDEST_NAME = 20
WIDEST_EXAMPLE = 40
EXAMPLE_INDENT = 6
"""Columns before the text of an example that is too long to stand beside it."""
GAP = 2


def all_commands() -> dict[str, CommandSpec]:
    """Return the general commands and those of the formats."""
    from ctxview.formats.registry import format_commands

    others = format_commands().items()
    return COMMANDS | {name: command for name, command in others if name not in COMMANDS}


def command_module(command: CommandSpec) -> ModuleType:
    """Import the module of a command; raises `UserError` when that is of another package and fails."""
    if command.module.startswith("ctxview."):
        return import_module(command.module)
    try:
        return import_module(command.module)
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise UserError(f"the command {command.name} cannot be used: {why}") from error


def parser_of(name: str | None, command: CommandSpec) -> ArgumentParser:
    """Return the parser of a command with all its arguments."""
    parser = _Parser(name, command)
    command_module(command).configure(parser)
    if name is None:
        from ctxview import __version__

        version = f"ctxview {__version__}"
        parser.add_argument("--version", action="version", version=version, help="print the version")
    return parser


class _Parser(ArgumentParser):
    def __init__(self, name: str | None, command: CommandSpec) -> None:
        super().__init__(
            prog=f"ctxview {name}" if name else "ctxview",
            usage=None if name else "ctxview [PATH ...] [OPTIONS]\n       ctxview COMMAND ...",
            description=command.summary[0].upper() + command.summary[1:].removesuffix(".") + ".",
            add_help=False,
            allow_abbrev=False,
            # argparse makes a formatter for each argument, and without a width it imports shutil.
            formatter_class=lambda prog: HelpFormatter(prog, width=WIDTH),
        )
        self._examples = command.examples
        self._lists_commands = name is None
        self.add_argument("-h", "--help", action="help", help=SUPPRESS)

    def format_help(self) -> str:
        listed = []
        if self._lists_commands:
            commands = [f"  {name:<11}  {each.summary}" for name, each in all_commands().items()]
            listed = ["commands (each has its own --help; for a path of that name write ./check):", *commands]
        return help_text(self, self._examples, listed)

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see {self.prog} --help)")

    def _check_value(self, action: Action, value: object) -> None:
        """Reject a value that is not among the choices, and suggest the nearest one."""
        if action.choices is not None and value not in action.choices:
            from ctxview.analysis.wording import did_you_mean

            known = list(map(str, action.choices))
            words = " or ".join(filter(None, (", ".join(known[:-1]), known[-1])))
            expected = f"expected {words}, found '{value}'"
            raise ArgumentError(action, f"{expected}{did_you_mean(str(value), known)}")


def help_text(
    parser: ArgumentParser, examples: Sequence[tuple[str, str]], commands: Sequence[str] = ()
) -> str:
    """The text of `--help`, with the lines of `commands` between the arguments and the examples."""
    listed = sorted(_listed(parser), key=lambda each: bool(each.option_strings))
    sections = [
        [f"usage: {_usage(parser)}"],
        [*(parser.description or "").strip().splitlines()],
        [*_columns([(_name(each), _help(each)) for each in listed], WIDEST_NAME)],
        [*commands],
        ["examples:", *_columns(examples, WIDEST_EXAMPLE, EXAMPLE_INDENT)],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _usage(parser: ArgumentParser) -> str:
    """The required arguments, and `[OPTIONS]` if there are others."""
    if parser.usage is not None:
        return parser.usage
    positional = [_positional(each) for each in parser._actions if not each.option_strings]
    options = [each for each in parser._actions if each.option_strings and each.required]
    required = [_name(each).rpartition(", ")[2] for each in options]
    either = [
        f"({' | '.join(map(_name, group._group_actions))})"
        for group in parser._mutually_exclusive_groups
        if group.required
    ]
    others = ["[OPTIONS]"] if any(each.option_strings for each in _listed(parser)) else []
    words = " ".join([parser.prog, *positional, *required, *either, *others])
    return "\n       ".join(_wrapped(words, WIDTH - len("usage: ")))


def _listed(parser: ArgumentParser) -> list[Action]:
    return [each for each in parser._actions if each.help is not SUPPRESS]


def _positional(action: Action) -> str:
    name = str(action.metavar or action.dest.upper())
    return {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}.get(str(action.nargs), name)


def _name(action: Action) -> str:
    if not action.option_strings:
        return str(action.metavar or action.dest.upper())
    value = "" if action.nargs == 0 else f" {action.metavar or 'WORD'}"
    more = " ..." if action.nargs == "+" else ""
    return f"{', '.join(action.option_strings)}{value}{more}"


def _help(action: Action) -> str:
    """The help of an argument, with its choices unless the help names them all."""
    text, bracket, default = (action.help or "").partition(" (default")
    words = [str(each) for each in action.choices or ()]
    if words and not all(word in text for word in words):
        text = f"{text}: {', '.join(words)}"
    return f"{text}{bracket}{default}" % vars(action)


def _columns(rows: Sequence[tuple[str, str]], widest: int, below: int | None = None) -> Iterator[str]:
    """Lay out names and texts in two columns; a text that is too long goes below, indented by `below`."""
    room = max((len(name) for name, _ in rows if len(name) <= widest), default=0)
    beside = room + 2 * GAP
    for name, text in rows:
        lines = [*_wrapped(text, WIDTH - beside)]
        if len(name) > room or (below is not None and len(lines) > 1):
            at = beside if below is None else below
            yield f"  {name}"
            yield from (f"{'':{at}}{line}" for line in _wrapped(text, WIDTH - at))
        else:
            yield f"  {name:<{room}}  {lines[0]}"
            yield from (f"{'':{beside}}{line}" for line in lines[1:])


def _wrapped(text: str, room: int) -> Iterator[str]:
    """Wrap like `textwrap`, without its import."""
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > room:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    if line:
        yield line
