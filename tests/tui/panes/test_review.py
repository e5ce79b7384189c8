"""The review view: verdict, points, decisions with reasons, and a sign-off bound to the bytes."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ctxview.formats import open_source
from ctxview.samples import samples_folder
from ctxview.tui.model.layout import Pane
from ctxview.tui.panes.review import ReviewPane
from tests.review.signing import make_key
from tests.running import LIMIT
from tests.tui.driver import Driver, driving


@pytest.fixture
def envelopes(tmp_path: Path) -> Path:
    return Path(shutil.copytree(samples_folder() / "envelope", tmp_path / "envelope"))


def review_of(drive: Driver) -> ReviewPane:
    return drive.inspector.area.get(ReviewPane)


async def _opened(drive: Driver) -> ReviewPane:
    await drive.press("A")
    pane = review_of(drive)
    await drive.wait_until(lambda: pane.desk is not None, "the review is read")
    await drive.settle()
    return pane


async def _say(drive: Driver, text: str) -> None:
    """Type a reason, and wait until it is kept."""
    pane = review_of(drive)
    before = pane.desk
    await drive.type(text)
    await drive.press("enter")
    await drive.wait_until(lambda: pane.desk is not before, "the decision is made")
    await drive.settle()


async def test_a_leak_is_the_verdict_and_the_first_point(envelopes: Path) -> None:
    async with driving(open_source(envelopes / "planted"), size=(80, 24)) as drive:
        await _opened(drive)
        text = drive.text(Pane.REVIEW)
        assert "DO NOT APPROVE" in text.splitlines()[0]
        assert "20 points, worst first" in text
        assert "▌ ✖ ENV078" in text
        assert "✖ item-patch" in text, "the violation of a target is named"
        assert "61 characters" not in text


async def test_in_the_past_the_review_says_that_it_is_about_the_latest_revision() -> None:
    async with driving(open_source(samples_folder() / "snapshot" / "lighthouse"), size=(120, 36)) as drive:
        await drive.press("left_square_bracket")
        await drive.wait_until(lambda: drive.revision == 27, "the revision before")
        await _opened(drive)
        await drive.wait_until(lambda: "Changed since round 15" in drive.text(Pane.REVIEW), "the facts")

        text = drive.text(Pane.REVIEW)
        assert "The review is about the latest revision, the reply to round 15." in text
        assert "+ 1 lt-keeper-snapshots" in text, "what the latest revision changed"


async def test_approval_is_locked_until_the_points_are_decided(envelopes: Path) -> None:
    folder = envelopes / "handoff"
    async with driving(open_source(folder), size=(120, 36)) as drive:
        pane = await _opened(drive)
        text = drive.text(Pane.REVIEW)
        assert "NOT READY" in text
        assert "not possible yet: 1 point must be answered" in text
        assert "bound to sha256" in text
        await drive.press("A")
        assert drive.inspector.prompt is None, "nothing is asked while approval is locked"

        # A gap can be answered, waived or accepted.
        await drive.press("a", "j", "j", "enter")
        await _say(drive, "the tests show both")
        assert "accepted: the tests show both" in drive.text(Pane.REVIEW)
        assert pane.desk is not None
        assert pane.desk.review is not None
        await drive.press("j", "space")
        await drive.wait_until(lambda: "looked at" in drive.text(Pane.REVIEW), "the point was looked at")
        assert "READY" in drive.text(Pane.REVIEW).splitlines()[0]

        assert "says how to sign that with your SSH key" in drive.text(Pane.REVIEW)
        await drive.press("A")
        assert "bytes, without a signature" in drive.screen_text()
        await _say(drive, "fine")
        assert "SIGNED" in drive.text(Pane.REVIEW).splitlines()[0]
    (record,) = folder.parent.glob(f"{folder.name}.*ctxreview.json")
    statement = json.loads(record.read_text("utf-8"))
    assert statement["predicate"]["decision"] == "approved"
    assert "the tests show both" in record.read_text("utf-8")


async def test_an_approval_on_the_screen_names_the_command_that_signs_it(
    envelopes: Path, tmp_path: Path
) -> None:
    folder = envelopes / "handoff"
    async with driving(open_source(folder), size=(120, 36)) as drive:
        await _opened(drive)
        await _approve(drive)
        await drive.wait_until(lambda: "To sign it" in drive.notices[-1], "the notice")
        command = shlex.split(drive.notices[-1].partition("To sign it with your SSH key: ")[2])
    command[command.index("-f") + 1] = str(make_key(tmp_path, "key"))
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT)
    (record,) = folder.parent.glob(f"{folder.name}*.ctxreview.json")
    checked = ["ssh-keygen", "-Y", "check-novalidate", "-n", "ctxview", "-s", f"{record}.sig"]
    subprocess.run(checked, input=record.read_bytes(), check=True, capture_output=True, timeout=LIMIT)


async def test_a_blocking_point_is_not_settled_without_a_reason(envelopes: Path) -> None:
    async with driving(open_source(envelopes / "handoff"), size=(120, 36)) as drive:
        pane = await _opened(drive)
        await drive.press("space")
        await drive.wait_until(lambda: bool(drive.notices), "a notice says why not")
        assert "it can be accepted with a written reason" in drive.notices[-1]
        assert pane.desk is not None
        assert pane.desk.review is not None
        assert pane.desk.review.decided == 0


async def test_leaving_and_coming_back_continues(envelopes: Path) -> None:
    source = envelopes / "planted"
    async with driving(open_source(source), size=(120, 36)) as drive:
        await _opened(drive)
        await drive.press("a")
        await _say(drive, "the raw text is harmless")
        await drive.press("q")
        assert drive.view is not Pane.REVIEW
    async with driving(open_source(source), size=(120, 36)) as drive:
        await _opened(drive)
        assert "1 of 20 decided" in drive.text(Pane.REVIEW)
        assert "▌ ✖ ENV056" in drive.text(Pane.REVIEW), "the first point that is left to decide"
        await drive.press("k")
        assert "accepted: the raw text is harmless" in drive.text(Pane.REVIEW)


async def test_a_rejection_needs_a_reason_and_is_recorded(envelopes: Path) -> None:
    folder = envelopes / "planted"
    async with driving(open_source(folder), size=(120, 36)) as drive:
        await _opened(drive)
        await drive.press("D")
        await _say(drive, "it leaks a name")
        assert "REJECTED" in drive.text(Pane.REVIEW).splitlines()[0]
    (record,) = folder.parent.glob(f"{folder.name}.*ctxreview.json")
    assert json.loads(record.read_text("utf-8"))["predicate"]["decision"] == "rejected"


async def test_each_target_has_a_preview(envelopes: Path) -> None:
    async with driving(open_source(envelopes / "handoff"), size=(120, 36)) as drive:
        await _opened(drive)
        assert "what model gets" in drive.text(Pane.REVIEW)
        await drive.press("p")
        text = drive.text(Pane.REVIEW)
        assert "what tool gets" in text
        assert "pytest tests/dunning" in text
        await drive.press("p")
        assert "nothing was assembled for it" in drive.text(Pane.REVIEW)


async def test_a_file_with_nothing_to_decide_can_be_signed_at_once(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Tea.\n", "utf-8")
    async with driving(open_source(file), size=(80, 24)) as drive:
        await _opened(drive)
        assert "READY" in drive.text(Pane.REVIEW).splitlines()[0]


async def test_what_changed_while_a_reviewer_wrote_is_not_signed(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("Pay 100 euros.\n", "utf-8")
    async with driving(open_source(file), size=(100, 30)) as drive:
        pane = await _opened(drive)
        await drive.press("A")
        file.write_text("Pay 900 euros.\n", "utf-8")
        await drive.poll()
        await drive.wait_until(
            lambda: pane.desk is not None and pane.desk.changed != (), "the change is on the screen"
        )
        await drive.press("enter")
        await drive.settle()
        assert not (tmp_path / "note.txt.ctxreview.json").exists()

        await drive.press("A")
        await _say(drive, "seen")
        assert (tmp_path / "note.txt.ctxreview.json").exists()
        assert "Changed on disk" not in drive.text(Pane.REVIEW)


async def test_what_a_reviewer_writes_into_the_source_is_not_a_change_by_others(envelopes: Path) -> None:
    folder = envelopes / "handoff"
    async with driving(open_source(folder), size=(120, 36)) as drive:
        pane = await _opened(drive)
        before = pane.desk
        await drive.press("a", "j", "enter")
        await drive.type("one sender, says Bram")
        await drive.press("enter")
        await drive.wait_until((folder / "handoff.r2.json").exists, "the waiver is written")
        await drive.poll()  # the new file is seen before or after the decision is on the screen
        await drive.wait_until(lambda: "rev 6 of 6" in drive.screen_text(), "the new revision is shown")
        await drive.settle()
        assert pane.desk is not before
        assert "Changed on disk" not in drive.text(Pane.REVIEW)
        assert "gap-senders" not in drive.text(Pane.REVIEW).split("What is missing")[0]


async def test_keys_that_come_before_the_review_is_read_move_in_it(envelopes: Path) -> None:
    async with driving(open_source(envelopes / "handoff"), size=(120, 36)) as drive:
        await drive.press_quickly("A", "j")
        pane = review_of(drive)
        await drive.wait_until(lambda: pane.desk is not None, "the review is read")
        await drive.settle()
        assert pane.desk is not None
        assert pane.desk.chosen == 1


async def test_a_click_beside_the_prompt_signs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("Tea.\n", "utf-8")
    async with driving(open_source(file), size=(100, 30)) as drive:
        pane = await _opened(drive)
        await drive.press("A")
        pane.focus()
        await drive.settle()
        assert not drive.app.screen.query("#prompt")
        assert not (tmp_path / "note.txt.ctxreview.json").exists()


async def test_a_change_of_a_reviewed_file_is_shown_and_ends_the_approval(envelopes: Path) -> None:
    folder = envelopes / "handoff"
    note = folder / "content" / "note.txt"
    note.write_text("a note that no record names\n", "utf-8")
    async with driving(open_source(folder), size=(120, 36)) as drive:
        await _opened(drive)
        await _approve(drive)
        assert "SIGNED" in drive.text(Pane.REVIEW).splitlines()[0]

        note.write_text("another note\n", "utf-8")
        await drive.poll()
        await drive.wait_until(
            lambda: "CHANGED SINCE SIGNED" in drive.text(Pane.REVIEW), "the change is shown"
        )
        assert "Changed on disk while you reviewed: handoff/content/note.txt" in drive.text(Pane.REVIEW)

        (folder / "late.txt").write_text("a new file\n", "utf-8")
        await drive.poll()
        await drive.wait_until(lambda: "late.txt" in drive.text(Pane.REVIEW), "the new file is shown")
        (folder / "late.txt").unlink()
        note.write_text("a note that no record names\n", "utf-8")
        await drive.poll()
        await drive.wait_until(
            lambda: "no file changed" in drive.text(Pane.REVIEW), "the approval holds again"
        )


async def _approve(drive: Driver) -> None:
    """Decide every point of the handoff, and approve it."""
    await drive.press("a", "j", "j", "enter")
    await _say(drive, "the tests show both")
    await drive.press("j", "space")
    await drive.wait_until(lambda: "looked at" in drive.text(Pane.REVIEW), "the point was looked at")
    await drive.press("A")
    await _say(drive, "fine")


@pytest.mark.parametrize("size", [(120, 36), (200, 60)])
async def test_the_preview_is_headed_by_the_size_of_what_it_shows(size: tuple[int, int]) -> None:
    """The table has the tokens of the items, the preview those of the whole prompt."""
    async with driving(open_source(samples_folder() / "snapshot" / "lighthouse"), size=size) as drive:
        pane = await _opened(drive)
        assert pane.desk is not None
        (preview,), (share,) = pane.desk.previews, pane.desk.shares
        assert preview is not None
        assert preview.tokens > share.tokens
        (heading,) = (line for line in drive.text(Pane.REVIEW).splitlines() if "Preview: what" in line)
        assert "what model gets " in heading
        assert f"{preview.tokens:,} tokens ({preview.counter.removesuffix('_base')})" in heading


async def test_the_preview_names_each_block_and_counts_the_lines_that_it_leaves_out(envelopes: Path) -> None:
    async with driving(open_source(envelopes / "handoff"), size=(120, 36)) as drive:
        pane = await _opened(drive)
        text = drive.screen_text()
        assert "summary-hunt 183" in text
        assert "item-patch 346" in text
        assert pane.desk is not None
        (preview, *_) = pane.desk.previews
        assert preview is not None
        shown = text.partition("Preview")[2].partition("more lines")[0].count("││ │ ") + 1
        assert f"{len(preview.rows) - shown} more lines: X" in text, "one row is blank"
