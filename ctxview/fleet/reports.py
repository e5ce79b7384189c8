"""The reports that ship: questions that teams ask about many sources, each as one query over the views."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class FleetReport(Struct, frozen=True):
    """A question and its query."""

    title: str
    query: str


REPORTS: Mapping[str, FleetReport] = {
    "lost-todos": FleetReport(
        "sessions that lost an open todo in a compaction",
        """
        SELECT revisions.todos_lost AS lost, sources.title, revisions.label AS revision, revisions.utc,
            sources.source
        FROM revisions JOIN sources USING (source, digest)
        WHERE revisions.is_compaction AND revisions.todos_lost > 0
        ORDER BY lost DESC, revisions.utc DESC, sources.source
        """,
    ),
    "window-by-tool": FleetReport(
        "what fills the window, by tool, where it was fullest",
        """
        WITH by_tool AS (
            SELECT tool, count(*) AS sources, sum(calls)::BIGINT AS calls, sum(tokens)::BIGINT AS tokens,
                arg_max(source, tokens) AS most_in
            FROM tools GROUP BY tool
        ),
        windows AS (SELECT count(*) AS windows, sum(tokens_max)::BIGINT AS whole FROM sources),
        rest AS (
            SELECT '(no tool)', windows, NULL,
                greatest(whole - coalesce((SELECT sum(tokens) FROM by_tool), 0), 0)::BIGINT, NULL
            FROM windows
        )
        SELECT tool, tokens, round(100 * tokens / whole, 1) AS percent, calls, sources, most_in
        FROM (FROM by_tool UNION ALL FROM rest), windows
        WHERE tokens > 0 ORDER BY tokens DESC, tool
        """,
    ),
    "findings-by-week": FleetReport(
        "findings by rule and week",
        """
        SELECT date_trunc('week', utc)::DATE AS week, rule, any_value(severity) AS severity,
            count(*) AS findings, count(DISTINCT source) AS sources
        FROM findings GROUP BY week, rule ORDER BY week DESC NULLS LAST, findings DESC, rule
        """,
    ),
    "handoffs": FleetReport(
        "handoffs without a valid, signed approval",
        """
        SELECT review, count(*) OVER (PARTITION BY review) AS alike, title, coalesce(ended, modified) AS utc,
            source
        FROM sources WHERE review IS NOT NULL AND review <> 'approved'
        ORDER BY review, utc DESC, source
        """,
    ),
    "duplicate-instructions": FleetReport(
        "the hundred instruction files with most copies of the same bytes",
        """
        WITH own AS MATERIALIZED (
            -- A key of eight bytes is cheaper to group by than a digest as text.
            SELECT hash(content) AS key, bytes, tokens, file, source FROM instructions WHERE bytes > 0
        ),
        copied AS (
            SELECT key, count(*) AS copies, sum(tokens) AS tokens_of_all FROM own
            GROUP BY key HAVING count(*) > 1 ORDER BY copies DESC, tokens_of_all DESC, key LIMIT 100
        )
        SELECT count(*) AS copies, min(file) AS file, max(bytes) AS bytes,
            sum(tokens)::BIGINT AS tokens_of_all, min(source, 3) AS sources
        FROM own WHERE key IN (SELECT key FROM copied) GROUP BY key
        ORDER BY copies DESC, tokens_of_all DESC, file, sources
        """,
    ),
}
