"""Finished, cold and recalled blocks: SNP025 to 027."""

from __future__ import annotations

import pytest

from ctxview.core.findings import Effect, Severity
from tests.formats.snapshot.builders import block, snapshot
from tests.formats.snapshot.rules.checking import BARE, of_snapshot

TAG = "tag:lt-1:m1x2y3:a1b2c3"


def cold(**fields) -> dict:
    whole = {
        "content_state": "tag_ref",
        "tag_id": TAG,
        "tag_summary": "how",
        "content": f"[tag_ref:{TAG}] how",
    }
    return block("lt-1", **{**whole, **fields})


@pytest.mark.parametrize("status", ["finished", "Done", "", None, 3])
def test_an_unknown_status_counts_as_open(status):
    (finding,) = of_snapshot(25, snapshot(working=[block(status=status)]))
    assert finding.effect is Effect.REPAIRED
    assert finding.origin.pointer == "/memory/working/0/status"


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_a_terminal_status_goes_together_with_closed_at(status: str):
    (finding,) = of_snapshot(25, snapshot(working=[block(status=status)]))
    assert "closed_at" in finding.message
    assert of_snapshot(25, snapshot(working=[block(status=status, closed_at=1)])) == []


def test_closed_at_on_an_open_block_is_a_warning():
    (finding,) = of_snapshot(25, snapshot(working=[block(status="open", closed_at=1)]))
    assert finding.origin.pointer == "/memory/working/0/closed_at"
    assert of_snapshot(25, snapshot(working=[block(closed_at=None)])) == []


def test_a_status_outside_working_is_a_warning():
    (finding,) = of_snapshot(25, snapshot(core=[block(status="open")]))
    assert finding.severity is Severity.WARNING
    assert of_snapshot(25, snapshot(working=[block(status="open"), block("b")])) == []


@pytest.mark.parametrize("state", ["cold", "", None, 3, ["active"]])
def test_an_unknown_content_state_is_an_error(state):
    (finding,) = of_snapshot(26, snapshot(longterm=[block(content_state=state)]))
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize("tag_id", [..., "", " ", None, 7])
def test_a_placeholder_without_tag_id_is_an_error(tag_id):
    (finding,) = of_snapshot(26, snapshot(longterm=[cold(tag_id=tag_id)]))
    assert finding.severity is Severity.ERROR


def test_a_placeholder_without_summary_is_a_warning():
    (finding,) = of_snapshot(26, snapshot(longterm=[cold(tag_summary=...)]))
    assert finding.severity is Severity.WARNING


def test_a_placeholder_may_have_120_characters_but_not_121():
    assert of_snapshot(26, snapshot(longterm=[cold(content="x" * 120)])) == []
    (finding,) = of_snapshot(26, snapshot(longterm=[cold(content="x" * 121)]))
    assert finding.severity is Severity.WARNING
    assert of_snapshot(26, snapshot(longterm=[cold(content="x" * 121)]), BARE) == []


def test_an_active_block_with_a_placeholder_as_content_is_an_error():
    (finding,) = of_snapshot(26, snapshot(longterm=[block(content=f"[tag_ref:{TAG}] how")]))
    assert finding.severity is Severity.ERROR
    assert of_snapshot(26, snapshot(longterm=[block(content="about [tag_ref: the syntax")])) == []


def test_traces_of_earlier_moves_are_only_mentioned():
    (active,) = of_snapshot(
        26, snapshot(longterm=[block(content_state="active", tag_id=TAG, rehydrated_at=1)])
    )
    (again,) = of_snapshot(26, snapshot(longterm=[cold(rehydrated_at=1)]))
    assert active.severity is again.severity is Severity.INFO


def recalled(**fields) -> dict:
    whole = {"type": "persistent_recall", "persistent_block_id": "core-1"}
    return block(**{"id": "persistent:core-1", **whole, **fields})


@pytest.mark.parametrize(
    ("tier", "fields"),
    [
        ("ephemeral", {"persistent_block_id": ...}),
        ("ephemeral", {"type": "note"}),
        ("longterm", {"type": "persistent_recall"}),
        ("ephemeral", {"id": "persistent:persistent:core-1"}),
        ("core", {}),
        ("working", {}),
    ],
)
def test_a_recalled_block_with_a_wrong_mark_is_a_warning(tier: str, fields):
    (finding,) = of_snapshot(27, snapshot(**{tier: [recalled(**fields)]}))
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("tier", "fields"),
    [
        ("ephemeral", {}),
        ("longterm", {"type": "persistent_longterm_recall"}),
        ("ephemeral", {"id": "persistent:working:work-1"}),
    ],
)
def test_a_properly_recalled_block_is_fine(tier: str, fields):
    assert of_snapshot(27, snapshot(**{tier: [recalled(**fields)]})) == []


def test_a_doubled_working_prefix_is_found_behind_the_recall_prefix():
    (finding,) = of_snapshot(27, snapshot(ephemeral=[recalled(id="working:working:a")]))
    assert "working: twice" in finding.message
