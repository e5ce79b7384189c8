"""A report as JSON: the state, the findings, the window over time, the prompt and the changes, all masked."""

from __future__ import annotations

from ctxview import __version__
from ctxview.analysis.diff.report import json_of
from ctxview.core.origin import JsonValue
from ctxview.reports.json_output import finding_as_json, masked_values, state_as_json
from ctxview.review.reports.contents import Report, answers, path_for_others
from ctxview.review.reports.html_changes import cut_sentence

JsonObject = dict[str, JsonValue]

_PATHS = ("file", "source")
"""The members that hold paths."""


def report_json(report: Report) -> JsonObject:
    """Return the document that `ctxview export --to json` writes."""
    found: JsonObject = {
        "report": 1,
        "version": __version__,
        "revision": report.number,
        "revisions": [{"name": each.name, "time": each.time} for each in report.known.names],
        "answers": [
            {"label": each.label, "sentence": each.sentence, "more": each.more or None, "tone": each.tone}
            for each in answers(report)
        ],
        "state": state_as_json(report.state),
        "findings": [finding_as_json(each) for each in report.findings],
        "elsewhere": [finding_as_json(each) for each in report.elsewhere],
        "diff": json_of(report.changes) if report.changes is not None else None,
        "skyline": _skyline(report),
        "xray": _xray(report),
        "sign_offs": [
            {
                "record": each.record,
                "problem": each.problem or None,
                "decision": each.decision or None,
                "reviewer": each.reviewer or None,
                "time": each.time or None,
                "comment": each.comment or None,
                "signature": each.signature or None,
                "changes": list(each.changes),
                "points": [
                    {"title": title, "decision": decision, "reason": reason or None}
                    for title, decision, reason in each.points
                ],
            }
            for each in report.sign_offs
        ],
    }
    masked = masked_values(_for_others(found))
    assert isinstance(masked, dict)
    return masked


def _skyline(report: Report) -> JsonObject:
    columns: list[JsonValue] = [
        {
            "first": each.first,
            "last": each.last,
            "used": each.used,
            "parts": [{"name": name, "used": used} for name, used in each.parts],
            "events": [
                {"kind": event.kind, "text": event.text, "detail": event.detail or None, "rule": event.rule}
                for event in each.events
            ],
        }
        for each in report.skyline.columns
    ]
    return {"limit": report.skyline.limit, "fullest": report.skyline.fullest, "columns": columns}


def _xray(report: Report) -> JsonValue:
    xray = report.xray
    if xray is None:
        return None
    rows: list[JsonValue] = [
        {
            "text": row.text if row.cut is None and row.heading is None else None,
            "tokens": row.cut.tokens if row.cut is not None else row.tokens,
            "tier": row.tier,
            "block": row.block,
            "heading": row.heading,
            "cut": cut_sentence(row) or None,
        }
        for row in xray.rows
    ]
    return {
        "tokens": xray.tokens,
        "tokens_exact": xray.counter_exact,
        "estimator": xray.counter,
        "lines": xray.lines,
        "bytes": xray.bytes,
        "exact": xray.exact,
        "notes": list(xray.notes),
        "rows": rows,
    }


def _for_others(value: JsonValue) -> JsonValue:
    """Return the value with paths that do not name the home of the user."""
    match value:
        case list():
            return [_for_others(each) for each in value]
        case dict():
            return {
                key: path_for_others(each) if key in _PATHS and isinstance(each, str) else _for_others(each)
                for key, each in value.items()
            }
    return value
