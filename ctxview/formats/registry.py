"""The registry of formats: lists the formats, detects the format of a path, and opens it.

Built-in formats and those of other packages, which come through the entry point group `ctxview.formats`, are
described by a `FormatSpec` and take the same path: all are asked, and the best score wins. Code of another
package that fails is noted with its name and affects no other format.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ctxview.analysis.wording import did_you_mean
from ctxview.core.format_spec import CommandSpec, FormatMatch, FormatSpec, FoundAtHome, LensOption
from ctxview.formats.interface import OpenError, Source
from ctxview.formats.path_hints import missing_path_reason, nothing_recognised
from ctxview.formats.peek import CLOSE_CALL, Peek

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from ctxview.core.findings import Rule

GROUP = "ctxview.formats"
RAW = "raw"
BUILT_IN = ("session", "envelope", "snapshot", "workspace", "memory", "transcript", "recording", RAW)
MOST_ENTRY_POINTS = 1024 * 1024
"""The bytes of a list of entry points that are searched for formats."""

GENERAL_RULES = {
    "JSN": ("strict JSON", "ctxview.analysis.json_rules"),
    "TXT": ("deceiving or unsafe text", "ctxview.analysis.text_rules"),
    "SEC": ("secrets", "ctxview.analysis.secrets"),
    "PTH": ("paths that leave the session", "ctxview.analysis.path_rules"),
    "RAW": ("files as such", "ctxview.formats.kit.file_rules"),
    "REV": ("reviews", "ctxview.review.rules"),
}
"""The rule families that need no format: their subject and their module."""

T = TypeVar("T")

_Files = Mapping[str, bytes]


class KnownFormats(Struct, frozen=True):
    """All formats by name, raw last, and why some formats of other packages cannot be used."""

    specs: dict[str, FormatSpec]
    problems: dict[str, str]

    def guarded(self, spec: FormatSpec, work: Callable[[], T]) -> T | None:
        """Return the result of `work`; None when it is code of another package and fails, which is noted."""
        if spec.name in BUILT_IN:
            return work()
        try:
            return work()
        except Exception as error:  # noqa: BLE001 - code of another package may fail in any way
            self.problems[spec.name] = f"{type(error).__name__}: {error}"
            return None


@cache
def known_formats() -> KnownFormats:
    """Load the descriptions of all formats."""
    specs: dict[str, FormatSpec] = {name: _code(f"ctxview.formats.{name}:SPEC") for name in BUILT_IN}
    raw = specs.pop(RAW)
    problems: dict[str, str] = {}
    for entry in _entry_points():
        try:
            spec = entry.load()
        except Exception as error:  # noqa: BLE001 - code of another package may fail in any way
            problems[entry.name] = f"{type(error).__name__}: {error}"
            continue
        if not isinstance(spec, FormatSpec):
            problems[entry.name] = f"{entry.value} is not a FormatSpec"
        elif spec.name in specs or spec.name == RAW:
            problems[entry.name] = f"there is another format with the name {spec.name}"
        else:
            specs[spec.name] = spec
    return KnownFormats(specs | {RAW: raw}, problems)


def formats() -> tuple[FormatSpec, ...]:
    """Return the descriptions of all formats that can be used, raw last."""
    return tuple(known_formats().specs.values())


def redacted_copy_repairs(name: str | None = None) -> list[Callable[[_Files, _Files], _Files]]:
    """Return the functions `FormatSpec.redacted_copy` of one format, or of all."""
    specs = [each for each in formats() if each.redacted_copy and name in (None, each.name)]
    return [_code(each.redacted_copy) for each in specs]


def format_problems() -> dict[str, str]:
    """Return why formats of other packages cannot be used, as far as that is known."""
    return known_formats().problems


def unusable_formats() -> list[str]:
    """Return a note for each format of another package that cannot be used, as far as that is known."""
    return [f"the format {name} cannot be used: {why}" for name, why in format_problems().items()]


def detect(path: Path) -> list[FormatMatch]:
    """Return every format that fits `path`, the best first; raw is not among them."""
    return detect_peek(Peek(path))


def detect_peek(peek: Peek) -> list[FormatMatch]:
    known, found = known_formats(), []
    for spec in sorted(known.specs.values(), key=lambda spec: spec.samples):
        if spec.name == RAW:
            continue
        match = known.guarded(spec, lambda spec=spec: _recognised(spec, peek))  # type: ignore[misc]
        if match is not None:
            found.append(match)
            peek.best = max(peek.best, match.score)
    return sorted(found, key=lambda match: -match.score)


def open_source(path: Path, as_format: str | None = None) -> Source:
    """Open the source at `path` as `as_format`, or as the format that fits; raises `OpenError`."""
    if (why := missing_path_reason(path)) is not None:
        raise OpenError(f"{path}: {why}")
    return open_peek(Peek(path), as_format)


def open_peek(
    peek: Peek, as_format: str | None = None, matches: Sequence[FormatMatch] | None = None
) -> Source:
    """Open the source at a peek, which hands over what was read to recognise it; raises `OpenError`.

    `matches` are the formats that fit it, if they are known.
    """
    if as_format is not None:
        return _open(spec_named(as_format), peek)
    matches = detect_peek(peek) if matches is None else matches
    if not matches:
        return _open_raw(peek)
    if len(matches) > 1 and matches[0].score - matches[1].score < CLOSE_CALL:
        choices = " or ".join(f"{match.format} ({match.why})" for match in matches[:2])
        raise OpenError(f"{peek.path}: this could be {choices}; choose one with --as FORMAT")
    return _open(spec_named(matches[0].format), peek)


def spec_named(name: str) -> FormatSpec:
    """Return the format of that name; raises `OpenError`."""
    known = known_formats()
    if name in known.problems:
        names = f"known formats: {', '.join(known.specs)}"
        raise OpenError(f"the format {name} cannot be used: {known.problems[name]}; {names}")
    if name not in known.specs:
        near = did_you_mean(name, known.specs)
        raise OpenError(f"unknown format {name}{near}; known formats: {', '.join(known.specs)}")
    return known.specs[name]


def all_rules() -> tuple[Rule, ...]:
    """Return every rule, sorted by id."""
    from ctxview.core.findings import REGISTRY, import_rules

    for _, module in GENERAL_RULES.values():
        import_module(module)
    for spec in formats():
        for module in spec.rules:
            known_formats().guarded(spec, lambda module=module: import_rules(module))  # type: ignore[misc]
    return tuple(REGISTRY[name] for name in sorted(REGISTRY))


def rule_families() -> dict[str, str]:
    """Return the subject of each rule family, by the letters before the rule numbers."""
    own = {name: about for spec in formats() for name, about in spec.families.items()}
    return own | {name: about for name, (about, _) in GENERAL_RULES.items()}


def found_at_home(home: Path) -> Iterator[tuple[str, FoundAtHome]]:
    """Yield the sources that programs keep below `home`, with their formats, by names and sizes alone."""
    for spec in formats():
        if spec.at_home:
            found = known_formats().guarded(spec, lambda spec=spec: list(_code(spec.at_home)(home)))  # type: ignore[misc]
            yield from ((spec.name, each) for each in found or ())


def format_commands() -> dict[str, CommandSpec]:
    """Return the commands of all formats by name; of two with one name, the first."""
    found: dict[str, CommandSpec] = {}
    for command in (command for spec in formats() for command in spec.commands):
        found.setdefault(command.name, command)
    return found


def lens_options() -> tuple[LensOption, ...]:
    """Return the options of all formats; two formats that declare the same name share it."""
    found: dict[str, LensOption] = {}
    for option in (option for spec in formats() for option in spec.options):
        known = found.get(option.name, option)
        choices = tuple(dict.fromkeys((*known.choices, *option.choices)))
        help_text = "; ".join(dict.fromkeys((known.help, option.help)))
        found[option.name] = replace(known, choices=choices, help=help_text)
    return tuple(found.values())


def _recognised(spec: FormatSpec, peek: Peek) -> FormatMatch | None:
    if not _may_fit(spec, peek):
        return None
    match: FormatMatch | None = _code(spec.recognise)(peek)
    return replace(match, format=spec.name) if match is not None else None


def _may_fit(spec: FormatSpec, peek: Peek) -> bool:
    """Whether a file has a suffix and a word of the format, or may have one: JSON may escape its keys.

    A blank file is for all formats to judge.
    """
    if peek.is_folder:
        return True
    if spec.suffixes and not peek.path.name.lower().endswith(spec.suffixes):
        return False
    if not spec.words:
        return True
    data = peek.data if peek.data is not None else peek.head
    blank = not data or data.isspace()
    return blank or any(word in data for word in spec.words) or b"\\u" in data


def _open(spec: FormatSpec, peek: Peek) -> Source:
    source: Source
    if spec.name in BUILT_IN:
        source = _code(spec.open)(peek)
        return source
    try:
        source = _code(spec.open)(peek)
    except OpenError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise OpenError(f"{peek.path}: the format {spec.name} cannot open it: {why}") from error
    return source


def _open_raw(peek: Peek) -> Source:
    if not peek.is_folder:
        source: Source = _code("ctxview.formats.raw.source:open_unrecognised")(peek)
        return source
    visible = [name for name in peek.names if not name.startswith(".")]
    why = "; ".join([nothing_recognised(peek.path, visible or peek.names), *unusable_formats()])
    raise OpenError(f"{peek.path}: {why}")


@cache
def _code(reference: str) -> Any:
    """Return the object that `module:name` names."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def _entry_points() -> Iterator[EntryPoint]:
    """Yield the formats of other packages. Without any, the costly import of their metadata is avoided."""
    if any(_names_formats(folder or ".") for folder in sys.path):
        from importlib.metadata import entry_points

        yield from entry_points(group=GROUP)


def _names_formats(folder: str) -> bool:
    """Whether a package that is installed in `folder` declares formats."""
    # Not with `Path` and `open`: this happens at each start, for every package.
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except OSError:
        return False
    for name in names:
        if name.endswith((".dist-info", ".egg-info")):
            try:
                descriptor = os.open(f"{folder}/{name}/entry_points.txt", os.O_RDONLY)
            except OSError:
                continue
            try:
                if f"[{GROUP}]".encode() in os.read(descriptor, MOST_ENTRY_POINTS):
                    return True
            finally:
                os.close(descriptor)
    return False
