"""Facts that need a whole pass over the histories of a session, and the comparison with the last look."""

from __future__ import annotations
