"""The same batches on a real Dask cluster of several worker processes, some of which are killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fleet.kills import hooked, marks, no_worker_left
from tests.fleet.sources import counts, fleet_tree, read, session, settled, summary
from tests.running import LIMIT, Program, default_signals, line_of

CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@contextmanager
def cluster(folder: Path, env: dict[str, str]) -> Iterator[str]:
    """Run a cluster until the end of the block; yields the address of its scheduler."""
    script = folder / "cluster.py"
    script.write_text(CLUSTER)
    with subprocess.Popen(
        [sys.executable, script],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=default_signals,
    ) as process:
        assert process.stdin is not None
        try:
            yield line_of(process, process.stdout).strip()
            process.stdin.close()
            process.wait(LIMIT)
        finally:
            process.kill()


def test_killed_workers_of_a_cluster_change_no_row(tmp_path: Path) -> None:
    tree, out = fleet_tree(tmp_path / "tree"), tmp_path / "out"
    for name in ("victim-1", "victim-2"):
        session(tree / "agents" / name)
    settled(tree)
    read(tree, tmp_path / "undisturbed")
    env = hooked(tmp_path)
    command = [sys.executable, "-m", "ctxview", "fleet", "read", tree, "--into", out, "--batch", "3"]

    with no_worker_left(tmp_path), cluster(tmp_path, env) as address:
        with Program([*command, "--scheduler", address], env) as program:
            first = program.finish()
        with Program([*command, "--scheduler", address], env) as program:
            second = program.finish()

    assert (first.code, summary(first)) == (0, "23 sources read, 0 unchanged")
    assert (second.code, summary(second)) == (0, "0 sources read, 23 unchanged")
    assert marks(tmp_path, "victim") == ["victim-1", "victim-2"]
    assert len(marks(tmp_path, "worker-")) >= 4, "three workers, and those that replaced the killed ones"
    assert counts(out) == counts(tmp_path / "undisturbed")
