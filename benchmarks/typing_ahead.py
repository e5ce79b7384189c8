"""Count the texts that go wrong when a whole prompt or form arrives in one write, as over a slow connection.

Each repetition searches, filters and tries a budget, then edits a block, applies the form and saves it. The
proof is on the screen for the prompts and in the file for the form.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.bytecode import with_bytecode
from benchmarks.figures import Figure, at_most, run
from benchmarks.snapshots import small_snapshot
from tests.pty_session import PtySession

LIMIT = 60.0
"""Seconds after which a text counts as wrong."""
ENTER, TAB, APPLY = "\r", "\t", "\x13"
CLEAR, CUT = "\x15", "\x0b"
"""Ctrl-u empties an input, Ctrl-k deletes the line of a text from its first character."""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--times", type=int, default=200)


def measure(arguments: Namespace) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        env = {**with_bytecode(folder / "bytecode"), "XDG_STATE_HOME": name, "XDG_CACHE_HOME": name}
        wrong = type_ahead(folder, arguments.times, env)
    for what in ("search", "filter", "budget", "form"):
        yield at_most(f"{what}: wrong of {arguments.times}", wrong[what], 0, "texts")


def type_ahead(folder: Path, times: int, env: Mapping[str, str] | None = None) -> Counter[str]:
    """Type everything `times` times; return how often each text went wrong."""
    file = folder / "typed.json"
    wrong: Counter[str] = Counter()
    number = 0
    while number < times:
        # After a wrong text the program is in an unknown state, so that the next one gets a new program.
        file.write_text(small_snapshot(7), "utf-8")
        # Many rows, because notices pile up on the right and must not cover the budget.
        with PtySession([sys.executable, "-m", "ctxview", file], env=env, rows=100) as screen:
            screen.wait_for("exact")
            failed = None
            while number < times and failed is None:
                number += 1
                failed = _type(screen, file, number)
        if failed is not None:
            wrong[failed] += 1
            seen = re.sub(r"\x1b[\[\]()][0-9;?]*[a-zA-Z]?", " ", screen.output.decode(errors="replace"))
            print(f"{number}: {failed}: {' '.join(seen.split())[-3000:]}", file=sys.stderr, flush=True)
    return wrong


def _type(screen: PtySession, file: Path, number: int) -> str | None:
    """Type each text once; return the name of the first that went wrong."""
    prompts = {
        "search": (f"/absent{number}{ENTER}", f"“absent{number}” was"),
        "filter": (f"f{CLEAR}none{number}{ENTER}", f"filter: none{number} "),
        "budget": (f"b{CLEAR}{30_000 + number}{ENTER}", f"what if {30_000 + number:,}"),
    }
    for what, (keys, proof) in prompts.items():
        screen.output = b""
        screen.press(keys)
        try:
            screen.wait_for(proof, LIMIT)
        except AssertionError:
            return what
    wanted = {
        "id": f"typed-{number}",
        "type": f"kind{number}",
        "decay": (number % 90 + 1) / 100,
        "confidence": (number % 80 + 10) / 100,
        "tags": [f"a{number}", "b"],
        "content": f"typed {number}",
    }
    fields = (*(wanted[each] for each in ("id", "type", "decay", "confidence")), 9, f"a{number}, b")
    typed = TAB.join(f"{CLEAR}{each}" for each in fields)
    screen.press(f"f{CLEAR}{ENTER}2ge{typed}{TAB}{CUT}{wanted['content']}{APPLY}wy")
    return None if _is_saved(screen, file, wanted) else "form"


def _is_saved(screen: PtySession, file: Path, wanted: Mapping[str, object]) -> bool:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        screen.wait_for_more(0.05)
        # The first block on the screen is the first that the model reads, which need not be the first here.
        blocks = json.loads(file.read_bytes())["memory"]["core"]
        if any({name: block[name] for name in wanted} == wanted for block in blocks):
            return True
    return False


if __name__ == "__main__":
    sys.exit(run(measure, __doc__, options))
