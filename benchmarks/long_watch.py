"""A day of changes, one after the other without the waiting: does memory stay flat, and recordings small?

Once through the recorder of `ctxview record`, once through the looks of an open inspector at a session. Each
in a process of its own, whose anonymous memory is taken after a tenth of the changes and at the end.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.figures import Figure, against, run

FLAT_GOAL = 1.2
SIZE_GOAL = 1.5
"""Bytes of the recording for each byte that was written to the files anew, many of them a line at a time."""
CHANGES = 40_000
LOOKS = 3_000
WORDS = ("agent", "reads", "file", "finds", "nothing", "changed", "since", "last", "time", "looked", "asks")


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--changes", type=int, default=CHANGES, help="changes to record")
    parser.add_argument("--looks", type=int, default=LOOKS, help="looks of an open inspector")
    parser.add_argument("--probe", choices=("record", "look"), help="one of the two, in this process")


def measure(arguments: Namespace) -> Iterator[Figure]:
    recorded = _in_a_process("record", arguments)
    looked = _in_a_process("look", arguments)
    early = "after a tenth of them"
    yield against(
        f"memory after {arguments.changes:,} changes recorded",
        recorded["end"],
        early,
        recorded["early"],
        FLAT_GOAL,
        "MB",
    )
    yield against(
        "size of that recording",
        recorded["size"] / 1e6,
        "bytes written",
        recorded["changed"] / 1e6,
        SIZE_GOAL,
        "MB",
    )
    yield against(
        f"memory after {arguments.looks:,} looks at a changing session",
        looked["end"],
        early,
        looked["early"],
        FLAT_GOAL,
        "MB",
    )


def main() -> int:
    parser = ArgumentParser(add_help=False)
    options(parser)
    arguments, _ = parser.parse_known_args()
    if arguments.probe is None:
        return run(measure, __doc__, options)
    found = _record(arguments.changes) if arguments.probe == "record" else _look(arguments.looks)
    print(json.dumps(found))
    return 0


def _record(changes: int) -> dict[str, float]:
    from ctxview.recording.about import about
    from ctxview.recording.places import open_to_write
    from ctxview.recording.recorder import Recorder
    from ctxview.recording.tree import Scope

    with tempfile.TemporaryDirectory() as name:
        session = _session(Path(name))
        opened = open_to_write(Path(name) / "day.ctxrec", about(session, time.time_ns()))
        recorder = Recorder(Scope(session), opened.writer)
        measured = _measured(session, changes, lambda: recorder.look(time.time_ns()))
        opened.writer.close()
        return {**measured, "size": float(opened.writer.end)}


def _look(looks: int) -> dict[str, float]:
    from ctxview.analysis.tokens import ESTIMATES
    from ctxview.formats import Lens, Source, open_source
    from ctxview.recording.seen import with_seen

    lens = Lens(ESTIMATES["bytes/4"])
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_STATE_HOME"] = name
        session = _session(Path(name))
        source: Source = with_seen(open_source(session))
        chosen = random.Random(2)

        def look() -> None:
            """As the inspector does: a new look, read; now and then somebody goes back."""
            nonlocal source
            source = source.again()
            source.reading(len(source.revisions) - 1, lens)
            if chosen.random() < 0.02:
                source.reading(chosen.randrange(len(source.revisions)), lens)

        measured = _measured(session, looks, look)
        return {**measured, "revisions": float(len(source.revisions))}


def _measured(session: Path, changes: int, look: Callable[[], object]) -> dict[str, float]:
    look()
    started, changed, early = time.perf_counter(), 0, 0.0
    for number, written in enumerate(_changes(session, changes)):
        changed += written
        look()
        if number == changes // 10:
            early = _anonymous()
    seconds = time.perf_counter() - started
    return {"early": early, "end": _anonymous(), "changed": float(changed), "seconds": seconds}


def _session(base: Path) -> Path:
    folder = base / "agent" / "coder" / "session" / "default"
    (folder / "context").mkdir(parents=True)
    (folder / "messages.jsonl").touch()
    (folder / "events.jsonl").touch()
    (folder / "state").write_text("active\n")
    (folder / "context" / "budget").write_text("8000\n")
    (folder / "context" / "facts.jsonl").touch()
    return folder


def _changes(session: Path, count: int) -> Iterator[int]:
    """What a busy agent does, for each change the bytes that are new. Histories start again now and then."""
    noise = random.Random(1)
    for number in range(count):
        match number % 20:
            case 19:
                yield _write(session / "context" / "summary.md", _prose(noise, 200))
            case 18 | 8:
                yield _write(session / "state", "active\n" if number % 20 == 8 else "waiting\n")
            case 17:
                line = json.dumps({"id": f"f{number}", "text": _prose(noise, 12), "source": "messages:1"})
                yield _append(session / "context" / "facts.jsonl", line, 10)
            case 3 | 9 | 15:
                line = json.dumps({"type": "tool_call", "run": "ctx-1", "name": "shell", "id": number})
                yield _append(session / "events.jsonl", line, 30)
            case _:
                line = json.dumps({"role": "assistant", "content": _prose(noise, 40)})
                yield _append(session / "messages.jsonl", line, 150)


def _append(file: Path, line: str, most_lines: int) -> int:
    """One more line; the file begins anew when it is long enough: it is the memory that is measured."""
    content = f"{line}\n".encode()
    if file.stat().st_size > most_lines * len(content):
        file.write_bytes(content)
    else:
        with file.open("ab") as out:
            out.write(content)
    return len(content)


def _write(file: Path, text: str) -> int:
    content = text.encode()
    new = file.with_name(f".{file.name}.new")
    new.write_bytes(content)
    new.replace(file)
    return len(content)


def _prose(noise: random.Random, words: int) -> str:
    return " ".join(noise.choices(WORDS, k=words)) + f" {noise.random()}"


def _anonymous() -> float:
    """Memory that is the process's own, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


def _in_a_process(probe: str, arguments: Namespace) -> dict[str, float]:
    options = [f"--{name}={getattr(arguments, name)}" for name in ("changes", "looks")]
    command = [sys.executable, "-m", "benchmarks.long_watch", "--probe", probe, *options]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
