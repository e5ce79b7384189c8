"""Processes that end themselves with SIGKILL at a chosen moment, without any help of the program.

`hooked` gives the environment of a program: Python then loads a `sitecustomize` that watches audit events in
each worker. A worker that lists a folder named `poison…` always ends; one that lists `victim…`, or is about
to write the commit of a batch, ends once for each mark.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.running import LIMIT

ROOT = Path(__file__).parent.parent.parent
HOOK = """
import multiprocessing, os, signal, sys

MARKS = os.environ["FLEET_TEST_MARKS"]
COMMITS = os.environ.get("FLEET_TEST_COMMITS", "")

def first(name):
    try:
        os.close(os.open(os.path.join(MARKS, name), os.O_CREAT | os.O_EXCL))
        return True
    except FileExistsError:
        return False

def hook(event, arguments):
    if event not in ("os.scandir", "os.link") or multiprocessing.parent_process() is None:
        return
    if event == "os.scandir":
        name = os.path.basename(os.fsdecode(arguments[0])) if not isinstance(arguments[0], int) else ""
        first(f"worker-{os.getpid()}")
        if name.startswith("poison") or (name.startswith("victim") and first(name)):
            os.kill(os.getpid(), signal.SIGKILL)
        return
    folder = os.readlink(f"/proc/self/fd/{arguments[3]}")
    rows = os.path.join(folder.replace("/sources/", "/findings/"), arguments[1])
    if "/sources/" not in folder or not os.path.exists(rows):
        return
    # The third one is killed alone, and so its batch is divided.
    if COMMITS == "worker" and any(first(f"commit-{number}") for number in (1, 2, 3)):
        os.kill(os.getpid(), signal.SIGKILL)
    if COMMITS == "driver" and not first("commit-1") and not first("commit-2") and first("driver"):
        os.kill(os.getppid(), signal.SIGKILL)

sys.addaudithook(hook)
"""


def hooked(folder: Path, commits: str = "") -> dict[str, str]:
    """Return an environment in which workers end themselves; `commits` says which process a commit ends."""
    marks, code = folder / "marks", folder / "hook"
    marks.mkdir()
    code.mkdir()
    (code / "sitecustomize.py").write_text(HOOK)
    path = os.pathsep.join([str(code), str(ROOT)])
    return {**os.environ, "PYTHONPATH": path, "FLEET_TEST_MARKS": str(marks), "FLEET_TEST_COMMITS": commits}


def marks(folder: Path, prefix: str) -> list[str]:
    return sorted(each.name for each in (folder / "marks").iterdir() if each.name.startswith(prefix))


def workers(folder: Path) -> list[int]:
    return [int(name.removeprefix("worker-")) for name in marks(folder, "worker-")]


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < give_up, what
        time.sleep(0.01)


@contextmanager
def no_worker_left(folder: Path) -> Iterator[None]:
    yield
    wait_until("no worker is left", lambda: not any(map(is_alive, workers(folder))))
