"""An environment with compiled modules in a separate folder, as an installed program has them."""

from __future__ import annotations

import os
from pathlib import Path


def with_bytecode(folder: Path) -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**others, "PYTHONPYCACHEPREFIX": str(folder)}
