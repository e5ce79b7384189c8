"""Tens of tiny sources of several formats, the row counts of a fleet, and an engine without processes."""

from __future__ import annotations

import json
import time
from concurrent.futures import Executor, Future
from pathlib import Path

from ctxview.fleet.engines import Engine
from ctxview.fleet.jobs import Batch, OtherVersion
from ctxview.fleet.queries import Fleet
from ctxview.fleet.reader import FleetProgress, FleetRequest, read_fleet
from ctxview.fleet.stamps import stamp_source
from ctxview.fleet.storage import StorageError, storage_at
from tests.formats.session.builders import compact
from tests.formats.transcript.builders import claude_lines
from tests.running import LIMIT, Ran

SESSIONS, TRANSCRIPTS = 14, 4
COUNTED = ("sources", "revisions", "findings", "tools", "instructions")
INSTRUCTIONS = "# Rules\n\n- Run the tests before every commit.\n"
COMPACTED = """
u1 user : Move the refunds
a1 call msg=m1 id=t1 tool=TodoWrite sent=9000 out=20 : {todos}
r1 result id=t1 : ok
a2 call msg=m2 id=t2 tool=Read sent=9300 out=20 : {{"file_path": "/work/a.py"}}
r2 result id=t2 : {text}
a3 assistant msg=m3 sent=12000 out=9 : Read it
b1 boundary
s1 summary : We moved the refunds.
u2 user : Go on
a4 assistant msg=m4 sent=5000 out=9 : {end}
"""


def session(folder: Path, text: str = "Please look.") -> Path:
    """Write a session with two messages."""
    folder.mkdir(parents=True)
    messages = [
        {"role": "user", "content": text},
        {
            "role": "tool",
            "name": "shell",
            "content": [{"type": "tool_result", "tool_call_id": "c", "content": "2 passed"}],
        },
        {"role": "wrong", "content": "x"},
    ]
    (folder / "messages.jsonl").write_text("".join(f"{compact(each)}\n" for each in messages))
    (folder / "events.jsonl").touch()
    return folder


def transcript(file: Path, end: str = "Done", todo: str = "write the test") -> Path:
    """Write a transcript that loses an open todo in a compaction."""
    todos = json.dumps({"todos": [{"content": todo, "status": "pending"}]})
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(claude_lines(COMPACTED.format(todos=todos, text="x" * 400, end=end))) + "\n")
    return file


def fleet_tree(root: Path) -> Path:
    """Write 14 sessions, 4 transcripts, 2 repositories with equal instructions, a broken file and a note."""
    for number in range(SESSIONS):
        session(root / "agents" / f"s{number:02}", f"Please look at {number}.")
    for number in range(TRANSCRIPTS):
        transcript(root / "logs" / f"t{number}.jsonl", f"Done {number}")
    for name in ("one", "two"):
        (root / "repositories" / name).mkdir(parents=True)
        (root / "repositories" / name / "AGENTS.md").write_text(INSTRUCTIONS)
    (root / "logs" / "broken.json").write_text("{")
    (root / "note.txt").write_text("Nothing that a format recognises.\n")
    return settled(root)


def settled(root: Path) -> Path:
    """Wait until the last change is so old that the next one would leave another stamp."""
    give_up = time.monotonic() + LIMIT
    while stamp_source(root).changed_since(time.time()):
        assert time.monotonic() < give_up
        time.sleep(0.01)
    return root


def counts(out: Path | str) -> dict[str, int]:
    fleet = Fleet(storage_at(str(out)))
    return {table: int(str(fleet.ask(f"SELECT count(*) FROM {table}").rows[0][0])) for table in COUNTED}


def answer(out: Path | str, query: str) -> list[tuple[object, ...]]:
    return [*Fleet(storage_at(str(out))).ask(query).rows]


class Inline(Executor):
    """Runs each job at once in this process, and keeps what it was given."""

    def __init__(self) -> None:
        self.given: list[Batch] = []

    def submit(self, work, batch):
        self.given.append(batch)
        future: Future = Future()
        try:
            future.set_result(work(batch))
        except (StorageError, OtherVersion) as error:
            future.set_exception(error)
        return future


class InlineEngine:
    workers = 2

    def __init__(self, executor: Executor | None = None) -> None:
        self.executor = executor or Inline()

    def start(self) -> Executor:
        return self.executor

    def stop(self, executor: Executor, *, at_once: bool) -> None:
        pass


def read(
    place: Path | str, out: Path | str, engine: Engine | None = None, batch: int = 5, **options: bool
) -> FleetProgress:
    request = FleetRequest((str(place),), str(out), batch, **options)
    return read_fleet(request, engine or InlineEngine(), lambda progress: None)


def summary(done: Ran) -> str:
    """Return what a run says at its end; a slow one also reports its progress before."""
    return done.err.splitlines()[-1].partition(";")[0]


def items_read(engine: InlineEngine) -> list[str]:
    return [item.place for batch in engine.executor.given for item in batch.items]
