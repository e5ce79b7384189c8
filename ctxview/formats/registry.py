"""Which format a thing has, and opening it as that.

The built-in formats are listed without being imported. Formats of other packages come through the entry point
group `ctxview.formats`; they are asked only when no built-in format fits, or when a person names one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ctxview.analysis.wording import did_you_mean
from ctxview.formats.interface import CannotOpen, Format, FormatSpec, LastResort, Match, Source
from ctxview.formats.nearest import absence, nothing_in
from ctxview.formats.peek import Peek
from ctxview.quick_dataclass import dataclass

if TYPE_CHECKING:
    from ctxview.findings import Rule

FORMATS: tuple[FormatSpec, ...] = (
    FormatSpec(
        "session",
        "Context Runtime ABI sessions",
        "a folder with messages.jsonl, or with other parts of a session; a folder of sessions with its index",
        {"ABI": "sessions (Context Runtime ABI)"},
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
"""Two scores nearer than this are no decision."""

GENERAL_RULES = {
    "JSN": ("strict JSON", "ctxview.analysis.json_rules"),
    "TXT": ("deceiving or unsafe text", "ctxview.analysis.text_rules"),
    "SEC": ("secrets", "ctxview.analysis.secrets"),
    "PTH": ("paths that leave the session", "ctxview.analysis.path_rules"),
    "RAW": ("files as such", "ctxview.formats.file_rules"),
}
"""The families of rules that need no format: what they are about, and where they are."""


@dataclass(frozen=True, slots=True)
class Plugins:
    """The formats other packages bring, by name, and why some of them cannot be used."""

    formats: dict[str, Format]
    problems: dict[str, str]


def detect(path: Path) -> list[Match]:
    """Every format that fits `path`, the best first; raw is not among them."""
    return detect_peek(Peek(path))


def detect_peek(peek: Peek) -> list[Match]:
    built_in = _matches(peek, (_built_in(spec) for spec in FORMATS if spec.name != RAW))
    return built_in or _matches(peek, map(_Guarded, plugins().formats.values()))


def open_source(path: Path, as_format: str | None = None) -> Source:
    """The source at `path`, as the format named or the one that fits; raises `CannotOpen`."""
    if (why := absence(path)) is not None:
        raise CannotOpen(f"{path}: {why}")
    if as_format is not None:
        return format_named(as_format).open(path)
    peek = Peek(path)
    matches = detect_peek(peek)
    if not matches:
        return _open_raw(peek)
    if len(matches) > 1 and matches[0].score - matches[1].score < CLOSE_CALL:
        choices = " or ".join(f"{match.format} ({match.why})" for match in matches[:2])
        raise CannotOpen(f"{path}: this could be {choices}; say which with --as FORMAT")
    return format_named(matches[0].format).open(path)


def format_named(name: str) -> Format:
    """The built-in or installed format of that name; raises `CannotOpen`."""
    for spec in FORMATS:
        if spec.name == name:
            return _built_in(spec)
    found = plugins()
    if name in found.formats:
        return found.formats[name]
    if name in found.problems:
        raise CannotOpen(f"the format {name} cannot be used: {found.problems[name]}; {_installed(found)}")
    raise CannotOpen(f"no format is called {name}{did_you_mean(name, _names(found))}; {_installed(found)}")


def all_rules() -> tuple[Rule, ...]:
    """Every rule there is, by id."""
    from ctxview.findings import REGISTRY

    general = (module for _, module in GENERAL_RULES.values())
    for module in (*general, *(spec.rules for spec in FORMATS if spec.families)):
        import_module(module)
    return tuple(REGISTRY[name] for name in sorted(REGISTRY))


def rule_families() -> dict[str, str]:
    """What the rules of each family are about, by the letters before their numbers."""
    own = {name: about for spec in FORMATS for name, about in spec.families.items()}
    return own | {name: about for name, (about, _) in GENERAL_RULES.items()}


def plugin_problems() -> dict[str, str]:
    """Why formats of other packages could not be used so far; nothing is loaded to find out."""
    return plugins().problems if plugins.cache_info().currsize else {}


@cache
def plugins() -> Plugins:
    """The formats of other packages. One that fails to load is named with its reason and harms nobody."""
    from importlib.metadata import entry_points

    formats: dict[str, Format] = {}
    problems: dict[str, str] = {}
    for entry in entry_points(group="ctxview.formats"):
        try:
            formats[entry.name] = entry.load()
        except Exception as error:  # noqa: BLE001 - somebody else's code may fail in any way
            problems[entry.name] = f"{type(error).__name__}: {error}"
    return Plugins(formats, problems)


@dataclass(frozen=True, slots=True)
class _Guarded:
    """A format of another package, whose failure to recognise something is noted and stops nobody."""

    format: Format

    @property
    def name(self) -> str:
        return self.format.name

    def recognise(self, peek: Peek) -> Match | None:
        try:
            return self.format.recognise(peek)
        except Exception as error:  # noqa: BLE001 - somebody else's code may fail in any way
            plugins().problems[self.name] = f"{type(error).__name__}: {error}"
            return None

    def open(self, path: Path) -> Source:
        return self.format.open(path)


def _matches(peek: Peek, formats: Iterable[Format]) -> list[Match]:
    found = (each.recognise(peek) for each in formats)
    return sorted((match for match in found if match is not None), key=lambda match: -match.score)


def _built_in(spec: FormatSpec) -> Format:
    found: Format = import_module(spec.module).FORMAT
    return found


def _open_raw(peek: Peek) -> Source:
    if not peek.is_folder:
        raw = format_named(RAW)
        return raw.open_unrecognised(peek.path) if isinstance(raw, LastResort) else raw.open(peek.path)
    failed = "".join(f"; the format {name} cannot be used: {why}" for name, why in plugin_problems().items())
    seen = [name for name in peek.names if not name.startswith(".")]
    raise CannotOpen(f"{peek.path}: {nothing_in(peek.path, seen or peek.names)}{failed}")


def _names(found: Plugins) -> list[str]:
    return [*(spec.name for spec in FORMATS), *found.formats]


def _installed(found: Plugins) -> str:
    return f"there are {', '.join(_names(found))}"
