"""The neutral vocabulary that every format, pane, report and command shares: state, findings, edits."""

from __future__ import annotations
