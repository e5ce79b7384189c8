"""Small files of ctxview's own, in the user's state folder. That one cannot be kept is nobody's trouble."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ctxview.files.undo_copies import write_new


def put(file: Path, data: bytes) -> None:
    """Replaces it as a whole: whoever reads at the same time sees all of the old or all of the new."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft.unlink(missing_ok=True)
        write_new(draft, data)
        draft.replace(file)
