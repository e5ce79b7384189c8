"""Loads the profiles of one format: packaged ones by name, a user's own from a TOML file.

A profile is a frozen struct of tables. A file with `extends = "NAME"` holds only the differences. Errors in a
user's file name the file, the key and the nearest known key. The format defines the meaning of the figures.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin

from msgspec import Struct, ValidationError, convert
from msgspec.structs import fields

from ctxview.analysis.wording import did_you_mean
from ctxview.formats.interface import OpenError

P = TypeVar("P", bound=Struct)
Table = dict[str, Any]

_EXPECTED = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}


class ProfileError(OpenError):
    """A profile that cannot be used; the message names the file and the key."""


def is_profile_path(wanted: str) -> bool:
    """Whether `wanted` is a file and not the name of a packaged profile."""
    return wanted.endswith(".toml") or "/" in wanted or Path(wanted).is_file()


def unknown_profile(wanted: str, names: Sequence[str]) -> ProfileError:
    known = f"known profiles: {', '.join(names)}, or the path of a .toml file"
    return ProfileError(f"unknown profile {wanted!r}{did_you_mean(wanted, names)}; {known}")


class ProfileLoader(Generic[P]):
    """The profiles of one format: TOML files in `package`; `names` lists them, the default first."""

    def __init__(self, kind: type[P], package: str, names: Sequence[str]) -> None:
        self._kind = kind
        self._package = package
        self._names = tuple(names)
        self._built: dict[str, P] = {}

    def load(self, name_or_path: str | None = None) -> P:
        """Return the profile of that name or TOML file; the default for None. Raises `ProfileError`."""
        wanted = name_or_path or self._names[0]
        if wanted in self._names:
            if wanted not in self._built:
                self._built[wanted] = convert({"name": wanted, **self._packaged(wanted)}, self._kind)
            return self._built[wanted]
        if is_profile_path(wanted):
            return self._load_file(Path(wanted))
        raise unknown_profile(wanted, self._names)

    def _packaged(self, name: str) -> Table:
        # Not importlib.resources: it brings zipfile along, and these are always plain files.
        folder = Path(import_module(self._package).__file__ or "").parent / "profiles"
        text = (folder / f"{name}.toml").read_text("utf-8")
        return self._extended(tomllib.loads(text))

    def _extended(self, table: Table) -> Table:
        parent = table.get("extends")
        own = {key: value for key, value in table.items() if key != "extends"}
        return own if parent is None else _overlaid(self._packaged(parent), own)

    def _load_file(self, path: Path) -> P:
        try:
            own = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            raise ProfileError(f"{path}: {error.strerror or error}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ProfileError(f"{path}: not TOML: {error}") from None
        parent = own.get("extends")
        if parent is not None and parent not in self._names:
            hint = did_you_mean(str(parent), self._names)
            raise ProfileError(f"{path}: extends: unknown profile {parent!r}{hint}")
        table = {"title": path.stem, **self._extended(own), "name": path.stem}
        return _build(self._kind, table, path, "")


def _build(kind: type[P], table: Table, path: Path, prefix: str) -> P:
    """Build a profile, or a table of one, key by key, so that an error can name the key."""
    known = {field.name: field for field in fields(kind)}
    for key in table:
        if key not in known:
            raise ProfileError(f"{path}: {prefix}{key} is not a known key{did_you_mean(key, known)}")
    values = {}
    for name, field in known.items():
        inner = _struct_in(field.type)
        if name in table:
            values[name] = _value(field.type, inner, table[name], path, f"{prefix}{name}")
        elif field.required and inner is not None:
            # A file may leave out whole tables, which then have no limits.
            values[name] = _build(inner, {}, path, f"{prefix}{name}.")
        elif field.required:
            raise ProfileError(f"{path}: {prefix}{name} is missing")
    return kind(**values)


def _value(hint: object, inner: type[Struct] | None, value: object, path: Path, key: str) -> object:
    if inner is None or not isinstance(value, dict):
        try:
            return convert(value, hint)
        except ValidationError as error:
            kind = str(error).partition("`")[2].partition("`")[0].removesuffix(" | null")
            wanted = f"expected {_EXPECTED[kind]}" if kind in _EXPECTED else str(error)
            raise ProfileError(f"{path}: {key}: {wanted}, found {value!r}") from None
    if get_origin(hint) is Mapping:
        return {name: _value(inner, inner, each, path, f"{key}.{name}") for name, each in value.items()}
    return _build(inner, value, path, f"{key}.")


def _struct_in(hint: object) -> type[Struct] | None:
    kinds = (kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and issubclass(kind, Struct))
    return next(kinds, None)


def _overlaid(below: Table, above: Table) -> Table:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _overlaid(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged
