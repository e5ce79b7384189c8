"""Save a file in a new child process for each line of input; the crash tests attach strace to it.

A line holds the file and the state directory. The answer is the child's id, then (once a further byte has let
it go ahead) how it ended. What came of the save is left in a file beside the folder.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import platformdirs

from ctxview.files.save import SaveConflict, SaveRefused, save

OLD = b"old " * 2000
NEW = b"new " * 3000
BEGINS = "/ctxview-save-begins"
ENDS = "/ctxview-save-ends"

_PR_SET_PTRACER = 0x59616D61
_ANY_PROCESS = -1


def main() -> None:
    platformdirs.user_state_path("ctxview")
    while line := sys.stdin.readline():
        file, state = line.rstrip("\n").split("\t")
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            save_on_request(Path(file), state, writing)
            os._exit(0)
        os.close(writing)
        # The calls by which a child starts would be counted if strace came before they were made.
        os.read(reading, 1)
        os.close(reading)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def save_on_request(file: Path, state: str, ready: int) -> None:
    os.environ["XDG_STATE_HOME"] = state
    # Some systems let only a parent trace a process, and strace is not the parent.
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANY_PROCESS), 0, 0, 0)
    os.write(ready, b"!")
    os.read(0, 1)
    os.access(BEGINS, os.F_OK)
    try:
        outcome = f"saved {save(file, NEW, OLD).warning}"
    except SaveRefused as error:
        outcome = f"refused {error}"
    except SaveConflict:
        outcome = "conflict"
    os.access(ENDS, os.F_OK)
    file.parent.with_suffix(".outcome").write_text(outcome)


if __name__ == "__main__":
    main()
