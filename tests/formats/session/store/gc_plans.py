"""Collection plans for built sessions, and the items in them."""

from __future__ import annotations

import time
from pathlib import Path

from ctxview.formats.kit.folder import SourceFolder
from ctxview.formats.session.store.gc import GcItem, GcPlan, plan_gc
from tests.formats.session.builders import Build
from tests.formats.session.open_sessions import make_old
from tests.formats.session.sources import CORTEXFS

BLOBS, CHUNKS = "context/dedup/blob", "context/swap/chunk"


def plan_at(root: Path) -> GcPlan:
    return plan_gc(SourceFolder(root), CORTEXFS, time.time())


def old_plan(build: Build, days: float = 60) -> GcPlan:
    root = build.write()
    make_old(root, days)
    return plan_at(root)


def item(plan: GcPlan, name: str) -> GcItem:
    (found,) = (each for each in plan.items if each.name == name)
    return found
