"""Replies are paired with snapshots in the folder beside theirs, and with files that are named together."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.formats.kit import file_source
from tests.formats.snapshot.builders import at, block, reply_bytes, to_bytes
from tests.formats.snapshot.test_order import FULL, forged, found

LENS = Lens(ESTIMATES["bytes/4"])


@pytest.mark.parametrize(
    "names", [("received", "reply"), ("requests", "responses"), ("run 1 in", "run 1 out")]
)
def test_replies_answer_the_snapshots_in_the_folder_beside(tmp_path: Path, names: tuple[str, str]) -> None:
    given, replies = (tmp_path / name for name in names)
    for folder in (given, replies):
        folder.mkdir()
    for number in (8, 9, 10):
        (given / f"round-{number:02}.json").write_bytes(to_bytes(at(number, **FULL)))
        sent = forged(9, startup_at=5) if number == 9 else at(number, **FULL)
        (replies / f"round-{number:02}.txt").write_bytes(reply_bytes(sent))

    source = open_source(replies)
    assert {"SNP042", "SNP043"} <= found(source, "round-09.txt")
    assert "SNP043" not in found(source, "round-08.txt") | found(source, "round-10.txt")
    assert given / "round-09.json" in source.watched

    # The folder beside it changes: the reply is compared with what is there now.
    (given / "round-09.json").write_bytes(to_bytes(at(9, working=[block("w")])))
    assert "SNP043" not in found(source.again(), "round-09.txt")
    assert source.again().again() is not None


@pytest.mark.parametrize("beside", [("notes",), ("received", "context"), ()])
def test_no_folder_is_taken_for_the_other_half_without_a_reason(
    tmp_path: Path, beside: tuple[str, ...]
) -> None:
    replies = tmp_path / "reply"
    replies.mkdir()
    (replies / "round-09.txt").write_bytes(reply_bytes(forged(9)))
    for name in beside:
        (tmp_path / name).mkdir()
        (tmp_path / name / "round-09.json").write_bytes(to_bytes(at(9, **FULL)))
    assert "SNP043" not in found(open_source(replies), "round-09.txt")


def test_files_that_are_named_together_are_paired(tmp_path: Path) -> None:
    given, sent = tmp_path / "A.json", tmp_path / "elsewhere" / "B.txt"
    sent.parent.mkdir()
    given.write_bytes(to_bytes(at(9, **FULL)))
    sent.write_bytes(reply_bytes(forged(9, round=3)))
    snapshot, reply = open_source(given), open_source(sent)
    replies = snapshot.abilities.replies
    assert replies is not None
    assert "SNP043" not in found(reply, "B.txt")

    first, second = replies.paired_with([reply])
    assert first is snapshot
    assert "SNP043" in found(second, "B.txt")


def test_a_reply_that_its_own_folder_pairs_keeps_that(tmp_path: Path) -> None:
    folder = tmp_path / "rounds"
    folder.mkdir()
    (folder / "round-09.received.json").write_bytes(to_bytes(at(9, working=[block("w")])))
    (folder / "round-09.reply.txt").write_bytes(reply_bytes(forged(9)))
    (tmp_path / "round-09.json").write_bytes(to_bytes(at(9, **FULL)))
    source = open_source(folder)
    replies = source.abilities.replies
    assert replies is not None
    assert replies.paired_with([open_source(tmp_path / "round-09.json")])[0] is source


def test_files_of_a_folder_that_were_not_read_are_a_row_and_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_source, "MOST_FILES", 2)
    for number in (8, 9, 10):
        (tmp_path / f"round-{number:02}.json").write_bytes(to_bytes(at(number, **FULL)))
    source = open_source(tmp_path)
    why = "1 more file of this folder were not read"
    rows = [gap.why for gap in source.reading(1, LENS).state.missing if gap.status == "left out"]
    assert rows == [why]
    assert [each.message for each in source.findings(LENS) if each.rule == "RAW003"] == [why]
