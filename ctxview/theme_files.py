"""Where themes lie and what they are called, a person's own before ours. Reads none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ctxview.files.user_folders import config_folder

DEFAULT: Final = "ctxview-dark"


def folder() -> Path:
    """Ours: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "themes"
    return installed if installed.is_dir() else package.parent / "themes"


def files() -> list[Path]:
    own = config_folder() / "themes"
    return [*own.glob("*.toml"), *folder().glob("*.toml")]


def names() -> list[str]:
    """The themes there are, the default first."""
    return sorted({path.stem for path in files()}, key=lambda name: (name != DEFAULT, name))
