"""The text for a target is proved by a hash or labelled as a guess, and never has withheld content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ctxview.analysis.tokens import ESTIMATES
from ctxview.core.prompt import CutKind, Prompt, PromptError
from ctxview.formats import Lens, open_source
from ctxview.samples import samples_folder
from tests.formats.envelope import builders as b

SECRET = "the third flowerpot"
HANDOFF = samples_folder() / "envelope" / "handoff"


def sha256(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def prompt_of(path: Path, target: str | None = None) -> Prompt:
    source = open_source(path)
    ability = source.abilities.prompt
    assert ability is not None
    return ability.prompt(len(source.revisions) - 1, Lens(ESTIMATES["bytes/4"]), target)


def prompt_for(folder: Path, *records: b.Members, target: str | None = None, **files: str) -> Prompt:
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    (folder / "bundle.json").write_text(json.dumps(records))
    return prompt_of(folder, target)


def envelope(**more: Any) -> b.Members:
    return b.envelope(assembly_refs=["asm-1"], injection_refs=["inj-1"], **more)


def assembly(*items: str, block: dict[str, Any] | None = None, **more: Any) -> b.Members:
    made = b.assembly([[name] for name in items], **more)
    blocks = made["ordered_blocks"]
    assert isinstance(blocks, list)
    made["ordered_blocks"] = [{**each, **(block or {})} for each in blocks if isinstance(each, dict)]
    return made


def test_a_file_with_the_hash_of_the_injection_is_exact() -> None:
    prompt = prompt_of(HANDOFF)
    data = (HANDOFF / "content" / "prompt-for-sable.txt").read_bytes()
    assert prompt.text.encode() == data
    assert hashlib.sha256(data).hexdigest().startswith("21eec6a6")
    assert prompt.exact
    parts = [(part.block, len(part.text)) for part in prompt.messages[0].parts if part.text]
    assert parts == [("summary-hunt", 555), (None, 2), ("item-patch", 1023), (None, 2), ("item-report", 225)]
    shortened = [cut for cut in prompt.cuts() if cut.kind is CutKind.SHORTENED]
    assert [(cut.what, cut.bytes) for cut in shortened] == [("item-patch", 295)]
    assert [cut.what for cut in prompt.cuts() if cut.kind is CutKind.HIDDEN] == ["item-ci-runs", "item-guide"]


def test_blocks_with_the_hash_of_the_injection_are_exact() -> None:
    prompt = prompt_of(HANDOFF, "tool")
    assert hashlib.sha256(prompt.text.encode()).hexdigest().startswith("2fcee522")
    assert prompt.text.endswith(" --start-at xx:xx:59 -x -q")
    assert prompt.exact
    assert prompt.messages[0].role == "tool"


@pytest.mark.parametrize("between", ["\n\n", "\n", ""])
def test_the_separator_is_the_one_that_gives_the_hash(tmp_path: Path, between: str) -> None:
    text = f"one{between}two"
    found = prompt_for(
        tmp_path,
        envelope(),
        b.item("x", "one"),
        b.item("y", "two"),
        assembly("x", "y"),
        b.injection(hash=sha256(text)),
    )
    assert found.text == text
    assert found.exact


@pytest.mark.parametrize(
    ("policy", "text"),
    [(None, "one\n\ntwo"), ("newline", "one\ntwo"), ("none", "onetwo"), ("a rule of dashes", "one\n\ntwo")],
)
def test_without_a_hash_the_text_is_a_guess(tmp_path: Path, policy: str | None, text: str) -> None:
    made = assembly("x", "y", **({"separator_policy": policy} if policy else {}))
    found = prompt_for(tmp_path, envelope(), b.item("x", "one"), b.item("y", "two"), made, b.injection())
    assert found.text == text
    assert not found.exact
    assert "a guess" in found.notes[0]


def test_a_recorded_file_without_a_hash_is_as_recorded(tmp_path: Path) -> None:
    records = (envelope(), b.item("x", "one"), assembly("x"), b.injection(final_ref="sent.txt"))
    found = prompt_for(tmp_path, *records, sent="before one after")
    assert found.text == "before one after"
    assert not found.exact
    assert found.notes == ("asm-1 for model: as recorded in sent.txt.",)
    assert [part.block for part in found.messages[0].parts] == [None, "x", None]


def test_a_file_with_another_hash_is_not_used(tmp_path: Path) -> None:
    sent = b.injection(final_ref="sent.txt", hash=sha256("something else"))
    found = prompt_for(tmp_path, envelope(), b.item("x", "one"), assembly("x"), sent, sent="changed")
    assert found.text == "one"
    assert not found.exact


def test_content_by_reference_needs_a_hash(tmp_path: Path) -> None:
    item = b.item("x", None, content_mode="ref", content_ref="x.txt", byte_size=7, token_estimate=2)
    bare = prompt_for(tmp_path, envelope(), item, assembly("x"), b.injection(), x="content")
    assert bare.text == ""
    (cut,) = bare.cuts()
    assert (cut.kind, cut.what, cut.tokens, cut.bytes) == (CutKind.ABSENT, "x", 2, 7)
    made = assembly("x", block={"hash": sha256("content")})
    assert prompt_for(tmp_path, envelope(), item, made, b.injection(), x="content").text == "content"


def test_a_truncation_without_proof_keeps_the_whole_text(tmp_path: Path) -> None:
    truncated = {"item_ref": "x", "strategy": "truncate_tail", "bytes_removed": 3}
    records = (
        envelope(),
        b.item("x", "one two"),
        b.budget(truncation_records=[truncated]),
        b.injection(),
    )
    found = prompt_for(tmp_path, *records, assembly("x", budget_ref="bud-1"))
    assert found.text == "one two"
    assert [(cut.kind, cut.bytes) for cut in found.cuts()] == [(CutKind.SHORTENED, 3)]
    proved = assembly("x", budget_ref="bud-1", block={"hash": sha256("one ")})
    assert prompt_for(tmp_path, *records, proved).text == "one "


def test_a_wrapper_is_named_and_makes_a_guess(tmp_path: Path) -> None:
    made = assembly("x", block={"wrapper": "xml", "hash": sha256("one")})
    found = prompt_for(tmp_path, envelope(), b.item("x", "one"), made, b.injection())
    assert found.text == "one"
    assert [cut.what for cut in found.cuts()] == ["wrapper xml"]
    assert not found.exact


def test_structured_content_is_as_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_text(
        json.dumps([envelope(), b.item("x", "CONTENT"), assembly("x"), b.injection()]).replace(
            '"CONTENT"', '{"a":  1.0}'
        )
    )
    assert prompt_of(tmp_path).text == '{"a":  1.0}'


@pytest.mark.parametrize("state", ["removed", "policy_blocked", "encrypted_ref", "nonsense"])
def test_withheld_content_is_a_cut_and_closes_the_recorded_file(tmp_path: Path, state: str) -> None:
    text = f"one\n\n{SECRET}"
    found = prompt_for(
        tmp_path,
        envelope(),
        b.item("x", "one"),
        b.item("y", SECRET, redaction_state=state),
        assembly("x", "y", block={"token_estimate": 4}),
        b.injection(final_ref="sent.txt", hash=sha256(text)),
        sent=text,
    )
    assert found.text == "one"
    assert not found.exact
    assert [(cut.kind, cut.tokens) for cut in found.cuts()] == [(CutKind.WITHHELD, 4)]
    assert SECRET not in repr(found)


def test_a_redacted_block_is_withheld(tmp_path: Path) -> None:
    made = assembly("x", block={"redaction_state": "removed"})
    found = prompt_for(tmp_path, envelope(), b.item("x", SECRET), made, b.injection())
    assert SECRET not in repr(found)


def test_copies_of_removed_content_are_withheld_in_every_text(tmp_path: Path) -> None:
    removed = b.item("y", SECRET, redaction_state="removed")
    copy = b.item("x", f"look under {SECRET}")
    sent = b.injection(final_ref="sent.txt")
    found = prompt_for(tmp_path, envelope(), removed, copy, assembly("x"), sent, sent=f"under {SECRET}")
    assert SECRET not in repr(found)
    other = prompt_for(
        tmp_path, envelope(), removed, b.item("x", "one"), assembly("x"), sent, sent=f"one {SECRET}"
    )
    assert SECRET not in repr(other)
    assert other.text == "one"


def test_masked_content_is_what_the_target_got(tmp_path: Path) -> None:
    item = b.item("x", "under ███", redaction_state="masked", redacted_fields=["content"])
    assert prompt_for(tmp_path, envelope(), item, assembly("x"), b.injection()).text == "under ███"


def test_another_target_gets_its_own_blocks_only(tmp_path: Path) -> None:
    records = (
        b.envelope(injection_refs=["inj-1", "inj-2"]),
        *(b.item("x", "one"), b.item("y", "two")),
        *(assembly("x"), assembly("y", name="asm-2", target="tool")),
        *(b.injection(), b.injection("inj-2", "asm-2", "tool", injection_point="tool_argument")),
    )
    assert prompt_for(tmp_path, *records).text == "one"
    assert prompt_for(tmp_path, *records, target="tool").text == "two"
    with pytest.raises(PromptError, match="nothing was assembled for user, only for model, tool"):
        prompt_of(tmp_path, "user")


def test_a_selection_alone_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(PromptError, match="nothing was assembled"):
        prompt_for(tmp_path, b.envelope(selection_refs=["sel-1"]), b.item("x"), b.selection(["x"], {}))


def test_an_assembly_without_an_injection_is_used(tmp_path: Path) -> None:
    found = prompt_for(tmp_path, b.envelope(assembly_refs=["asm-1"]), b.item("x", "one"), assembly("x"))
    assert found.text == "one"


def test_a_file_outside_the_bundle_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("outside")
    folder = tmp_path / "bundle"
    folder.mkdir()
    sent = b.injection(final_ref="../outside.txt")
    assert prompt_for(folder, envelope(), b.item("x", "one"), assembly("x"), sent).text == "one"
