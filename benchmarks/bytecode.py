"""Compiled modules in a folder of our own: every measurement has them, as an installed program does."""

from __future__ import annotations

import os
from pathlib import Path


def with_bytecode(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder)}
