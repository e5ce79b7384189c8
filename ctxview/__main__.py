"""Run `ctxview` as `python -m ctxview`."""

from __future__ import annotations

import sys

from ctxview.cli import main

sys.exit(main())
