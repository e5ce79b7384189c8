"""Files as bytes: strict JSON with spans, loss-free splices, safe reading, atomic saving.

Nothing here knows a format or a screen.
"""

from __future__ import annotations
