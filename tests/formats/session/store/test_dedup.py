"""Dedup: which content counts as repeated, which files are written, and that blobs can be rebuilt."""

from __future__ import annotations

import json
import tracemalloc
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.formats.session.store import repetitions
from ctxview.formats.session.store.dedup import (
    BLOBS,
    INDEX,
    DedupAction,
    DedupItem,
    DedupPlan,
    apply_dedup,
    plan_dedup,
)
from ctxview.formats.session.store.derived_files import WriteFailed, WrittenFile
from ctxview.formats.session.store.swap import apply_swap, plan_event
from tests.formats.session.builders import (
    Build,
    assistant,
    compact,
    event,
    fresh,
    sound,
    tool,
    tool_call,
    user,
)
from tests.formats.session.open_sessions import broken_rules, in_columnar_store, open_session, tree

LOG = "FAILED tests/test_parser.py::test_blank_lines - assert 3 == 2\n" * 100
OTHER = "ok tests/test_words.py\n" * 300


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def repeated(base: Path) -> Build:
    """A sound session in which the same log was printed twice."""
    build = sound(base).add("messages.jsonl", tool(LOG, "call-1"), assistant("Again."), tool(LOG, "call-1"))
    build.set("latest.md", "Again.\n")
    return build.pack()


def plan_of(root: Path, least: int | None = None) -> DedupPlan:
    work = open_session(root)
    return plan_dedup(work.session, work.raw, work.profile, least)


def dedup(root: Path, least: int | None = None) -> tuple[DedupPlan, list[WrittenFile]]:
    work = open_session(root)
    plan = plan_dedup(work.session, work.raw, work.profile, least)
    return plan, apply_dedup(work.session, work.raw, work.profile, plan)


def about(plan: DedupPlan, text: str | bytes) -> DedupItem:
    digest = sha256(text.encode() if isinstance(text, str) else text).hexdigest()
    (found,) = (item for item in plan.items if item.digest == digest)
    return found


def index_of(root: Path) -> list[dict]:
    return [json.loads(line) for line in (root / INDEX).read_text().splitlines()]


# -- finding repeated content ----------------------------------------------------------------------------


def test_a_text_in_two_messages_is_repeated(tmp_path: Path) -> None:
    item = about(plan_of(repeated(tmp_path).write()), LOG)

    assert (item.action, item.times, item.refs) == (DedupAction.KEEP, 2, ("messages:7", "messages:9"))
    assert item.reason == "occurs 2 times"
    assert item.saved == len(LOG)


def test_a_message_and_its_copy_in_the_events_are_one(tmp_path: Path) -> None:
    echo = event("message", role="tool", name="shell", content=tool(LOG)["content"])
    build = sound(tmp_path).add("messages.jsonl", tool(LOG)).add("events.jsonl", echo)

    assert plan_of(build.write()).items == ()
    both = about(plan_of(build.add("messages.jsonl", tool(LOG)).add("events.jsonl", echo).write()), LOG)
    assert (both.times, both.refs) == (2, ("messages:7", "messages:8", "events:10", "events:11"))


def test_deltas_are_not_counted_beside_their_message(tmp_path: Path) -> None:
    message = event("message", role="assistant", content=[{"type": "text", "text": LOG}])
    build = sound(tmp_path).add("events.jsonl", event("delta", text=LOG), message)

    assert plan_of(build.write()).items == ()


def test_a_file_and_a_message_with_the_same_content_are_repeated(tmp_path: Path) -> None:
    build = sound(tmp_path).add("messages.jsonl", user(LOG))
    build.set("context/child/rev-1/artifact/log.txt", LOG).set("context/pinned/log.md", LOG)

    item = about(plan_of(build.write()), LOG)

    assert item.times == 3
    assert item.refs == ("messages:7", "file:context/pinned/log.md", "child:rev-1/artifact/log.txt")


@pytest.mark.parametrize(("least", "found"), [(256, 1), (300, 1), (301, 0), (None, 0)])
def test_small_content_is_ignored(tmp_path: Path, least: int | None, found: int) -> None:
    root = sound(tmp_path).add("messages.jsonl", user("x" * 300), user("x" * 300)).write()

    assert len(plan_of(root, least).items) == found


def test_sizes_are_counted_in_utf_8(tmp_path: Path) -> None:
    wide = "断言失败" * 400
    root = sound(tmp_path).add("messages.jsonl", user(wide), user(wide)).write()

    assert about(plan_of(root), wide).size == 4800


def test_a_content_in_a_swap_chunk_gets_no_blob(tmp_path: Path) -> None:
    build = repeated(tmp_path)
    echo = event("message", role="tool", name="shell", content=tool(LOG, "call-5")["content"])
    root = build.add("events.jsonl", tool_call("call-5"), echo).write()
    work = open_session(root)
    apply_swap(work.session, plan_event(work.session, work.raw, work.profile, "call-5"))

    item = about(plan_of(root), LOG)

    assert (item.action, item.reason) == (DedupAction.NOTHING, "already kept as a swap chunk: refer to that")


def test_a_content_whose_swap_chunk_was_altered_gets_a_blob(tmp_path: Path) -> None:
    build = repeated(tmp_path).set(
        f"context/swap/chunk/sha256-{sha256(LOG.encode()).hexdigest()}", "something else"
    )

    assert about(plan_of(build.write()), LOG).action is DedupAction.KEEP


@pytest.mark.parametrize("parts", [[LOG], [LOG, OTHER], ["", LOG]])
def test_a_tool_result_in_parts_is_one_content(tmp_path: Path, parts: list[str]) -> None:
    content = [{"type": "text", "text": text} for text in parts]
    whole = "\n".join(filter(None, parts))
    results = [tool(content, "call-1"), assistant("Again."), tool(content, "call-1")]  # type: ignore[arg-type]
    root = sound(tmp_path).add("messages.jsonl", *results).set("latest.md", "Again.\n").pack().write()
    assert "ABI045" in broken_rules(root)

    plan, _ = dedup(root)

    assert about(plan, whole).action is DedupAction.KEEP
    assert (root / about(plan, whole).name).read_text() == whole
    assert "ABI045" not in broken_rules(root)
    (root / about(plan, whole).name).unlink()
    assert about(plan_of(root), whole).action is DedupAction.REBUILD


def test_two_tool_results_that_share_a_part_are_different_contents(tmp_path: Path) -> None:
    one = [{"type": "text", "text": LOG}]
    two = [*one, {"type": "text", "text": "and more"}]
    results = [tool(one, "call-1"), tool(two, "call-1")]  # type: ignore[arg-type]
    root = sound(tmp_path).add("messages.jsonl", *results).pack().write()

    assert not plan_of(root).to_do


def test_a_policy_may_ask_for_more_references(tmp_path: Path) -> None:
    root = repeated(tmp_path).set("context/gc.policy", "dedup_min_refs=3\n").write()

    assert about(plan_of(root), LOG).reason == "2 references, fewer than dedup_min_refs=3"


def test_links_packs_and_broken_lines_are_skipped(tmp_path: Path) -> None:
    build = sound(tmp_path).add("messages.jsonl", "{broken", user(LOG), "")
    root = build.set("context/pack.md", LOG).write()
    (root / "context/pinned/link").symlink_to(root / "context/pack.md")

    assert plan_of(root).items == ()


def test_a_history_in_a_columnar_store_is_searched_too(tmp_path: Path) -> None:
    root = in_columnar_store(repeated(tmp_path)).write()

    plan, _ = dedup(root)

    assert about(plan, LOG).refs == ("messages:7", "messages:9")
    assert (root / about(plan, LOG).name).read_text() == LOG


def test_many_places_are_counted_and_the_first_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repetitions, "MOST_PLACES", 3)
    root = sound(tmp_path).add("messages.jsonl", *(user(LOG) for _ in range(5))).write()

    item = about(plan_of(root), LOG)

    assert (item.times, len(item.refs)) == (5, 3)


def test_too_many_different_contents_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repetitions, "MOST_CONTENTS", 1)
    root = sound(tmp_path).add("messages.jsonl", user(LOG), user(OTHER), user(LOG)).write()

    plan = plan_of(root)

    assert about(plan, LOG).times == 2
    assert "more than 1 different contents" in plan.notes[0]


def test_memory_does_not_grow_with_the_history(tmp_path: Path) -> None:
    build = fresh(tmp_path)
    texts = [f"{number:06} " * 1200 for number in range(60)] * 20
    root = build.set("messages.jsonl", "".join(f"{compact(user(text))}\n" for text in texts)).write()
    assert (root / "messages.jsonl").stat().st_size > 10_000_000
    work = open_session(root)

    tracemalloc.start()
    plan = plan_dedup(work.session, work.raw, work.profile)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(plan.items) == 60
    assert peak < 3_000_000


# -- writing blobs and the index -------------------------------------------------------------------------


def test_a_blob_and_its_line_are_written_and_break_no_rule(tmp_path: Path) -> None:
    root = repeated(tmp_path).write()
    before, broken = tree(root), broken_rules(root)

    plan, _ = dedup(root)

    item = about(plan, LOG)
    assert (root / item.name).read_text() == LOG
    assert (root / item.name).stat().st_mode & 0o777 == 0o600
    assert index_of(root)[-1] == {
        "hash": item.id,
        "refs": ["messages:7", "messages:9"],
        "bytes": len(LOG),
        "tokens": len(LOG.split()),
    }
    changed = {name for name, content in tree(root).items() if before.get(name) != content}
    assert changed == {item.name, INDEX}
    assert broken_rules(root) == broken - {"ABI045"}
    assert "ABI045" in broken


def test_a_second_dedup_does_nothing(tmp_path: Path) -> None:
    root = repeated(tmp_path).write()
    dedup(root)
    before = tree(root)

    plan, wrote = dedup(root)

    assert (about(plan, LOG).action, wrote) == (DedupAction.NOTHING, [])
    assert tree(root) == before


def test_new_places_are_added_to_the_line_and_no_other_byte_changes(tmp_path: Path) -> None:
    root = repeated(tmp_path).write()
    dedup(root)
    lines = (root / INDEX).read_text().splitlines(keepends=True)
    odd = lines[1].replace('"bytes":', '"kept" : 3.0, "bytes":')
    (root / INDEX).write_text(lines[0] + odd + "\n" + '{"hash":"sha256-x","refs":["swap:y"],"bytes":1}\n')
    with (root / "messages.jsonl").open("a") as messages:
        messages.write(f"{compact(user(LOG))}\n")

    plan, wrote = dedup(root)

    assert about(plan, LOG).action is DedupAction.REFER
    assert [each.name for each in wrote] == [INDEX]
    changed = odd.replace('"messages:9"]', '"messages:9","messages:10"]')
    expected = lines[0] + changed + "\n" + '{"hash":"sha256-x","refs":["swap:y"],"bytes":1}\n'
    assert (root / INDEX).read_text() == expected


def test_a_lost_or_damaged_blob_is_rebuilt_from_any_of_its_places(tmp_path: Path) -> None:
    root = repeated(tmp_path).add("messages.jsonl", user(OTHER), user(OTHER)).write()
    plan, _ = dedup(root)
    whole = tree(root)
    (root / about(plan, LOG).name).unlink()
    (root / about(plan, OTHER).name).write_text("garbage")

    again, _ = dedup(root)

    assert {about(again, text).action for text in (LOG, OTHER)} == {DedupAction.REBUILD}
    assert tree(root) == whole


def test_a_small_or_single_content_is_rebuilt_too_when_the_index_lists_it(tmp_path: Path) -> None:
    build = sound(tmp_path).add("messages.jsonl", user("a small text")).blob("a small text", "messages:7")
    name = f"{BLOBS}/sha256-{sha256(b'a small text').hexdigest()}"
    del build.files[name]
    root = build.write()

    plan, wrote = dedup(root)

    assert about(plan, "a small text").action is DedupAction.REBUILD
    assert [each.name for each in wrote] == [name]
    assert (root / name).read_text() == "a small text"


def test_a_blob_keeps_the_name_its_index_line_gives_it(tmp_path: Path) -> None:
    build = repeated(tmp_path)
    name = f"sha256_{sha256(LOG.encode()).hexdigest()}"
    refs = ["messages:7", "messages:9"]
    root = build.add(INDEX, {"hash": name, "refs": refs, "bytes": len(LOG), "tokens": 500}).write()

    _, wrote = dedup(root)

    assert [each.name for each in wrote] == [f"{BLOBS}/{name}"]
    assert dedup(root)[1] == []


def test_a_blob_whose_content_is_nowhere_is_reported_as_lost(tmp_path: Path) -> None:
    build = sound(tmp_path)
    (name,) = (name for name in build.files if name.startswith(BLOBS))
    content = build.files.pop(name)

    item = about(plan_of(build.write()), content)

    assert (item.action, item.reason) == (
        DedupAction.LOST,
        "the blob is gone, and nothing in the session holds it",
    )


def test_an_index_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    root = repeated(tmp_path).write()
    work = open_session(root)
    plan = plan_dedup(work.session, work.raw, work.profile)
    (root / INDEX).write_text("")

    with pytest.raises(WriteFailed, match="changed it meanwhile"):
        apply_dedup(work.session, work.raw, work.profile, plan)

    assert (root / INDEX).read_text() == ""


def test_a_content_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/pinned/a.md", LOG).set("context/pinned/b.md", LOG)
    root = build.write()
    work = open_session(root)
    plan = plan_dedup(work.session, work.raw, work.profile)
    for name in ("a.md", "b.md"):
        (root / "context/pinned" / name).write_text("short")

    with pytest.raises(WriteFailed, match="content changed"):
        apply_dedup(work.session, work.raw, work.profile, plan)


def test_a_torn_index_is_left_alone(tmp_path: Path) -> None:
    build = repeated(tmp_path)
    root = build.set(INDEX, build.text(INDEX) + '{"hash":"sha').write()

    with pytest.raises(WriteFailed, match="no end"):
        dedup(root)


contents = st.sampled_from(["a" * 300, "b" * 300, "é" * 200, "\ud800" * 150, "c" * 300 + "\n"])


@settings(max_examples=15, deadline=None)
@given(st.lists(contents, max_size=8))
def test_every_repeated_text_and_no_other_becomes_a_blob(texts: list[str]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        build = fresh(Path(folder))
        lines = (json.dumps({"role": "user", "content": text}) for text in texts)
        root = build.set("messages.jsonl", "".join(f"{line}\n" for line in lines)).write()

        plan, _ = dedup(root, 256)

        expected = {text for text in texts if texts.count(text) > 1}
        blobs = {path.read_bytes() for path in (root / BLOBS).glob("*")}
        assert blobs == {text.encode("utf-8", "surrogatepass") for text in expected}
        for item in plan.items:
            assert item.times == len(item.refs)
            numbers = [int(ref.partition(":")[2]) - 1 for ref in item.refs]
            assert len({texts[number] for number in numbers}) == 1
