"""A finding on one line, the same wherever findings are listed beside an edit."""

from __future__ import annotations

from ctxview.findings import Finding
from ctxview.tui.glyphs import SEVERITY
from ctxview.tui.text import Line, join, show


def finding_line(finding: Finding) -> Line:
    mark = show(f"{SEVERITY[finding.severity]} {finding.rule}", f"severity.{finding.severity}")
    return join(mark, show(finding.message), gap=" ")
