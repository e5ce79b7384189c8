"""The commands pack, gc, swap and dedup."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path

import pytest

from tests.commands.busy_session import DRY, LOG, WRITING, busy_session
from tests.formats.session.builders import user
from tests.formats.session.open_sessions import make_old, tree
from tests.running import Run

WORK = ("pack", "gc", "swap", "dedup")


@pytest.fixture(autouse=True)
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = busy_session(tmp_path).write()
    make_old(root, 60)
    return root


# -- all four --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", WORK)
def test_nothing_is_written_without_an_option(ctxview: Run, root: Path, command: str) -> None:
    before = tree(root)

    assert ctxview(command, root, *DRY[command]).code in (0, 1)

    assert tree(root) == before


@pytest.mark.parametrize("command", WORK)
@pytest.mark.parametrize("width", ["80", "200"])
def test_text_fits_the_terminal_and_says_why(
    ctxview, root: Path, command: str, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)

    ran = ctxview(command, root, *DRY[command])

    assert ran.err == ""
    text = ran.out.replace(str(root), "SESSION")
    assert max(len(line) for line in text.splitlines()) <= int(width)
    reasons = {
        "pack": "does not fit: ",
        "gc": "history is never removed",
        "swap": "nothing was written; add --write to write",
        "dedup": "occurs 2 times",
    }
    assert reasons[command] in text


@pytest.mark.parametrize("command", WORK)
def test_a_second_run_writes_nothing(ctxview: Run, root: Path, command: str) -> None:
    ctxview(command, root, *WRITING[command])
    before = tree(root)

    ctxview(command, root, *WRITING[command])

    assert tree(root) == before


@pytest.mark.parametrize("command", WORK)
def test_a_path_that_is_not_a_session_is_an_error(ctxview: Run, tmp_path: Path, command: str) -> None:
    root = busy_session(tmp_path).write()

    for path, words in (
        (tmp_path / "nowhere", "no such folder"),
        (root / "messages.jsonl", "not a folder"),
        (root.parent, f"it has no messages.jsonl (did you mean {root}?)"),
        (tmp_path / "home", "it has no messages.jsonl"),
    ):
        ran = ctxview(command, path, *DRY[command])
        assert (ran.code, ran.out) == (2, "")
        assert ran.complaint.endswith(words)


@pytest.mark.parametrize("command", WORK)
def test_an_unknown_profile_is_an_error(ctxview: Run, root: Path, command: str) -> None:
    ran = ctxview(command, root, *DRY[command], "--profile", "cortex")

    assert ran.code == 2
    assert "cortexfs" in ran.complaint


@pytest.mark.parametrize("command", WORK)
def test_names_from_the_session_cannot_act_on_the_terminal(
    ctxview: Run, tmp_path: Path, command: str
) -> None:
    evil = "\x1b[2Jevil\u202e"
    build = busy_session(tmp_path).add("messages.jsonl", user(f"{evil}{LOG}"), user(f"{evil}{LOG}"))
    build.set(f"context/pinned/{evil}", "x").child(evil).set("context/dedup/blob/sha256-\x1bx", "x")
    root = build.write()
    options = ("--range", "10-10") if command == "swap" else ()

    ran = ctxview(command, root, *options)

    assert ran.code in (0, 1)
    assert all(char.isprintable() or char == "\n" for char in ran.out)


# -- pack ------------------------------------------------------------------------------------------------


def test_pack_exits_with_1_when_an_item_does_not_fit(ctxview: Run, root: Path) -> None:
    assert ctxview("pack", root).code == 1
    assert ctxview("pack", root, "--budget", "0").code == 0


def test_pack_json_has_every_candidate(ctxview: Run, root: Path) -> None:
    report = ctxview("pack", root, "--json").json

    assert list(report) == [
        "session",
        "agent",
        "profile",
        "budget",
        "used",
        "estimator",
        "exact",
        "items",
        "aborts",
        "written",
    ]
    assert (report["budget"], report["estimator"], report["exact"]) == (60, "words", False)
    recent = next(item for item in report["items"] if item["kind"] == "recent_messages")
    assert list(recent) == ["kind", "source", "range", "tokens", "in", "why"]
    assert (recent["in"], recent["range"]) == (False, "tail:9")


def test_pack_writes_both_files_for_the_budget_it_was_given(ctxview: Run, root: Path) -> None:
    ran = ctxview("pack", root, "--budget", "30", "--write")

    written = json.loads((root / "context/pack.json").read_text())
    assert written["budget_tokens"] == 30
    assert sum(item["tokens"] for item in written["items"]) <= 30
    assert (root / "context/pack.md").read_text().startswith("# CortexFS Context Pack\n\nsession: default\n")
    assert "replaced context/pack.json\nreplaced context/pack.md\n" in ran.out
    assert "another budget than the one in context/budget" in ran.out


def test_pack_counts_exactly_when_asked(ctxview: Run, root: Path) -> None:
    report = ctxview("pack", root, "--tokens", "o200k_base", "--json").json

    assert (report["estimator"], report["exact"]) == ("o200k_base", True)


def test_pack_offers_as_many_messages_as_recent_says(ctxview: Run, root: Path) -> None:
    report = ctxview("pack", root, "--recent", "2", "--budget", "0", "--json").json

    assert "tail:2" in [item["range"] for item in report["items"]]


def test_pack_writes_nothing_if_the_runtime_would_abort_without_anyway(ctxview: Run, tmp_path: Path) -> None:
    root = busy_session(tmp_path).child("-bad").write()
    before = tree(root)

    refused = ctxview("pack", root, "--write")
    assert refused.code == 2
    assert "the runtime would abort: context/child/-bad/result.md: a bad child name" in refused.complaint
    assert tree(root) == before

    assert ctxview("pack", root, "--write", "--anyway").code == 1
    assert tree(root) != before


@pytest.mark.parametrize("budget", ["-1", "many", "1.5", "9" * 30])
def test_pack_accepts_only_whole_budgets(ctxview: Run, root: Path, budget: str) -> None:
    ran = ctxview("pack", root, f"--budget={budget}")

    assert ran.code == 2
    assert f"--budget: expected a whole number from 0 on, such as 8000, found '{budget}'" in ran.complaint


def test_pack_replaces_no_link(ctxview: Run, root: Path, tmp_path: Path) -> None:
    (root / "context/pack.json").unlink()
    (root / "context/pack.json").symlink_to(tmp_path / "elsewhere")

    ran = ctxview("pack", root, "--write")

    assert ran.code == 2
    assert "context/pack.json" in ran.complaint
    assert not (tmp_path / "elsewhere").exists()


# -- gc --------------------------------------------------------------------------------------------------


def test_gc_apply_removes_and_undo_restores_all(ctxview: Run, root: Path) -> None:
    before = tree(root)

    applied = ctxview("gc", root, "--apply")
    removed = set(before) - set(tree(root))
    undone = ctxview("gc", root, "--undo")

    assert (applied.code, undone.code) == (0, 0)
    assert {"context/pack.json", "context/pack.md"} < removed
    assert f"ctxview gc {root} --undo restores these files" in applied.out
    assert tree(root) == before
    assert set(undone.out.splitlines()) == {f"restored {name}" for name in removed}


def test_gc_says_when_there_is_nothing_to_restore(ctxview: Run, root: Path) -> None:
    ran = ctxview("gc", root, "--undo")

    assert (ran.code, ran.out) == (1, "nothing to restore\n")
    assert ctxview("gc", root, "--undo", "--json").json == {"restored": []}


def test_gc_json_has_the_outcome_of_every_file(ctxview: Run, root: Path) -> None:
    report = ctxview("gc", root, "--json").json

    assert report["applied"] is False
    assert report["policy"]["pack_ttl"] == "1d"
    known_outcomes = {item["name"]: item["fate"] for item in report["items"]}
    assert known_outcomes["messages.jsonl"] == "protected"
    assert known_outcomes["context/pack.json"] == "remove"
    assert all(item["reason"] for item in report["items"])


def test_gc_exits_with_1_when_a_file_could_not_be_restored(ctxview: Run, root: Path) -> None:
    ctxview("gc", root, "--apply")
    (root / "context/pack.json").write_text("{}\n")

    ran = ctxview("gc", root, "--undo")

    assert ran.code == 1
    assert "not restored context/pack.json: a new file has this name" in ran.out


# -- swap ------------------------------------------------------------------------------------------------


def test_swap_requires_a_range_an_event_or_rebuild(ctxview: Run, root: Path) -> None:
    assert "one of the arguments --range --event --rebuild is required" in ctxview("swap", root).complaint


@pytest.mark.parametrize("wanted", ["a-b", "3-", "-3", "1-2-3"])
def test_swap_accepts_only_ranges(ctxview: Run, root: Path, wanted: str) -> None:
    ran = ctxview("swap", root, f"--range={wanted}")

    assert ran.code == 2
    assert f"--range: expected FIRST-LAST, such as 33-40, found '{wanted}'" in ran.complaint


def test_swap_of_one_message_and_of_an_event(ctxview: Run, root: Path) -> None:
    assert ctxview("swap", root, "--range", "4", "--write").code == 0
    ran = ctxview("swap", root, "--event", "call-1", "--summary", "one failure", "--write", "--json")

    assert ran.code == 0
    assert (ran.json["place"], ran.json["summary"]) == ("event call-1", "one failure")
    assert [each["deed"] for each in ran.json["written"]] == ["created", "replaced"]


def test_swap_beyond_the_history_is_an_error(ctxview: Run, root: Path) -> None:
    ran = ctxview("swap", root, "--range", "5-99")

    assert ran.code == 2
    assert "messages.jsonl has only 9 records" in ran.complaint


def test_swap_rebuilds_what_gc_removed(ctxview: Run, root: Path) -> None:
    ctxview("swap", root, "--range", "3-5", "--write")
    whole = {name: data for name, data in tree(root).items() if "/chunk/" in name}
    make_old(root, 60)
    assert ctxview("gc", root, "--apply").code == 0
    assert not set(whole) <= set(tree(root))

    dry = ctxview("swap", root, "--rebuild")
    ran = ctxview("swap", root, "--rebuild", "--write", "--json")

    assert "add --write to rebuild the missing chunks" in dry.out
    assert ran.code == 0
    assert {name: data for name, data in tree(root).items() if "/chunk/" in name} == whole


def test_words_are_not_called_tokens(ctxview: Run, root: Path) -> None:
    swapped = ctxview("swap", root, "--range", "1-2").out.splitlines()[0]
    assert re.search(r", \d+ words$", swapped)
    packed = ctxview("pack", root).out
    assert re.search(r" \d+ words\n", packed)
    assert "tokens" not in packed
    assert "tokens (bytes/4, an estimate)" in ctxview("pack", root, "--tokens", "bytes/4").out


def test_swap_exits_with_1_when_a_chunk_cannot_be_rebuilt(ctxview: Run, tmp_path: Path) -> None:
    build = busy_session(tmp_path)
    line = {"kind": "message_range", "source": "messages.jsonl", "summary": "?", "tokens": 1}
    root = build.add("context/swap/index.jsonl", {"id": "sha256-abc", **line, "range": "1-2"}).write()

    ran = ctxview("swap", root, "--rebuild")

    assert ran.code == 1
    assert "lost" in ran.out


# -- dedup -----------------------------------------------------------------------------------------------


def test_dedup_writes_blobs_and_their_lines(ctxview: Run, root: Path) -> None:
    ran = ctxview("dedup", root, "--write", "--json")

    (item,) = (item for item in ran.json["items"] if item["act"] == "keep once")
    assert (item["times"], item["refs"]) == (2, ["messages:7", "messages:9"])
    assert (root / "context/dedup/blob" / item["hash"]).read_text() == LOG
    assert ran.code == 0


@pytest.mark.parametrize("least", ["0", "255", "x"])
def test_dedup_rejects_a_size_that_is_too_small(ctxview: Run, root: Path, least: str) -> None:
    expected = f"--least: expected a number of bytes from 256 on, found '{least}'"
    assert expected in ctxview("dedup", root, "--least", least).complaint


def test_dedup_exits_with_1_when_a_blob_is_lost(ctxview: Run, tmp_path: Path) -> None:
    build = busy_session(tmp_path)
    root = build.remove(next(name for name in build.files if "/blob/" in name)).write()

    assert ctxview("dedup", root).code == 1


def test_a_pack_of_sources_with_fences_passes_its_own_rules(ctxview: Run, root: Path) -> None:
    summary = root / "context" / "summary.md"
    summary.write_text("Run this:\n```text\nmake all\n```\nand wait.\n")
    assert ctxview("pack", root, "--write", "--budget", "0").code == 0
    assert "ABI037" not in ctxview("check", root).out
    summary.write_text("Run this:\n````text\nmake all\n````\nand wait.\n")
    assert "ends the text fence of pack.md early" in ctxview("check", root).out


# -- what a killed command left --------------------------------------------------------------------------

ENDED = 2**22 + 1
"""More than any process number on Linux."""


def leave(root: Path, place: str, process: int | None = ENDED, days: float = 1) -> Path:
    """Leave a hidden file as a killed command does."""
    number = "" if process is None else f"-{process}"
    file = root / place / f".ctxview-{'a' * 16}{number}.tmp"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"half")
    make_old(root, days, str(file.relative_to(root)))
    return file


@pytest.mark.parametrize("command", ["pack", "swap", "dedup"])
def test_a_command_that_writes_clears_what_a_killed_one_left(ctxview: Run, root: Path, command: str) -> None:
    left = [leave(root, place) for place in ("context/swap/chunk", "context/dedup/blob", "context/swap")]

    ctxview(command, root, *DRY[command])
    assert all(file.exists() for file in left)
    ctxview(command, root, *WRITING[command])
    assert not any(file.exists() for file in left)


def test_files_that_are_being_written_stay(ctxview: Run, root: Path) -> None:
    alive, young = leave(root, "context/swap/chunk", os.getpid()), leave(root, "context/dedup/blob", days=0)

    ctxview("dedup", root, "--write")
    assert alive.exists()
    assert young.exists()


def test_what_a_killed_save_left_of_a_pack_becomes_an_undo_copy(ctxview: Run, root: Path) -> None:
    name = sha256(b"pack.json").hexdigest()[:16]
    left = root / "context" / f".ctxview-{name}.tmp"
    left.write_bytes(b"the old pack")

    ctxview("pack", root, "--write", "--anyway")
    assert not left.exists()


def test_a_file_that_was_being_written_is_neither_a_chunk_nor_a_pinned_file(ctxview: Run, root: Path) -> None:
    before = ctxview("check", root).out
    for place in ("context/swap/chunk", "context/dedup/blob", "context/pinned"):
        leave(root, place)
        leave(root, place, None)

    assert ".ctxview" not in ctxview("check", root).out
    assert ctxview("check", root).out == before
    assert ".ctxview" not in ctxview("pack", root).out
    assert ".ctxview" not in ctxview("gc", root).out
