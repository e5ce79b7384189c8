"""Collection: only files that the rules allow are removed, with a reason and an undo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxview.files.removal import identify
from ctxview.formats.session import rules
from ctxview.formats.session.store.gc import (
    GcItem,
    GcOutcome,
    GcPlan,
    GcResult,
    age_in_words,
    apply_gc,
    undo_gc,
)
from tests.formats.session.builders import Build, fresh, sha256, sound, tool, user
from tests.formats.session.open_sessions import broken_rules, make_old, tree
from tests.formats.session.sources import read_facts
from tests.formats.session.store.gc_plans import BLOBS, CHUNKS, item, old_plan, plan_at

ORPHAN = f"{BLOBS}/sha256-{sha256('orphan')}"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def collectable(base: Path) -> Build:
    """A session with every kind of removable file: both packs, a rebuildable chunk, an unreferenced blob."""
    build = sound(base).set(ORPHAN, "orphan")
    return build.swap(3, 5, "the middle")


def collect(root: Path, meanwhile: Callable[[], object] = lambda: None) -> GcResult:
    plan = plan_at(root)
    meanwhile()
    return apply_gc(root, plan, lambda: plan_at(root))


def removals(plan: GcPlan) -> list[str]:
    return [each.name for each in plan.removals]


def chunk_of(build: Build, number: int) -> str:
    return [name for name in build.files if name.startswith(f"{CHUNKS}/")][number]


# -- the plan --------------------------------------------------------------------------------------------


def test_old_packs_rebuildable_chunks_and_unreferenced_blobs_are_removed(tmp_path: Path) -> None:
    build = collectable(tmp_path)

    plan = old_plan(build)

    assert removals(plan) == ["context/pack.json", "context/pack.md", chunk_of(build, 1), ORPHAN]
    assert item(plan, "context/pack.json").reason == "60d old, pack_ttl=1d; it can be built again"
    assert item(plan, chunk_of(build, 1)).reason == (
        "rebuildable: the history holds it, hash verified; 60d old, swap_ttl=30d"
    )
    assert item(plan, ORPHAN).reason == "nothing refers to it"


def test_no_new_file_is_removed(tmp_path: Path) -> None:
    plan = old_plan(collectable(tmp_path), days=0)

    assert removals(plan) == []
    assert item(plan, "context/pack.md").reason.endswith("old, pack_ttl=1d")
    assert item(plan, ORPHAN).reason == "just written: its line in the index may still come"


def test_histories_child_results_and_the_rest_are_listed_as_protected(tmp_path: Path) -> None:
    plan = old_plan(collectable(tmp_path).child("lonely"))

    protected = {each.name: each.reason for each in plan.protected}
    assert protected["messages.jsonl"] == "history is never removed"
    assert protected["events.jsonl"] == "history is never removed"
    assert protected["context/child/rev-1/result.md"].startswith("referenced by the pack, the reference r2")
    assert protected["context/child/lonely/result.md"] == "a child's result is not a cache"
    assert protected["everything else"] == "only packs, chunks and blobs are ever collected"


def test_a_policy_that_allows_to_remove_the_history_is_not_followed(tmp_path: Path) -> None:
    plan = old_plan(sound(tmp_path).set("context/gc.policy", "keep_messages=0\nkeep_events=0\npack_ttl=1d\n"))

    assert item(plan, "messages.jsonl").reason == "keep_messages=0 allows it, but history is never removed"
    assert item(plan, "events.jsonl").outcome is GcOutcome.PROTECTED


@pytest.mark.parametrize(
    ("line", "kept", "note"),
    [
        ("pack_ttl=soon", "context/pack.json", "pack_ttl=soon is not a duration"),
        ("swap_ttl=30", "CHUNK", "swap_ttl=30 is not a duration"),
        ("dedup_min_refs=-1", ORPHAN, "dedup_min_refs=-1 is not a number"),
        ("forget everything", "messages.jsonl", "line 1 of gc.policy is not understood"),
    ],
)
def test_a_mistake_in_the_policy_never_removes_anything(
    tmp_path: Path, line: str, kept: str, note: str
) -> None:
    build = collectable(tmp_path)

    plan = old_plan(build.set("context/gc.policy", f"{line}\n"))

    assert (chunk_of(build, 1) if kept == "CHUNK" else kept) not in removals(plan)
    assert any(each.startswith(note) for each in plan.notes)


def test_without_a_policy_the_documented_times_hold(tmp_path: Path) -> None:
    build = collectable(tmp_path).remove("context/gc.policy")

    plan = old_plan(build, days=2)

    assert removals(plan) == ["context/pack.json", "context/pack.md", ORPHAN]
    assert item(plan, "context/pack.json").reason.startswith("2d old, pack_ttl=1d by default;")


def test_only_the_settings_that_the_policy_lacks_are_called_defaults(tmp_path: Path) -> None:
    plan = old_plan(collectable(tmp_path).set("context/gc.policy", "pack_ttl=1d\n"), days=2)

    assert item(plan, "context/pack.json").reason.startswith("2d old, pack_ttl=1d;")
    assert "pack_ttl" not in plan.policy.defaults
    assert "swap_ttl" in plan.policy.defaults


def test_a_policy_that_cannot_be_read_removes_nothing(tmp_path: Path) -> None:
    root = collectable(tmp_path).remove("context/gc.policy").write()
    (root / "context/gc.policy").mkdir()
    make_old(root, 60)

    plan = plan_at(root)

    assert removals(plan) == []
    assert "cannot be read" in plan.notes[0]


def test_a_blob_with_references_is_protected_even_below_the_policy_limit(tmp_path: Path) -> None:
    build = sound(tmp_path).set("context/gc.policy", "dedup_min_refs=5\n")
    (blob,) = (name for name in build.files if name.startswith(f"{BLOBS}/"))

    reason = item(old_plan(build), blob).reason

    assert reason == "referenced by messages:3, tool:call-1, fewer than dedup_min_refs=5, but not none"


def test_a_policy_of_no_references_keeps_every_blob(tmp_path: Path) -> None:
    plan = old_plan(collectable(tmp_path).set("context/gc.policy", "dedup_min_refs=0\n"))

    assert item(plan, ORPHAN).reason == "dedup_min_refs=0 keeps blobs that nothing refers to"


def test_a_blob_or_chunk_that_the_context_names_is_protected(tmp_path: Path) -> None:
    build = collectable(tmp_path).set("context/todo.md", f"- [ ] look at {ORPHAN}\n")

    plan = old_plan(build)

    assert item(plan, ORPHAN).reason == "named in todo.md"
    assert item(plan, chunk_of(build, 0)).reason == "refs.jsonl would refer to a missing file"


def test_a_chunk_whose_lines_were_rewritten_is_protected(tmp_path: Path) -> None:
    build = collectable(tmp_path)
    messages = build.text("messages.jsonl").replace("Blank lines", "White lines")

    reason = item(old_plan(build.set("messages.jsonl", messages)), chunk_of(build, 1)).reason

    assert reason == "cannot be rebuilt: the history holds content with another hash"


@pytest.mark.parametrize("kind", ["lines", "text"])
def test_an_unlisted_chunk_is_removed_only_if_a_history_holds_its_content(tmp_path: Path, kind: str) -> None:
    output = "a log that is long enough\n" * 10
    build = sound(tmp_path).add("messages.jsonl", tool(output))
    lines = build.text("messages.jsonl").splitlines(keepends=True)
    content = output if kind == "text" else "".join(lines[1:4])
    known, unknown = (f"{CHUNKS}/sha256-{sha256(each)}" for each in (content, "never said"))

    plan = old_plan(build.set(known, content).set(unknown, "never said"))

    place = "messages 7" if kind == "text" else "messages 2-4"
    assert item(plan, known).reason == f"not in the index, and {place} hold the same; 60d old, swap_ttl=30d"
    assert item(plan, unknown).reason == "not in the index, and no history holds the same: the only copy"
    assert item(plan, unknown).outcome is GcOutcome.PROTECTED


def test_placeholders_and_links_are_never_touched(tmp_path: Path) -> None:
    root = sound(tmp_path).set(f"{CHUNKS}/sha256-abc", "x").write()
    make_old(root, 60)
    (root / CHUNKS / "sha256-link").symlink_to(root / "messages.jsonl")
    (root / BLOBS / "sha256-link").symlink_to(root / "messages.jsonl")

    plan = plan_at(root)

    assert item(plan, f"{CHUNKS}/sha256-abc").reason == "a placeholder: its name has no hash of its content"
    for folder in (CHUNKS, BLOBS):
        assert item(plan, f"{folder}/sha256-link").reason == "a symbolic link is never touched"


def test_a_plan_for_an_active_session_has_a_note(tmp_path: Path) -> None:
    assert "active" in old_plan(sound(tmp_path).set("state", "active\n")).notes[-1]


names = st.sampled_from(["messages:1", "tool:call-1", "child:rev-1"])


@settings(max_examples=15, deadline=None)
@given(
    policy=st.lists(
        st.sampled_from(
            ["pack_ttl=0s", "swap_ttl=0s", "swap_ttl=1w", "dedup_min_refs=9", "keep_messages=0", "=", "x"]
        )
    ),
    refs=st.lists(names, max_size=2),
    days=st.sampled_from([0, 1, 400]),
    children=st.lists(st.sampled_from(["a", "b"]), unique=True),
)
def test_no_plan_removes_a_protected_file(
    policy: list[str], refs: list[str], days: int, children: list[str]
) -> None:
    with TemporaryDirectory() as folder:
        build = fresh(Path(folder)).lines("messages.jsonl", user("one"), user("two")).swap(1, 2)
        build.blob("some content", *refs).set(ORPHAN, "orphan")
        build.set("context/gc.policy", "\n".join(policy))
        for child in children:
            build.child(child)
        plan = old_plan(build, days)

        allowed = {"context/pack.json", "context/pack.md", chunk_of(build, 0), ORPHAN}
        allowed |= set() if refs else {name for name in build.files if name.startswith(f"{BLOBS}/")}
        assert set(removals(plan)) <= allowed
        assert all(each.reason for each in plan.items)
        assert list(rules.check_gc_plan(read_facts(build.root), removals(plan))) == []


# -- applying and undoing --------------------------------------------------------------------------------


def test_applying_removes_the_planned_files_and_undo_restores_them(tmp_path: Path) -> None:
    build = collectable(tmp_path)
    root = build.write()
    make_old(root, 60)
    before, times = tree(root), {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}

    done = collect(root)

    gone = ["context/pack.json", "context/pack.md", chunk_of(build, 1), ORPHAN]
    assert [each.name for each in done.removed] == gone
    assert set(before) - set(tree(root)) == {each.name for each in done.removed}
    assert not done.skipped
    assert all(each.problem is None for each in undo_gc(root))
    assert tree(root) == before
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert undo_gc(root) == []


def test_collecting_leaves_only_warnings_about_rebuildable_files(tmp_path: Path) -> None:
    root = collectable(tmp_path).write()
    make_old(root, 60)
    before = broken_rules(root)

    collect(root)

    assert before == {"ABI041"}
    # The packs are missing, a chunk is missing but can be rebuilt, and the orphan is gone.
    assert broken_rules(root) == {"ABI002", "ABI040"}


def test_a_blob_that_gets_a_reference_meanwhile_is_not_removed(tmp_path: Path) -> None:
    root = collectable(tmp_path).write()
    make_old(root, 60)

    def refer() -> None:
        with (root / "context/refs.jsonl").open("a") as refs:
            refs.write(f'{{"id":"r9","path":"{ORPHAN}","kind":"artifact","summary":"needed"}}\n')

    done = collect(root, refer)

    assert [(each.name, why) for each, why in done.skipped] == [(ORPHAN, "named in refs.jsonl")]
    assert (root / ORPHAN).exists()


def test_a_chunk_whose_history_is_rewritten_meanwhile_is_not_removed(tmp_path: Path) -> None:
    build = collectable(tmp_path)
    root = build.write()
    make_old(root, 60)

    done = collect(root, lambda: (root / "messages.jsonl").write_text('{"role":"user","content":"x"}\n'))

    assert chunk_of(build, 1) in [each.name for each, _ in done.skipped]
    assert (root / chunk_of(build, 1)).exists()


def test_a_pack_that_is_rebuilt_meanwhile_is_not_removed(tmp_path: Path) -> None:
    root = sound(tmp_path).write()
    make_old(root, 60)

    done = collect(root, lambda: (root / "context/pack.json").write_text("{}\n"))

    assert [each.name for each in done.removed] == ["context/pack.md"]
    assert done.skipped[0][1].endswith("old, pack_ttl=1d")


def test_a_new_pack_is_not_overwritten_by_undo(tmp_path: Path) -> None:
    root = sound(tmp_path).write()
    make_old(root, 60)
    collect(root)
    (root / "context/pack.json").write_text("{}\n")

    restored = {each.name: each.problem for each in undo_gc(root)}

    assert restored["context/pack.md"] is None
    assert "a new file has this name" in (restored["context/pack.json"] or "")
    assert (root / "context/pack.json").read_text() == "{}\n"


def test_a_plan_without_removals_makes_no_backup(tmp_path: Path, state: Path) -> None:
    root = sound(tmp_path).write()

    done = collect(root)

    assert done.backup is None
    assert not (state / "ctxview/removed").exists()


@pytest.mark.parametrize(
    "name", ["messages.jsonl", "events.jsonl", "context/child/rev-1/result.md", "context/summary.md"]
)
def test_a_wrong_plan_cannot_remove_a_protected_file(tmp_path: Path, name: str) -> None:
    root = sound(tmp_path).write()
    plan = plan_at(root)
    wrong = GcItem(name, "pack", GcOutcome.REMOVE, "because", identity=identify(root, name))
    bad = GcPlan((wrong,), plan.policy, (), plan.inputs)

    done = apply_gc(root, bad, lambda: bad)

    assert done.removed == ()
    assert done.skipped[0][1] == "only packs, chunks and blobs are ever removed"
    assert (root / name).exists()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0s"), (59, "59s"), (60, "1m"), (7200, "2h"), (86_400 * 41, "41d"), (-5, "0s")]
)
def test_ages_have_one_unit(seconds: int, words: str) -> None:
    assert age_in_words(seconds) == words


# -- blobs that the index lists without a reference --------------------------------------------------------


@pytest.mark.parametrize("line", ['{"hash": "%s", "refs": []}', '{"hash": "%s"}', '{"hash": "%s", "refs": ['])
def test_the_only_copy_of_content_that_the_index_lists_is_protected(tmp_path: Path, line: str) -> None:
    content = "nowhere else\n" * 400
    blob = f"sha256-{sha256(content)}"
    build = sound(tmp_path).set(f"{BLOBS}/{blob}", content)
    build.set("context/dedup/index.jsonl", f"{line % blob}\n")

    found = item(old_plan(build), f"{BLOBS}/{blob}")

    assert found.outcome is GcOutcome.PROTECTED
    assert found.reason == "the index lists it, and no history holds the same"


def test_a_listed_blob_without_references_is_removed_if_a_history_holds_its_content(tmp_path: Path) -> None:
    content = "also in a message\n" * 400
    build = sound(tmp_path).add("messages.jsonl", user(content)).blob(content)

    found = item(old_plan(build), f"{BLOBS}/sha256-{sha256(content)}")

    assert found.outcome is GcOutcome.REMOVE
    assert found.reason == "nothing refers to it, and messages 7 hold the same"
