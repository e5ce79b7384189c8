"""Digests, selectors, native ids and sources that stay useful: ENV030 to ENV033."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.findings import Severity
from ctxview.formats import Lens, open_source
from ctxview.formats.envelope.references import LARGEST
from tests.formats.envelope.bundles import changed
from tests.formats.envelope.rules.examples import rule_findings
from tests.formats.envelope.sound_records import digest
from tests.formats.ordinary_user import as_ordinary_user

HEX = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("sha256:example", "is not an algorithm and hexadecimal digits"),
        (HEX, "is not an algorithm"),
        ("", "is not an algorithm"),
        (f"sha256:{HEX} ", "is not an algorithm"),
        (f"sha256:{HEX[:-1]}", "has 63 digits; sha256 has 64"),
        ("SHA-512:00", "has 2 digits; sha512 has 128"),
    ],
)
def test_a_digest_of_another_form_is_a_warning(written: str, words: str):
    (finding,) = rule_findings(30, f"source-plan.digest = {json.dumps(written)}")
    assert words in finding.message
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    "written", [f"sha256:{HEX}", f"SHA-256:{HEX.upper()}", "blake3:00", f"md5:{HEX[:32]}"]
)
def test_a_well_formed_digest_of_bytes_elsewhere_is_fine(written: str):
    assert rule_findings(30, f'source-plan.digest = "{written}"') == []


PLAN = "First the scanner and its tests. Then the tree. Then the places. " * 2


def test_the_digest_of_an_inline_text_is_compared():
    assert rule_findings(30, f'item-plan.digest = "{digest(PLAN)}"') == []
    (finding,) = rule_findings(30, f'item-plan.digest = "{digest("another")}"')
    assert "not that of its content of 130 bytes" in finding.message


def test_the_digest_of_a_redacted_text_is_not_compared():
    assert rule_findings(30, f'item-note.digest = "{digest("the original")}"') == []
    assert rule_findings(30, f'item-extra.digest = "{digest("elsewhere")}"') == []


@pytest.mark.parametrize(
    "address", ["data:,hello%20you", "DATA:;base64," + base64.b64encode(b"hello you").decode()]
)
def test_the_digest_of_an_address_that_holds_its_data_is_compared(address: str):
    change = f'source-plan.uri = "{address}" ¶ source-plan.digest'
    assert rule_findings(30, f'{change} = "{digest("hello you")}"') == []
    assert len(rule_findings(30, f'{change} = "{digest("hello me")}"')) == 1


@pytest.mark.parametrize("address", ["data:", "data:;base64,!!"])
def test_a_broken_data_address_proves_nothing(address: str):
    assert rule_findings(30, f'source-plan.uri = "{address}"') == []


def test_the_content_of_a_source_is_compared():
    assert len(rule_findings(30, 'source-plan.content = "hello"')) == 1
    assert (
        rule_findings(30, f'source-plan.content = "hello" ¶ source-plan.digest = "{digest("hello")}"') == []
    )


def test_the_digest_of_a_file_beside_the_records_is_compared(tmp_path: Path):
    values = changed("source-plan", uri="docs/plan.md", digest=digest("the plan"))
    (tmp_path / "bundle.json").write_text(json.dumps(values))
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/plan.md").write_text("the plan")
    assert _digest_findings(tmp_path) == []
    (tmp_path / "docs/plan.md").write_text("another plan")
    assert _digest_findings(tmp_path) == ["source-plan: the digest is not that of docs/plan.md (12 bytes)"]
    (tmp_path / "docs/plan.md").unlink()
    assert _digest_findings(tmp_path) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"id_": "source-plan", "uri": "docs/plan.md", "digest": digest("the plan")},
        {"id_": "source-plan", "uri": "./docs/plan.md#top"},
        {"id_": "item-plan", "content_mode": "reference", "content_ref": {"uri": "docs/plan.md"}},
    ],
)
@pytest.mark.parametrize("place", ["pipe", "link", "not permitted", "in a closed folder"])
def test_content_beside_the_records_that_cannot_be_read_is_a_finding(fields: dict[str, Any], place: str):
    # Not `tmp_path`, which no other user may search.
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bundle.json").write_text(json.dumps(changed(**fields)))
        plan = folder / "docs/plan.md"
        plan.parent.mkdir()
        if place == "pipe":
            os.mkfifo(plan)
        elif place == "link":
            plan.symlink_to(folder / "bundle.json")
        else:
            plan.touch(0)
            plan.parent.chmod(0 if place == "in a closed folder" else 0o755)
        # Modules are imported first, because the other user may not read them.
        open_source(folder / "bundle.json", "envelope").findings(Lens(ESTIMATES["bytes/4"]))
        with as_ordinary_user():
            found = open_source(folder / "bundle.json", "envelope").findings(Lens(ESTIMATES["bytes/4"]))
        plan.parent.chmod(0o755)
    assert [each.origin.file for each in found if each.rule == "RAW002"] == [str(plan)]


def test_content_beside_the_records_that_is_too_large_is_a_finding(tmp_path: Path):
    (tmp_path / "bundle.json").write_text(json.dumps(changed("source-plan", uri="plan.md")))
    with (tmp_path / "plan.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    found = open_source(tmp_path / "bundle.json", "envelope").findings(Lens(ESTIMATES["bytes/4"]))
    (finding,) = (each for each in found if each.rule == "RAW003")
    assert finding.origin.file == str(tmp_path / "plan.md")
    assert "more than the limit of 8.0 MiB" in finding.message


@pytest.mark.parametrize("uri", ["docs", "absent.md", "bundle.json/x", "a" * 300])
def test_an_address_that_leads_to_no_file_is_no_finding(tmp_path: Path, uri: str):
    (tmp_path / "bundle.json").write_text(json.dumps(changed("source-plan", uri=uri)))
    (tmp_path / "docs").mkdir()
    found = open_source(tmp_path / "bundle.json", "envelope").findings(Lens(ESTIMATES["bytes/4"]))
    assert [each for each in found if each.rule in ("RAW002", "RAW003")] == []


def _digest_findings(folder: Path) -> list[str]:
    lens = Lens(ESTIMATES["bytes/4"])
    found = open_source(folder / "bundle.json", "envelope").findings(lens)
    return [each.message for each in found if each.rule == "ENV030"]


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ('{"start": 1, "end": 2}', "does not say its type"),
        ('{"type": 5}', "does not say its type"),
        (
            '{"type": "line_range", "start": 0, "end": 2}',
            "the start of the line_range selector is 0, less than 1",
        ),
        ('{"type": "line_range", "start_line": 9, "end_line": 2}', "ends before it begins (9 to 2)"),
        ('{"type": "line_range", "start": "1"}', 'is "1", not a number'),
        ('{"type": "line_range", "start": 1.5}', "not a whole number"),
        ('{"type": "byte_range", "start": -1, "end": 2}', "less than 0"),
        ('{"type": "byte_range", "start": 4, "length": -1}', "the length of the byte_range"),
        ('{"type": "text_position", "start": 5, "end": 4}', "ends before it begins"),
        ('{"type": "media_time_range", "start": 9.5, "end": 2}', "ends before it begins (9.5 to 2)"),
        ('{"type": "page_region", "page": 0}', "the page of the page_region selector is 0, less than 1"),
        ('{"type": "json_pointer", "pointer": "a/b"}', 'the json_pointer "a/b" does not begin with /'),
        ('{"type": "text_quote", "exact": " "}', "the exact of the text_quote selector is blank"),
        ('{"type": "css_selector", "value": ""}', "selects nothing"),
        ('["L1", 5]', "5 is not a selector"),
        ('[{"type": "xpath", "value": "/a"}, {"type": "line_range", "start": 0}]', "less than 1"),
    ],
)
def test_a_selector_that_selects_nothing_is_a_warning(selector: str, words: str):
    (finding,) = rule_findings(31, f"source-plan.selector = {selector}")
    assert words in finding.message


@pytest.mark.parametrize(
    "selector",
    [
        '"L1-L12"',
        '{"type": "line_range"}',
        '{"type": "line_range", "start": 3, "end": 3.0}',
        '{"type": "byte_range", "start": 0, "end": 0}',
        '{"type": "json_pointer", "pointer": ""}',
        '{"type": "json_pointer", "pointer": "/a/b"}',
        '{"type": "media_time_range", "start": "00:01:30", "end": "00:00:10"}',
        '{"type": "text_quote", "exact": "x"}',
        '{"type": "new_kind", "start": 1}',
        "null",
    ],
)
def test_sane_bounds_and_free_forms_are_fine(selector: str):
    assert rule_findings(31, f"source-plan.selector = {selector}") == []


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ('{"protocol": "mcp", "resource": "x"}', "resource in a mapping to MCP is not one of its ids"),
        ('{"protocol": "A2A", "task_id": "t", "span_id": "s"}', "span_id in a mapping to A2A"),
        ('{"standard": "Web Annotation", "page": 1}', "Web Annotation"),
        ('{"protocol": "open-telemetry", "trace": "t"}', "trace in a mapping to OpenTelemetry"),
        ('{"made_up": "x"}', "no known protocol has the ids made_up"),
        ('{"trace_id": "t", "server_id": "s"}', "no single protocol has the ids trace_id, server_id"),
    ],
)
def test_keys_that_the_protocol_does_not_have_are_mentioned(mapping: str, words: str):
    (finding,) = rule_findings(32, f"source-plan.external_mappings = [{mapping}]")
    assert words in finding.message
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    "mapping",
    [
        '{"protocol": "mcp", "server_id": "s", "version": "1"}',
        '{"protocol": "gopher", "anything": 1}',
        '{"trace_id": "t", "span_id": "s"}',
        '{"message_id": "m"}',
        "{}",
        '{"protocol": "prov", "wasDerivedFrom": "e"}',
    ],
)
def test_the_ids_of_one_protocol_and_unknown_protocols_are_fine(mapping: str):
    assert rule_findings(32, f"source-plan.external_mappings = [{mapping}]") == []


def test_a_source_that_came_by_a_protocol_keeps_its_ids():
    (finding,) = rule_findings(
        32, 'source-plan.source_kind = "mcp_resource" ¶ source-plan.external_mappings = []'
    )
    assert "comes by MCP (mcp_resource)" in finding.message
    assert rule_findings(32, 'source-plan.source_kind = "mcp_resource"') == []
    assert rule_findings(32, "source-plan.external_mappings = (absent)") == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ('source-plan.uri = "redacted:x" ¶ source-plan.digest = ""', "source-plan cannot be looked up, and"),
        ('source-chat.uri = "[redacted]" ¶ source-chat.digest = (absent)', "after item-note was redacted"),
        ('source-chat.uri = ""', "source-chat has a blank uri after item-note was redacted"),
        ("source-plan.metadata.shareable = false ¶ source-plan.digest = (absent)", "no digest"),
        ('source-plan.unshareable = true ¶ source-plan.uri = " "', "write at least a redacted one"),
        (
            'source-plan.uri = "" ¶ compaction-1.source_item_refs = ["item-plan"]',
            "after item-plan was compacted",
        ),
        (
            'source-plan.uri = "" ¶ injection-tool.target = "evidence_export"',
            "after item-log was exported",
        ),
    ],
)
def test_a_source_without_address_and_digest_is_a_warning(change: str, words: str):
    (finding,) = rule_findings(33, change)
    assert words in finding.message


@pytest.mark.parametrize(
    "change",
    [
        'source-plan.uri = "redacted:x"',
        "source-plan.digest = (absent)",
        'source-plan.uri = ""',
        "source-plan.uri = (absent) ¶ source-plan.digest = (absent)",
        "source-plan.metadata.shareable = false",
    ],
)
def test_a_source_that_can_be_looked_up_or_proved_is_fine(change: str):
    assert rule_findings(33, change) == []
