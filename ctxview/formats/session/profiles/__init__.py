"""The packaged profiles of the session format, and loading them or a person's own."""

from __future__ import annotations

from ctxview.formats.profile_shelf import Shelf
from ctxview.formats.session.profile import Profile

PROFILES = ("cortexfs", "document")
"""The names of the packaged profiles, the default first."""

load_profile = Shelf(Profile, __package__, PROFILES).load
