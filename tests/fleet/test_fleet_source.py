"""A fleet in the inspector: a list of sources with figures and small pictures; Enter opens a source."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet

from ctxview.fleet.fleet_source import UNREAD, FleetSource, spark
from ctxview.fleet.source_rows import LENS
from ctxview.fleet.storage import storage_at
from ctxview.recording.frames import MAGIC
from ctxview.tui.model.layout import Pane
from ctxview.tui.model.query import figures_in, sort_orders
from ctxview.tui.screens.inspector import InspectorScreen
from tests.fleet.sources import answer, fleet_tree, read
from tests.running import Run
from tests.tui.driver import driving


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = fleet_tree(tmp_path_factory.mktemp("tree"))
    (root / "night.ctxrec").write_bytes(MAGIC)
    return root


@pytest.fixture(scope="module")
def out(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out")
    read(tree, folder)
    return folder


def test_each_source_is_a_block_with_its_figures(tree: Path, out: Path) -> None:
    source = FleetSource(storage_at(str(out)))

    state = source.reading(0, LENS).state
    blocks = {block.id: block for block in state.blocks()}
    transcript, session = blocks["logs/t0.jsonl"], blocks["agents/s00"]
    assert {tier.name for tier in state.tiers} == {"raw", "session", "transcript", "workspace", UNREAD}
    assert transcript.text.startswith("▇▇█▄▄  Move the refunds\n2026-08-01 00:00 UTC · ")
    assert (transcript.figure("lost"), transcript.figure("compactions"), transcript.tokens) == (1, 1, 12000)
    assert session.figure("errors") == 1
    assert "its head is incomplete" in blocks["night.ctxrec"].why
    assert source.path_of("agents/s00") == tree / "agents" / "s00"
    assert source.path_of("nothing") is None


@pytest.mark.parametrize(
    ("values", "picture"),
    [((), ""), ((5,), ""), ((0, 0), "▁▁"), ((0, 4, 8), "▁▅█"), (range(1000), "▁▂▃▄▄▅▆▇██")],
)
def test_the_picture_of_a_window(values: tuple[int, ...], picture: str) -> None:
    assert spark(values) == picture


async def test_enter_opens_the_source_and_q_returns(tree: Path, out: Path) -> None:
    async with driving(FleetSource(storage_at(str(out)))) as drive:
        await drive.press("f")
        await drive.type("t0")
        await drive.press("enter")
        assert "1 of 22 blocks" in drive.screen_text()
        assert "compactions 1" in drive.text(Pane.DETAIL)
        await drive.press("enter")
        await drive.settle()
        opened = drive.app.screen
        assert isinstance(opened, InspectorScreen)
        assert opened.model.source is not None
        assert opened.model.source.path == tree / "logs" / "t0.jsonl"
        await drive.press("q")
        assert "1 of 22 blocks" in drive.screen_text()


def test_the_list_can_be_sorted_by_its_figures(out: Path) -> None:
    orders = sort_orders(figures_in(FleetSource(storage_at(str(out))).reading(0, LENS).state))

    assert {"findings", "errors", "revisions", "compactions", "open", "lost", "tokens"} <= {*orders}


def test_rows_without_a_column_of_this_version_can_be_read(out: Path, tmp_path: Path) -> None:
    old = tmp_path / "sources" / "day=2026-11-01" / "old.parquet"
    old.parent.mkdir(parents=True)
    parquet.write_table(
        parquet.ParquetFile(next(out.glob("sources/*/*.parquet"))).read().drop_columns(["review"]), old
    )

    assert answer(tmp_path, "SELECT DISTINCT review FROM sources") in ([(None,)], [])
    assert FleetSource(storage_at(str(tmp_path))).reading(0, LENS).findings == ()


def test_the_inspector_needs_a_terminal(out: Path, ctxview: Run) -> None:
    assert "needs a terminal" in ctxview("fleet", "show", out).complaint
    assert "expected one folder" in ctxview("fleet", "show", out, out).complaint
