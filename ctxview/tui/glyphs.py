"""The small pictures of the inspector, each one cell wide in every terminal, and how figures are spelled.

Chosen from box drawing, block elements, arrows and dingbats without emoji presentation: a padlock emoji is
two cells wide in some terminals and one in others.
"""

from __future__ import annotations

import re

from ctxview.findings import Severity
from ctxview.state import Owner, RefStatus

SEVERITY = {Severity.ERROR: "✖", Severity.WARNING: "▲", Severity.INFO: "●"}

OWNER = {Owner.MODEL: "✎", Owner.SYSTEM: "⊘", Owner.DERIVED: "∑", Owner.APPEND_ONLY: "⇥"}

REF = {
    RefStatus.RESOLVED: "✓",
    RefStatus.DANGLING: "✗",
    RefStatus.ORPHAN: "○",
    RefStatus.EXTERNAL: "↗",
    RefStatus.MISMATCH: "≠",
    RefStatus.STALE: "±",
    RefStatus.REBUILDABLE: "↺",
    RefStatus.PLACEHOLDER: "◌",
    RefStatus.UNKNOWN: "?",
}

YES, NO, UNSAID = "✓", "✗", "·"

DONE, CURRENT, OPEN, STUCK, DROPPED = "✓", "●", "○", "⊘", "⊖"

MORE, LESS = "↑", "↓"

LEVELS = "▁▂▃▄▅▆▇█"

_TIME = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<clock>\d\d:\d\d:\d\d)(?:\.\d{1,9})?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)


def level(share: float) -> str:
    """A value from 0 to 1 as one cell of a column."""
    return LEVELS[step(share)]


def step(share: float) -> int:
    """A value from 0 to 1 as one of eight steps; what is out of range is the nearest end."""
    return min(7, int(_inside(share) * 8))


def rail(share: float, cells: int) -> tuple[str, str]:
    """A value from 0 to 1 as a thin line: the heavy part in halves of a cell, and the light rest."""
    halves = round(_inside(share) * cells * 2)
    heavy = "━" * (halves // 2) + ("╸" if halves % 2 else "")
    return heavy, "─" * (cells - len(heavy))


def bar(share: float, cells: int) -> tuple[str, str]:
    """A value from 0 to 1 as a bar: the filled part in eighths of a cell, and the empty rest."""
    share = _inside(share)
    eighths = round(share * cells * 8)
    if share > 0 and eighths == 0:
        eighths = 1
    full, part = divmod(eighths, 8)
    filled = "█" * full + ("▏▎▍▌▋▊▉"[part - 1] if part else "")
    return filled, " " * (cells - len(filled))


def share(value: float | None) -> str:
    """A value from 0 to 1 in the fewest cells (.05, 1.0); what is out of range shows itself."""
    if value is None:
        return ""
    text = f"{value:.2f}"
    if text.startswith("0."):
        return text[1:]
    return "1.0" if text == "1.00" else f"{value:.3g}"


def count(number: int | None) -> str:
    """A whole number with separators."""
    return "" if number is None else f"{number:,}"


def short_count(number: int | None) -> str:
    """A whole number in at most five cells: 812, 9,412, 41.2k, 3.1M."""
    if number is None:
        return ""
    if abs(number) < 10_000:
        return f"{number:,}"
    for divisor, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= divisor:
            value = number / divisor
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return str(number)


def moment(time: str) -> str:
    """A time as it was written, without what nobody reads: 2026-03-12 05:24:41Z."""
    found = _TIME.fullmatch(time)
    return f"{found['date']} {found['clock']}{found['zone'] or ''}" if found else time


def _inside(share: float) -> float:
    """The nearest value from 0 to 1; 0 for what is no number."""
    return min(1.0, max(0.0, share)) if share == share else 0.0
