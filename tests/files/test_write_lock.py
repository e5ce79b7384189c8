"""Locked writes: `save`, `create` and `removal` refuse with the reason, and change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.files import write_lock
from ctxview.files.create import CreateRefused, create
from ctxview.files.removal import RemovalRefused, begin_batch, identify
from ctxview.files.save import SaveRefused, save


@pytest.fixture(autouse=True)
def locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_lock, "_reason", None)
    write_lock.lock_writes("only for reading")


def test_every_write_is_refused_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(b"{}")
    with pytest.raises(SaveRefused, match="only for reading"):
        save(file, b"[]", b"{}")
    with pytest.raises(CreateRefused, match="only for reading"):
        create(tmp_path, "b.json", b"{}")
    identity = identify(tmp_path, "a.json")
    assert identity is not None
    with pytest.raises(RemovalRefused, match="only for reading"):
        begin_batch(tmp_path).take("a.json", identity)
    assert [each.name for each in tmp_path.iterdir()] == ["a.json"]
    assert file.read_bytes() == b"{}"
