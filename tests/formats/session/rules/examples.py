"""Runs the `Bad` and `Good` examples of a session rule: changes to a sound session, line by line.

`FILE = TEXT` writes a file and `FILE += LINE` adds a line; `FILE.a[0].b = JSON` or `FILE[0].b = JSON` changes
one value of a JSON file or of a record; `(absent)`, `(empty)`, `(torn)`, `(link)` and `(blank)` mean what
they say, `(x * 20000)` is 20,000 letters and `(hash)` in a name the hash of the text. `---` separates two
states of a session, `delete NAME` is a step of a plan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ctxview.core.findings import Finding, Rule
from ctxview.formats.session import rules
from ctxview.formats.session.root import read_root
from tests.formats.session.builders import Build, lines, sha256, sound
from tests.formats.session.sources import CORTEXFS, comparison_with, observation_of, read_facts

_REPEATED = re.compile(r"\((.) \* (\d+)\)")
_MEMBER = re.compile(r"(?P<file>\S+?\.jsonl?)(?P<path>(?:\[\d+\]|\.\w+)+) = (?P<value>.*)")


def findings_of(number: int, example: str, base: Path) -> list[Finding]:
    """Return all findings of the family of rule `number` for an example."""
    if _is_of(rules.ROOT_RULES, number):
        root = changed(sound(base), example).write()
        return list(rules.check_root(read_root(root.parent), CORTEXFS))
    if _is_of(rules.GC_RULES, number):
        deletions = re.findall(r"^delete (.+)$", example, re.MULTILINE)
        return list(rules.check_gc_plan(read_facts(sound(base).write()), deletions))
    if _is_of(rules.SUCCESSION_RULES, number):
        above, _, below = f"\n{example}\n".partition("\n---\n")
        before = observation_of(read_facts(changed(sound(base), above).write()))
        facts = read_facts(changed(sound(base), below).write())
        return list(rules.check_succession(facts, comparison_with(facts, before)))
    build = changed(sound(base), example)
    root = build.write()
    for name in re.findall(r"^(\S+) \(link\)$", example, re.MULTILINE):
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to("/dev/null")
    facts = read_facts(root)
    assert facts.survey is not None
    return [*rules.check_session(facts), *facts.survey.findings]


def _is_of(family: Sequence[Rule], number: int) -> bool:
    return any(each.id == f"ABI{number:03}" for each in family)


def changed(build: Build, example: str) -> Build:
    for line in filter(None, map(str.strip, example.splitlines())):
        _change(build, _REPEATED.sub(lambda found: found[1] * int(found[2]), line))
    return build


def _change(build: Build, line: str) -> None:
    if line.endswith("(link)"):
        return
    if found := re.fullmatch(r"(.+) \((absent|empty|torn)\)", line):
        _replace(build, found[1], found[2])
    elif found := re.fullmatch(r"(.+?) \+= (.*)", line):
        build.set(found[1], build.files.get(found[1], b"") + _line(found[2]))
    elif member := _MEMBER.fullmatch(line):
        _set_member(build, member["file"], member["path"], json.loads(member["value"]))
    else:
        name, equals, text = line.partition(" = ")
        assert equals, line
        _put(build, name.replace("(hash)", sha256(f"{text}\n")), f"{text}\n")


def _replace(build: Build, name: str, word: str) -> None:
    if word == "absent":
        build.remove(name)
    else:
        build.set(name, "" if word == "empty" else build.text(name).removesuffix("\n"))


def _line(written: str) -> bytes:
    return b"\n" if written == "(blank)" else f"{written}\n".encode()


def _put(build: Build, name: str, text: str) -> None:
    if name.startswith("../"):
        place = (build.root / name).resolve() if build.root.exists() else Path(f"{build.root}/{name}")
        parts: list[str] = []
        for part in place.relative_to(build.base).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        build.around["/".join(parts)] = text.encode()
    else:
        build.set(name, text)


def _set_member(build: Build, name: str, path: str, value: Any) -> None:
    keys = [int(number) if number else word for number, word in re.findall(r"\[(\d+)\]|\.(\w+)", path)]
    text = build.text(name)
    whole = [json.loads(each) for each in text.splitlines()] if name.endswith("l") else json.loads(text)
    holder: Any = whole
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    build.set(name, lines(whole) if name.endswith("l") else whole)
