"""A folder of sessions is a list: the newest first, sub-agents below their session, read when needed."""

from __future__ import annotations

import os
from collections.abc import ItemsView
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxview.formats import discover, open_source
from ctxview.formats.interface import Hurry, Lens, Source
from ctxview.formats.transcript.list_source import Headline, SessionListSource
from ctxview.formats.transcript.session_files import SessionFile
from tests.formats.transcript.builders import LENS, findings_of, write

DAY = """
u1 user : Fix the parser
a1 call id=t1 tool=Read sent=9000 out=30 : {"file_path": "a.py"}
r1 result id=t1 : text
b1 boundary
s1 summary : We fixed the parser
a2 assistant sent=100000 out=9 : Done
"""
IDS = [f"{at:08x}-1111-4222-8333-9a0b1c2d3e4f" for at in range(4)]


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    root = tmp_path / "projects"
    for at, name in enumerate(IDS[:3]):
        write(root / f"-work-p{at % 2}", DAY, f"{name}.jsonl")
        os.utime(root / f"-work-p{at % 2}" / f"{name}.jsonl", (1000 + at, 1000 + at))
    write(root / "-work-p0" / IDS[0] / "subagents", "u1 user side=1 : Look", "agent-c1.jsonl")
    write(root / "-work-p1" / IDS[3] / "subagents", "u1 user side=1 : Look", "agent-lost.jsonl")
    return root


def _blocks(source: Source, lens: Lens = LENS) -> dict[str, object]:
    (tier,) = source.reading(0, lens).state.tiers
    return {block.id: block for block in tier.blocks}


def test_sessions_are_listed_newest_first_with_their_sub_agents_below(projects: Path) -> None:
    source = open_source(projects)
    assert isinstance(source, SessionListSource)
    names = [name for name in _blocks(source) if name != "agent-lost"]
    assert names == ["00000002", "00000001", "00000000", "agent-c1"]


def test_nothing_is_read_before_the_first_screen(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a session was opened")

    monkeypatch.setattr("ctxview.formats.transcript.list_source.TranscriptSource", refuse)
    (tier,) = open_source(projects).reading(0, Lens(LENS.counter, hurry=Hurry.LINKS)).state.tiers
    assert len(tier.blocks) == 5
    assert all(not block.figures for block in tier.blocks)


def test_a_session_that_was_read_has_title_project_model_and_figures(projects: Path) -> None:
    (tier,) = open_source(projects).reading(0, LENS).state.tiers
    (block,) = (each for each in tier.blocks if each.id == "00000002")
    title, about, folder = block.text.splitlines()
    assert (title, folder) == ("work: Fix the parser", "/work")
    assert about.startswith("claude-sonnet-4-5 · 1970-01-01")
    assert block.tags == ("work", "claude-sonnet-4-5")
    assert block.figure("compactions") == 1
    assert block.figure("calls") == 2
    assert block.tokens == 100_009
    assert block.figure("window") == 50


def test_a_session_of_which_only_the_end_was_read_has_no_sums(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxview.formats.transcript.source.SMALL", 100)
    (tier,) = open_source(projects).reading(0, LENS).state.tiers
    (block,) = (each for each in tier.blocks if each.id == "00000002")
    assert "only the end was read" in block.text
    assert [figure.name for figure in block.figures] == ["window"]
    assert block.tokens == 100_009


def test_a_sub_agent_without_its_session_says_so(projects: Path) -> None:
    (tier,) = open_source(projects).reading(0, LENS).state.tiers
    (lost,) = (block for block in tier.blocks if block.id == "agent-lost")
    assert "not there" in lost.why
    (other,) = (block for block in tier.blocks if block.id == "agent-c1")
    assert (other.type, other.why) == ("sub-agent", "")
    assert other.text.startswith("└ Look")


FULL = "u1 user side=1 : Sum up\na1 assistant side=1 sent=190000 out=5 : Done"


def test_helpers_of_the_program_are_counted_and_not_listed(projects: Path) -> None:
    write(projects / "-work-p0" / IDS[0] / "subagents", FULL, "agent-acompact-c2.jsonl")
    state = open_source(projects).reading(0, LENS).state
    assert "agent-acompact-c2" not in {block.id for block in state.blocks()}
    assert state.extra["not listed"] == "1 helper agent"


def test_the_full_window_of_a_helper_is_not_reported(tmp_path: Path) -> None:
    def found(name: str) -> set[str]:
        return {each.rule for each in findings_of(write(tmp_path, FULL, name)) if each.rule.startswith("TRW")}

    assert found("agent-c1.jsonl") == {"TRW001", "TRW002", "TRW008"}
    assert found("agent-acompact-c1.jsonl") == set()


def test_a_sub_agent_whose_session_is_not_known_by_its_folder_stands_for_itself(projects: Path) -> None:
    write(projects / "-work-p0", "u1 user side=1 : Look", "agent-7f3a.jsonl")
    blocks = {block.id: block for block in open_source(projects).reading(0, LENS).state.blocks()}
    assert blocks["agent-7f3a"].type == "sub-agent"
    assert blocks["agent-7f3a"].text.startswith("work: Look")


def test_a_sub_agent_beside_its_session_is_listed_below_it_once_it_was_read(projects: Path) -> None:
    for name, session in (("agent-7f3a", IDS[2]), ("agent-0c1d", IDS[0]), ("agent-e5e5", IDS[3])):
        keys = f"side=1 session={session}"
        rows = f"u1 user {keys} : Look\na1 assistant {keys} sent=9000 out=5 : Seen"
        path = write(projects / "-work-p0", rows, f"{name}.jsonl")
        os.utime(path, (9000, 9000))
    source = open_source(projects)
    (tier,) = source.reading(0, LENS).state.tiers
    names = [block.id for block in tier.blocks if block.id not in ("agent-lost", "agent-e5e5")]
    assert names == ["00000002", "agent-7f3a", "00000001", "00000000", "agent-0c1d", "agent-c1"]
    blocks = {block.id: block for block in tier.blocks}
    assert blocks["agent-7f3a"].text.startswith("└ Look")
    assert "not there" in blocks["agent-e5e5"].why
    assert source.reading(0, LENS).state.extra["sessions"] == "3"
    alone = open_source(projects / "-work-p0" / "agent-7f3a.jsonl").reading(0, LENS).state
    assert alone.extra["sub-agent of"] == IDS[2]


def test_of_a_large_sub_agent_the_end_is_read_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxview.formats.transcript.source.SMALL", 100)
    path = write(tmp_path, FULL, "agent-c1.jsonl")
    state = open_source(path).reading(0, Lens(LENS.counter, hurry=Hurry.LINKS)).state
    assert "Sum up" in [block.text for block in state.blocks()]
    assert state.extra["sub-agent of"] == "s1"


def test_a_folder_of_one_session_with_sub_agents_beside_it_is_a_list(tmp_path: Path) -> None:
    write(tmp_path, DAY, f"{IDS[0]}.jsonl")
    write(tmp_path, FULL, "agent-c1.jsonl")
    assert isinstance(open_source(tmp_path), SessionListSource)


def test_a_block_of_the_list_stands_for_the_path_of_its_session(projects: Path) -> None:
    source = open_source(projects)
    listing = source.abilities.listing
    assert listing is not None
    assert listing.path_of("00000002") == projects / "-work-p0" / f"{IDS[2]}.jsonl"
    assert listing.path_of("nothing") is None


@dataclass
class TwoSteps:
    """The progress of work that is cancelled after its second step."""

    cancelled: bool = False

    def report(self, done: int, total: int, what: str) -> None:
        self.cancelled = True


def test_a_session_that_a_person_looks_at_is_read_before_the_newer_ones(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxview.formats.transcript.list_source.READ_AT_ONCE", 1)
    source = open_source(projects)
    listing, work = source.abilities.listing, source.abilities.work
    assert listing is not None
    assert work is not None
    hurried = Lens(LENS.counter, hurry=Hurry.LINKS)

    def known() -> list[str]:
        (tier,) = source.reading(0, hurried).state.tiers
        return [block.id for block in tier.blocks if block.figures]

    listing.look_at("agent-c1")
    work.work(LENS, TwoSteps())
    assert known() == ["00000000", "agent-c1"]
    listing.look_at("no such session")
    work.work(LENS, TwoSteps())
    assert len(known()) == 4


def test_a_search_finds_the_list_or_all_of_its_sessions(projects: Path) -> None:
    assert [each.path for each in discover(projects, into_lists=False).found] == [projects]
    assert len(discover(projects).found) == 5


def test_a_changed_session_is_read_again_and_the_others_are_kept(projects: Path) -> None:
    source = open_source(projects)
    _blocks(source)
    assert source.again() is source
    write(projects / "-work-p1", DAY + "a3 assistant sent=120000 out=9 : More", f"{IDS[1]}.jsonl")
    again = source.again()
    (tier,) = again.reading(0, LENS).state.tiers
    assert {block.id: block.figure("calls") for block in tier.blocks}["00000001"] == 3


def test_a_list_may_grow_while_its_sessions_are_read(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_source(projects)
    assert isinstance(source, SessionListSource)

    class ReadByAnotherThread(dict[SessionFile, Headline | str]):
        def items(self) -> ItemsView[SessionFile, Headline | str]:
            assert source._lock.locked()
            return super().items()

    monkeypatch.setattr(source, "_known", ReadByAnotherThread(source._known))
    write(projects / "-work-p0", DAY, f"{IDS[3]}.jsonl")
    assert "00000003" in _blocks(source.again())


def test_two_sessions_in_one_folder_are_a_list_and_one_is_not(tmp_path: Path) -> None:
    write(tmp_path / "one", DAY, f"{IDS[0]}.jsonl")
    assert discover(tmp_path / "one", into_lists=False).found[0].path.name == f"{IDS[0]}.jsonl"
    write(tmp_path / "one", DAY, f"{IDS[1]}.jsonl")
    assert discover(tmp_path / "one", into_lists=False).found[0].path == tmp_path / "one"


def test_rollouts_by_date_are_a_list(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "08" / "01"
    write(
        day,
        "meta\nuser: Fix it\nassistant: Done\ntokens sent=900 out=5",
        f"rollout-2026-08-01T10-00-00-{IDS[0]}.jsonl",
    )
    (tier,) = open_source(tmp_path / "sessions").reading(0, LENS).state.tiers
    assert [block.id for block in tier.blocks] == ["2026-08-01T10-00-00-00000000"]


def test_a_rollout_that_says_so_is_a_sub_agent(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "08" / "01"
    path = write(day, "meta\nuser: Look\nassistant: Done\ntokens sent=900 out=5", f"rollout-{IDS[0]}.jsonl")
    spawned = '"cwd": "/work", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "r0"}}}'
    path.write_text(path.read_text().replace('"cwd": "/work"', spawned, 1))
    (tier,) = open_source(tmp_path / "sessions").reading(0, LENS).state.tiers
    assert [block.type for block in tier.blocks] == ["sub-agent"]


def test_a_rollout_is_listed_below_the_one_that_started_it(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "08" / "01"
    for at, parent in enumerate((None, IDS[0], IDS[1], IDS[2])):
        name = f"rollout-2026-08-01T10-00-0{at}-{IDS[at]}.jsonl"
        path = write(day, f"meta\nuser: Look {at}\nassistant: Done\ntokens sent=900 out=5", name)
        if parent is not None:
            spawned = '"cwd": "/work", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "%s"}}}'
            path.write_text(path.read_text().replace('"cwd": "/work"', spawned % parent, 1))
        os.utime(path, (1000 + at, 1000 + at))
    (tier,) = open_source(tmp_path / "sessions").reading(0, LENS).state.tiers
    assert [block.text.splitlines()[0] for block in tier.blocks] == [
        "work: Look 0",
        "└ Look 1",
        "└ Look 2",
        "└ Look 3",
    ]


def test_rollouts_that_name_each_other_are_all_listed(tmp_path: Path) -> None:
    day = tmp_path / "sessions" / "2026" / "08" / "01"
    for at, parent in enumerate((IDS[1], IDS[0])):
        path = write(day, "meta\nuser: Look\nassistant: Done", f"rollout-{IDS[at]}.jsonl")
        spawned = '"cwd": "/work", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "%s"}}}'
        path.write_text(path.read_text().replace('"cwd": "/work"', spawned % parent, 1))
    (tier,) = open_source(tmp_path / "sessions").reading(0, LENS).state.tiers
    assert sorted(block.id for block in tier.blocks) == ["00000000", "00000001"]


@pytest.mark.parametrize("content", ["", "\n\n \n"])
@pytest.mark.parametrize("name", [f"{IDS[0]}.jsonl", f"rollout-2026-08-01T10-00-00-{IDS[0]}.jsonl"])
def test_an_empty_session_is_a_session_that_says_so(tmp_path: Path, content: str, name: str) -> None:
    folder = tmp_path / "projects" / "-work-p"
    folder.mkdir(parents=True)
    (folder / name).write_text(content)
    (tier,) = open_source(tmp_path / "projects").reading(0, LENS).state.tiers
    (block,) = tier.blocks
    assert block.text.startswith("-work-p: empty\n")
    (found,) = discover(tmp_path / "projects").found
    assert (found.path, found.matches[0].format) == (folder / name, "transcript")
    source = open_source(folder / name)
    assert source.reading(0, LENS).state.format == "transcript"
    assert not source.findings(LENS)
