"""Saves a file once and prints what came of it: the crash tests attach strace to this and break it."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import platformdirs

from ctxview.files.save import Conflict, SaveRefused, save

OLD = b"old " * 2000
NEW = b"new " * 3000
ENDS = "/ctxview-save-ends"

_PR_SET_PTRACER = 0x59616D61
_ANYBODY = -1

if __name__ == "__main__":
    platformdirs.user_state_path("ctxview")
    # Some systems let only parents trace; the test is not strace's parent.
    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANYBODY), 0, 0, 0)
    os.write(1, b"ready\n")
    os.read(0, 1)
    try:
        outcome = f"saved {save(Path(sys.argv[1]), NEW, OLD).warning}"
    except SaveRefused as error:
        outcome = f"refused {error}"
    except Conflict:
        outcome = "conflict"
    os.access(ENDS, os.F_OK)
    sys.stdout.write(outcome)
