"""The repository around the instructions: which paths, commands and versions exist below the opened folder.

Everything is looked up with bounds and without following links. When something cannot be known, it counts as
existing: an alarm must be right.
"""

from __future__ import annotations

import os
import re
import tomllib
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

import orjson

from ctxview.files.reading import SKIPPED_FOLDERS, ReadError, read_beneath

MOST_FILES = 30_000
LARGEST_MANIFEST = 1024 * 1024
MOST_MANIFESTS = 200
_HIGHEST = 12
_INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
_TARGET = re.compile(r"^([A-Za-z0-9_./%-]+(?:\s+[A-Za-z0-9_./%-]+)*)\s*:(?!=)", re.MULTILINE)
_RECIPE = re.compile(r"^@?([A-Za-z][\w-]*)[^:=\n]*:(?!=)", re.MULTILINE)
_GENERATED = frozenset(
    (
        *("dist", "build", "out", "target", "coverage", "node_modules", "tmp", "temp", ".next", ".cache"),
        *("vendor", ".git", ".venv", "venv", "generated", "__pycache__", "logs", "artifacts", "bin", "obj"),
    )
)


class Repository:
    """The files below one folder, listed when first asked."""

    def __init__(self, root: Path, *, may_be_nested: bool = False) -> None:
        self._root = root
        self._may_be_nested = may_be_nested

    @cached_property
    def is_nested(self) -> bool:
        """Whether this is a folder of a repository: its instructions may mean paths from the top."""
        if not self._may_be_nested or self.is_root:
            return False
        for folder in list(self._root.absolute().parents)[:_HIGHEST]:
            if any((folder / name).exists() for name in (".git", *_INSTRUCTIONS)):
                return True
        return False

    @cached_property
    def _listing(self) -> tuple[frozenset[str], bool]:
        """The relative names of files and folders, and whether all were listed."""
        found: list[str] = []
        closed: list[OSError] = []
        has_code = False
        if self.is_nested:
            return frozenset(), False
        for folder, folders, files in os.walk(self._root, onerror=closed.append):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            base = os.path.relpath(folder, self._root)
            prefix = "" if base == "." else f"{base}/"
            found += [prefix + name for name in (*folders, *files)]
            has_code = has_code or any(not name.endswith((".md", ".mdc", "rules")) for name in files)
            if len(found) > MOST_FILES:
                return frozenset(found), False
        # A copy of the instructions alone, such as a recording has, says nothing about the repository.
        known = has_code or self.is_root or not self._may_be_nested
        return frozenset(found), known and not closed

    @cached_property
    def _endings(self) -> frozenset[str]:
        """Every name with its folders left out one by one, so that a path may begin anywhere."""
        endings: set[str] = set()
        for name in self._listing[0]:
            parts = name.split("/")
            endings.update("/".join(parts[at:]) for at in range(len(parts)))
        return frozenset(endings)

    @property
    def is_root(self) -> bool:
        return (self._root / ".git").exists()

    def has_path(self, path: str) -> bool:
        """Whether a path exists below the folder, from it or from any folder in it, or may be made later."""
        wanted = os.path.normpath(path).removeprefix("./")
        parts = wanted.split("/")
        if not self._listing[1] or wanted in self._endings or set(parts) & _GENERATED:
            return True
        if self._ignored is None:
            return True
        return any(fnmatch(wanted, f"{each}*") or each in parts for each in self._ignored)

    def has_name(self, name: str) -> bool:
        return not self._listing[1] or name in self._endings

    @cached_property
    def _ignored(self) -> list[str] | None:
        """The names of .gitignore: such files are made on each machine. None when it cannot be read."""
        text = self._text(".gitignore")
        if text is None:
            return None
        lines = (line.strip().strip("/") for line in text.splitlines())
        return [line.removeprefix("**/") for line in lines if line and not line.startswith(("#", "!"))]

    @cached_property
    def scripts(self) -> frozenset[str] | None:
        """The scripts of every package.json; None without a package.json, or when one cannot be read."""
        found: set[str] = set()
        names = self._named("package.json")
        if not names or len(names) > MOST_MANIFESTS:
            return None
        for name in names:
            package = self._package(name)
            if package is None:
                return None
            scripts = package.get("scripts")
            found.update(scripts if isinstance(scripts, dict) else ())
        return frozenset(found)

    @cached_property
    def targets(self) -> frozenset[str] | None:
        """The targets of every Makefile; None when one includes others or cannot be read."""
        found: set[str] = set()
        names = self._named("makefile", "gnumakefile")
        if len(names) > MOST_MANIFESTS:
            return None
        for name in names:
            text = self._text(name)
            if text is None or re.search(r"^-?include\b|^[\w./-]*%", text, re.MULTILINE):
                return None
            found.update(word for line in _TARGET.findall(text) for word in line.split())
            # A variable in a target may be anything.
            if re.search(r"^\$\(", text, re.MULTILINE):
                return None
        return frozenset(found) if names else (frozenset() if self.is_root and self._listing[1] else None)

    @cached_property
    def recipes(self) -> frozenset[str] | None:
        """The recipes of every justfile; None when there is none, or one imports others or cannot be read."""
        names = self._named("justfile", ".justfile")
        texts = [text for text in map(self._text, names[:MOST_MANIFESTS]) if text is not None]
        imports = any(re.search(r"^(?:import|mod)\b", text, re.MULTILINE) for text in texts)
        if not texts or imports or len(texts) < len(names):
            return None
        aliases = {name for text in texts for name in re.findall(r"^alias\s+([\w-]+)", text, re.MULTILINE)}
        return frozenset(aliases | {name for text in texts for name in _RECIPE.findall(text)})

    @cached_property
    def versions(self) -> dict[str, tuple[str, str]]:
        """The stated version of each language and package by lower-case name, and the file that states it."""
        found: dict[str, tuple[str, str]] = {}
        package = self._package("package.json") or {}
        engines = package.get("engines")
        if isinstance(engines, dict) and isinstance(engines.get("node"), str):
            found["node"] = (engines["node"], "package.json")
        for group in ("dependencies", "devDependencies", "peerDependencies"):
            members = package.get(group)
            for name, version in members.items() if isinstance(members, dict) else ():
                if isinstance(version, str):
                    found.setdefault(str(name).lower(), (version, "package.json"))
        for name, language in ((".nvmrc", "node"), (".node-version", "node"), (".python-version", "python")):
            if text := (self._text(name) or "").strip():
                found[language] = (text.splitlines()[0].lstrip("v"), name)
        try:
            project = tomllib.loads(self._text("pyproject.toml") or "").get("project", {})
        except tomllib.TOMLDecodeError:
            project = {}
        if isinstance(project, dict) and isinstance(project.get("requires-python"), str):
            found["python"] = (project["requires-python"], "pyproject.toml")
        if go := re.search(r"^go (\d+\.\d+)", self._text("go.mod") or "", re.MULTILINE):
            found["go"] = (f">={go[1]}", "go.mod")
        if rust := re.search(r'^rust-version\s*=\s*"([\d.]+)"', self._text("Cargo.toml") or "", re.MULTILINE):
            found["rust"] = (f">={rust[1]}", "Cargo.toml")
        return found

    def _package(self, name: str) -> dict[str, object] | None:
        """The object of a package.json; None when there is none or it cannot be read."""
        try:
            value = orjson.loads(self._text(name) or "null")
        except orjson.JSONDecodeError:
            return None
        return value if isinstance(value, dict) else None

    def _named(self, *names: str) -> list[str]:
        return sorted(each for each in self._listing[0] if each.rpartition("/")[2].lower() in names)

    def _text(self, name: str) -> str | None:
        """The text of a file, empty without the file; None when it cannot be read."""
        try:
            return read_beneath(self._root, name, LARGEST_MANIFEST).decode("utf-8", "replace")
        except ReadError:
            return None if os.path.lexists(self._root / name) else ""


def contradicts(stated: str, mentioned: str) -> bool:
    """Whether a mentioned version is ruled out by a stated one; unknown spellings rule nothing out."""
    found = re.fullmatch(r"\s*(>=|\^|~|~=|==|=|v)?\s*(\d{1,6}(?:\.\d{1,6})*)(?:\.[x*])?.*", stated)
    if found is None or "||" in stated or " - " in stated:
        return False
    ours = [int(each) for each in found[2].split(".")]
    theirs = [int(each) for each in mentioned.split(".")][:2]
    if found[1] == ">=":
        upper = re.search(r"<\s*(\d{1,6})", stated)
        too_new = upper is not None and theirs[0] >= int(upper[1])
        return theirs < ours[: len(theirs)] or too_new
    length = min(len(theirs), len(ours), 1 if found[1] == "^" else 2)
    return theirs[:length] != ours[:length]
