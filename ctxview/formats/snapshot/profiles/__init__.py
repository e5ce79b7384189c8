"""Loads runtime profiles: the ones that come with the package by name, a person's own from a TOML file.

A profile may say `extends = "NAME"` and then holds only what differs. Our own files are trusted and built
directly; a person's file is checked key by key, and what is wrong is told with the file, the key and the
nearest known one.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, get_args, get_type_hints

from ctxview.formats.interface import CannotOpen
from ctxview.formats.snapshot.profile import BudgetPolicy, Limits, Profile, TierPolicy, TodoGrammar

PROFILES = ("atom-0.17", "atom-context-log-save", "protocol-3.0")
"""The names of the packaged profiles, the default first."""

Table = dict[str, Any]


class ProfileError(CannotOpen):
    """A profile that cannot be used; the message names the file and the key."""


def load_profile(name_or_path: str | None = None) -> Profile:
    """The profile of that name, or of that TOML file; the default for None."""
    wanted = name_or_path or PROFILES[0]
    if wanted in PROFILES:
        return _packaged(wanted)
    if wanted.endswith(".toml") or "/" in wanted or Path(wanted).is_file():
        return _load_file(Path(wanted))
    raise ProfileError(
        f"no profile is called {wanted!r}{_nearest(wanted, PROFILES)}; "
        f"there are {', '.join(PROFILES)}, or the path of a .toml file"
    )


@cache
def _packaged(name: str) -> Profile:
    return _build(name, _packaged_table(name))


def _packaged_table(name: str) -> Table:
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text("utf-8")
    return _extended(tomllib.loads(text))


def _extended(table: Table) -> Table:
    parent = table.get("extends")
    own = {key: value for key, value in table.items() if key != "extends"}
    return own if parent is None else _overlaid(_packaged_table(parent), own)


def _overlaid(below: Table, above: Table) -> Table:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _overlaid(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _build(name: str, table: Table) -> Profile:
    budget: Table = {
        key: tuple(v) if isinstance(v, list) else v for key, v in table.get("budget", {}).items()
    }
    return Profile(
        name=name,
        title=table["title"],
        tiers={tier: TierPolicy(**policy) for tier, policy in table["tiers"].items()},
        limits=Limits(**table.get("limits", {})),
        budget=BudgetPolicy(**budget),
        todo=TodoGrammar(**table["todo"]) if "todo" in table else None,
        **{key: table[key] for key in ("default_confidence", "near_duplicate", "unrelated") if key in table},
    )


_FIGURES = [field.name for field in fields(Profile) if field.default is not MISSING]


# -- a person's own file ---------------------------------------------------------------------------------


def _load_file(path: Path) -> Profile:
    from pydantic import TypeAdapter, ValidationError

    own = _read_table(path)
    parent = own.get("extends")
    if parent is not None and parent not in PROFILES:
        hint = _nearest(str(parent), PROFILES)
        raise ProfileError(f"{path}: extends: no profile is called {parent!r}{hint}")
    _refuse_unknown_keys(path, own, Profile, "")
    names = {"name": path.stem, "title": path.stem}
    empty: Table = {"tiers": {}, "limits": {}, "budget": {}, "todo": None}
    try:
        profile = TypeAdapter(Profile).validate_python({**names, **empty, **_extended(own)})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ProfileError(f"{path}: {key}: {first['msg'].lower()}, found {first['input']!r}") from None
    _try_templates(path, profile)
    return profile


def _try_templates(path: Path, profile: Profile) -> None:
    for field in fields(TodoGrammar) if profile.todo else ():
        template = getattr(profile.todo, field.name)
        try:
            template.format(done=1, total=2, step=2)
        except (LookupError, ValueError, AttributeError):
            known = "only {done}, {total} and {step} can be filled in"
            raise ProfileError(f"{path}: todo.{field.name}: {known}, found {template!r}") from None


def _read_table(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: not TOML: {error}") from None


def _refuse_unknown_keys(path: Path, table: Table, kind: type[Any], prefix: str) -> None:
    known = {field.name: get_type_hints(kind)[field.name] for field in fields(kind)}
    for key, value in table.items():
        if kind is Profile and key == "extends":
            continue
        if key not in known:
            raise ProfileError(f"{path}: {prefix}{key} is not a known key{_nearest(key, known)}")
        for inner in _tables_within(known[key], value):
            _refuse_unknown_keys(path, inner[1], inner[2], f"{prefix}{key}{inner[0]}.")


def _tables_within(hint: object, value: object) -> list[tuple[str, Table, type[Any]]]:
    """The tables in `value` that `hint` says are our dataclasses, each with the name that leads to it."""
    if not isinstance(value, dict):
        return []
    kinds = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and is_dataclass(kind)]
    if TierPolicy in kinds:
        return [(f".{name}", table, TierPolicy) for name, table in value.items() if isinstance(table, dict)]
    return [("", value, kind) for kind in kinds]


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""
