"""Loads profiles of one kind: those that come with a format by name, a person's own from a TOML file.

A profile is a frozen dataclass of tables. A file may say `extends = "NAME"` and then holds only what differs.
Packaged files are trusted and built directly; a person's file is checked key by key, and what is wrong is
told with the file, the key and the nearest known one. What the figures mean is the format's business.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from ctxview.analysis.wording import did_you_mean
from ctxview.formats.interface import CannotOpen

P = TypeVar("P")
Table = dict[str, Any]


class ProfileError(CannotOpen):
    """A profile that cannot be used; the message names the file and the key."""


def is_path(wanted: str) -> bool:
    """Whether a person means a file and not the name of a packaged profile."""
    return wanted.endswith(".toml") or "/" in wanted or Path(wanted).is_file()


def unknown(wanted: str, names: Sequence[str]) -> ProfileError:
    there = f"there are {', '.join(names)}, or the path of a .toml file"
    return ProfileError(f"no profile is called {wanted!r}{did_you_mean(wanted, names)}; {there}")


class Shelf(Generic[P]):
    """The profiles of one format: TOML files in `package`, of which `names` lists the default first."""

    def __init__(self, kind: type[P], package: str, names: Sequence[str]) -> None:
        self._kind = kind
        self._package = package
        self._names = tuple(names)
        self._built: dict[str, P] = {}

    def load(self, name_or_path: str | None = None) -> P:
        """The profile of that name, or of that TOML file; the default for None. Raises `ProfileError`."""
        wanted = name_or_path or self._names[0]
        if wanted in self._names:
            if wanted not in self._built:
                self._built[wanted] = _build(self._kind, {"name": wanted, **self._packaged(wanted)})
            return self._built[wanted]
        if is_path(wanted):
            return self._load_file(Path(wanted))
        raise unknown(wanted, self._names)

    def _packaged(self, name: str) -> Table:
        # Not importlib.resources: it brings zipfile along, and these are always plain files.
        folder = Path(import_module(self._package).__file__ or "").parent
        text = (folder / f"{name}.toml").read_text("utf-8")
        return self._extended(tomllib.loads(text))

    def _extended(self, table: Table) -> Table:
        parent = table.get("extends")
        own = {key: value for key, value in table.items() if key != "extends"}
        return own if parent is None else _overlaid(self._packaged(parent), own)

    def _load_file(self, path: Path) -> P:
        from pydantic import TypeAdapter, ValidationError

        own = _read_table(path)
        parent = own.get("extends")
        if parent is not None and parent not in self._names:
            hint = did_you_mean(str(parent), self._names)
            raise ProfileError(f"{path}: extends: no profile is called {parent!r}{hint}")
        _refuse_unknown_keys(path, own, self._kind, "")
        table = {"title": path.stem, **_empty_tables(self._kind), **self._extended(own), "name": path.stem}
        try:
            return TypeAdapter(self._kind).validate_python(table)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise ProfileError(f"{path}: {key}: {first['msg'].lower()}, found {first['input']!r}") from None


def _build(kind: type[P], table: Table) -> P:
    """A trusted table as the dataclass it describes; lists become tuples."""
    hints = get_type_hints(kind)
    return kind(**{key: _built(hints[key], value) for key, value in table.items()})


def _built(hint: object, value: Any) -> Any:
    inner = _dataclass_in(hint)
    if inner is None or not isinstance(value, dict):
        return tuple(value) if isinstance(value, list) else value
    if _is_mapping(hint):
        return {name: _build(inner, table) for name, table in value.items()}
    return _build(inner, value)


def _dataclass_in(hint: object) -> type[Any] | None:
    found = [kind for kind in (hint, *get_args(hint)) if isinstance(kind, type) and is_dataclass(kind)]
    return found[0] if found else None


def _is_mapping(hint: object) -> bool:
    """Whether names of a person's choosing stand between a key and its tables."""
    return get_origin(hint) is Mapping


def _overlaid(below: Table, above: Table) -> Table:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = _overlaid(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _empty_tables(kind: type[Any]) -> Table:
    """A file may leave out whole tables: they then have no limits."""
    return {
        field.name: {}
        for field in fields(kind)
        if _is_required(field) and _dataclass_in(get_type_hints(kind)[field.name]) is not None
    }


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _read_table(path: Path) -> Table:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ProfileError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileError(f"{path}: not TOML: {error}") from None


def _refuse_unknown_keys(path: Path, table: Table, kind: type[Any], prefix: str) -> None:
    known = get_type_hints(kind)
    for key, value in table.items():
        if not prefix and key == "extends":
            continue
        if key not in known:
            raise ProfileError(f"{path}: {prefix}{key} is not a known key{did_you_mean(key, known)}")
        inner = _dataclass_in(known[key])
        if inner is None or not isinstance(value, dict):
            continue
        tables = value if _is_mapping(known[key]) else {"": value}
        for name, table in tables.items():
            if isinstance(table, dict):
                _refuse_unknown_keys(path, table, inner, f"{prefix}{key}.{name}{'.' if name else ''}")
