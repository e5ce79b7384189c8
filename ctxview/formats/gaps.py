"""Makes a gap from a rule's severity, for any format; most gaps block nothing in particular."""

from __future__ import annotations

from ctxview.findings import Severity
from ctxview.state import Gap, Origin


def gap(
    name: str,
    question: str,
    severity: Severity,
    status: str,
    why: str,
    origin: Origin,
    blocks: tuple[str, ...] = (),
) -> Gap:
    return Gap(name, question, severity.value, status, blocks, why, origin)
