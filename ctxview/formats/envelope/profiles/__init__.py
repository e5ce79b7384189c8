"""The packaged profiles of the envelope format, and loading them or a person's own."""

from __future__ import annotations

from ctxview.formats.envelope.profile import Profile
from ctxview.formats.profile_shelf import Shelf

PROFILES = ("draft-0.1.1",)
"""The names of the packaged profiles, the default first."""

load_profile = Shelf(Profile, __package__, PROFILES).load
