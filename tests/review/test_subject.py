"""The files of a subject: every byte and every new file counts, times and review records do not."""

from __future__ import annotations

import os
from pathlib import Path

from ctxview.formats import open_source
from ctxview.review.subject import Subject, joined, subject_at, subjects_of
from tests.review.building import review_of, sample


def subject_of(path: Path) -> Subject:
    return joined(subjects_of([open_source(path)]))


def digest(path: Path) -> str:
    return subject_of(path).digest


def test_one_byte_and_a_new_file_change_the_digest_and_a_changed_time_does_not(tmp_path: Path) -> None:
    path = sample("handoff", tmp_path)
    before = digest(path)
    os.utime(path / "handoff.json", (1, 1))
    (path / "handoff.ctxreview.json").write_text('{"predicateType": "urn:ctxview:review:v9"}', "utf-8")
    (path / "handoff.ctxreview.json.sig").write_text("-----BEGIN SSH SIGNATURE-----\n", "utf-8")
    assert digest(path) == before

    (path / "content" / "fix.patch").write_bytes((path / "content" / "fix.patch").read_bytes()[:-1] + b" ")
    changed = digest(path)
    (path / "content" / "new.txt").write_bytes(b"")
    assert len({before, changed, digest(path)}) == 3


def test_names_are_relative_so_that_equal_folders_have_equal_digests(tmp_path: Path) -> None:
    one, other = sample("handoff", tmp_path / "a"), sample("handoff", tmp_path / "b")

    assert digest(one) == digest(other)
    assert "handoff/handoff.json" in subject_of(one).files


def test_a_link_inside_is_named_and_not_followed_but_a_named_link_is(tmp_path: Path) -> None:
    path = sample("handoff", tmp_path)
    outside = tmp_path / "outside.txt"
    outside.write_text("one", "utf-8")
    (path / "content" / "more.txt").symlink_to(outside)
    (tmp_path / "current").symlink_to(path)
    subject = subject_of(path)

    assert subject.links == {"handoff/content/more.txt": str(outside)}
    assert "handoff/content/more.txt" not in subject.files
    assert subject_of(tmp_path / "current").digest == subject.digest
    outside.write_text("two", "utf-8")
    assert digest(path) == subject.digest
    (path / "content" / "more.txt").unlink()
    assert digest(path) != subject.digest


def test_a_file_that_is_gone_is_not_replaced_by_its_folder(tmp_path: Path) -> None:
    path = sample("handoff", tmp_path)
    source = open_source(path / "handoff.json")
    (path / "handoff.json").unlink()

    assert not joined(subjects_of([source])).files


def test_a_pipe_in_the_folder_is_not_opened_and_is_reported_as_not_covered(tmp_path: Path) -> None:
    path = sample("handoff", tmp_path)
    os.mkfifo(path / "content" / "pipe")

    assert subject_of(path).unread == {"handoff/content/pipe": "this is a pipe, not a file"}


def test_a_single_file_is_reviewed_with_the_files_that_it_shows(tmp_path: Path) -> None:
    path = sample("handoff", tmp_path)
    (path / "unrelated.txt").write_text("x", "utf-8")
    review = review_of(path / "handoff.json")

    assert {
        "handoff.json",
        "content/fix.patch",
        "content/prompt-for-sable.txt",
    } <= review.subject.files.keys()
    assert "unrelated.txt" not in review.subject.files


def test_of_a_repository_only_the_files_of_the_source_count(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Agents\n\nRun the tests.\n", "utf-8")
    (tmp_path / "CLAUDE.md").write_text("# Claude\n\nRun the tests.\n", "utf-8")
    (tmp_path / ".git").mkdir()
    before = digest(tmp_path)
    (tmp_path / "program.py").write_text("pass", "utf-8")
    (tmp_path / ".git" / "index").write_text("x", "utf-8")
    assert digest(tmp_path) == before
    (tmp_path / "AGENTS.md").write_text("# Agents\n\nRun all tests.\n", "utf-8")
    assert digest(tmp_path) != before


def test_a_name_that_leads_through_a_link_is_not_read(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("x", "utf-8")
    (inside / "link").symlink_to(tmp_path / "secret")
    subject = subject_at(inside, [inside / "link" / "key", inside / "link" / ".." / "secret"])

    assert subject.files == {}
    assert [*subject.unread.values()] == ["the path goes through a symbolic link"] * 2
