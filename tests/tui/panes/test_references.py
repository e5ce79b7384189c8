"""The lines of references: aligned columns, and every name once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from ctxview.core.origin import Origin
from ctxview.core.state import Ref, RefStatus
from ctxview.formats import Lens, Reading
from ctxview.formats.interface import AS_ON_DISK
from ctxview.tui.drawing.text import plain, width
from ctxview.tui.model.layout import Pane
from ctxview.tui.panes.references import ReferenceColumns, ref_line
from tests.tui.driver import driving
from tests.tui.handoff_story import Handoff

SHA = "sha256-" + "4c1f09d2" * 8


def ref(id_: str, target: str, *users: str, kind: str = "actor", **more: object) -> Ref:
    status = more.pop("status", RefStatus.EXTERNAL)
    assert isinstance(status, RefStatus)
    return Ref(id_, kind, target, status, None, 1204 if target == "b" else None, users, Origin("f"))


REFS = (
    ref("marlin", "marlin", "ctx-1", "sel-1"),
    ref("补丁-😀", "context_item 补丁-😀", "ctx-1", kind="item", status=RefStatus.RESOLVED),
    ref("a", "b", "ctx-1", kind="a kind with a long name", status=RefStatus.DANGLING),
    ref(SHA, f"context/swap/{SHA}", kind="swap", status=RefStatus.RESOLVED),
)


def drawn(cells: int) -> list[str]:
    columns = ReferenceColumns.of(REFS, cells)
    return [plain(ref_line(each, columns)) for each in REFS]


@pytest.mark.parametrize("cells", [24, 36, 48, 60, 76, 120])
def test_lines_fit_and_have_each_name_once(cells: int) -> None:
    columns = ReferenceColumns.of(REFS, cells)
    assert all(width(ref_line(each, columns)) <= cells for each in REFS)
    assert drawn(cells)[0].count("marlin") == 1
    assert drawn(cells)[1].count("补丁-😀") == 1


def test_columns_are_aligned_where_there_is_room() -> None:
    assert [line.rstrip() for line in drawn(76)] == [
        "↗ actor      marlin              ← ctx-1, sel-1                  ×2 external",
        "✓ item       补丁-😀             ← ctx-1",
        "✗ a kin…name a                   → b                     1,204 B    dangling",
        "✓ swap       sha256-4c…24c1f09d2 → context/swap/sha256-…09d24c1f09d24c1f09d2",
    ]


def test_a_long_target_takes_the_blank_cells_of_a_short_id() -> None:
    path = "context/child/bench-import/artifact/throughput.csv"
    refs = (*REFS, ref("r6", path, kind="file", status=RefStatus.DANGLING))
    columns = ReferenceColumns.of(refs, 76)

    line = plain(ref_line(refs[-1], columns))
    assert width(ref_line(refs[-1], columns)) <= 76
    assert len(line.partition("→ ")[2].split()[0]) > len(plain(ref_line(refs[3], columns)).split()[2])
    assert line.startswith("✗ file       r6 → context/")


def test_a_narrow_line_keeps_the_target_or_the_name() -> None:
    assert [line.split()[-1] for line in drawn(24)] == ["marlin", "补丁-😀", "b", "sha256…1f09d2"]


class _Unlinked(Handoff):
    """A source whose references are not known yet."""

    def reading(self, revision: int, lens: Lens, overlay: Mapping[str, bytes] = AS_ON_DISK) -> Reading:
        return replace(super().reading(revision, lens, overlay), linked=False)


async def test_references_that_are_not_known_yet_are_not_called_none() -> None:
    async with driving(_Unlinked()) as drive:
        await drive.press("5")
        assert drive.front is Pane.REFERENCES
        assert "Following the references…" in drive.text(Pane.REFERENCES)
        assert "no references" not in drive.screen_text()
        await drive.press("L")
        assert drive.text(Pane.LIFECYCLE).strip() == "Following the records…"
    async with driving(_Unlinked()) as drive:
        await drive.press("j", "r")
        assert "links" in drive.screen_text()
        assert "following the references…" in drive.screen_text()


async def test_known_references_are_followed_no_further() -> None:
    async with driving(Handoff()) as drive:
        await drive.press("j", "r")
        assert "links" in drive.screen_text()
        assert "following" not in drive.screen_text()
