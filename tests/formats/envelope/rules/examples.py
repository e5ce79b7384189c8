"""Run the `Bad` and `Good` examples of an envelope rule: changes to the good bundle, line by line.

`ID.a.b[0] = VALUE` sets a member of the record of that id (VALUE is JSON, `(absent)`, `"x" * 513` or
`9 refs`), `ID += {…}` adds a copy of a record with these members, `ID (absent)` removes a record, `+ JSON`
adds a value unchanged. The lines after `---` are added to a second file.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from ctxview.core.findings import Finding
from ctxview.formats.envelope import rules
from ctxview.formats.envelope.bundle import Bundle
from ctxview.formats.envelope.profile import load_profile
from tests.formats.envelope.bundles import good, named, read

_MEMBER = re.compile(r"(?P<id>[\w-]+)\.(?P<path>\S+) = (?P<value>.*)")
_COPY = re.compile(r"(?P<id>[\w-]+) \+= (?P<value>\{.*)")
_REPEATED = re.compile(r'"(.)" \* (\d+)')


PROFILE = load_profile()


def findings_of(example: str) -> list[Finding]:
    """The findings of all rules on an example."""
    return findings_in(bundle(example))


def rule_findings(number: int, example: str) -> list[Finding]:
    """The findings of one rule on the good bundle with these changes (` ¶ ` separates lines)."""
    found = findings_of(example.replace(" ¶ ", "\n"))
    return [each for each in found if each.rule == f"ENV{number:03}"]


def findings_in(found: Bundle) -> list[Finding]:
    findings = [
        finding
        for file in found.files
        for stray in file.strays
        for finding in rules.check_stray(stray, PROFILE)
    ]
    findings += [finding for record in found.records for finding in rules.check_record(record, PROFILE)]
    findings += [
        finding for records in found.groups for finding in rules.check_record_group(records, PROFILE)
    ]
    findings += rules.check_bundle(found.groups, PROFILE)
    return list(dict.fromkeys(findings))


def bundle(example: str) -> Bundle:
    first, second = good(), list[Any]()
    above, _, below = f"\n{example}\n".partition("\n---\n")
    for values, lines in ((first, above), (second, below)):
        for line in filter(None, map(str.strip, lines.splitlines())):
            _change(first, values, line)
    return read(first, second) if second else read(first)


def _change(known: list[Any], values: list[Any], line: str) -> None:
    if line.startswith("+ "):
        values.append(json.loads(line[2:]))
    elif line.endswith(" (absent)") and " = " not in line:
        values.remove(named(known, line.removesuffix(" (absent)")))
    elif found := _COPY.fullmatch(line):
        values.append({**copy.deepcopy(named(known, found["id"])), **json.loads(found["value"])})
    else:
        member = _MEMBER.fullmatch(line)
        assert member is not None, line
        _set(named(known, member["id"]), member["path"], member["value"])


def _set(value: Any, path: str, written: str) -> None:
    keys = [int(number) if number else word for number, word in re.findall(r"\[(\d+)\]|([\w-]+)", path)]
    *above, last = keys
    holder = value
    for key in above:
        holder = holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
    if written == "(absent)":
        del holder[last]
    elif repeated := _REPEATED.fullmatch(written):
        holder[last] = repeated[1] * int(repeated[2])
    elif refs := re.fullmatch(r"(\d+) refs", written):
        holder[last] = [f"item-{number}" for number in range(int(refs[1]))]
    else:
        holder[last] = json.loads(written)
