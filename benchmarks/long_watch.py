"""Measure memory and recording size over a day of changes, without the waiting between them.

Once with the recorder of `ctxview record`, once with the reloads of an open inspector. Each runs in its own
process, whose anonymous memory is measured after a tenth of the changes and at the end.
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

from benchmarks.figures import LONGEST_RUN, Figure, against, run

FLAT_GOAL = 1.2
SIZE_GOAL = 1.5
"""Bytes of the recording for each byte written to the files, many of them one line at a time."""
CHANGES = 40_000
RELOADS = 3_000
WORDS = ("agent", "reads", "file", "finds", "nothing", "changed", "since", "last", "time", "looked", "asks")


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--changes", type=int, default=CHANGES, help="changes to record")
    parser.add_argument("--reloads", type=int, default=RELOADS, help="reloads of an open inspector")
    parser.add_argument("--probe", choices=("record", "reload"), help="run only this one, in this process")


def measure(arguments: Namespace) -> Iterator[Figure]:
    recorded = _in_a_process("record", arguments)
    reloaded = _in_a_process("reload", arguments)
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
        f"memory after {arguments.reloads:,} reloads of a session",
        reloaded["end"],
        early,
        reloaded["early"],
        FLAT_GOAL,
        "MB",
    )


def main() -> int:
    parser = ArgumentParser(add_help=False)
    options(parser)
    arguments, _ = parser.parse_known_args()
    if arguments.probe is None:
        return run(measure, __doc__, options)
    found = _record(arguments.changes) if arguments.probe == "record" else _reload(arguments.reloads)
    print(json.dumps(found))
    return 0


def _record(changes: int) -> dict[str, float]:
    from ctxview.recording.manifest import recording_info
    from ctxview.recording.recorder import Recorder, RecordingScope
    from ctxview.recording.writer import open_to_write

    with tempfile.TemporaryDirectory() as name:
        session = _session(Path(name))
        opened = open_to_write(Path(name) / "day.ctxrec", recording_info(session, time.time_ns()))
        recorder = Recorder(RecordingScope(session), opened.writer)
        measured = _measured(session, changes, lambda: recorder.record(time.time_ns()))
        opened.writer.close()
        return {**measured, "size": float(opened.writer.end)}


def _reload(reloads: int) -> dict[str, float]:
    from ctxview.analysis.tokens import ESTIMATES
    from ctxview.formats import Lens, Source, open_source
    from ctxview.formats.recording.observed_source import with_history

    lens = Lens(ESTIMATES["bytes/4"])
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_STATE_HOME"] = name
        session = _session(Path(name))
        source: Source = with_history(open_source(session))
        chosen = random.Random(2)

        def reload() -> None:
            """Reload and read as the inspector does; now and then read an earlier revision."""
            nonlocal source
            source = source.again()
            source.reading(len(source.revisions) - 1, lens)
            if chosen.random() < 0.02:
                source.reading(chosen.randrange(len(source.revisions)), lens)

        measured = _measured(session, reloads, reload)
        return {**measured, "revisions": float(len(source.revisions))}


def _measured(session: Path, changes: int, work: Callable[[], object]) -> dict[str, float]:
    work()
    started, changed, early = time.perf_counter(), 0, 0.0
    for number, written in enumerate(_changes(session, changes)):
        changed += written
        work()
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
    """Write like a busy agent and yield the new bytes of each change. Histories start again now and then."""
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
    """Append a line; a long file starts again, because memory and not file size is measured."""
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
    """Anonymous memory of this process, in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


def _in_a_process(probe: str, arguments: Namespace) -> dict[str, float]:
    options = [f"--{name}={getattr(arguments, name)}" for name in ("changes", "reloads")]
    command = [sys.executable, "-m", "benchmarks.long_watch", "--probe", probe, *options]
    done = subprocess.run(command, capture_output=True, check=True, timeout=LONGEST_RUN)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    sys.exit(main())
