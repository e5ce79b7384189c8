"""Reviews of copied samples and of small files."""

from __future__ import annotations

import shutil
from pathlib import Path

from ctxview.analysis.tokens import ESTIMATES
from ctxview.formats import Lens, open_source
from ctxview.review.review import Review, build_review
from ctxview.samples import samples_folder

LENS = Lens(ESTIMATES["bytes/4"])


def sample(name: str, folder: Path) -> Path:
    """Copy a sample of envelopes into `folder`."""
    return shutil.copytree(samples_folder() / "envelope" / name, folder / name)


def review_of(*paths: Path) -> Review:
    return build_review([open_source(path) for path in paths], LENS)
