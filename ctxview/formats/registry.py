"""The registry of formats: detects the format of a path and opens it.

The built-in formats are listed without being imported. Formats of other packages come through the entry point
group `ctxview.formats`; they are tried only when no built-in format fits, or when the user names one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.wording import did_you_mean
from ctxview.formats.interface import (
    FallbackFormat,
    Format,
    FormatMatch,
    FormatSpec,
    LensOption,
    OpenError,
    Source,
)
from ctxview.formats.path_hints import missing_path_reason, nothing_recognised
from ctxview.formats.peek import Peek

if TYPE_CHECKING:
    from ctxview.core.findings import Rule


FORMATS: tuple[FormatSpec, ...] = (
    FormatSpec(
        "session",
        "Context Runtime ABI sessions",
        "a folder with messages.jsonl, or with other parts of a session; a folder of sessions with its index",
        {"ABI": "sessions (Context Runtime ABI)"},
        (LensOption("budget", "Budget", "number", help="try another budget for the pack of a session"),),
    ),
    FormatSpec(
        "envelope",
        "Agent Context envelopes and their records",
        "JSON objects, lists or lines with the id fields of the draft (context_id, item_id, selection_id …); "
        "a folder whose JSON files are mostly such records",
        {"ENV": "envelopes (Agent Context draft)"},
    ),
    FormatSpec(
        "snapshot",
        "Context Protocol v3 snapshots",
        "an .agent folder or its logs; JSON with memory and version; a log envelope or {ok, data} around "
        "one; a text with the <<<CONTEXT>>> separator; a folder of such files, as rounds",
        {"SNP": "snapshots (Context Protocol v3)"},
        (
            LensOption(
                "mode",
                "Context mode",
                "choice",
                ("enabled", "disabled"),
                "context mode in which the reply was made",
            ),
        ),
    ),
    FormatSpec(
        "workspace",
        "workspaces of agents: CONTEXT.md, MEMORY.md, AGENTS.md, CLAUDE.md and the others",
        "an agent's workspace or home with SOUL.md, CONTEXT.md, a memory folder or sessions.db; a folder "
        "with AGENTS.md, CLAUDE.md, .claude, .cursor/rules or .github/copilot-instructions.md",
        {
            "DOC": "context documents (CONTEXT.md protocol)",
            "WMF": "files of the working memory",
            "WSP": "workspaces and their prompt",
            "HIS": "raw histories, audit logs and session databases of workspaces",
        },
        (
            LensOption(
                "window", "Window", "size", help="assemble for a context window: 16K, 128K, 1M, 200000"
            ),
            LensOption("mode", "Mode", "choice", ("cloud", "local"), "mode in which the prompt is assembled"),
            LensOption(
                "era",
                "Era",
                "choice",
                ("A", "B", "C", "D"),
                "storage era of a workspace (default: by its files)",
            ),
        ),
    ),
    FormatSpec(
        "memory",
        "memories of a memory service: entries, summaries and context documents",
        "a folder with entries.jsonl, contexts.jsonl, memories.jsonl or trace.jsonl of a memory; one file "
        "of entries, contexts or calls of memory tools",
        {
            "MCX": "context documents of memories",
            "MEN": "entries and summaries of memories",
            "MTR": "traces of memory tools",
        },
    ),
    FormatSpec(
        "recording",
        "recordings of any of these, made by ctxview record",
        "a file that begins with the mark of a recording",
        {"REC": "recordings made by ctxview"},
    ),
    FormatSpec(
        "raw",
        "anything else, as a JSON tree, JSON lines or plain text",
        "every file that no other format recognises",
    ),
)
RAW = "raw"
CLOSE_CALL = 5
"""When the two best scores are closer than this, the user has to choose."""

GENERAL_RULES = {
    "JSN": ("strict JSON", "ctxview.analysis.json_rules"),
    "TXT": ("deceiving or unsafe text", "ctxview.analysis.text_rules"),
    "SEC": ("secrets", "ctxview.analysis.secrets"),
    "PTH": ("paths that leave the session", "ctxview.analysis.path_rules"),
    "RAW": ("files as such", "ctxview.formats.kit.file_rules"),
}
"""The rule families that need no format: their subject and their module."""


class Plugins(Struct, frozen=True):
    """The formats of other packages by name, and why some of them cannot be used."""

    formats: dict[str, Format]
    problems: dict[str, str]


def detect(path: Path) -> list[FormatMatch]:
    """Return every format that fits `path`, the best first; raw is not among them."""
    return detect_peek(Peek(path))


def detect_peek(peek: Peek) -> list[FormatMatch]:
    built_in = _matches(peek, (_built_in(spec) for spec in FORMATS if spec.name != RAW))
    return built_in or _matches(peek, (_Guarded(*each) for each in plugins().formats.items()))


def open_source(path: Path, as_format: str | None = None) -> Source:
    """Open the source at `path` as `as_format`, or as the format that fits; raises `OpenError`."""
    if (why := missing_path_reason(path)) is not None:
        raise OpenError(f"{path}: {why}")
    if as_format is not None:
        return format_named(as_format).open(path)
    peek = Peek(path)
    matches = detect_peek(peek)
    if not matches:
        return _open_raw(peek)
    if len(matches) > 1 and matches[0].score - matches[1].score < CLOSE_CALL:
        choices = " or ".join(f"{match.format} ({match.why})" for match in matches[:2])
        raise OpenError(f"{path}: this could be {choices}; choose one with --as FORMAT")
    return format_named(matches[0].format).open(path)


def format_named(name: str) -> Format:
    """Return the built-in or installed format of that name; raises `OpenError`."""
    for spec in FORMATS:
        if spec.name == name:
            return _built_in(spec)
    found = plugins()
    if name in found.formats:
        return found.formats[name]
    names = [*(spec.name for spec in FORMATS), *found.formats]
    known = f"known formats: {', '.join(names)}"
    if name in found.problems:
        raise OpenError(f"the format {name} cannot be used: {found.problems[name]}; {known}")
    raise OpenError(f"unknown format {name}{did_you_mean(name, names)}; {known}")


def all_rules() -> tuple[Rule, ...]:
    """Return every rule, sorted by id."""
    from ctxview.core.findings import REGISTRY

    general = (module for _, module in GENERAL_RULES.values())
    for module in (*general, *(spec.rules for spec in FORMATS if spec.families)):
        import_module(module)
    return tuple(REGISTRY[name] for name in sorted(REGISTRY))


def rule_families() -> dict[str, str]:
    """Return the subject of each rule family, by the letters before the rule numbers."""
    own = {name: about for spec in FORMATS for name, about in spec.families.items()}
    return own | {name: about for name, (about, _) in GENERAL_RULES.items()}


def lens_options() -> tuple[LensOption, ...]:
    """Return the options of all formats; two formats that declare the same name share it."""
    found: dict[str, LensOption] = {}
    for option in (option for spec in FORMATS for option in spec.options):
        known = found.get(option.name, option)
        found[option.name] = replace(known, choices=tuple(dict.fromkeys((*known.choices, *option.choices))))
    return tuple(found.values())


def plugin_problems() -> dict[str, str]:
    """Return why formats of other packages could not be used so far; this loads nothing."""
    return plugins().problems if plugins.cache_info().currsize else {}


@cache
def plugins() -> Plugins:
    """Load the formats of other packages. One that fails is listed in `problems` and affects no other."""
    from importlib.metadata import entry_points

    formats: dict[str, Format] = {}
    problems: dict[str, str] = {}
    for entry in entry_points(group="ctxview.formats"):
        try:
            formats[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - code of another package may fail in any way
            problems[entry.name] = f"{type(error).__name__}: {error}"
    return Plugins(formats, problems)


class _Guarded(Struct, frozen=True):
    """A format of another package; an error in its `recognise` is noted and does not stop the others."""

    name: str
    """The name of its entry point; the format itself may lack one."""
    format: Format

    def recognise(self, peek: Peek) -> FormatMatch | None:
        try:
            return self.format.recognise(peek)
        except Exception as error:  # noqa: BLE001 - code of another package may fail in any way
            plugins().problems[self.name] = f"{type(error).__name__}: {error}"
            return None

    def open(self, path: Path) -> Source:
        return self.format.open(path)


def _matches(peek: Peek, formats: Iterable[Format]) -> list[FormatMatch]:
    found = (each.recognise(peek) for each in formats)
    return sorted((match for match in found if match is not None), key=lambda match: -match.score)


def _built_in(spec: FormatSpec) -> Format:
    found: Format = import_module(spec.module).FORMAT
    return found


def _open_raw(peek: Peek) -> Source:
    if not peek.is_folder:
        raw = format_named(RAW)
        return raw.open_unrecognised(peek.path) if isinstance(raw, FallbackFormat) else raw.open(peek.path)
    failed = "".join(f"; the format {name} cannot be used: {why}" for name, why in plugin_problems().items())
    visible = [name for name in peek.names if not name.startswith(".")]
    raise OpenError(f"{peek.path}: {nothing_recognised(peek.path, visible or peek.names)}{failed}")
