"""The template of the protocol document has no findings in any role and place."""

from __future__ import annotations

import pytest

from ctxview.formats.snapshot import rules
from ctxview.formats.snapshot.model import SnapshotRole
from tests.formats.snapshot.builders import log_of, reply, snapshot_of
from tests.formats.snapshot.rules.checking import ATOM, BARE
from tests.formats.snapshot.rules.template import full_log, lite_log, store, template


@pytest.mark.parametrize("role", SnapshotRole)
@pytest.mark.parametrize("profile", [ATOM, BARE], ids=lambda profile: profile.name)
def test_the_template_has_no_findings_in_any_role(role: SnapshotRole, profile):
    assert list(rules.check_snapshot(snapshot_of(template(), role=role), profile)) == []


def test_a_reply_with_the_template_has_no_findings():
    assert list(rules.check_reply(reply(template()), ATOM)) == []


@pytest.mark.parametrize("envelope", [full_log, lite_log])
def test_the_logs_of_the_template_have_no_findings(envelope):
    assert list(rules.check_log(log_of(envelope()), ATOM)) == []


def test_sending_the_template_back_unchanged_has_no_findings():
    received, emitted = snapshot_of(template()), snapshot_of(template(), role=SnapshotRole.EMITTED)
    assert list(rules.check_exchange(received, emitted, ATOM)) == []


def test_storing_the_template_again_has_no_findings():
    assert list(rules.check_succession(snapshot_of(template()), snapshot_of(template()), ATOM)) == []


def test_the_store_of_the_template_has_no_findings():
    assert list(rules.check_store(store(), snapshot_of(template()), ATOM)) == []
