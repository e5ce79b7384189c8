"""Which findings came and which went between two versions of a file; it does not find anything itself."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

from ctxview.findings import Finding
from ctxview.quick_dataclass import dataclass

_INDEX: Final = re.compile(r"/[0-9]+(?=/|$)")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One version of a file with everything found in it."""

    data: bytes
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class FindingDifference:
    """`kept` are the findings that both versions have, as they stand in the later one."""

    added: tuple[Finding, ...]
    removed: tuple[Finding, ...]
    kept: tuple[Finding, ...]


def difference(before: Reviewed, after: Reviewed, *, shifted: bool) -> FindingDifference:
    """What is new in `after` and what of `before` is gone.

    Offsets and lines move with every edit, so a finding is the same if it says the same of the same pointer.
    Where elements may have been `shifted` to other indexes: of the same bytes, or else of a like place.
    """
    gone: Iterable[Finding] = before.findings
    new: Iterable[Finding] = after.findings
    for likeness in (_by_pointer, _by_bytes, _by_kind_of_place) if shifted else (_by_pointer,):
        waiting: dict[Hashable, list[Finding]] = {}
        for finding in gone:
            waiting.setdefault((_says(finding), likeness(finding, before.data)), []).append(finding)
        new = [each for each in new if not _take(waiting, (_says(each), likeness(each, after.data)))]
        gone = [finding for left in waiting.values() for finding in left]
    added = {id(finding) for finding in new}
    kept = tuple(finding for finding in after.findings if id(finding) not in added)
    return FindingDifference(tuple(new), tuple(gone), kept)


def _says(finding: Finding) -> Hashable:
    return finding.rule, finding.severity, finding.effect, finding.message, finding.origin.file


def _by_pointer(finding: Finding, _: bytes) -> Hashable:
    return finding.origin.pointer


def _by_bytes(finding: Finding, data: bytes) -> Hashable:
    return data[finding.origin.start : finding.origin.end]


def _by_kind_of_place(finding: Finding, _: bytes) -> Hashable:
    return _INDEX.sub("/#", finding.origin.pointer or "")


def _take(waiting: dict[Hashable, list[Finding]], key: Hashable) -> bool:
    """Pair a finding off with one that waits for it, if there is one."""
    found = waiting.get(key)
    if not found:
        return False
    found.pop(0)
    return True
