"""Gives up the rights of root for a test, because root may read everything."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

ORDINARY_USER = 65_534


@contextmanager
def as_ordinary_user() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(ORDINARY_USER)
    try:
        yield
    finally:
        os.seteuid(0)
