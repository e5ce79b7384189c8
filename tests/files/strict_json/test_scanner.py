"""Compare the scanner with the real `JSON.parse`: one node process reads thousands of texts."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64encode
from random import Random

import pytest

from ctxview.core.origin import JsonValue
from ctxview.files.strict_json.document import JsonError, parse
from ctxview.files.strict_json.values import same_value
from tests.files.strict_json.documents import INVALID, VALID, mutated
from tests.running import LIMIT

# Numbers come back as "#…", strings as "$…", so that infinity survives the transfer.
SCRIPT = """
const mark = (key, value) =>
  typeof value === "number" ? "#" + value : typeof value === "string" ? "$" + value : value;
const judge = text => {
  const decoder = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
  let value;
  try { value = JSON.parse(decoder.decode(Buffer.from(text, "base64"))); } catch { return null; }
  try { return JSON.stringify([value], mark); } catch { return ""; }
};
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(input.map(judge)));
"""

needs_node = pytest.mark.skipif(
    shutil.which("node") is None, reason="node, the judge of JSON.parse, is not installed"
)


def node_results(texts: list[bytes]) -> list[str | None]:
    """Return None for each text that `JSON.parse` rejects, else its value (empty when too deep to print)."""
    request = json.dumps([b64encode(text).decode() for text in texts])
    answer = subprocess.run(
        ["node", "-e", SCRIPT], input=request.encode(), capture_output=True, check=True, timeout=LIMIT
    )
    verdicts: list[str | None] = json.loads(answer.stdout)
    return verdicts


def as_javascript(value: JsonValue) -> JsonValue:
    """Return a value from node as the scanner reads it."""
    if isinstance(value, str):
        return value[1:] if value.startswith("$") else float(value[1:].replace("Infinity", "inf"))
    if isinstance(value, list):
        return [as_javascript(item) for item in value]
    return {key: as_javascript(item) for key, item in value.items()} if isinstance(value, dict) else value


def with_doubles(value: JsonValue) -> JsonValue:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, list):
        return [with_doubles(item) for item in value]
    return {key: with_doubles(item) for key, item in value.items()} if isinstance(value, dict) else value


def assert_agreement(texts: list[bytes]) -> None:
    for text, said in zip(texts, node_results(texts), strict=True):
        try:
            value = parse(text).value
        except JsonError:
            assert said is None, f"we reject, node accepts: {text[:200]!r}"
            continue
        assert said is not None, f"we accept, node rejects: {text[:200]!r}"
        if said:
            [theirs] = json.loads(said)
            assert same_value(with_doubles(value), as_javascript(theirs)), text[:200]


@needs_node
def test_difficult_texts_are_accepted_or_rejected_as_by_json_parse() -> None:
    assert_agreement([text for text in (*VALID, *INVALID) if len(text) < 1500])


@needs_node
def test_deep_and_long_texts_are_accepted_or_rejected_as_by_json_parse() -> None:
    deep = [
        b"[" * 100_000 + b"]" * 100_000,
        b"[" * 100_000,
        *(text for text in (*VALID, *INVALID) if len(text) >= 1500),
    ]
    for text, said in zip(deep, node_results(deep), strict=True):
        try:
            parse(text)
            accepted = True
        except JsonError:
            accepted = False
        assert accepted == (said is not None), text[:50]


@needs_node
def test_damaged_texts_are_accepted_or_rejected_as_by_json_parse() -> None:
    random = Random(20)
    assert_agreement([mutated(random.choice((*VALID, *INVALID)), random) for _ in range(12_000)])
