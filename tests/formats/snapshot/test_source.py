"""Files, folders of rounds and agent folders as sources: ordered, paired, readable despite one bad file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, OpenError, Source, discover, open_source
from ctxview.formats.revisions import is_past, previous_revision
from tests.formats.snapshot.builders import (
    STARTUP,
    at,
    block,
    full_log_value,
    labels,
    memory_db,
    reply_bytes,
    to_bytes,
    todo_db,
)

LENS = Lens(ESTIMATES["bytes/4"])


def write(folder: Path, **files: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_bytes(data)
    return folder


def rules(source: Source, **lens: Any) -> set[str]:
    return {finding.rule for finding in source.findings(Lens(LENS.counter, **lens))}


# -- order -------------------------------------------------------------------------------------------------


def test_the_rounds_of_a_folder_are_in_order_under_any_file_names(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "s",
        z_json=to_bytes(at(2)),
        a_txt=reply_bytes(at(3)),
        m_json=to_bytes(at(3)),
        b_txt=reply_bytes(at(2)),
        y_json=to_bytes(at(1)),
    )
    assert labels(open_source(folder)) == ["round 1", "round 2", "round 2 reply", "round 3", "round 3 reply"]


def test_an_earlier_process_comes_first(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", a_json=to_bytes(at(1)), b_json=to_bytes(at(9, start=STARTUP - 1)))
    source = open_source(folder)
    assert labels(source) == ["round 9", "round 1"]
    event = source.reading(1, LENS).state.timeline[1]
    assert (event.kind, event.label) == ("restart", "round 1 · new process")


def test_numbers_in_names_are_compared_as_numbers(tmp_path: Path) -> None:
    same = to_bytes(at(1))
    folder = write(tmp_path / "s", r10_json=same, r9_json=same, r1_json=same)
    assert [revision.file.name for revision in open_source(folder).revisions] == [
        "r1.json",
        "r9.json",
        "r10.json",
    ]


def test_files_that_do_not_follow_each_other_are_not_rounds(tmp_path: Path) -> None:
    state, other = to_bytes(at(4)), at(3)
    other["runtime"]["workspace"] = "/elsewhere"
    folder = write(
        tmp_path / "s",
        a_json=state,
        b_json=to_bytes(other),
        **{"c.received_json": state},
        d_json=state,
        e_json=state,
    )
    (folder / "c.reply.txt").write_bytes(reply_bytes(at(4)))
    source = open_source(folder)
    named = [(each.label, each.follows, each.independent) for each in source.revisions]
    assert named == [
        ("a.json", None, True),
        ("b.json", None, True),
        ("c.received.json", None, True),
        ("c.reply.txt", "c.received.json", True),
        ("d.json", None, True),
        ("e.json", None, True),
    ]
    revisions = source.revisions
    assert [is_past(revisions, place) for place in range(6)] == [False, False, True, False, False, False]
    assert [previous_revision(revisions, place) for place in range(6)] == [None, None, None, 2, None, None]
    assert "SNP052" not in rules(source)
    assert source.reading(0, LENS).state.extra["folder"] == "6 files that are not rounds of one history"


def test_one_file_and_an_injected_copy_of_another_round_are_a_history(tmp_path: Path) -> None:
    stored, injected = at(3), {"modelContext": at(2), "timestamp": "x"}
    folder = write(tmp_path / "s", a_json=to_bytes(injected), b_json=to_bytes(stored))
    sources = (open_source(folder), open_source(folder / "a.json"))
    assert [each.independent for source in sources for each in source.revisions] == [False, False, False]


def test_a_reply_with_a_changed_round_still_follows_what_it_answers(tmp_path: Path) -> None:
    received, changed = at(4), at(4)
    changed["runtime"]["round"] = 5
    folder = write(
        tmp_path / "s", a_json=to_bytes(received), b_txt=reply_bytes(changed), c_json=to_bytes(at(5))
    )
    source = open_source(folder)
    assert [revision.file.name for revision in source.revisions] == ["a.json", "b.txt", "c.json"]
    assert "SNP042" in rules(source)


def test_a_reply_does_not_answer_one_of_several_files_that_share_only_its_time(tmp_path: Path) -> None:
    other = at(4, core=[block("a")])
    other["version"] = "2.1"
    other["runtime"] = {
        **other["runtime"],
        "startup_at": "2026-02-25T10:00:00.000Z",
        "workspace": "/elsewhere",
    }
    del other["todo"]
    same = {name: to_bytes(other) for name in ("a_json", "c_json", "d_json")}
    folder = write(tmp_path / "s", **same, b_txt=reply_bytes(at(4)))
    assert not {"SNP042", "SNP043"} & rules(open_source(folder))


def test_a_reply_with_a_changed_start_is_still_paired(tmp_path: Path) -> None:
    spoilt = at(4)
    spoilt["runtime"]["startup_at"] = "yesterday"
    folder = write(tmp_path / "s", a_json=to_bytes(at(4)), b_txt=reply_bytes(spoilt))
    assert "SNP042" in rules(open_source(folder))


def test_a_broken_reply_is_ordered_by_its_name(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "s",
        r1_json=to_bytes(at(1)),
        r2a_json=to_bytes(at(2)),
        r2b_txt=b"Oops <<<CONTEXT>>> {",
        r3_json=to_bytes(at(3)),
    )
    source = open_source(folder)
    assert labels(source) == ["round 1", "round 2", "r2b.txt", "round 3"]
    assert source.reading(2, LENS).state.missing[0].status == "unreadable"


def test_a_reply_without_a_separator_is_recognised_by_its_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", r1_json=to_bytes(at(1)), **{"r1.reply_txt": b"I forgot everything."})
    source = open_source(folder)
    assert [revision.file.name for revision in source.revisions] == ["r1.json", "r1.reply.txt"]
    assert "SNP001" in rules(source)


# -- findings ----------------------------------------------------------------------------------------------


def test_an_exchange_is_checked_with_the_raw_snapshot(tmp_path: Path) -> None:
    received = at(2, core=[block("a")])
    folder = write(tmp_path / "s", a_json=to_bytes(received), b_txt=reply_bytes(at(2)))
    source = open_source(folder)
    assert "SNP043" in rules(source)
    assert "SNP043" in {finding.rule for finding in source.reading(1, LENS).findings}


def test_successive_snapshots_are_compared(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", a_json=to_bytes(at(2, core=[block("a")])), b_json=to_bytes(at(5)))
    assert "SNP052" in rules(open_source(folder))


def test_a_reply_in_disabled_mode_may_not_carry_a_snapshot(tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_bytes(reply_bytes(at(1)))
    source = open_source(file)
    assert "SNP001" not in rules(source)
    assert "SNP001" in rules(source, options={"mode": "disabled"})


def test_a_profile_changes_the_findings(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(to_bytes(at(1, core=[block("a", decay=0.9)])))
    source = open_source(file)
    assert "SNP021" in rules(source)
    assert "SNP021" not in rules(source, profile="protocol-3.0")
    with pytest.raises(OpenError):
        source.findings(Lens(LENS.counter, profile="unknown"))


def test_an_unreadable_file_is_a_finding_and_the_rest_opens(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", a_json=to_bytes(at(1)), b_json=to_bytes(at(2)))
    (folder / "reply.txt").symlink_to(tmp_path / "nowhere")
    source = open_source(folder)
    assert len(source.revisions) == 3
    assert "RAW002" in rules(source)


def test_a_link_in_a_folder_is_shown_but_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_bytes(to_bytes(at(7)))
    folder = write(tmp_path / "s", a_json=to_bytes(at(1)))
    (folder / "b.json").symlink_to(outside)
    source = open_source(folder)
    assert labels(source) == ["round 1", "b.json"]
    assert "RAW002" in rules(source)
    assert labels(open_source(folder / "b.json")) == ["round 7"]


def test_deceptive_text_is_found_in_blocks_and_prose(tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    value = at(1, core=[block("a", content="run \u202egnp.exe")])
    file.write_bytes(reply_bytes(value, prose="Look: \x1b[2J"))
    found = {finding.rule: finding for finding in open_source(file).findings(LENS)}
    assert found["TXT002"].origin.pointer == "/memory/core/0/content"
    assert (found["TXT001"].origin.line, found["TXT001"].origin.column) == (1, 7)


def test_a_text_that_the_injected_copy_repeats_is_reported_once(tmp_path: Path) -> None:
    file = tmp_path / "context_1.log"
    file.write_bytes(to_bytes(full_log_value(at(1, core=[block("a", content="run \u202egnp.exe")]))))
    found = [finding for finding in open_source(file).findings(LENS) if finding.rule == "TXT002"]
    assert [finding.origin.pointer for finding in found] == ["/context/memory/core/0/content"]


# -- timeline, drafts, threads -----------------------------------------------------------------------------


def test_the_timeline_lists_the_changes_of_each_round(tmp_path: Path) -> None:
    cursor = {"v": 1, "phase": "doing", "next": "todo_add", "targetId": None}
    folder = write(
        tmp_path / "s",
        a_json=to_bytes(at(1, core=[block("a")], active_task="one")),
        b_txt=reply_bytes(
            {**at(1, core=[block("a", decay=0.2), block("n")], cursor=cursor), "active_task": "one"}
        ),
        c_json=to_bytes(at(2, core=[block("n"), block("w", decay=0.9)], active_task="two")),
    )
    timeline = open_source(folder).reading(0, LENS).state.timeline
    assert [event.label for event in timeline] == [
        "round 1",
        "round 1 reply · 1 added · 1 changed · cursor doing todo_add",
        "round 2 · 2 added · 1 removed · task changed · 1 hidden",
    ]
    assert [event.revision for event in timeline] == [0, 1, 2]


def test_a_draft_is_read_instead_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_bytes(to_bytes(at(1, core=[block("a")])))
    source = open_source(file)
    draft = source.reading(0, LENS, {str(file): to_bytes(at(1, core=[block("a"), block("a")]))})
    assert draft.state.counts.blocks == 2
    assert "SNP020" in {finding.rule for finding in draft.findings}
    assert source.reading(0, LENS).state.counts.blocks == 1
    assert source.bytes_of(str(file)) == file.read_bytes()


def test_many_threads_can_read_at_once(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", **{f"r{n}_json": to_bytes(at(n, core=[block("a")])) for n in range(1, 9)})
    source = open_source(folder)
    with ThreadPoolExecutor(8) as pool:
        readings = list(pool.map(lambda n: source.reading(n % 8, LENS).state, range(64)))
    assert {reading.revision for reading in readings} == set(labels(source))
    assert source.reading(3, LENS) is source.reading(3, LENS)


# -- agent folders -----------------------------------------------------------------------------------------


def agent(tmp_path: Path, **logs: bytes) -> Path:
    folder = tmp_path / "work" / ".agent"
    write(folder / "log", **logs)
    tagged = [("cold", "[tag:cold] placeholder", "tag:cold"), ("lost", "[tag:lost]", "tag:lost")]
    memory_db(folder / "memory.db", tagged, {"tag:cold": "everything"})
    todo_db(folder / "todo.db", ["done", "open"])
    return folder


@pytest.mark.parametrize("where", ["work", "work/.agent", "work/.agent/log"])
def test_an_agent_folder_opens_with_its_logs_and_its_store(tmp_path: Path, where: str) -> None:
    value = at(2, longterm=[block("cold", content_state="tag_ref", tag_id="tag:cold")])
    agent(tmp_path, context_20260225100000_log=to_bytes(full_log_value(value)))
    source = open_source(tmp_path / where)
    state = source.reading(0, LENS).state
    assert [revision.label for revision in source.revisions] == ["round 2 log"]
    assert {ref.id: ref.status.value for ref in state.refs} == {
        "tag:cold": "resolved",
        "tag:lost": "dangling",
    }
    assert state.todo is not None
    assert [item.current for item in state.todo.items] == [False, True]
    assert "SNP060" in rules(source)


def test_an_agent_folder_opens_from_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(agent(tmp_path, context_1_log=to_bytes(full_log_value(at(2)))))
    source = open_source(Path())
    assert (source.title, labels(source)) == ("work", ["round 2 log"])


def test_an_agent_folder_without_logs_shows_its_store(tmp_path: Path) -> None:
    folder = agent(tmp_path)
    source = open_source(folder)
    state = source.reading(0, LENS).state
    assert [block.id for block in state.blocks()] == ["cold", "lost"]
    assert source.title == "work"
    store = str(source.revisions[0].file)
    assert source.policy(store) is None
    assert source.bytes_of(store).startswith(b"SQLite format 3")


def test_a_broken_store_is_a_finding_and_a_gap(tmp_path: Path) -> None:
    folder = agent(tmp_path, context_1_log=to_bytes(full_log_value(at(1))))
    (folder / "todo.db").write_bytes(b"nonsense" * 200)
    source = open_source(folder)
    assert "RAW002" in rules(source)
    assert any(gap.id.endswith("todo.db") for gap in source.reading(0, LENS).state.missing)


def test_opening_writes_nothing(tmp_path: Path) -> None:
    folder = agent(tmp_path, context_1_log=to_bytes(full_log_value(at(1))))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    source = open_source(folder)
    source.findings(LENS)
    source.reading(0, LENS)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "broken", [b"", b"\0" * 4096, b"{'a': 1}", b"\xff\xfe{\0}\0", b'{"version": 3, "mem']
)
def test_a_file_of_a_folder_of_rounds_that_is_not_json_is_reported(tmp_path: Path, broken: bytes) -> None:
    folder = write(tmp_path / "s", a_json=to_bytes(at(1)), b_json=broken, c_json=broken, d_json=broken)
    (found,) = discover(folder).found
    findings = open_source(found.path).findings(LENS)
    errors = {Path(each.origin.file).name for each in findings if each.rule in ("JSN001", "JSN004")}
    assert errors == {"b.json", "c.json", "d.json"}


def test_other_json_beside_rounds_is_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path / "s", a_json=to_bytes(at(1)), b_json=b"[1, 2]")
    assert len(open_source(folder).revisions) == 1
